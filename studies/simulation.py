"""How a request says that it comes from a simulated participant: a header that only this server's secret can sign."""

from collections.abc import Mapping

from django.core import signing

from studies.models import Study

HEADER = "X-Simulated-Participant"
SALT = "studies.simulated-participant"
VALID_SECONDS = 6 * 60 * 60


def simulation_header(study: Study) -> dict[str, str]:
    """The header to send when entering this study; without it a bot would be counted as a person."""
    return {HEADER: signing.dumps(study.key, salt=SALT)}


def is_simulated(headers: Mapping[str, str], study: Study) -> bool:
    """Whether a request to enter is a simulated participant's. Raises signing.BadSignature for a false or old claim."""
    token = headers.get(HEADER)
    if token is None:
        return False
    if signing.loads(token, salt=SALT, max_age=VALID_SECONDS) != study.key:
        raise signing.BadSignature("made for another study")
    return True
