"""Downloads of answers: the panel with its choices and columns, the files, and the codebook.

The functions without a leading @project_view are for every page that offers some answers of a project.
"""

from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import FileResponse, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from projects.access import READERS, MemberRequest, project_view
from projects.models import Project
from responses.choices import ChoicesForm
from responses.export import FORMATS, codebook_lines, export_responses, table_lines, write_table
from responses.export_table import ExportError, Table, fields_of
from responses.filters import CURSORS, ResponseFilterForm, is_named, query_string
from responses.models import Response
from responses.querysets import COUNT_AT_MOST, count_up_to

CODEBOOKS = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


@project_view(*READERS)
def download(request: MemberRequest, project: Project) -> HttpResponse:
    """The panel for the answers that the responses page shows under the same parameters."""
    filters = ResponseFilterForm(request.GET, project=project)
    if not filters.is_valid():
        return sentence(filters.problem, status=422)
    kept = [
        (name, value)
        for name, values in request.GET.lists()
        for value in values
        if name not in (*ChoicesForm.base_fields, *CURSORS) and (value or is_named(name))
    ]
    context = {"project": project, "nav": "responses", "kept": kept, "link_query": query_string(request.GET)}
    addresses = Addresses("download_responses", "export_responses", "codebook", {"slug": project.slug})
    return panel(request, "responses/download.html", filters.queryset(), addresses, context)


@project_view(*READERS)
def export(request: MemberRequest, project: Project, format: str) -> HttpResponseBase:
    filters = ResponseFilterForm(request.GET, project=project)
    if not filters.is_valid():
        return sentence(filters.problem, status=422)
    answers, given = filters.queryset(), query_string(request.GET)
    at = reverse("download_responses", kwargs={"slug": project.slug})
    name = f"{project.slug}-responses"
    return answers_file(request, project, answers, format, panel_url=at, name=name, filters=given)


@project_view(*READERS)
def codebook(request: MemberRequest, project: Project, format: str) -> HttpResponse:
    filters = ResponseFilterForm(request.GET, project=project)
    if not filters.is_valid():
        return sentence(filters.problem, status=422)
    return codebook_file(request, project, filters.queryset(), format, name=f"{project.slug}-codebook")


@dataclass(frozen=True, slots=True)
class Addresses:
    """Names of the addresses of a panel, its files and its codebook, and what all of them take."""

    panel: str
    files: str
    codebook: str
    at: dict[str, Any]


def panel(
    request: MemberRequest,
    template: str,
    answers: QuerySet[Response],
    addresses: Addresses,
    context: dict[str, Any],
) -> HttpResponse:
    """The page with the choices of a download and the columns that they give; `context` has the project."""
    form, query, at = choices_form(request, context["project"], answers), query_string(request.GET), addresses.at
    context = context | {
        "form": form,
        "problem": form.problem,
        "page_url": reverse(addresses.panel, kwargs=at),
        "files": [(kind.title, reverse(addresses.files, kwargs=at | {"format": f})) for f, kind in FORMATS.items()],
        "codebooks": [
            (format.upper(), f"{reverse(addresses.codebook, kwargs=at | {'format': format})}?{query}")
            for format in CODEBOOKS
        ],
    }
    if form.is_valid():
        try:
            table = Table(context["project"], answers, form.choices)
        except ExportError as error:
            context["problem"] = str(error)
        else:
            context |= {
                "columns": table.columns,
                "count": count_up_to(table.answers),
                "count_at_most": COUNT_AT_MOST,
            }
    # A part of a page is swapped in only with a good status.
    wrong = context["problem"] and "HX-Request" not in request.headers
    return render(request, template, context, status=422 if wrong else 200)


def answers_file(
    request: MemberRequest,
    project: Project,
    answers: QuerySet[Response],
    format: str,
    *,
    panel_url: str,
    name: str,
    filters: str,
) -> HttpResponseBase:
    """The file that the request's choices ask for; otherwise the panel, which says why there is none, in a browser,
    and the sentence alone for programs."""
    if format not in FORMATS:
        return sentence(f"There is no format {format}; take {', '.join(FORMATS)}.", status=404)
    form = choices_form(request, project, answers)
    if not form.is_valid():
        return _refused(request, form.problem, panel_url)
    kind, bom = FORMATS[format], form.cleaned_data["bom"]
    try:
        table = export_responses(
            project=project, answers=answers, format=format, filters=filters, by=request.user, choices=form.choices
        )
    except ExportError as error:
        return _refused(request, str(error), panel_url)
    if kind.is_text:
        lines = table_lines(table, format, bom=bom)
        return _attached(StreamingHttpResponse(lines, content_type=kind.content_type), f"{name}.{format}")
    file = TemporaryFile(prefix="concord-export-")  # noqa: SIM115 - the response closes it
    try:
        write_table(file, table, format)
    except ExportError as error:
        return _refused(request, str(error), panel_url, known_there=False)
    file.seek(0)
    return FileResponse(file, as_attachment=True, filename=f"{name}.{format}", content_type=kind.content_type)


def _refused(request: MemberRequest, problem: str, panel_url: str, *, known_there: bool = True) -> HttpResponse:
    """`known_there`: the panel finds the problem itself."""
    if "text/html" not in request.headers.get("Accept", ""):
        return sentence(problem, status=422)
    if not known_there:
        messages.error(request, problem)
    return redirect(f"{panel_url}?{query_string(request.GET)}")


def codebook_file(
    request: MemberRequest, project: Project, answers: QuerySet[Response], format: str, *, name: str
) -> HttpResponse:
    """What the columns of the file hold that the request's choices ask for."""
    if format not in CODEBOOKS:
        return sentence(f"There is no codebook as {format}; take {', '.join(CODEBOOKS)}.", status=404)
    form = choices_form(request, project, answers)
    if not form.is_valid():
        return sentence(form.problem, status=422)
    try:
        table = Table(project, answers, form.choices)
    except ExportError as error:
        return sentence(str(error), status=422)
    text = "".join(codebook_lines(table.columns, format))
    return _attached(HttpResponse(text, content_type=CODEBOOKS[format]), f"{name}.{format}")


def choices_form(request: MemberRequest, project: Project, answers: QuerySet[Response]) -> ChoicesForm:
    return ChoicesForm(request.GET, fields=fields_of(project, answers))


def sentence(text: str, *, status: int) -> HttpResponse:
    return HttpResponse(f"{text}\n", status=status, content_type="text/plain; charset=utf-8")


def _attached(response: Any, filename: str) -> Any:
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response
