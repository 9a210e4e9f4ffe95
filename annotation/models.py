"""Annotators answer: labelling projects, who works in them, the assignments of their items, and what was decided."""

from django.conf import settings
from django.db import models
from django.utils.functional import cached_property

from annotation.querysets import AssignmentQuerySet, LabelProjectQuerySet
from materials.models import Dataset, Instrument, Item
from materials.presentation import draws_sides
from projects.models import Project
from responses.models import Respondent


class LabelProject(models.Model):
    """What is labelled, with which questions, by how many people each, and how they are trained and checked."""

    class Order(models.TextChoices):
        FIXED = "fixed", "As in the dataset"
        RANDOM = "random", "Random, by seed"
        LEAST_LABELLED = "least_labelled", "Least labelled first"
        MOST_DISPUTED = "most_disputed", "Most disputed first"
        MODEL_UNCERTAIN = "model_uncertain", "Where the model is least certain first"

    class Status(models.TextChoices):
        OPEN = "open", "Open"
        CLOSED = "closed", "Closed"

    class Suggestions(models.TextChoices):
        """How a model's answers are shown to those who may see them."""

        NONE = "none", "Not shown"
        SHOWN = "shown", "Shown beside the question"
        PRESELECTED = "preselected", "Selected beforehand"
        AUDITED = "audited", "Judged right or wrong"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="label_projects")
    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=80)
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="label_projects")
    instrument = models.ForeignKey(Instrument, on_delete=models.PROTECT, related_name="label_projects")
    item_fields = models.JSONField(default=list)  # as item_parts takes them; empty shows every field of the item
    overlap = models.PositiveIntegerField(default=1)
    calibration_size = models.PositiveIntegerField(default=0)  # items drawn by seed that come first
    calibration_overlap = models.PositiveIntegerField(null=True, blank=True)  # their own number of answers
    order = models.CharField(max_length=20, choices=Order.choices, default=Order.RANDOM)
    seed = models.BigIntegerField(default=1)
    # Which time the same questions are asked about the same items; keeps a repeat apart from the first answers.
    sample = models.PositiveIntegerField(default=0)
    lease_minutes = models.PositiveIntegerField(default=30)
    break_every = models.PositiveIntegerField(default=50)  # items of one person; 0 for no breaks
    cap = models.PositiveIntegerField(null=True, blank=True)  # items a person, unless their membership says otherwise
    members_only = models.BooleanField(default=False)  # otherwise every annotator of the project may begin
    # Known answers: a training set that comes first, and items mixed in among the others.
    pass_mark = models.FloatField(null=True, blank=True)  # share of training questions, 0 to 1; None lets everybody on
    gold_every = models.PositiveIntegerField(default=0)  # items of one person to one with a known answer; 0 for none
    suggestions = models.CharField(max_length=20, choices=Suggestions.choices, default=Suggestions.NONE)
    suggestions_of = models.ForeignKey(
        Respondent, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )  # the model, as itself or as a persona
    status = models.CharField(max_length=20, choices=Status.choices, default=Status.OPEN)
    created_at = models.DateTimeField(auto_now_add=True)

    newest_guidelines: int  # of for_work
    role: str  # likewise

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
            models.CheckConstraint(
                condition=models.Q(suggestions="none") | models.Q(suggestions_of__isnull=False),
                name="label_suggestions_have_a_model",
            ),
            models.CheckConstraint(
                condition=models.Q(pass_mark=None) | models.Q(pass_mark__gte=0, pass_mark__lte=1),
                name="label_pass_mark_is_a_share",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_open(self) -> bool:
        return self.status == self.Status.OPEN

    @property
    def draws_sides(self) -> bool:
        return draws_sides(self.instrument.questionnaire)

    @cached_property
    def current_guidelines(self) -> "Guidelines | None":
        return self.guidelines.first()


class Guidelines(models.Model):
    """An immutable version of a labelling project's guidelines; the latest is shown. Its rows are never changed."""

    label_project = models.ForeignKey(LabelProject, on_delete=models.CASCADE, related_name="guidelines")
    version = models.PositiveIntegerField()
    text = models.TextField(blank=True)  # Markdown
    examples = models.JSONField(default=list)  # {"item": external id, "answers": {code: value}, "why": text}
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-version"]
        constraints = [models.UniqueConstraint(fields=["label_project", "version"], name="guidelines_version_once")]

    def __str__(self) -> str:
        return f"guidelines v{self.version}"


class LabelMember(models.Model):
    """A person in a labelling project; made when they are named, or when they begin."""

    class Status(models.TextChoices):
        ACTIVE = "active", "Active"
        PAUSED = "paused", "Paused"
        EXCLUDED = "excluded", "Excluded"  # their work is marked, kept and left out

    label_project = models.ForeignKey(LabelProject, on_delete=models.CASCADE, related_name="label_members")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="label_members")
    cap = models.PositiveIntegerField(null=True, blank=True)  # items; None: as the labelling project has it
    sees_suggestions = models.BooleanField(default=True)
    status = models.CharField(max_length=20, choices=Status.choices, default=Status.ACTIVE)
    reason = models.CharField(max_length=500, blank=True)  # why paused or excluded
    qualified_at = models.DateTimeField(null=True, blank=True)  # training passed, or let on without
    failed_at = models.DateTimeField(null=True, blank=True)  # training done and not passed; stays when let on
    guidelines_read = models.PositiveIntegerField(default=0)  # the latest version they went on from; 0 for none
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["label_project", "user"], name="label_member_once")]

    def __str__(self) -> str:
        return f"{self.user} in {self.label_project}"

    @property
    def is_held_back(self) -> bool:
        """Whether the person did not pass the training and was not let on all the same."""
        return self.failed_at is not None and self.qualified_at is None


class KnownAnswer(models.Model):
    """An item whose right answers are known. It has no places of its own: everybody answers it once."""

    class Purpose(models.TextChoices):
        TRAINING = "training", "Training"  # first, with feedback
        GOLD = "gold", "Gold"  # among the others, without
        ATTENTION = "attention", "Attention check"  # likewise; tells of attention, not of skill

    label_project = models.ForeignKey(LabelProject, on_delete=models.CASCADE, related_name="known_answers")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="known_answers")
    purpose = models.CharField(max_length=20, choices=Purpose.choices)
    answers = models.JSONField()  # by question code, a list of the values that are right
    why = models.TextField(blank=True)  # Markdown; shown as feedback in training
    position = models.PositiveIntegerField()

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["label_project", "item"], name="known_answer_once")]

    def __str__(self) -> str:
        return f"{self.purpose} {self.item_id}"


class Assignment(models.Model):
    """One of an item's places. All places exist from the start, so no race can give out more than there are.

    Claiming puts an annotator and a lease on a free place (SKIP LOCKED). A lease that ran out stays with its holder
    until somebody else needs the place. Only items with known answers get places as people come to them.
    """

    class Status(models.TextChoices):
        FREE = "free", "Free"
        LEASED = "leased", "Being labelled"
        SUBMITTED = "submitted", "Submitted"
        SKIPPED = "skipped", "Skipped"
        INVALID = "invalid", "Left out"  # another place stands in for it; its answers are kept as history

    class Purpose(models.TextChoices):
        LABEL = "label", "Label"
        TRAINING = "training", "Training"
        GOLD = "gold", "Gold"
        ATTENTION = "attention", "Attention check"

    # Its indexes below begin with the project and the annotator. An index of the project alone is what a planner takes
    # that knows nothing of a new project yet, and then each claim goes through all places of it.
    label_project = models.ForeignKey(
        LabelProject, on_delete=models.CASCADE, related_name="assignments", db_index=False
    )
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="assignments")
    place = models.BigIntegerField()  # from 1; of a known answer, minus the member's key
    purpose = models.CharField(max_length=20, choices=Purpose.choices, default=Purpose.LABEL)
    rank = models.BigIntegerField()  # the order of work, drawn from the label project's seed
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="assignments",
        db_index=False,
    )
    status = models.CharField(max_length=20, choices=Status.choices, default=Status.FREE)
    lease_until = models.DateTimeField(null=True, blank=True)
    orders = models.JSONField(default=dict)  # option order by question, as this annotator sees it
    suggested = models.JSONField(default=dict)  # the model's values as shown, by question code
    suggested_as = models.CharField(max_length=20, db_default="", default="")  # LabelProject.Suggestions at that time
    guidelines_version = models.PositiveIntegerField(null=True, blank=True)  # the one in force at the first answer
    skip_reason = models.CharField(max_length=500, blank=True)
    invalid_reason = models.CharField(max_length=500, blank=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)  # first time; changing an answer leaves it alone

    # What only a claim knows: from whom the place was taken, and that the new holder has no draft or flag of its item.
    former_holder: int | None = None
    untouched = False
    member: LabelMember | None = None  # whose it is, after a submission

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
                | models.Q(status__in=["submitted", "skipped"], lease_until=None, finished_at__isnull=False)
                | models.Q(status="invalid", lease_until=None),
                name="place_has_the_times_of_its_status",
            ),
        ]
        indexes = [
            models.Index(fields=["label_project", "status", "rank", "place"]),
            models.Index(fields=["annotator", "label_project", "finished_at"]),
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


class Submission(models.Model):
    """One sending of a place's answers. Its key is drawn where it is sent, so that what arrives twice is known."""

    key = models.UUIDField(primary_key=True)
    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="submissions")
    digest = models.CharField(max_length=64)  # of the answers
    seconds = models.FloatField(null=True, blank=True)  # with the item before the person, where the page told
    at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return str(self.key)


class Decision(models.Model):
    """What an adjudicator decided on one question about one item. The latest stands; earlier ones stay as history."""

    label_project = models.ForeignKey(LabelProject, on_delete=models.CASCADE, related_name="decisions")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="decisions")
    question = models.CharField(max_length=80)  # code
    value = models.JSONField()
    note = models.TextField(blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="decisions")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-at", "-pk"]
        indexes = [models.Index(fields=["label_project", "item", "question", "-id"])]

    def __str__(self) -> str:
        return f"{self.question} of {self.item_id}: {self.value}"
