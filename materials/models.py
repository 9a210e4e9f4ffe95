"""What is asked: datasets of items, and instruments as immutable versions of a question list."""

from functools import cached_property

from django.db import models

from materials.questions import Questionnaire, parse_questions
from projects.models import Project


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
