"""REST: reports, read only."""

from django.db.models import QuerySet
from rest_framework import generics, serializers

from evaluation.models import Report
from projects.api import OfProject
from projects.models import Project


class ReportSerializer(serializers.ModelSerializer):
    class Meta:
        model = Report
        fields = [
            "id",
            "title",
            "kind",
            "status",
            "problem",
            "data_fingerprint",
            "code_version",
            "created_at",
            "finished_at",
        ]


class ReportDetailSerializer(ReportSerializer):
    class Meta(ReportSerializer.Meta):
        fields = [*ReportSerializer.Meta.fields, "parameters", "sections"]


class _Reports(OfProject[Report]):
    def rows(self, project: Project) -> QuerySet[Report]:
        return Report.objects.filter(project_id=project.pk)


class ReportsView(_Reports, generics.ListAPIView[Report]):
    """Reports, without their sections."""

    serializer_class = ReportSerializer


class ReportView(_Reports, generics.RetrieveAPIView[Report]):
    """One report with its parameters, tables, figures and notes."""

    serializer_class = ReportDetailSerializer
