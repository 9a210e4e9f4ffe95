"""A small HTTP client on one kept-open connection: follows redirects, keeps cookies, nothing more."""

import http.client
from collections.abc import Mapping
from http.cookies import SimpleCookie
from urllib.parse import urlencode, urljoin, urlsplit

TIMEOUT_SECONDS = 60
MOST_REDIRECTS = 10


class WalkError(RuntimeError):
    """The walk met a page or an answer that a participant must never see; the text says which and where."""


class Browser:
    """One simulated participant's connection to one server; addresses are paths on it.

    `requests` counts what it sent; `path` is the address of the last page. Not for use by several threads at a time.
    """

    def __init__(self, base_url: str) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise WalkError(f"{base_url!r} is no web address; give one such as http://127.0.0.1:8000.")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.hostname, parts.port, timeout=TIMEOUT_SECONDS)
        self._cookies: dict[str, str] = {}
        self.requests = 0
        self.path = ""

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> str:
        return self._open("GET", path, None, dict(headers or {}))

    def post(self, path: str, form: Mapping[str, str | list[str]], headers: Mapping[str, str] | None = None) -> str:
        headers = {"Content-Type": "application/x-www-form-urlencoded", **(headers or {})}
        return self._open("POST", path, urlencode(form, doseq=True), headers)

    def close(self) -> None:
        self._connection.close()

    def _open(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> str:
        """The page at the end of the redirects, or the form again with what is wrong about it."""
        for _ in range(MOST_REDIRECTS):
            status, location, text = self._request(method, path, body, headers)
            if location is None:
                if status >= 400:
                    raise WalkError(f"{method} {urlsplit(path).path} answered with status {status}.")
                self.path = path
                return text
            method, path, body, headers = "GET", urljoin(path, location), None, {}
        raise WalkError(f"{urlsplit(path).path} redirects without end.")

    def _request(
        self, method: str, path: str, body: str | None, headers: dict[str, str]
    ) -> tuple[int, str | None, str]:
        cookies = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        self.requests += 1
        try:
            self._connection.request(method, path, body, headers | ({"Cookie": cookies} if cookies else {}))
            response = self._connection.getresponse()
            text = response.read().decode()
        except (OSError, http.client.HTTPException) as error:
            host = f"{self._connection.host}:{self._connection.port}"
            raise WalkError(f"{host} does not answer ({error}); start the server, or check --base-url.") from error
        for line in response.headers.get_all("Set-Cookie", []):
            self._cookies |= {name: morsel.value for name, morsel in SimpleCookie(line).items()}
        return response.status, response.headers.get("Location"), text
