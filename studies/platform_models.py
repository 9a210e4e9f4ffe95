"""What the recruitment platform knows, encrypted and apart from answers, and what is sent to it.

Digests are keyed (projects.crypto.keyed_digest), so that ids can be found again and not guessed.
"""

from django.db import models

from projects.models import Project, User


class PlatformAccount(models.Model):
    """Access to a recruitment platform's interface for a project."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="platform_accounts")
    name = models.CharField(max_length=80)
    base_url = models.URLField(default="https://api.prolific.com")
    token_encrypted = models.TextField()
    webhook_key = models.CharField(max_length=40, unique=True)  # in the address that the platform calls
    webhook_secret_encrypted = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="platform_account_named_once")]

    def __str__(self) -> str:
        return self.name


class PlatformIdentity(models.Model):
    """Who a person is on the platform: encrypted, apart from the answers, deletable on request.

    There may be no session: the platform knows of people who never came.
    """

    study = models.ForeignKey("studies.Study", on_delete=models.CASCADE, related_name="identities")
    session = models.OneToOneField(
        "studies.Session", on_delete=models.CASCADE, null=True, blank=True, related_name="identity"
    )
    person_digest = models.CharField(max_length=64)  # as the session has it
    participant_encrypted = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "platform identities"
        constraints = [models.UniqueConstraint(fields=["study", "person_digest"], name="one_identity_a_person")]

    def __str__(self) -> str:
        return f"platform identity {self.pk}"


class ForgottenPerson(models.Model):
    """Somebody who was deleted on request: what the platform tells of them later is not taken in again."""

    study = models.ForeignKey("studies.Study", on_delete=models.CASCADE, related_name="forgotten_people")
    person_digest = models.CharField(max_length=64)

    class Meta:
        verbose_name_plural = "forgotten people"
        constraints = [models.UniqueConstraint(fields=["study", "person_digest"], name="person_forgotten_once")]

    def __str__(self) -> str:
        return f"forgotten person {self.pk}"


class PlatformSubmission(models.Model):
    """One submission (Prolific: SESSION_ID) of a person, and how it stands there."""

    class Status(models.TextChoices):
        UNKNOWN = "", "Not known yet"
        RESERVED = "RESERVED", "Reserved"
        ACTIVE = "ACTIVE", "Active"
        AWAITING_REVIEW = "AWAITING REVIEW", "Awaiting review"
        APPROVED = "APPROVED", "Approved"
        PARTIALLY_APPROVED = "PARTIALLY APPROVED", "Partially approved"
        REJECTED = "REJECTED", "Rejected"
        RETURNED = "RETURNED", "Returned"
        TIMED_OUT = "TIMED-OUT", "Timed out"
        SCREENED_OUT = "SCREENED OUT", "Screened out"

    identity = models.ForeignKey(PlatformIdentity, on_delete=models.CASCADE, related_name="submissions")
    submission_digest = models.CharField(max_length=64, db_index=True)
    submission_encrypted = models.TextField()
    status = models.CharField(max_length=20, choices=Status.choices, blank=True, default="")
    code = models.CharField(max_length=60, blank=True)  # that the person entered there
    started_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    return_requested_at = models.DateTimeField(null=True, blank=True)
    status_at = models.DateTimeField(null=True, blank=True)  # the platform's time of the status; older news are ignored

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["identity", "submission_digest"], name="one_submission_of_an_id_a_person")
        ]

    def __str__(self) -> str:
        return f"platform submission {self.pk}"


class PlatformEvent(models.Model):
    """A message of the platform that was taken in; one that comes again is known by its id."""

    account = models.ForeignKey(PlatformAccount, on_delete=models.CASCADE, related_name="events")
    event_id = models.CharField(max_length=100)
    event_type = models.CharField(max_length=60)
    happened_at = models.DateTimeField()
    received_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "event_id"], name="platform_event_once")]

    def __str__(self) -> str:
        return f"{self.event_type} {self.event_id}"


class PlatformAction(models.Model):
    """Something to be sent to the platform for one submission, after a person confirmed the list it stands on.

    A bonus is marked as sending before it is sent: one whose answer was lost is never sent again by itself.
    """

    class Kind(models.TextChoices):
        APPROVE = "approve", "Approve"
        REQUEST_RETURN = "request_return", "Ask to return"
        BONUS = "bonus", "Pay a bonus"

    class Status(models.TextChoices):
        PLANNED = "planned", "To be confirmed"
        CONFIRMED = "confirmed", "Confirmed"
        SENDING = "sending", "Sent, not answered"
        DONE = "done", "Done"
        REFUSED = "refused", "Refused by the platform"

    study = models.ForeignKey("studies.Study", on_delete=models.CASCADE, related_name="platform_actions")
    submission = models.ForeignKey(PlatformSubmission, on_delete=models.CASCADE, related_name="actions")
    batch = models.UUIDField()  # the list
    kind = models.CharField(max_length=20, choices=Kind.choices)
    amount = models.DecimalField(max_digits=8, decimal_places=2, null=True, blank=True)  # of a bonus, major units
    reason = models.CharField(max_length=500, blank=True)
    status = models.CharField(max_length=20, choices=Status.choices, default=Status.PLANNED)
    platform_reference = models.CharField(max_length=100, blank=True)  # of the bonus payment there
    problem = models.CharField(max_length=500, blank=True)
    planned_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    confirmed_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    sent_at = models.DateTimeField(null=True, blank=True)  # when it was marked as sending, last
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["submission", "kind", "batch"], name="platform_action_once_a_list"),
            models.CheckConstraint(
                condition=models.Q(kind="bonus", amount__gt=0) | (~models.Q(kind="bonus") & models.Q(amount=None)),
                name="bonuses_have_an_amount",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"
