"""REST: labelling projects, read only."""

from django.db.models import Count, Q, QuerySet
from rest_framework import generics, serializers

from annotation.models import Assignment, LabelProject
from projects.api import OfProject
from projects.models import Project


class LabelProjectSerializer(serializers.ModelSerializer):
    dataset = serializers.SlugField(source="dataset.slug")
    instrument = serializers.SlugField(source="instrument.name")
    instrument_version = serializers.IntegerField(source="instrument.version")
    labels_planned = serializers.IntegerField(read_only=True)
    labels_submitted = serializers.IntegerField(read_only=True)

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
            "created_at",
        ]


class _LabelProjects(OfProject[LabelProject]):
    serializer_class = LabelProjectSerializer

    def rows(self, project: Project) -> QuerySet[LabelProject]:
        submitted = Q(assignments__status=Assignment.Status.SUBMITTED)
        return (
            LabelProject.objects.filter(project_id=project.pk)
            .select_related("dataset", "instrument")
            .annotate(
                labels_planned=Count("assignments"),
                labels_submitted=Count("assignments", filter=submitted),
            )
        )


class LabelProjectsView(_LabelProjects, generics.ListAPIView[LabelProject]):
    """Labelling projects with how many labels are planned and given."""


class LabelProjectView(_LabelProjects, generics.RetrieveAPIView[LabelProject]):
    """One labelling project."""

    lookup_field = "slug"
