"""Encryption of single fields (endpoint keys, platform ids), keyed digests for finding them again, and token keys."""

import hashlib
import hmac
import secrets

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class DecryptionError(Exception):
    """None of CONCORD_FIELD_KEYS opens the stored value."""


def _fernet() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.FIELD_KEYS])


def encrypt(text: str) -> str:
    return _fernet().encrypt(text.encode()).decode()


def decrypt(token: str) -> str:
    try:
        return _fernet().decrypt(token.encode()).decode()
    except InvalidToken as error:
        raise DecryptionError(
            "A stored secret cannot be read; add the key it was made with to CONCORD_FIELD_KEYS."
        ) from error


def keyed_digest(*parts: str) -> str:
    """A digest that nobody without the server's secret can make, stable while SECRET_KEY is."""
    return hmac.new(settings.SECRET_KEY.encode(), "\x1f".join(parts).encode(), hashlib.sha256).hexdigest()


def new_token_key() -> str:
    return f"concord_{secrets.token_urlsafe(32)}"


def token_digest(key: str) -> str:
    """What is stored of a token's key. The key is 256 random bits, so a plain hash is enough."""
    return hashlib.sha256(key.encode()).hexdigest()
