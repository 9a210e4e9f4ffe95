"""Annotators answer: labelling projects and the assignments of their items."""

from django.conf import settings
from django.db import models

from annotation.querysets import AssignmentQuerySet, LabelProjectQuerySet
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
    guidelines = models.TextField(blank=True)  # Markdown
    item_fields = models.JSONField(default=list)  # names or {"field", "label"}; empty shows every field of the item
    overlap = models.PositiveIntegerField(default=1)
    calibration_size = models.PositiveIntegerField(default=0)  # items drawn by seed that come first
    calibration_overlap = models.PositiveIntegerField(null=True, blank=True)  # their own number of answers
    order = models.CharField(max_length=20, choices=Order.choices, default=Order.RANDOM)
    seed = models.BigIntegerField(default=1)
    # Which time the same questions are asked about the same items; keeps a repeat apart from the first answers.
    sample = models.PositiveIntegerField(default=0)
    lease_minutes = models.PositiveIntegerField(default=30)
    status = models.CharField(max_length=20, choices=Status.choices, default=Status.OPEN)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = LabelProjectQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["project", "slug"], name="label_project_slug_once"),
            models.CheckConstraint(condition=models.Q(overlap__gte=1), name="label_overlap_at_least_one"),
            models.UniqueConstraint(fields=["dataset", "instrument", "sample"], name="label_project_sample_once"),
            models.CheckConstraint(
                condition=models.Q(calibration_size=0, calibration_overlap=None)
                | models.Q(calibration_size__gte=1, calibration_overlap__gte=1),
                name="calibration_has_size_and_overlap",
            ),
            models.CheckConstraint(condition=models.Q(status__in=["open", "closed"]), name="label_status_known"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_open(self) -> bool:
        return self.status == self.Status.OPEN


class Assignment(models.Model):
    """One of an item's places. All places exist from the start, so no race can give out more than there are.

    Claiming puts an annotator and a lease on a free place (SKIP LOCKED). A lease that ran out stays with its holder
    until somebody else needs the place.
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
    orders = models.JSONField(default=dict)  # option order by question, as this annotator sees it
    skip_reason = models.CharField(max_length=500, blank=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)  # first time; changing an answer leaves it alone

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["label_project", "item", "place"], name="assignment_place_once"),
            models.UniqueConstraint(
                fields=["label_project", "item", "annotator"],
                condition=models.Q(annotator__isnull=False),
                name="nobody_gets_an_item_twice",
            ),
            models.UniqueConstraint(
                fields=["label_project", "annotator"],
                condition=models.Q(status="leased"),
                name="one_open_lease_each",
            ),
            models.CheckConstraint(
                condition=models.Q(status="free", annotator=None)
                | (~models.Q(status="free") & ~models.Q(annotator=None)),
                name="only_free_places_have_nobody",
            ),
            models.CheckConstraint(
                condition=models.Q(status="free", lease_until=None, finished_at=None)
                | models.Q(status="leased", lease_until__isnull=False)
                | models.Q(status__in=["submitted", "skipped"], lease_until=None, finished_at__isnull=False),
                name="place_has_the_times_of_its_status",
            ),
        ]
        indexes = [
            models.Index(fields=["label_project", "status", "rank"]),
            models.Index(fields=["annotator", "label_project", "status", "finished_at"]),
            models.Index(fields=["annotator", "label_project", "rank"]),
        ]

    def __str__(self) -> str:
        return f"{self.item} place {self.place}"


class OfOnePersonOnAnItem(models.Model):
    label_project = models.ForeignKey(LabelProject, on_delete=models.CASCADE, related_name="%(class)ss")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="%(class)ss")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="%(class)ss")

    class Meta:
        abstract = True


class Draft(OfOnePersonOnAnItem):
    """What a person typed and has not submitted. It belongs to the person, not to the place, so it outlives a lease."""

    answers = models.JSONField(default=dict)  # by question code, unchecked
    saved_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["label_project", "item", "annotator"], name="one_draft_each_item")
        ]

    def __str__(self) -> str:
        return f"draft on {self.item_id}"


class Flag(OfOnePersonOnAnItem):
    """A note to the researcher that something is wrong or odd about an item."""

    note = models.CharField(max_length=500)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["label_project", "item", "annotator", "note"], name="flag_note_once")
        ]

    def __str__(self) -> str:
        return self.note
