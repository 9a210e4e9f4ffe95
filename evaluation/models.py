"""How well they agree: reports, reproducible and immutable once they are ready."""

from django.conf import settings
from django.db import models

from evaluation.querysets import ReportQuerySet
from projects.models import Project


class Report(models.Model):
    """Parameters, a fingerprint of the data, the code's version, and the sections that came out."""

    class Status(models.TextChoices):
        PENDING = "pending", "Being computed"
        READY = "ready", "Ready"
        FAILED = "failed", "Failed"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="reports")
    title = models.CharField(max_length=200)
    kind = models.CharField(max_length=40)  # a code of evaluation.kinds
    parameters = models.JSONField(default=dict)
    status = models.CharField(max_length=20, choices=Status.choices, default=Status.PENDING)
    problem = models.CharField(max_length=500, blank=True)
    data_fingerprint = models.CharField(max_length=64, blank=True)
    code_version = models.CharField(max_length=60, blank=True)
    sections = models.JSONField(default=list)  # tables, figures (Vega-Lite) and notes, in reading order
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    requested_at = models.DateTimeField(auto_now_add=True)  # of a worker, last
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = ReportQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status__in=["pending", "ready", "failed"]), name="report_status_known"
            ),
            models.CheckConstraint(
                condition=~models.Q(status="ready") | (~models.Q(data_fingerprint="") & ~models.Q(code_version="")),
                name="ready_report_has_provenance",
            ),
            models.CheckConstraint(
                condition=~models.Q(status="failed") | ~models.Q(problem=""), name="failed_report_has_a_sentence"
            ),
        ]

    def __str__(self) -> str:
        return self.title
