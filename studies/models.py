"""Participants answer: published survey versions, each person's run through one, and every screen shown."""

import secrets
from functools import cached_property
from typing import Any

from django.db import models

from materials.models import Dataset, Instrument, Item
from materials.questions import parse_questions
from projects.models import Project, User
from responses.models import Respondent
from studies.dealing import deal_checks, deal_pages
from studies.design import Design, Texts, parse_design, parse_texts
from studies.filters import Filter, parse_filters
from studies.flow import Parts, steps_before_place, steps_of_place
from studies.platform_models import (
    ForgottenPerson,
    PlatformAccount,
    PlatformAction,
    PlatformEvent,
    PlatformIdentity,
    PlatformSubmission,
)
from studies.querysets import SessionQuerySet, StudyQuerySet
from studies.translating import Translation, parse_translations

__all__ = [
    "ForgottenPerson",
    "PlatformAccount",
    "PlatformAction",
    "PlatformEvent",
    "PlatformIdentity",
    "PlatformSubmission",
    "Preregistration",
    "Screen",
    "Session",
    "Study",
    "new_key",
]


def new_key() -> str:
    """An unguessable key for a URL: 128 random bits."""
    return secrets.token_urlsafe(16)


class Study(models.Model):
    """A survey version that people can enter. Once open, its design and texts never change (a trigger refuses it)."""

    class Status(models.TextChoices):
        DRAFT = "draft", "Draft"
        OPEN = "open", "Open"
        CLOSED = "closed", "Closed"

    class Platform(models.TextChoices):
        PROLIFIC = "prolific", "Prolific"
        NONE = "none", "No platform"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="studies")
    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=80)
    version = models.PositiveIntegerField(default=1)
    key = models.CharField(max_length=40, unique=True, default=new_key)
    platform = models.CharField(max_length=20, choices=Platform.choices, default=Platform.PROLIFIC)
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="studies")
    instrument = models.ForeignKey(Instrument, on_delete=models.PROTECT, related_name="studies")
    demographics = models.JSONField(default=list)  # questions, in the instrument's format
    texts = models.JSONField(default=dict)  # title, consent, instructions, debrief, ... in Markdown
    design = models.JSONField(default=dict)  # what studies.design describes
    completion_codes = models.JSONField(default=dict)  # by outcome: completed, no_consent, failed_attention, ...
    translations = models.JSONField(default=dict)  # by language: texts, questions, options, headings of the item
    filters = models.JSONField(default=list)  # quality filters in order, declared before anybody enters
    status = models.CharField(max_length=20, choices=Status.choices, default=Status.DRAFT)
    # How it is run, which may change while it is open:
    platform_account = models.ForeignKey(
        "PlatformAccount", on_delete=models.SET_NULL, null=True, blank=True, related_name="studies"
    )
    platform_study_id = models.CharField(max_length=64, blank=True)
    signed_entry = models.BooleanField(default=False)  # only with the platform's signed token
    retain_until = models.DateField(null=True, blank=True)  # then the platform ids go
    created_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True, blank=True)

    objects = StudyQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "studies"
        ordering = ["name", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["project", "slug", "version"], name="study_version_once"),
            models.CheckConstraint(
                condition=models.Q(status="draft", opened_at=None)
                | models.Q(status__in=["open", "closed"], opened_at__isnull=False),
                name="study_is_draft_until_opened",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} (version {self.version})"

    @property
    def contact(self) -> str:
        """Whom to ask, in words or as an address, to be followed by a full stop; "" when the design names nobody."""
        return str(self.design.get("contact", "")).rstrip(". ") if isinstance(self.design, dict) else ""

    @cached_property
    def parsed_design(self) -> Design:
        return parse_design(self.design)

    @cached_property
    def parsed_texts(self) -> Texts:
        return parse_texts(self.texts)

    @cached_property
    def parsed_translations(self) -> dict[str, Translation]:
        return parse_translations(self.translations)

    @property
    def languages(self) -> list[str]:
        """The study's own language, then those it is translated to."""
        return [self.parsed_design.language, *self.parsed_translations]

    @cached_property
    def parsed_filters(self) -> tuple[Filter, ...]:
        return parse_filters(self.filters)

    @cached_property
    def demographic_questions(self) -> tuple[Any, ...]:
        return parse_questions(self.demographics).questions if self.demographics else ()

    @cached_property
    def item_questions(self) -> tuple[Any, ...]:
        """The questions asked about each item."""
        return self.instrument.questionnaire.only(self.parsed_design.questions).questions

    @cached_property
    def item_pages(self) -> list[list[str]]:
        """The codes asked on each page of an item; raises DesignError when the groups do not fit the instrument."""
        return self.parsed_design.pages([question.code for question in self.item_questions])

    @cached_property
    def questions(self) -> dict[str, Any]:
        """Every question of the study by its code, which nothing else of the study has."""
        design = self.parsed_design
        about_all = [check.question for check in design.attention_checks]
        about_all += design.comprehension.questions if design.comprehension else ()
        return {question.code: question for question in (*self.demographic_questions, *self.item_questions, *about_all)}

    def parts(self, *, place: int, seed: str) -> Parts:
        """What the session at this place has; every session of a study has equally many screens."""
        design, texts = self.parsed_design, self.parsed_texts
        drawn: dict[str, Any] = {"items_each": design.items_each, "place": place, "seed": seed}
        return Parts(
            platform_id=design.confirm_platform_id and self.platform != self.Platform.NONE,
            demographics=bool(self.demographics),
            instructions=bool(texts.instructions),
            comprehension=design.comprehension is not None,
            pages=deal_pages(self.item_pages, design.asked_on, **drawn),
            checks=deal_checks(len(design.attention_checks), **drawn),
            debrief=bool(texts.debrief),
        )

    @cached_property
    def page_count(self) -> int:
        """How many screens a session has."""
        parts = self.parts(place=1, seed="")
        return len(steps_before_place(parts)) + len(steps_of_place(parts))


class Preregistration(models.Model):
    """What was decided before the data came: design, filters and planned report, with their hash and the time."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="preregistrations")
    content = models.JSONField()
    digest = models.CharField(max_length=64)  # SHA-256 of the content as canonical JSON
    made_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"preregistration {self.pk} of study {self.study_id}"


class Session(models.Model):
    """One participant's run through a study. One per person: `person_digest` is unique within the study.

    A place is what the design deals out: items, cell and orders follow from its number within the stratum. It is the
    session's from the moment it is dealt until it is given back, and then goes to the next person. Who goes on after
    that, or had left the platform before one was dealt, is not sent away: their answers count as late.
    """

    class Status(models.TextChoices):
        STARTED = "started", "Started"
        COMPLETED = "completed", "Completed"
        NO_CONSENT = "no_consent", "No consent"
        SCREENED_OUT = "screened_out", "Screened out"
        QUOTA_FULL = "quota_full", "Quota full"
        FAILED_COMPREHENSION = "failed_comprehension", "Failed comprehension check"
        FAILED_ATTENTION = "failed_attention", "Failed attention check"

    class GivenBack(models.TextChoices):
        """Why a place was given back."""

        TIMED_OUT = "timed_out", "Timed out"
        RETURNED = "returned", "Returned on the platform"
        ENDED = "ended", "Ended without all answers"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="sessions")
    key = models.CharField(max_length=40, unique=True, default=new_key)
    person_digest = models.CharField(max_length=64)  # keyed digest of the platform id, or random without a platform
    respondent = models.OneToOneField(
        Respondent, on_delete=models.PROTECT, null=True, blank=True, related_name="session"
    )
    status = models.CharField(max_length=20, choices=Status.choices, default=Status.STARTED)
    simulated = models.BooleanField(default=False)
    pilot = models.BooleanField(default=False)  # by the link for trying; never counted, no responses
    number = models.PositiveIntegerField()  # order of entry
    stratum = models.CharField(max_length=400, blank=True)  # places are dealt apart within each
    place = models.PositiveIntegerField(null=True, blank=True)  # 1, 2, ... within the stratum
    given_back_at = models.DateTimeField(null=True, blank=True)
    given_back_why = models.CharField(max_length=20, choices=GivenBack.choices, blank=True)
    cell = models.JSONField(default=dict)  # levels of the factors between people, by factor
    language = models.CharField(max_length=20, blank=True)
    consent_version = models.CharField(max_length=64, blank=True)
    consented_at = models.DateTimeField(null=True, blank=True)
    attributes = models.JSONField(default=dict)
    attention_passed = models.BooleanField(null=True, blank=True)
    started_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = SessionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "person_digest"], name="one_session_a_person"),
            models.UniqueConstraint(fields=["study", "number"], name="session_number_once_a_study"),
            models.CheckConstraint(
                condition=models.Q(status="started", finished_at=None)
                | (~models.Q(status="started") & models.Q(finished_at__isnull=False)),
                name="session_ends_when_finished",
            ),
            models.UniqueConstraint(
                fields=["study", "simulated", "pilot", "stratum", "place"],
                condition=models.Q(place__isnull=False, given_back_at=None),
                name="place_is_one_persons",
            ),
        ]
        indexes = [models.Index(fields=["study", "status"])]

    def __str__(self) -> str:
        return f"session {self.pk} of study {self.study_id}"

    @property
    def late(self) -> bool:
        """Whether the person finished after their place had been given back."""
        return bool(
            self.status == self.Status.COMPLETED
            and self.given_back_at
            and self.finished_at
            and self.given_back_at < self.finished_at
        )

    @property
    def dealt_place(self) -> int:
        """The place's number, given back or not; a ValueError before one is dealt."""
        if self.place is None:
            raise ValueError(f"{self} has no place yet.")
        return self.place

    @property
    def dealing_seed(self) -> str:
        """From this and the place follows what the session shows."""
        return f"{self.study.parsed_design.seed}/{self.stratum}"


class Screen(models.Model):
    """A page of a session: what is shown, in which order and seed, when it was shown and answered."""

    class Kind(models.TextChoices):
        CONSENT = "consent", "Consent"
        DEMOGRAPHICS = "demographics", "Demographics"
        PLATFORM_ID = "platform_id", "Platform id"
        INSTRUCTIONS = "instructions", "Instructions"
        COMPREHENSION = "comprehension", "Comprehension check"
        ITEM = "item", "Scenario"
        ATTENTION = "attention", "Attention check"
        DEBRIEF = "debrief", "Debriefing"

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="screens")
    position = models.PositiveIntegerField()
    kind = models.CharField(max_length=20, choices=Kind.choices)
    item = models.ForeignKey(Item, on_delete=models.PROTECT, null=True, blank=True, related_name="screens")
    group = models.PositiveSmallIntegerField(default=0)  # which of the item's pages
    factors = models.JSONField(default=dict)  # levels of this screen's item, by factor, relation among them
    asked = models.JSONField(default=list)  # codes of its questions, in order
    orders = models.JSONField(default=dict)  # option codes as shown, by question code
    answers = models.JSONField(default=dict)  # what was accepted, first answer kept
    refused = models.JSONField(default=dict)  # until then: `given` and `errors` of what was sent and not accepted
    draft = models.JSONField(default=dict)  # what is typed and not sent yet
    tries = models.PositiveSmallIntegerField(default=0)  # of a comprehension check
    language = models.CharField(max_length=20, blank=True)  # in which it was answered
    paradata = models.JSONField(default=dict)  # seconds by the browser's clock, focus losses, pastes, resizes: numbers
    shown_at = models.DateTimeField(null=True, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["session", "position"]
        constraints = [
            models.UniqueConstraint(fields=["session", "position"], name="screen_position_once"),
            models.CheckConstraint(
                condition=models.Q(kind="item", item__isnull=False) | (~models.Q(kind="item") & models.Q(item=None)),
                name="item_screens_have_the_item",
            ),
        ]

    def __str__(self) -> str:
        return f"screen {self.position} of session {self.session_id}"
