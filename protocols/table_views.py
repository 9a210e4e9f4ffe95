"""Tables of numbers that stages made, a row an item: as a page and as a file."""

import csv
import io
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render

from materials.content import ordered
from materials.models import Dataset
from projects.access import READERS, MemberRequest, project_view
from projects.models import Project
from responses.export import csv_cell

ROWS_SHOWN = 500
MARKS = {"simulated": "simulated", "demo_model": "demo-model"}  # in the lineage, and as badges


@project_view(*READERS)
def table(request: MemberRequest, project: Project, dataset: str) -> HttpResponse:
    found = get_object_or_404(project.datasets, slug=dataset)
    columns, rows = _read(found)
    context = {
        "project": project,
        "nav": "protocols",
        "dataset": found,
        "columns": [(name.replace("_", " "), _are_numbers(rows, name)) for name in columns],
        "rows": [
            [(_shown(content.get(name)), _is_number(content.get(name))) for name in columns]
            for content, _ in rows[:ROWS_SHOWN]
        ],
        "left_out": max(0, len(rows) - ROWS_SHOWN),
        "marks": [badge for mark, badge in MARKS.items() if any(mark in lineage for _, lineage in rows)],
    }
    return render(request, "protocols/table.html", context)


@project_view(*READERS)
def table_csv(request: MemberRequest, project: Project, dataset: str) -> HttpResponse:
    """All rows, each with whether bots or a demo model are behind it."""
    found = get_object_or_404(project.datasets, slug=dataset)
    columns, rows = _read(found)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([csv_cell(name) for name in [*columns, *MARKS]])
    for content, lineage in rows:
        values = [content.get(name) for name in columns] + [bool(lineage.get(mark)) for mark in MARKS]
        writer.writerow([csv_cell(value) for value in values])
    response = HttpResponse(text.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{found.slug}.csv"'
    return response


def _read(dataset: Dataset) -> tuple[list[str], list[tuple[dict[str, Any], dict[str, Any]]]]:
    rows = list(dataset.items.order_by("position", "pk").values_list("content", "lineage"))
    names = dict.fromkeys(name for content, _ in rows for name, _ in ordered(content, dataset.field_order))
    return list(names), rows


def _are_numbers(rows: list[tuple[dict[str, Any], dict[str, Any]]], name: str) -> bool:
    return all(_is_number(content.get(name)) for content, _ in rows)


def _is_number(value: Any) -> bool:
    """Also of what is undefined, which stands among numbers."""
    return isinstance(value, int | float | None)


def _shown(value: Any) -> str:
    """The value as text of a cell; shares and other fractions with three decimals, and nothing as a dash."""
    if value is None or value == "":
        return "–"
    if isinstance(value, float):
        return f"{value:.3f}"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
