"""How requests travel: over aiohttp, to no metadata service, and with answers of bounded size.

Pure code, apart from the connections.
"""

import ipaddress
import socket
import ssl
from collections.abc import AsyncIterator
from functools import cache
from typing import cast
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx2
from aiohttp.abc import AbstractResolver

from llm.servers.addresses import is_metadata_address

# A long answer with its reasoning is a hundredth of it, and a model list of 10,000 names a quarter. A body is held a
# few times over (bytes, text, parsed), by every call that runs at once.
MAX_BODY_BYTES = 8 * 2**20
_CONNECTIONS = 1000  # the endpoint's own limit on calls at once is far below
# aiohttp writes these itself: it knows which packings it can undo.
_OWN_HEADERS = frozenset({"accept-encoding", "content-length", "host"})
# And has undone the first three: what is counted is the length of the text and not of what it came packed into. The
# last would let the server choose among all of Python's codecs, some of which unpack; JSON is UTF-8.
_UNDONE_HEADERS = frozenset({"content-encoding", "content-length", "transfer-encoding", "content-type"})


class BodyTooLargeError(ValueError):
    """The server sends more than a model's answer can be."""


class MetadataAddressError(OSError):
    """The host's name leads to an address that must not be asked."""


@cache
def _tls() -> ssl.SSLContext:
    """Shared, since reading the authorities' certificates takes 27 ms of the processor."""
    return httpx2.create_ssl_context()


class BoundedTransport(httpx2.AsyncBaseTransport):
    """aiohttp below httpx2: at this load it takes a third of the processor time of httpx2's own transport.

    `resolver`: who turns names into addresses; by default the system. Whatever it says is looked at when a connection
    is made, since a name that was harmless when the endpoint was saved can lead elsewhere by now. A proxy from the
    environment is used as everywhere; where names lead is then the proxy's to judge.
    """

    def __init__(self, base_url: str, *, resolver: AbstractResolver | None = None) -> None:
        self._proxy = _proxy_for(base_url)
        self._resolver = resolver
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        answer = await self._open_session().request(
            request.method,
            str(request.url),
            headers={name: value for name, value in request.headers.items() if name not in _OWN_HEADERS},
            data=request.content or None,
            allow_redirects=False,
            proxy=self._proxy,
        )
        async with answer:
            content = await _read(answer)
        return httpx2.Response(answer.status, headers=_kept_headers(answer), content=content, request=request)

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()

    def _open_session(self) -> aiohttp.ClientSession:
        """The session, opened at the first request because it belongs to the event loop that runs then."""
        if self._session is None:
            connector = aiohttp.TCPConnector(
                ssl=_tls(), limit=_CONNECTIONS, resolver=self._resolver, socket_factory=_open_socket
            )
            self._session = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None),  # the callers' is for the whole attempt
            )
        return self._session


class FileTransport(BoundedTransport):
    """For files, which are not held in memory on their way to the server and back; what comes has at most `most` bytes.

    A response must be read or closed, as always with httpx2.
    """

    def __init__(self, base_url: str, *, most: int, resolver: AbstractResolver | None = None) -> None:
        super().__init__(base_url, resolver=resolver)
        self._most = most

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        # With its length, where that is known: not every server takes a body in chunks.
        not_sent = _OWN_HEADERS - {"content-length"}
        whole = isinstance(request.stream, httpx2.ByteStream)
        answer = await self._open_session().request(
            request.method,
            str(request.url),
            headers={name: value for name, value in request.headers.items() if name not in not_sent},
            data=(request.content or None) if whole else aiter(cast(httpx2.AsyncByteStream, request.stream)),
            allow_redirects=False,
            proxy=self._proxy,
        )
        stream = _Received(answer, self._most if answer.ok else MAX_BODY_BYTES)
        return httpx2.Response(answer.status, headers=_kept_headers(answer), stream=stream, request=request)


class _Received(httpx2.AsyncByteStream):
    def __init__(self, answer: aiohttp.ClientResponse, most: int) -> None:
        self._answer, self._most = answer, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._answer.content.iter_any():
            size += len(part)
            if size > self._most:
                raise BodyTooLargeError(
                    f"The server's file is longer than {self._most // 2**20} MB; it was not read on"
                )
            yield part

    async def aclose(self) -> None:
        self._answer.close()


def _kept_headers(answer: aiohttp.ClientResponse) -> list[tuple[str, str]]:
    return [(name, value) for name, value in answer.headers.items() if name.lower() not in _UNDONE_HEADERS]


async def _read(answer: aiohttp.ClientResponse) -> bytes:
    parts, size = [], answer.content_length or 0
    if size <= MAX_BODY_BYTES:
        size = 0
        async for part in answer.content.iter_any():
            size += len(part)
            if size > MAX_BODY_BYTES:
                break
            parts.append(part)
    if size > MAX_BODY_BYTES:
        raise BodyTooLargeError(f"The server's answer is longer than {MAX_BODY_BYTES // 2**20} MB; it was not read on.")
    return b"".join(parts)


def _open_socket(found: tuple[int, int, int, str, tuple[str | int, ...]]) -> socket.socket:
    """A socket for one address that a connection is about to be made to, however it was come by."""
    family, kind, protocol, _, where = found
    address = ipaddress.ip_address(where[0])
    if is_metadata_address(address):
        raise MetadataAddressError(f"{address} is an address for machines' own metadata")
    return socket.socket(family, kind, protocol)


def _proxy_for(base_url: str) -> str | None:
    parts = urlsplit(base_url)
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.hostname or ""):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"
