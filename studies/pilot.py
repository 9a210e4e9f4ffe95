"""The link for trying a study out: whoever comes by it is marked, never counted, and leaves no responses."""

from django.core import signing
from django.urls import reverse

from studies.models import Study

PARAMETER = "pilot"
SALT = "studies.pilot"


def pilot_path(study: Study) -> str:
    """The path of the link, which only this server's secret can sign."""
    token = signing.dumps(study.key, salt=SALT)
    return f"{reverse('participant_entry', kwargs={'key': study.key})}?{PARAMETER}={token}"


def is_pilot(token: str | None, study: Study) -> bool:
    """Whether the token of a request to enter is this study's. Raises signing.BadSignature for a false one."""
    if token is None:
        return False
    if signing.loads(token, salt=SALT) != study.key:
        raise signing.BadSignature("made for another study")
    return True
