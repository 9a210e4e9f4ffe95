"""An annotator without a browser: asks for the first item, answers it, and takes the next from the answer."""

import secrets
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse, RemoteDisconnected
from importlib import import_module
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY

from config.processes import StartError
from projects.models import User


def session_of(user: User) -> str:
    """The cookie of somebody who has logged in."""
    store = import_module(settings.SESSION_ENGINE).SessionStore()
    store[SESSION_KEY] = str(user.pk)
    store[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    store[HASH_SESSION_KEY] = user.get_session_auth_hash()
    store.save()
    return str(store.session_key)


@dataclass
class Client:
    """One person's connection. `seconds` holds the time from each submit to its next item."""

    connection: HTTPConnection
    work: str  # path of the labelling project's work
    cookies: str
    token: str
    seconds: list[float] = field(default_factory=list)

    def first(self) -> str | None:
        """The path of the item the person is at; None when there is none for them."""
        return self._item(self._ask("GET", self.work))

    def answer(self, path: str, values: Mapping[str, str]) -> str | None:
        """Submit the item and return the path of the next; None when there is none. Goes on after a break."""
        started = time.perf_counter()
        location = self._ask("POST", path, urlencode({**values, "key": str(uuid.uuid4()), "seconds": "1.5"}))
        self.seconds.append(time.perf_counter() - started)
        return self.first() if location.endswith("?break") else self._item(location)

    def _item(self, location: str) -> str | None:
        return None if location == self.work else location

    def _ask(self, method: str, path: str, body: str | None = None) -> str:
        headers = {"Cookie": self.cookies, "X-CSRFToken": self.token, "X-Part": "work"}
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        try:
            response = self._send(method, path, body, headers)
        except (BrokenPipeError, RemoteDisconnected):
            self.connection.close()  # it was idle for too long; the key makes a second sending harmless
            response = self._send(method, path, body, headers)
        except OSError as error:
            raise StartError(f"{method} {path} was not answered: {error}.") from error
        location = response.getheader("X-Location")
        if response.status != 200 or location is None:
            raise StartError(f"{method} {path} was answered with {response.status}.")
        return location

    def _send(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> HTTPResponse:
        self.connection.request(method, path, body, headers)
        response = self.connection.getresponse()
        response.read()
        return response


@contextmanager
def client(url: str, work: str, user: User) -> Iterator[Client]:
    connection = HTTPConnection(urlsplit(url).netloc, timeout=60)
    token = secrets.token_hex(16)
    cookies = f"{settings.SESSION_COOKIE_NAME}={session_of(user)}; {settings.CSRF_COOKIE_NAME}={token}"
    try:
        yield Client(connection, work, cookies, token)
    finally:
        connection.close()
