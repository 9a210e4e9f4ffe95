"""The responses page."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from projects.access import READERS, project_view
from projects.models import Project
from responses.filters import ResponseFilterForm, query_string
from responses.querysets import COUNT_AT_MOST, count_up_to, instruments_of, keyset_page
from responses.showing import shown
from responses.sources import with_details

ROWS_PER_PAGE = 50


@project_view(*READERS)
def responses(request: HttpRequest, project: Project) -> HttpResponse:
    form = ResponseFilterForm(request.GET, project=project)
    context: dict[str, Any] = {
        "project": project,
        "nav": "responses",
        "form": form,
        "link_query": query_string(request.GET),
    }
    if form.is_valid():
        answers = form.queryset()
        page = keyset_page(
            with_details(answers, "left_out_reason"),
            before=_id(request.GET.get("before")),
            after=_id(request.GET.get("after")),
            size=ROWS_PER_PAGE,
        )
        count = count_up_to(answers)
        context |= {
            "rows": shown(page.rows, instruments_of(page.rows)),
            "count": count,
            "count_at_most": COUNT_AT_MOST,
            "next_url": page.before and f"?{query_string(request.GET, before=page.before)}",
            "previous_url": page.after and f"?{query_string(request.GET, after=page.after)}",
        }
    return render(request, "responses/responses.html", context, status=200 if form.is_valid() else 422)


def _id(text: str | None) -> int | None:
    """A row's id out of a link; what is none starts at the first page."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 19 else None
