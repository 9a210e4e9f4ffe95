"""Access to the platform: accounts with their secrets, and which study there is which here."""

from django.db import IntegrityError, transaction

from projects.crypto import decrypt, encrypt
from projects.models import Project, User
from projects.services import audit
from studies.models import PlatformAccount, Study, new_key
from studies.platform_api import PlatformClient


class AccountError(ValueError):
    """An account or connection that cannot be stored as given; the text says why and what to do."""


@transaction.atomic
def save_account(
    *,
    project: Project,
    name: str,
    token: str = "",
    webhook_secret: str = "",
    account: PlatformAccount | None = None,
    by: User | None = None,
) -> PlatformAccount:
    """Make an account or change one. Secrets are stored encrypted; an empty one keeps what is stored.

    Raises AccountError without a token, or when the name is taken.
    """
    account = account or PlatformAccount(project=project, webhook_key=new_key())
    account.name = name
    if token:
        account.token_encrypted = encrypt(token)
    if webhook_secret:
        account.webhook_secret_encrypted = encrypt(webhook_secret)
    if not account.token_encrypted:
        raise AccountError("Give the token; without it the platform answers nothing.")
    try:
        with transaction.atomic():
            account.save()
    except IntegrityError as error:
        raise AccountError(f"There is an account {name} already; choose another name.") from error
    audit(project=project, user=by, action="platform account saved", account=name, new_token=bool(token))
    return account


@transaction.atomic
def connect_study(
    *, study: Study, account: PlatformAccount | None, platform_study_id: str, signed_entry: bool, by: User | None
) -> None:
    """Say which study there this one is, by which account it is asked for, and whether only signed links let in.

    Raises AccountError when another study of the project is connected to it, or the account is another project's.
    """
    if account and account.project_id != study.project_id:
        raise AccountError("The account belongs to another project.")
    others = Study.objects.filter(project_id=study.project_id, platform_study_id=platform_study_id).exclude(pk=study.pk)
    if platform_study_id and (other := others.first()):
        raise AccountError(f"{other} is connected to this study of the platform already.")
    study.platform_account, study.platform_study_id = account, platform_study_id
    study.signed_entry = signed_entry
    study.save(update_fields=["platform_account", "platform_study_id", "signed_entry"])
    name = account.name if account else ""
    audit(project=study.project, user=by, action="study connected", study=study.pk, account=name, signed=signed_entry)


def open_client(study: Study) -> PlatformClient:
    """The platform's interface with the study's account. Raises AccountError when the study is not connected."""
    account = study.platform_account
    if account is None or not study.platform_study_id:
        raise AccountError("The study is not connected; choose the account and give the study's id there.")
    return PlatformClient(account.base_url, decrypt(account.token_encrypted))
