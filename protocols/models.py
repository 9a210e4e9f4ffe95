"""A project's way through a protocol: what was set, which files were given, and every run of every stage."""

import math

from django.db import models

from projects.models import Project, User
from protocols.catalogue import find_protocol
from protocols.stages import Protocol, Stage


class ProtocolRun(models.Model):
    """One way through a protocol. A project may go through the same one several times."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="protocol_runs")
    name = models.SlugField(max_length=40)  # of the protocol
    number = models.PositiveIntegerField()  # among the project's runs of this protocol, from 1
    settings = models.JSONField(default=dict)  # by code of the stage: those that differ from the defaults
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["project", "name", "number"], name="protocol_run_number_once")]

    def __str__(self) -> str:
        return f"{self.protocol.title} {self.number}"

    @property
    def protocol(self) -> Protocol:
        return find_protocol(self.name)


class SourceFile(models.Model):
    """A file that the researcher brought; the latest under a source's name is the one that stages read."""

    run = models.ForeignKey(ProtocolRun, on_delete=models.CASCADE, related_name="files")
    source = models.SlugField(max_length=40)
    file_name = models.CharField(max_length=255)
    size = models.PositiveBigIntegerField()  # bytes
    sha256 = models.CharField(max_length=64)
    by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.file_name


class SourcePart(models.Model):
    """A piece of a source file: workers may run on other machines than the page."""

    file = models.ForeignKey(SourceFile, on_delete=models.CASCADE, related_name="parts")
    number = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["file", "number"], name="source_part_once")]

    def __str__(self) -> str:
        return f"{self.file} part {self.number}"


class StageRun(models.Model):
    """One run of a stage: what it was run with, its row of the funnel, what came out. The latest done one counts."""

    class Status(models.TextChoices):
        PENDING = "pending", "Starting"
        UNDER_WAY = "under_way", "Under way"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"

    OPEN = (Status.PENDING, Status.UNDER_WAY)

    run = models.ForeignKey(ProtocolRun, on_delete=models.CASCADE, related_name="stage_runs")
    code = models.SlugField(max_length=40)  # of the stage
    number = models.PositiveIntegerField()  # among the runs of this stage, from 1
    settings = models.JSONField(default=dict)
    fingerprint = models.CharField(max_length=64)  # of the inputs, settings and prompts it was run with
    status = models.CharField(max_length=20, choices=Status.choices, default=Status.PENDING)
    tries = models.PositiveSmallIntegerField(default=0)  # begun since something last came of it
    problem = models.TextField(blank=True)  # why it failed or cannot be collected yet, in a sentence
    outputs = models.JSONField(default=dict)
    came = models.PositiveIntegerField(default=0)
    out = models.PositiveIntegerField(default=0)
    why = models.JSONField(default=dict)  # reason: how many did not go on for it
    by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    started_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "code", "number"], name="stage_run_number_once"),
            models.UniqueConstraint(
                fields=["run", "code"],
                condition=models.Q(status__in=["pending", "under_way"]),
                name="one_open_run_of_a_stage",
            ),
            models.CheckConstraint(
                condition=models.Q(status__in=["pending", "under_way", "done", "failed"]), name="stage_run_status_known"
            ),
            models.CheckConstraint(
                condition=~models.Q(status="failed") | ~models.Q(problem=""), name="failed_stage_has_a_sentence"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.stage.title}, run {self.number}"

    @property
    def stage(self) -> Stage:
        return self.run.protocol.stage(self.code)

    @property
    def seconds(self) -> float:
        """From its beginning to its end, with what models and people took; NaN before the end."""
        return (self.finished_at - self.started_at).total_seconds() if self.finished_at else math.nan
