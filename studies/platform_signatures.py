"""Whether what comes in the platform's name is its own: signed links and signed messages.

Pure code.
"""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import jwt

ISSUER = "https://www.prolific.com"
CLOCKS_APART = timedelta(seconds=10)
MESSAGE_AGE = timedelta(minutes=5)  # an older one is taken for a replay; the platform signs anew when it tries again


class SignatureError(Exception):
    """It is not the platform's, or too old; the text says which check failed."""


class UnknownKeyError(SignatureError):
    """Signed with a key that is none of those given: the platform may have a new one."""


def check_entry(token: str, *, keys: Mapping[str, Any], address: str, query: Mapping[str, str]) -> None:
    """Check a link's token: signature, issuer, expiry, that it is for this address, and of these ids.

    `keys` is the platform's JSON Web Key Set, `query` holds the link's ids by name (SESSION_ID is the submission).
    Raises SignatureError.
    """
    key = _key(token, keys)
    try:
        claims = jwt.decode(
            token,
            key,
            algorithms=["RS256"],
            issuer=ISSUER,
            leeway=CLOCKS_APART,
            options={"require": ["exp", "iss", "aud", "sub"], "verify_aud": False},
        )
    except jwt.PyJWTError as error:
        raise SignatureError(str(error)) from error
    audiences = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
    if not any(_is_for(str(audience), address) for audience in audiences):
        raise SignatureError("It is for another address.")
    signed = claims.get("prolific")
    if not isinstance(signed, dict) or claims["sub"] != query["SESSION_ID"]:
        raise SignatureError("It is of another submission.")
    if any(str(signed.get(name, "")) != value for name, value in query.items()):
        raise SignatureError("The ids in the link are not those that were signed.")


def _key(token: str, keys: Mapping[str, Any]) -> jwt.PyJWK:
    try:
        wanted = jwt.get_unverified_header(token).get("kid")
    except jwt.PyJWTError as error:
        raise SignatureError(str(error)) from error
    found = next((key for key in keys.get("keys") or () if key.get("kid") == wanted and key.get("kty") == "RSA"), None)
    if found is None:
        raise UnknownKeyError("It is signed with a key that the platform does not name.")
    try:
        return jwt.PyJWK(found, algorithm="RS256")
    except jwt.PyJWTError as error:
        raise SignatureError(str(error)) from error


def _is_for(audience: str, address: str) -> bool:
    """Whether the audience, a host, an origin or an address with or without ids, is that of this address.

    >>> _is_for("https://survey.example.org/s/k/?PROLIFIC_PID=1", "https://survey.example.org/s/k/")
    True
    >>> _is_for("https://survey.example.org/s/other/", "https://survey.example.org/s/k/")
    False
    """
    here, there = (
        urlsplit(address),
        urlsplit(audience if "://" in audience else f"{urlsplit(address).scheme}://{audience}"),
    )
    same_path = there.path.rstrip("/") in ("", here.path.rstrip("/"))
    return (there.scheme, there.netloc) == (here.scheme, here.netloc) and same_path


def check_message(*, secret: str, timestamp: str, body: bytes, signature: str, now: datetime) -> datetime:
    """When the message was signed, after its signature and age were checked. Raises SignatureError."""
    signed = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
    if not hmac.compare_digest(base64.b64encode(signed), signature.encode()):
        raise SignatureError("The signature is not the platform's.")
    sent = read_seconds(timestamp)
    if sent is None or abs(now - sent) > MESSAGE_AGE:
        raise SignatureError("The message is too old, or the clocks of the platform and of this server differ.")
    return sent


def read_seconds(text: str) -> datetime | None:
    """A time given in seconds since 1970, None for anything else.

    >>> read_seconds("1764493500").isoformat()
    '2025-11-30T09:05:00+00:00'
    """
    whole, _, _ = text.partition(".")
    return datetime.fromtimestamp(int(whole), UTC) if whole.isdecimal() and len(whole) <= 11 else None
