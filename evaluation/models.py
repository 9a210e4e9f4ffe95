"""How well they agree: reports, immutable once they are ready, with the data they rest on and links for strangers."""

import secrets

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
    sections_done = models.PositiveSmallIntegerField(default=0)
    sections_total = models.PositiveSmallIntegerField(default=0)  # 0 until the data is counted
    created_at = models.DateTimeField(auto_now_add=True)
    active_at = models.DateTimeField(auto_now_add=True)  # when a worker was asked, or last got on with it
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


class ReportData(models.Model):
    """What a ready report was computed from, kept because answers come and go."""

    report = models.OneToOneField(Report, on_delete=models.CASCADE, related_name="data")
    frames = models.BinaryField()  # as evaluation.kept_frames packs them
    versions = models.JSONField()  # of Python and the libraries that computed it, by name

    def __str__(self) -> str:
        return f"Data of {self.report}"


def _share_key() -> str:
    """128 random bits: whoever has the key may read the report, and nothing else is asked."""
    return secrets.token_urlsafe(16)


class ReportShare(models.Model):
    """A link under which people outside the project read a report with its small cells masked, until it is revoked."""

    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="shares")
    key = models.CharField(max_length=22, unique=True, default=_share_key)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["report"], condition=models.Q(revoked_at=None), name="report_has_one_link_at_a_time"
            )
        ]

    def __str__(self) -> str:
        return f"Link to {self.report}"
