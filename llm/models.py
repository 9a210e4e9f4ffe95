"""Models answer: endpoints, immutable prompt versions, planned jobs and their single calls."""

import uuid
from decimal import Decimal
from functools import cached_property
from typing import Any, cast

from django.conf import settings
from django.db import models

from llm.planning.grid import Factor, Grid
from llm.planning.orders import count_orders
from llm.reading.parsing import AnswerMode
from materials.models import Dataset, Instrument, Item
from projects.models import Project
from responses.models import Condition, Respondent


class Endpoint(models.Model):
    """An OpenAI-compatible server and one model on it, with what it can do and what it costs."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="endpoints")
    name = models.CharField(max_length=100)
    base_url = models.URLField(max_length=500)
    model = models.CharField(max_length=200)
    key_variable = models.CharField(max_length=100, blank=True)  # name of an environment variable
    key_encrypted = models.TextField(blank=True)  # or the key itself, encrypted, never shown again
    concurrency = models.PositiveIntegerField(default=4)
    requests_per_minute = models.PositiveIntegerField(null=True, blank=True)
    tokens_per_minute = models.PositiveIntegerField(null=True, blank=True)
    timeout_seconds = models.FloatField(default=60)
    price_per_million_in = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    price_per_million_out = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    batch_price_factor = models.DecimalField(max_digits=4, decimal_places=3, default=Decimal("0.5"))
    capabilities = models.JSONField(default=dict)
    probed_at = models.DateTimeField(null=True, blank=True)
    demo_model = models.BooleanField(default=False)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="endpoint_name_once_a_project"),
            models.CheckConstraint(condition=models.Q(concurrency__gte=1), name="endpoint_concurrency_at_least_one"),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.model})"

    def price(self, prompt_tokens: int, completion_tokens: int) -> Decimal | None:
        """What so many tokens cost, in the currency of the prices; None where no prices are set."""
        if self.price_per_million_in is None or self.price_per_million_out is None:
            return None
        return (prompt_tokens * self.price_per_million_in + completion_tokens * self.price_per_million_out) / 1_000_000


class Prompt(models.Model):
    """A version of a system and a user template (Jinja2, sandboxed). A database trigger refuses changes."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="prompts")
    name = models.SlugField(max_length=80)
    version = models.PositiveIntegerField()
    system = models.TextField(blank=True)
    user = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "-version"]
        constraints = [models.UniqueConstraint(fields=["project", "name", "version"], name="prompt_version_once")]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"


class Job(models.Model):
    """Planned calls at one endpoint: items x samples x conditions (llm.planning.grid), asked live or as batches.

    The ledger of calls is written ahead of those who ask (`expanded_*`), so that a million calls start at once. What
    became of them is counted here as they are settled.
    """

    class Status(models.TextChoices):
        PLANNED = "planned", "Planned"
        RUNNING = "running", "Running"
        PAUSED = "paused", "Paused"
        DONE = "done", "Done"
        STOPPED = "stopped", "Stopped"

    class Kind(models.TextChoices):
        SIMULATE = "simulate", "Simulate"
        JUDGE = "judge", "Judge"
        ANNOTATE = "annotate", "Annotate"
        GENERATE = "generate", "Generate"

    class OptionOrders(models.TextChoices):
        DRAWN = "drawn", "Drawn for each call by the seed"
        WRITTEN = "written", "As written in the instrument"
        BOTH = "both", "Each call twice: as written and reversed"
        ROTATED = "rotated", "Each option first once"

    class Way(models.TextChoices):
        LIVE = "live", "Live"
        BATCH = "batch", "Batch API"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="jobs")
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=20, choices=Kind.choices)
    series = models.UUIDField(default=uuid.uuid4, db_index=True)  # jobs planned together, one for each endpoint
    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="jobs")
    prompts = models.ManyToManyField(Prompt, related_name="jobs")  # several: styles of asking, a factor of their own
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="jobs")
    instrument = models.ForeignKey(Instrument, on_delete=models.PROTECT, related_name="jobs")
    question_codes = models.JSONField(default=list)  # empty: all questions of the instrument
    item_filter = models.JSONField(default=dict)  # field: list of values, one of which the item has
    max_items = models.PositiveIntegerField(null=True, blank=True)
    items_drawn = models.BooleanField(default=False)  # max_items drawn by the seed, otherwise the first ones
    personas = models.JSONField(default=list)  # list of attribute objects; {} is "no persona"
    factors = models.JSONField(default=list)  # as llm.planning.grid.Factor
    option_orders = models.CharField(max_length=20, choices=OptionOrders.choices, default=OptionOrders.DRAWN)
    conditions_per_item = models.PositiveIntegerField(null=True, blank=True)  # null: all of them
    samples = models.PositiveIntegerField(default=1)
    seed = models.BigIntegerField(default=1)
    temperature = models.FloatField(default=0)
    top_p = models.FloatField(default=1)
    max_tokens = models.PositiveIntegerField(default=128)
    answer_mode = models.CharField(max_length=20, default="auto")  # one of llm.reading.parsing.ANSWER_MODES
    answer_sentence = models.CharField(max_length=300, blank=True)
    logprobs = models.BooleanField(default=False)  # ask for log-probabilities where the endpoint gives them
    max_attempts = models.PositiveIntegerField(default=6)  # transport tries for one call
    max_parse_attempts = models.PositiveIntegerField(default=2)  # asked again when unparsed
    way = models.CharField(max_length=10, choices=Way.choices, default=Way.LIVE)
    budget_calls = models.PositiveIntegerField(null=True, blank=True)
    budget_tokens = models.PositiveBigIntegerField(null=True, blank=True)
    budget_price = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)

    status = models.CharField(max_length=20, choices=Status.choices, default=Status.PLANNED)
    status_reason = models.CharField(max_length=500, blank=True)
    pilot = models.BooleanField(default=False)  # only the calls of the pilot are in the ledger yet
    held_until = models.DateTimeField(null=True, blank=True)  # the endpoint is down: nobody asks before
    holds = models.PositiveIntegerField(default=0)  # in a row; each waits longer than the one before
    planned_calls = models.PositiveBigIntegerField(default=0)  # set at the start
    tokens_each = models.PositiveIntegerField(default=0)  # estimate of a call's prompt, set at the start
    end_position = models.PositiveBigIntegerField(default=0)  # items imported after the start do not belong to it
    expanded_position = models.PositiveBigIntegerField(default=0)  # items before it are in the ledger
    expanded_items = models.PositiveBigIntegerField(default=0)
    expanded = models.BooleanField(default=False)  # the whole ledger is written
    n_ok = models.PositiveBigIntegerField(default=0)
    n_truncated = models.PositiveBigIntegerField(default=0)
    n_unparsed = models.PositiveBigIntegerField(default=0)
    n_refused = models.PositiveBigIntegerField(default=0)
    n_error = models.PositiveBigIntegerField(default=0)
    n_reused = models.PositiveBigIntegerField(default=0)
    requests = models.PositiveBigIntegerField(default=0)
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status__in=["planned", "running", "paused", "done", "stopped"]),
                name="job_status_known",
            ),
            models.CheckConstraint(
                condition=models.Q(samples__gte=1, max_tokens__gte=1, max_attempts__gte=1, max_parse_attempts__gte=1),
                name="job_counts_at_least_one",
            ),
            models.CheckConstraint(
                condition=models.Q(option_orders__in=["drawn", "written", "both", "rotated"]),
                name="job_option_orders_known",
            ),
            models.CheckConstraint(condition=models.Q(way__in=["live", "batch"]), name="job_way_known"),
        ]

    def __str__(self) -> str:
        return self.name

    @cached_property
    def questions(self) -> tuple[Any, ...]:
        """The questions that are asked, in the instrument's order."""
        return self.instrument.questionnaire.only(self.question_codes).questions

    @property
    def mode(self) -> AnswerMode:
        """How answers are read."""
        return cast(AnswerMode, self.answer_mode)

    @cached_property
    def prompt_list(self) -> list[Prompt]:
        """The prompts in the order of the grid. Costs a query."""
        return list(self.prompts.order_by("pk"))

    @cached_property
    def grid(self) -> Grid:
        """The conditions under which each item is asked. Costs a query."""
        return Grid(
            prompts=len(self.prompt_list),
            personas=self.personas,
            factors=tuple(Factor.from_json(factor) for factor in self.factors),
            orders=count_orders(self.questions, self.option_orders),
            per_item=self.conditions_per_item,
            seed=self.seed,
        )

    @property
    def repeatable(self) -> bool:
        """Whether an equal request is worth no second one: at temperature 0, where the endpoint takes a temperature."""
        return self.temperature == 0 and bool(self.endpoint.capabilities.get("supports_temperature", True))

    @property
    def settled(self) -> int:
        return self.n_ok + self.failed

    @property
    def failed(self) -> int:
        """Calls that ended without an answer."""
        return self.n_truncated + self.n_unparsed + self.n_refused + self.n_error

    @property
    def price(self) -> Decimal | None:
        """What was spent so far; None where the endpoint has no prices."""
        return self.price_of(self.prompt_tokens, self.completion_tokens)

    def price_of(self, prompt_tokens: int, completion_tokens: int) -> Decimal | None:
        """What so many tokens cost the way this job is asked."""
        price = self.endpoint.price(prompt_tokens, completion_tokens)
        return price if price is None or self.way == self.Way.LIVE else price * self.endpoint.batch_price_factor


class Call(models.Model):
    """One call of a job: what was asked, what came back, what it cost. Its row decides whether it is still to do."""

    class Status(models.TextChoices):
        PENDING = "pending", "Pending"
        CLAIMED = "claimed", "In flight"
        OK = "ok", "Answered"
        TRUNCATED = "truncated", "Truncated"
        UNPARSED = "unparsed", "Unparsed"
        REFUSED = "refused", "Refused"
        ERROR = "error", "Error"

    # Two other indexes begin with the job; each one less is one write less for every change of a call.
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="calls", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="calls")
    respondent = models.ForeignKey(Respondent, on_delete=models.PROTECT, related_name="calls")
    condition = models.ForeignKey(Condition, on_delete=models.PROTECT, related_name="calls")
    sample = models.PositiveIntegerField(default=0)
    cell = models.PositiveIntegerField(default=0)  # of the job's grid
    orders = models.JSONField(default=dict)  # option codes as shown, by question code
    status = models.CharField(max_length=20, choices=Status.choices, default=Status.PENDING)
    claimed_by = models.UUIDField(null=True, blank=True)  # the shard that holds it
    lease_until = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    # Of the replies by batches since the call was last asked again: faults, and answers that could not be read.
    failed_attempts = models.PositiveSmallIntegerField(default=0)
    parse_attempts = models.PositiveSmallIntegerField(default=0)
    fingerprint = models.CharField(max_length=64, blank=True)
    messages = models.JSONField(default=list)
    reply = models.JSONField(null=True, blank=True)  # the raw body of the last reply
    text = models.TextField(blank=True)
    reasoning = models.TextField(blank=True)
    values = models.JSONField(null=True, blank=True)
    parse_mode = models.CharField(max_length=20, blank=True)  # how the values were read
    probabilities = models.JSONField(null=True, blank=True)  # by question code, as llm.reading.probabilities has them
    problem = models.CharField(max_length=500, blank=True)
    prompt_tokens = models.PositiveIntegerField(null=True, blank=True)  # of all tries together
    completion_tokens = models.PositiveIntegerField(null=True, blank=True)
    latency_seconds = models.FloatField(null=True, blank=True)
    reused_from = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["job", "item", "respondent", "condition", "sample"], name="call_once_a_job_cell"
            ),
            models.CheckConstraint(
                condition=~models.Q(status="claimed") | models.Q(claimed_by__isnull=False, lease_until__isnull=False),
                name="claimed_call_has_a_lease",
            ),
            models.CheckConstraint(
                condition=~models.Q(status="ok") | models.Q(values__isnull=False), name="answered_call_has_values"
            ),
            models.CheckConstraint(
                condition=models.Q(
                    status__in=["pending", "claimed", "ok", "truncated", "unparsed", "refused", "error"]
                ),
                name="call_status_known",
            ),
        ]
        indexes = [
            models.Index(fields=["job", "status", "id"]),
            models.Index(fields=["claimed_by"], condition=models.Q(status="claimed"), name="call_claimed_by"),
            models.Index(fields=["fingerprint"], condition=models.Q(status="ok"), name="call_reusable"),
        ]

    def __str__(self) -> str:
        return f"call {self.pk} of job {self.job_id}"

    @property
    def persona(self) -> dict[str, Any]:
        """The persona that the call's respondent answers as; {} for the model as itself."""
        own = ("model", "endpoint", "persona")
        return {name: value for name, value in self.respondent.attributes.items() if name not in own}


class Batch(models.Model):
    """Calls of a job that the endpoint's server has as one batch, or is about to get.

    The row is there before anything is sent, and its key goes along, so that whoever comes after a killed worker finds
    the batch at the server instead of sending it again. The calls are held by the key as by a shard.
    """

    class Status(models.TextChoices):
        PREPARING = "preparing", "Being written"  # nothing was sent yet
        SENDING = "sending", "Being sent"  # the server may know of it
        UNDERWAY = "underway", "Under way"
        COLLECTED = "collected", "Collected"
        FAILED = "failed", "Failed"  # its calls went back to the job
        LOST = "lost", "Not made"  # it never came to be at the server

    OPEN = (Status.PREPARING, Status.SENDING, Status.UNDERWAY)

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="batches")
    key = models.UUIDField(unique=True, default=uuid.uuid4)
    status = models.CharField(max_length=20, choices=Status.choices, default=Status.PREPARING)
    n_requests = models.PositiveIntegerField(default=0)  # lines of its file
    server_id = models.CharField(max_length=200, blank=True)
    server_status = models.CharField(max_length=40, blank=True)  # in the server's word
    n_completed = models.PositiveIntegerField(default=0)  # by the server's count
    n_failed = models.PositiveIntegerField(default=0)
    files = models.JSONField(default=dict)  # at the server: input, output, error and their ids, until deleted
    files_problem = models.CharField(max_length=500, blank=True)  # why they are there still
    problem = models.CharField(max_length=500, blank=True)
    cancel_asked = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    sent_at = models.DateTimeField(null=True, blank=True)  # just before the server was asked to make it
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status__in=["preparing", "sending", "underway", "collected", "failed", "lost"]),
                name="batch_status_known",
            ),
            models.CheckConstraint(
                condition=~models.Q(status="underway") | ~models.Q(server_id=""), name="batch_under_way_has_an_id"
            ),
            models.UniqueConstraint(
                fields=["job", "server_id"], condition=~models.Q(server_id=""), name="batch_once_a_server_id"
            ),
        ]
        indexes = [
            models.Index(
                fields=["job"], condition=models.Q(status__in=["preparing", "sending", "underway"]), name="batch_open"
            ),
        ]

    def __str__(self) -> str:
        return f"batch {self.pk} of job {self.job_id}"
