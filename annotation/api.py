"""REST: labelling projects, read only."""

from django.db.models import OuterRef, QuerySet, Subquery
from rest_framework import generics, serializers

from annotation.models import Guidelines, LabelProject
from projects.api import OfProject
from projects.models import Project


class LabelProjectSerializer(serializers.ModelSerializer):
    dataset = serializers.SlugField(source="dataset.slug")
    instrument = serializers.SlugField(source="instrument.name")
    instrument_version = serializers.IntegerField(source="instrument.version")
    suggestions_of = serializers.CharField(
        source="suggestions_of.key", read_only=True, allow_null=True, help_text="Key of the respondent."
    )
    guidelines_version = serializers.IntegerField(
        source="latest_guidelines", read_only=True, allow_null=True, help_text="The one annotators read now."
    )
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
            "calibration_size",
            "calibration_overlap",
            "order",
            "seed",
            "item_fields",
            "lease_minutes",
            "break_every",
            "cap",
            "members_only",
            "pass_mark",
            "gold_every",
            "suggestions",
            "suggestions_of",
            "guidelines_version",
            "labels_planned",
            "labels_submitted",
            "labels_simulated",
            "created_at",
        ]


class _LabelProjects(OfProject[LabelProject]):
    serializer_class = LabelProjectSerializer

    def rows(self, project: Project) -> QuerySet[LabelProject]:
        latest = Guidelines.objects.filter(label_project=OuterRef("pk")).values("version")[:1]
        rows = LabelProject.objects.for_list(project).select_related("suggestions_of")
        return rows.annotate(latest_guidelines=Subquery(latest))


class LabelProjectsView(_LabelProjects, generics.ListAPIView[LabelProject]):
    """Labelling projects with how many labels are planned, given and of those given by bots."""


class LabelProjectView(_LabelProjects, generics.RetrieveAPIView[LabelProject]):
    """One labelling project."""

    lookup_field = "slug"
