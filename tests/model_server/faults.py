"""Answers that are none: error statuses in every server's shape, and connections that go wrong."""

import asyncio
import bz2
import time
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from email.utils import formatdate
from typing import Any

from aiohttp import web

from tests.model_server.script import Script

HUGE_BYTES = 200 * 2**20
ERROR_SHAPES = ("openai", "list", "flat", "string", "detail", "html", "text")


async def misbehave(request: web.Request, behaviour: str, script: Script) -> web.StreamResponse:
    if behaviour == "hang":
        await asyncio.sleep(3600)
    if behaviour in ("cut", "cut_headers"):
        return await _cut(request, with_headers=behaviour == "cut")
    if behaviour in ("huge", "huge_packed"):
        return await _huge(request, packed=behaviour == "huge_packed")
    answers: dict[str, Callable[[], web.Response]] = {
        "rate_limited": lambda: fault(429, "Rate limit reached", script.shape, {"Retry-After": "1"}),
        "rate_limited_date": lambda: fault(
            429, "Rate limit reached", script.shape, {"Retry-After": formatdate(time.time() + 7, usegmt=True)}
        ),
        "quota": lambda: fault(429, "You exceeded your current quota", "openai", code="insufficient_quota"),
        "content_filter_400": lambda: fault(400, "The prompt was filtered", "openai", code="content_filter"),
        "html_200": lambda: fault(200, "Please log in", "html"),
        "html_502": lambda: fault(502, "Bad Gateway", "html"),
        "empty_200": lambda: web.Response(body=b"", content_type="application/json"),
        "invalid_json": lambda: web.Response(text='{"choices": [{"message": }', content_type="application/json"),
        "odd_charset": lambda: web.Response(
            body=bz2.compress(b"{}"), headers={"Content-Type": "application/json; charset=bz2"}
        ),
        "redirect": lambda: web.Response(status=307, headers={"Location": "/elsewhere"}),
    }
    return answers[behaviour]()


async def _cut(request: web.Request, *, with_headers: bool) -> web.StreamResponse:
    """Close the connection in the middle of the body, or before any of the answer."""
    transport = request.transport
    response = web.StreamResponse(headers={"Content-Length": "1000", "Content-Type": "application/json"})
    if with_headers:
        await response.prepare(request)
        await response.write(b'{"id": "scripted", "choices": [{"message": {"content": "{\\"q')
    if transport is not None:
        transport.close()
    return response


async def _huge(request: web.Request, *, packed: bool) -> web.StreamResponse:
    """A body of HUGE_BYTES without a stated length, or one of that length in little gzip."""
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    pack = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    if packed:
        response.headers["Content-Encoding"] = "gzip"
    await response.prepare(request)
    part = b" " * 2**20
    with suppress(ConnectionError):  # who reads it may have enough of it
        for _ in range(HUGE_BYTES // len(part)):
            await response.write(pack.compress(part) if packed else part)
        if packed:
            await response.write(pack.flush())
    return response


async def trickle(request: web.Request, answer: web.Response) -> web.StreamResponse:
    """The answer, a byte now and then: no single wait is long, the whole is."""
    data = (answer.text or "").encode()
    response = web.StreamResponse(headers={"Content-Length": str(len(data)), "Content-Type": "application/json"})
    await response.prepare(request)
    for byte in data:
        await response.write(bytes([byte]))
        await asyncio.sleep(0.1)
    return response


def fault(
    status: int, words: str, shape: str, headers: Mapping[str, str] | None = None, *, code: str | None = None
) -> web.Response:
    inner = {"message": words, "type": "scripted", "param": None, "code": code}
    shapes: dict[str, Any] = {
        "openai": {"error": inner},
        "list": [{"error": {"code": status, "message": words, "status": "INVALID_ARGUMENT"}}],
        "flat": {"object": "error", "message": words, "type": "BadRequestError", "param": None, "code": status},
        "string": {"error": words},
        "detail": {"detail": [{"loc": ["body", "messages"], "msg": words, "type": "value_error"}]},
    }
    if shape in shapes:
        return json_answer(shapes[shape], status=status, headers=headers)
    page = f"<!doctype html><html><head><title>{status} {words}</title></head><body><h1>nginx</h1></body></html>"
    text, kind = (page, "text/html") if shape == "html" else (words, "text/plain")
    return web.Response(status=status, text=text, content_type=kind, headers=headers)


def json_answer(payload: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.json_response(payload, status=status, headers=headers)
