"""Annotators answer: labelling projects and the assignments of their items."""

from django.conf import settings
from django.db import models

from materials.models import Dataset, Instrument, Item
from projects.models import Project


class LabelProject(models.Model):
    """What is labelled, with which questions and guidelines, and by how many people each."""

    class Order(models.TextChoices):
        FIXED = "fixed", "As in the dataset"
        RANDOM = "random", "Random, by seed"

    class Status(models.TextChoices):
        OPEN = "open", "Open"
        CLOSED = "closed", "Closed"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="label_projects")
    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=80)
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="label_projects")
    instrument = models.ForeignKey(Instrument, on_delete=models.PROTECT, related_name="label_projects")
    guidelines = models.TextField(blank=True)
    overlap = models.PositiveIntegerField(default=1)
    order = models.CharField(max_length=20, choices=Order.choices, default=Order.RANDOM)
    seed = models.BigIntegerField(default=1)
    lease_minutes = models.PositiveIntegerField(default=30)
    status = models.CharField(max_length=20, choices=Status.choices, default=Status.OPEN)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["project", "slug"], name="label_project_slug_once"),
            models.CheckConstraint(condition=models.Q(overlap__gte=1), name="label_overlap_at_least_one"),
        ]

    def __str__(self) -> str:
        return self.name


class Assignment(models.Model):
    """One of an item's `overlap` places. All places exist from the start, so no race can give out more than there are.

    Claiming puts an annotator and a lease on a free place (SKIP LOCKED); an expired lease frees it again.
    """

    class Status(models.TextChoices):
        FREE = "free", "Free"
        LEASED = "leased", "Being labelled"
        SUBMITTED = "submitted", "Submitted"
        SKIPPED = "skipped", "Skipped"

    label_project = models.ForeignKey(LabelProject, on_delete=models.CASCADE, related_name="assignments")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="assignments")
    place = models.PositiveIntegerField()
    rank = models.BigIntegerField()  # the order of work, drawn from the label project's seed
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="assignments"
    )
    status = models.CharField(max_length=20, choices=Status.choices, default=Status.FREE)
    lease_until = models.DateTimeField(null=True, blank=True)
    draft = models.JSONField(default=dict)
    skip_reason = models.CharField(max_length=500, blank=True)
    flag_note = models.CharField(max_length=500, blank=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["label_project", "item", "place"], name="assignment_place_once"),
            models.UniqueConstraint(
                fields=["label_project", "item", "annotator"],
                condition=models.Q(annotator__isnull=False),
                name="nobody_gets_an_item_twice",
            ),
            models.CheckConstraint(
                condition=models.Q(status="free", annotator=None)
                | (~models.Q(status="free") & ~models.Q(annotator=None)),
                name="only_free_places_have_nobody",
            ),
        ]
        indexes = [
            models.Index(fields=["label_project", "status", "rank"]),
            models.Index(fields=["annotator", "label_project", "status"]),
        ]

    def __str__(self) -> str:
        return f"{self.item} place {self.place}"
