"""REST: model jobs, read only."""

from django.db.models import Count, QuerySet
from rest_framework import generics, serializers

from llm.models import Job
from projects.api import OfProject
from projects.models import Project


class JobSerializer(serializers.ModelSerializer):
    dataset = serializers.SlugField(source="dataset.slug")
    instrument = serializers.SlugField(source="instrument.name")
    instrument_version = serializers.IntegerField(source="instrument.version")
    prompts = serializers.SerializerMethodField(help_text="Name and version of each prompt.")
    endpoint = serializers.CharField(source="endpoint.name")
    model = serializers.CharField(source="endpoint.model")
    demo_model = serializers.BooleanField(source="endpoint.demo_model")

    class Meta:
        model = Job
        fields = [
            "id",
            "name",
            "kind",
            "status",
            "status_reason",
            "endpoint",
            "model",
            "demo_model",
            "prompts",
            "dataset",
            "instrument",
            "instrument_version",
            "personas",
            "factors",
            "option_orders",
            "conditions_per_item",
            "samples",
            "seed",
            "created_at",
            "started_at",
            "finished_at",
        ]

    def get_prompts(self, job: Job) -> list[str]:
        return [str(prompt) for prompt in job.prompts.all()]


class JobDetailSerializer(JobSerializer):
    calls = serializers.SerializerMethodField(help_text="Number of calls by status.")

    class Meta(JobSerializer.Meta):
        fields = [*JobSerializer.Meta.fields, "calls"]

    def get_calls(self, job: Job) -> dict[str, int]:
        return dict(job.calls.order_by().values_list("status").annotate(n=Count("pk")))


class _Jobs(OfProject[Job]):
    def rows(self, project: Project) -> QuerySet[Job]:
        return (
            Job.objects.filter(project_id=project.pk)
            .select_related("endpoint", "dataset", "instrument")
            .prefetch_related("prompts")
        )


class JobsView(_Jobs, generics.ListAPIView[Job]):
    """Model jobs."""

    serializer_class = JobSerializer


class JobView(_Jobs, generics.RetrieveAPIView[Job]):
    """One model job with its calls counted by status."""

    serializer_class = JobDetailSerializer
