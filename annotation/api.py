"""REST: labelling projects, read only."""

from django.db.models import QuerySet
from rest_framework import generics, serializers

from annotation.models import LabelProject
from projects.api import OfProject
from projects.models import Project


class LabelProjectSerializer(serializers.ModelSerializer):
    dataset = serializers.SlugField(source="dataset.slug")
    instrument = serializers.SlugField(source="instrument.name")
    instrument_version = serializers.IntegerField(source="instrument.version")
    labels_planned = serializers.IntegerField(source="places", read_only=True)
    labels_submitted = serializers.IntegerField(source="answered", read_only=True)
    labels_simulated = serializers.IntegerField(source="simulated", read_only=True)

    class Meta:
        model = LabelProject
        fields = [
            "slug",
            "name",
            "status",
            "dataset",
            "instrument",
            "instrument_version",
            "overlap",
            "labels_planned",
            "labels_submitted",
            "labels_simulated",
            "created_at",
        ]


class _LabelProjects(OfProject[LabelProject]):
    serializer_class = LabelProjectSerializer

    def rows(self, project: Project) -> QuerySet[LabelProject]:
        return LabelProject.objects.for_list(project)


class LabelProjectsView(_LabelProjects, generics.ListAPIView[LabelProject]):
    """Labelling projects with how many labels are planned, given and of those given by bots."""


class LabelProjectView(_LabelProjects, generics.RetrieveAPIView[LabelProject]):
    """One labelling project."""

    lookup_field = "slug"
