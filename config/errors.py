"""Answers to a fault of the program and to requests that cannot be read.

They ask neither the database nor the session, which may be what failed; but for the language of a participant whose
request could not be read.
"""

import sys

from django.core.exceptions import DisallowedHost, RequestDataTooBig, TooManyFieldsSent
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template import loader
from structlog.contextvars import get_contextvars

from studies.pages import context_of_address, context_without_study

PARTICIPANTS, PROGRAMS = "/s/", "/api/"


def server_error(request: HttpRequest) -> HttpResponse:
    """Words for whoever asked: a participant, who knows nobody here; a program; or somebody with a login."""
    request_id = get_contextvars().get("request_id", "")
    if request.path.startswith(PROGRAMS):
        detail = f"The server failed; the request may not have been carried out. Its log has it as {request_id}."
        return JsonResponse({"detail": detail}, status=500)
    if request.path.startswith(PARTICIPANTS):
        return participant_error(request, request_id)
    return HttpResponse(loader.render_to_string("500.html", {"request_id": request_id}), status=500)


def participant_error(request: HttpRequest, request_id: str) -> HttpResponse:
    """A page that keeps what was sent, to be sent once more: the server takes the first that it can store."""
    try:
        kept = [(name, value) for name, values in request.POST.lists() for value in values]
    except OSError:  # the connection broke off before all of it had come
        kept = []
    context = context_without_study(request, str(dict(kept).get("language", "")))
    context |= {"request_id": request_id, "kept": kept}
    status = 503 if isinstance(sys.exception(), OperationalError) else 500
    return HttpResponse(loader.render_to_string("studies/participant/failed.html", context), status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What is wrong with a request that was refused before anything of it was stored."""
    too_large = isinstance(exception, (RequestDataTooBig, TooManyFieldsSent))
    if request.path.startswith(PROGRAMS):
        detail = "The request is too large." if too_large else "The request cannot be read."
        return JsonResponse({"detail": f"{detail} Nothing of it was carried out."}, status=400)
    unknown_name = isinstance(exception, DisallowedHost)
    if request.path.startswith(PARTICIPANTS) and not unknown_name:
        context = context_of_address(request) | {"fault": "too_large" if too_large else "unread"}
        return HttpResponse(loader.render_to_string("studies/participant/unread.html", context), status=400)
    context = {"too_large": too_large, "unknown_name": unknown_name}
    return HttpResponse(loader.render_to_string("400.html", context), status=400)
