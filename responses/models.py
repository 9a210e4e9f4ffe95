"""What was answered: one table for annotators, participants and models."""

from django.db import models

from materials.models import Instrument, Item
from projects.models import Project


class RespondentKind(models.TextChoices):
    ANNOTATOR = "annotator", "Annotator"
    PARTICIPANT = "participant", "Participant"
    MODEL = "model", "Model"


class Outcome(models.TextChoices):
    """How a participant's session stands: the respondent's attribute `outcome`, which who had no session lacks."""

    COMPLETED = "completed", "Completed"
    UNFINISHED = "unfinished", "Not finished"
    FAILED_ATTENTION = "failed_attention", "Failed the attention check"


class Respondent(models.Model):
    """Who answers. Attributes are data (country, age_group, gender, model name), never names or platform ids.

    A model with a persona is a respondent of its own, whose attributes use the same names as a person's.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="respondents")
    kind = models.CharField(max_length=20, choices=RespondentKind.choices)
    key = models.CharField(max_length=200)
    attributes = models.JSONField(default=dict)
    simulated = models.BooleanField(default=False)  # a bot in a person's place
    demo_model = models.BooleanField(default=False)  # the embedded model: real, tiny, at chance as a judge
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "key"], name="respondent_key_once_a_project"),
            models.CheckConstraint(condition=models.Q(kind__in=RespondentKind.values), name="respondent_kind_known"),
            models.CheckConstraint(
                condition=models.Q(demo_model=False) | models.Q(kind=RespondentKind.MODEL), name="demo_model_is_a_model"
            ),
            models.CheckConstraint(
                condition=models.Q(simulated=False) | ~models.Q(kind=RespondentKind.MODEL), name="simulated_is_a_person"
            ),
        ]

    def __str__(self) -> str:
        return self.key


class Condition(models.Model):
    """The named factors under which an answer was given (prompt, option order, ...); one row per distinct set."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="conditions")
    factors = models.JSONField(default=dict)
    digest = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "digest"], name="condition_once_a_project")]

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.factors.items()) or "no condition"


class SourceKind(models.TextChoices):
    ASSIGNMENT = "assignment", "Labelling assignment"
    SESSION = "session", "Survey session"
    CALL = "call", "Model call"
    IMPORT = "import", "Import"


class Response(models.Model):
    """An answer. Written only by responses.services.record and record_many; never overwritten, only superseded."""

    # Without indexes of their own where one of those below begins with the field.
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="responses", db_index=False)
    respondent = models.ForeignKey(Respondent, on_delete=models.CASCADE, related_name="responses")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="responses", db_index=False)
    instrument = models.ForeignKey(Instrument, on_delete=models.PROTECT, related_name="responses")
    question = models.CharField(max_length=60)
    condition = models.ForeignKey(Condition, on_delete=models.PROTECT, related_name="responses")
    sample = models.PositiveIntegerField(default=0)
    value = models.JSONField()
    answered_at = models.DateTimeField()
    seconds = models.FloatField(null=True, blank=True)
    source_kind = models.CharField(max_length=20, choices=SourceKind.choices)
    source_id = models.BigIntegerField(null=True, blank=True)
    superseded_by = models.ForeignKey(
        "self", on_delete=models.CASCADE, null=True, blank=True, related_name="supersedes"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["respondent", "item", "instrument", "question", "condition", "sample"],
                condition=models.Q(superseded_by=None),
                name="one_standing_response_per_natural_key",
            ),
            models.CheckConstraint(condition=models.Q(source_kind__in=SourceKind.values), name="response_source_known"),
        ]
        indexes = [
            models.Index(fields=["project", "id"]),
            models.Index(fields=["item", "question"]),
            models.Index(fields=["source_kind", "source_id"]),
        ]

    def __str__(self) -> str:
        return f"{self.respondent_id} on {self.item_id}, {self.question}: {self.value}"
