"""Entry with a link that the platform has signed."""

from collections.abc import Mapping
from typing import Any

from django.core.cache import cache

from studies.models import PlatformAccount, Session, Study
from studies.platform_api import PlatformClient
from studies.platform_signatures import SignatureError, UnknownKeyError, check_entry
from studies.services.entry import person_digest

KEYS, KEYS_SECONDS = "studies:signing-keys:{}", 24 * 60 * 60
ASKED, ASKED_SECONDS = "studies:signing-keys-asked:{}", 60  # forged links must not make this server ask all the time


def check_signed_entry(study: Study, *, token: str, address: str, query: Mapping[str, str]) -> None:
    """Check that the platform sent the person with these ids, by its keys, which are kept for a day.

    Raises SignatureError when it did not, PlatformError when its keys cannot be had.
    """
    if study.platform_study_id and query.get("STUDY_ID") != study.platform_study_id:
        raise SignatureError("The link is of another study of the platform.")
    account = study.platform_account
    server = account.base_url if account else PlatformAccount._meta.get_field("base_url").default
    try:
        check_entry(token, keys=_keys(server), address=address, query=query)
    except UnknownKeyError:
        if not cache.add(ASKED.format(server), True, ASKED_SECONDS):
            raise
        check_entry(token, keys=_keys(server, anew=True), address=address, query=query)


def _keys(server: str, *, anew: bool = False) -> dict[str, Any]:
    keys: dict[str, Any] | None = None if anew else cache.get(KEYS.format(server))
    if keys is None:
        with PlatformClient(server) as client:
            keys = client.signing_keys()
        cache.set(KEYS.format(server), keys, KEYS_SECONDS)
    return keys


def session_of_browser(study: Study, *, session_key: str, participant_id: str) -> Session | None:
    """The session that the browser began, when it is of the person with this id: a signed link ages within minutes."""
    digest = person_digest(study, participant_id, simulated=False)
    return Session.objects.filter(study=study, key=session_key, person_digest=digest).first() if session_key else None
