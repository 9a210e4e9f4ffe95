"""Prolific's interface: a token, pages of twenty, and patience when the platform is busy.

Pure code, apart from the connections.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote, urlsplit

import httpx2

ATTEMPTS = 5
LONGEST_WAIT = 60.0  # seconds, also where the platform asks for more
TIMEOUT = 30.0
MOST_PAGES = 2000  # of 20: more than any study has, so that a list that leads back to itself ends
NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
_ID = re.compile(r"\b[0-9a-f]{24}\b")  # of a person or submission: not to be shown


class PlatformError(Exception):
    """The platform did not do what was asked. The text is a sentence that says what to do, without anybody's id."""


class BusyError(PlatformError):
    """It did nothing: it is busy or cannot be reached. `seconds`: when it wants to be asked again, where it says."""

    def __init__(self, text: str, seconds: float | None = None) -> None:
        super().__init__(text)
        self.seconds = seconds


class NoAnswerError(PlatformError):
    """The request was sent; whether it was carried out is not known."""


class PlatformClient:
    """Requests to one platform with one token. Use it in a `with`. All methods raise PlatformError.

    What may be asked twice without harm is asked up to ATTEMPTS times; `wait` sleeps so many seconds in between.
    """

    def __init__(self, base_url: str, token: str = "", *, wait: Callable[[float], None] = time.sleep) -> None:
        headers = {"Authorization": f"Token {token}"} if token else {}
        self._http = httpx2.Client(base_url=base_url, headers=headers, timeout=TIMEOUT)
        self._wait = wait

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._http.close()

    def signing_keys(self) -> dict[str, Any]:
        """The public keys of signed links, as a JSON Web Key Set. Tried once: a person waits for the page."""
        return self._json("GET", "/.well-known/study/jwks.json", attempts=1)

    def submissions(self, study_id: str) -> Iterator[dict[str, Any]]:
        """All submissions of the study, as the platform describes them."""
        path = f"/api/v1/submissions/?study={quote(study_id, safe='')}"
        for _ in range(MOST_PAGES):
            page = self._json("GET", path)
            yield from page.get("results") or []
            following = ((page.get("_links") or {}).get("next") or {}).get("href")
            if not following:
                return
            # Only where on the platform: the token must not follow a link to another host.
            parts = urlsplit(following)
            path = f"{parts.path}?{parts.query}"
        raise PlatformError("The platform's list of submissions does not end; try again later.")

    def approve(self, submission_id: str) -> None:
        """Approve a submission; once approved, it stays so."""
        self._send("POST", f"/api/v1/submissions/{quote(submission_id, safe='')}/transition/", {"action": "APPROVE"})

    def request_return(self, submission_id: str, reason: str) -> None:
        """Have the platform ask the person to return. Each request is a message, so it is not repeated."""
        path = f"/api/v1/submissions/{quote(submission_id, safe='')}/request-return/"
        self._send("POST", path, {"request_return_reasons": [reason]}, attempts=1)

    def prepare_bonuses(self, study_id: str, amounts: Mapping[str, Decimal]) -> str:
        """Set up bonuses by submission id, in the study's currency; the id to pay them with. Nothing is paid yet."""
        lines = "\n".join(f"{submission},{amount:.2f}" for submission, amount in amounts.items())
        body = {"study_id": study_id, "csv_bonuses": lines}
        prepared = str(self._json("POST", "/api/v1/submissions/bonus-payments/", body).get("id") or "")
        if not prepared:
            raise PlatformError("The platform gave no number for the bonuses, so none was paid; try again later.")
        return prepared

    def pay_bonuses(self, prepared: str) -> None:
        """Pay what was set up. Asked twice, the platform pays twice: this sends one request and no other."""
        self._send("POST", f"/api/v1/bulk-bonus-payments/{quote(prepared, safe='')}/pay/", attempts=1)

    def _json(self, method: str, path: str, body: Any = None, *, attempts: int = ATTEMPTS) -> dict[str, Any]:
        answer = self._send(method, path, body, attempts=attempts)
        try:
            found = answer.json()
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise PlatformError("The platform's answer cannot be read; try again later.")
        return found

    def _send(self, method: str, path: str, body: Any = None, *, attempts: int = ATTEMPTS) -> httpx2.Response:
        for attempt in range(1, attempts):
            try:
                return self._send_once(method, path, body)
            except BusyError as error:
                wanted = error.seconds
            except NoAnswerError:
                wanted = None
            self._wait(min(LONGEST_WAIT, 2.0**attempt if wanted is None else wanted))
        return self._send_once(method, path, body)

    def _send_once(self, method: str, path: str, body: Any) -> httpx2.Response:
        try:
            answer = self._http.request(method, path, json=body)
        except NOT_SENT as error:
            raise BusyError("The platform cannot be reached; try again later.") from error
        except httpx2.HTTPError as error:
            raise NoAnswerError("The platform did not answer; look there what it did.") from error
        if answer.status_code == 429:
            wanted = answer.headers.get("Retry-After", "")
            seconds = float(wanted) if wanted.isdecimal() else None
            raise BusyError("The platform takes no more requests for now; try again in some minutes.", seconds)
        if answer.status_code >= 500:
            raise NoAnswerError(f"The platform failed (status {answer.status_code}); look there what it did.")
        if not answer.is_success:
            raise PlatformError(_refusal(answer))
        return answer


def _refusal(answer: httpx2.Response) -> str:
    if answer.status_code in (401, 403):
        return "The platform does not accept the token; make a new one there and save it in the account."
    if answer.status_code == 404:
        return "The platform does not know this; compare the study's id there with the one stored here."
    detail = _ID.sub("(id)", _detail(answer))
    return f"The platform refused (status {answer.status_code}){': ' + detail if detail else ''}."[:500]


def _detail(answer: httpx2.Response) -> str:
    """What the platform says is wrong, without a full stop at its end."""
    try:
        said = answer.json().get("error", {}).get("detail", "")
    except (ValueError, AttributeError):
        return ""
    return (said if isinstance(said, str) else json.dumps(said)).strip().rstrip(".")
