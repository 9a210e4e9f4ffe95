"""What is asked: datasets of items, and instruments as immutable versions of a question list."""

from functools import cached_property, lru_cache

from django.db import models

from materials.questions import Questionnaire, parse_questions
from projects.models import Project, User


class Dataset(models.Model):
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="datasets")
    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=80)
    description = models.TextField(blank=True)
    field_order = models.JSONField(default=list)  # names of the items' fields as the sources had them
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["project", "slug"], name="dataset_slug_once_a_project")]

    def __str__(self) -> str:
        return self.name


class Item(models.Model):
    """One thing that is asked about: a JSON object with a stable external id and where it came from."""

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="items")
    external_id = models.CharField(max_length=200)
    content = models.JSONField()
    content_hash = models.CharField(max_length=64)
    lineage = models.JSONField(default=dict)
    position = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["dataset_id", "position", "id"]
        constraints = [models.UniqueConstraint(fields=["dataset", "external_id"], name="item_external_id_once")]
        indexes = [models.Index(fields=["dataset", "position", "id"])]

    def __str__(self) -> str:
        return self.external_id


class ImportRun(models.Model):
    """A file that becomes items: uploaded, mapped, checked as a whole, then imported or not."""

    class State(models.TextChoices):
        DRAFT = "draft", "Columns to choose"
        CHECKING = "checking", "Being checked"
        CHECKED = "checked", "Checked"
        IMPORTING = "importing", "Being imported"
        DONE = "done", "Imported"
        FAILED = "failed", "Failed"

    UNDER_WAY = (State.CHECKING, State.IMPORTING)

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="import_runs")
    dataset_slug = models.SlugField(max_length=80)
    file_name = models.CharField(max_length=255)
    size = models.PositiveBigIntegerField()  # bytes
    sha256 = models.CharField(max_length=64)
    plan = models.JSONField()  # materials.reading_plan.Plan
    state = models.CharField(max_length=20, choices=State.choices, default=State.DRAFT)
    failure = models.TextField(blank=True)  # why it failed, in a sentence
    rows = models.PositiveIntegerField(default=0)
    added = models.PositiveIntegerField(default=0)
    unchanged = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(default=0)
    fault_count = models.PositiveIntegerField(default=0)
    faults = models.JSONField(default=list)  # [row, column, what] of the first of them
    by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    asked_at = models.DateTimeField(null=True)  # to be checked or imported
    started_at = models.DateTimeField(null=True)  # by a worker; null while it waits for one
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    state__in=["draft", "checking", "checked", "importing", "done", "failed"],
                ),
                name="import_run_state_known",
            )
        ]

    def __str__(self) -> str:
        return self.file_name


class UploadPart(models.Model):
    """A piece of an uploaded file, which stays until its items are in: workers may run on other machines."""

    run = models.ForeignKey(ImportRun, on_delete=models.CASCADE, related_name="parts")
    number = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="upload_part_once")]

    def __str__(self) -> str:
        return f"{self.run} part {self.number}"


class Instrument(models.Model):
    """A version of a question list. A database trigger refuses changes: a change makes a new version."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="instruments")
    name = models.SlugField(max_length=80)
    version = models.PositiveIntegerField()
    title = models.CharField(max_length=200)
    questions = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "-version"]
        constraints = [models.UniqueConstraint(fields=["project", "name", "version"], name="instrument_version_once")]

    def __str__(self) -> str:
        return f"{self.title} (version {self.version})"

    @cached_property
    def questionnaire(self) -> Questionnaire:
        return parse_questions(self.questions)


@lru_cache(maxsize=100)
def kept_instrument(pk: int) -> Instrument:
    """The version, which a process reads and parses once, because it never changes."""
    return Instrument.objects.get(pk=pk)
