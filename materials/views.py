"""Datasets and their items."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render

from materials.content import id_fields, ordered
from materials.models import Dataset
from materials.querysets import datasets_with_counts, imports_of, search_items
from projects.access import MANAGERS, READERS, MemberRequest, project_view
from projects.models import Project

ITEMS_PER_PAGE = 50
PREVIEW_COLUMNS = 3


@project_view(*READERS)
def datasets(request: MemberRequest, project: Project) -> HttpResponse:
    context = {
        "project": project,
        "nav": "materials",
        "datasets": datasets_with_counts(project),
        "may_import": request.role in MANAGERS,
    }
    return render(request, "materials/datasets.html", context)


@project_view(*READERS)
def dataset(request: MemberRequest, project: Project, dataset: str) -> HttpResponse:
    found = get_object_or_404(project.datasets, slug=dataset)
    words = request.GET.get("q", "").strip().replace("\x00", "")
    page = Paginator(search_items(found, words), ITEMS_PER_PAGE).get_page(request.GET.get("page"))
    columns = _preview_columns(found, [(item.external_id, item.content) for item in page])
    context = {
        "project": project,
        "nav": "materials",
        "dataset": found,
        "page": page,
        "words": words,
        "columns": columns,
        "rows": [(item, [item.content.get(column, "") for column in columns]) for item in page],
        "imports": imports_of(found),
        "may_import": request.role in MANAGERS,
    }
    return render(request, "materials/dataset.html", context)


def _preview_columns(dataset: Dataset, contents: list[tuple[str, dict[str, Any]]]) -> list[str]:
    """The first item's fields with the longest texts, which tell items apart better than codes and numbers do."""
    hidden = id_fields(contents)
    content = ordered(contents[0][1], dataset.field_order) if contents else []
    texts = {column: value for column, value in content if isinstance(value, str) and value and column not in hidden}
    longest = sorted(texts, key=lambda column: -len(texts[column]))[:PREVIEW_COLUMNS]
    return [column for column in texts if column in longest]
