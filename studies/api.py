"""REST: studies, read only. Neither keys nor codes nor anything of a single session is shown."""

from django.db.models import Count, Q, QuerySet
from rest_framework import generics, serializers

from projects.api import OfProject
from projects.models import Project
from studies.models import Session, Study


class StudySerializer(serializers.ModelSerializer):
    dataset = serializers.SlugField(source="dataset.slug")
    instrument = serializers.SlugField(source="instrument.name")
    instrument_version = serializers.IntegerField(source="instrument.version")
    sessions_started = serializers.IntegerField(read_only=True)
    sessions_completed = serializers.IntegerField(read_only=True)
    sessions_simulated = serializers.IntegerField(read_only=True)

    class Meta:
        model = Study
        fields = [
            "id",
            "slug",
            "name",
            "version",
            "status",
            "platform",
            "dataset",
            "instrument",
            "instrument_version",
            "sessions_started",
            "sessions_completed",
            "sessions_simulated",
            "created_at",
            "opened_at",
        ]


class _Studies(OfProject[Study]):
    serializer_class = StudySerializer

    def rows(self, project: Project) -> QuerySet[Study]:
        return (
            Study.objects.filter(project_id=project.pk)
            .select_related("dataset", "instrument")
            .annotate(
                sessions_started=Count("sessions", filter=Q(sessions__pilot=False)),
                sessions_completed=Count(
                    "sessions", filter=Q(sessions__status=Session.Status.COMPLETED, sessions__pilot=False)
                ),
                sessions_simulated=Count("sessions", filter=Q(sessions__simulated=True)),
            )
        )


class StudiesView(_Studies, generics.ListAPIView[Study]):
    """Studies with how many sessions were started, were completed and are simulated."""


class StudyView(_Studies, generics.RetrieveAPIView[Study]):
    """One study."""
