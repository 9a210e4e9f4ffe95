"""The answer to a fault of the program. It asks neither the database nor the session, which may be what failed."""

from django.http import HttpRequest, HttpResponse, HttpResponseServerError, JsonResponse
from django.template import loader
from structlog.contextvars import get_contextvars


def server_error(request: HttpRequest) -> HttpResponse:
    """Words for whoever asked: a participant, who knows nobody here; a program; or somebody with a login."""
    request_id = get_contextvars().get("request_id", "")
    if request.path.startswith("/api/"):
        detail = f"The server failed; the request may not have been carried out. Its log has it as {request_id}."
        return JsonResponse({"detail": detail}, status=500)
    template = "studies/participant/failed.html" if request.path.startswith("/s/") else "500.html"
    return HttpResponseServerError(loader.render_to_string(template, {"request_id": request_id}))
