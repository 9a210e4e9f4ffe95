"""The responses page and its downloads."""

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render

from projects.access import READERS, MemberRequest, project_view
from projects.models import Project
from responses.export import export_responses
from responses.filters import ResponseFilterForm, is_named
from responses.querysets import COUNT_AT_MOST, count_up_to, instruments_of, keyset_page
from responses.showing import shown

ROWS_PER_PAGE = 50
CONTENT_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}


@project_view(*READERS)
def responses(request: HttpRequest, project: Project) -> HttpResponse:
    form = ResponseFilterForm(request.GET, project=project)
    context: dict[str, Any] = {"project": project, "nav": "responses", "form": form, "link_query": _query(request)}
    if form.is_valid():
        answers = form.queryset()
        page = keyset_page(
            answers, before=_id(request.GET.get("before")), after=_id(request.GET.get("after")), size=ROWS_PER_PAGE
        )
        count = count_up_to(answers)
        context |= {
            "rows": shown(page.rows, instruments_of(page.rows)),
            "count": count,
            "count_at_most": COUNT_AT_MOST,
            "next_url": page.before and f"?{_query(request, before=page.before)}",
            "previous_url": page.after and f"?{_query(request, after=page.after)}",
        }
    return render(request, "responses/responses.html", context, status=200 if form.is_valid() else 422)


@project_view(*READERS)
def export(request: MemberRequest, project: Project, format: str) -> HttpResponseBase:
    if format not in CONTENT_TYPES:
        raise Http404
    form = ResponseFilterForm(request.GET, project=project)
    if not form.is_valid():
        return HttpResponse(f"{form.problem}\n", status=422, content_type="text/plain; charset=utf-8")
    lines = export_responses(
        project=project,
        answers=form.queryset(),
        format="csv" if format == "csv" else "jsonl",
        filters=_query(request),
        by=request.user,
    )
    response = StreamingHttpResponse(lines, content_type=CONTENT_TYPES[format])
    response["Content-Disposition"] = f'attachment; filename="{project.slug}-responses.{format}"'
    return response


def _query(request: HttpRequest, **cursor: int) -> str:
    """The request's filters as a query string, with another place to go on from; an empty field filters nothing."""
    kept = [
        (name, value)
        for name, value in request.GET.items()
        if name not in {"before", "after"} and (value or is_named(name))
    ]
    return urlencode([*kept, *cursor.items()])


def _id(text: str | None) -> int | None:
    """A row's id out of a link; what is none starts at the first page."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 19 else None
