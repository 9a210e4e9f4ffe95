"""Pages of a labelling project: how well people agree, and one label an item. Both show what a worker computed."""

import csv
import json
from collections.abc import Iterator
from itertools import islice
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.models import LabelProject
from annotation.querysets import simulated_annotators
from annotation.views import find
from evaluation import label_results
from evaluation.downloads import drawn
from evaluation.figure_files import CONTENT_TYPES as FIGURE_TYPES
from evaluation.label_doubts import dawid_skene_doubts
from projects.access import READERS, MemberRequest, project_view
from projects.models import Project, User
from projects.services import audit
from responses.export import csv_cell

PAGE = 50
CONTENT_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}


@project_view(*READERS)
def label_agreement(request: MemberRequest, project: Project, label: str) -> HttpResponse:
    """The coefficients; on a page of its own also what is behind one criterion (?criterion=) and two people of it."""
    found = find(project, label)
    results = label_results.look(found)
    whole = "HX-Request" not in request.headers or "whole" in request.GET
    rows = results.agreement["rows"] if results.agreement else []
    context = _context(found, "agreement") | {
        "results": results,
        "whole": whole,
        "figure_urls": _figure_urls(found) if whole else {},
        "query": urlencode({name: request.GET[name] for name in ("criterion", "pair") if name in request.GET}),
    }
    chosen = next((row for row in rows if row["code"] == request.GET.get("criterion")), None)
    chosen = chosen or next((row for row in rows if row["details"]), None)
    if whole and chosen and chosen["details"]:
        context |= _details(found, chosen, request.GET.get("pair", ""))
    template = "agreement_part" if "HX-Request" in request.headers else "agreement"
    return render(request, f"evaluation/{template}.html", context)


@project_view(*READERS)
def label_agreement_figure(request: MemberRequest, project: Project, label: str, format: str) -> HttpResponse:
    """The figure of the page in each format."""
    found = find(project, label)
    agreement = label_results.look(found).agreement
    if format not in FIGURE_TYPES or not agreement or not agreement["figure"]:
        raise Http404
    named = {"Content-Disposition": f'inline; filename="{found.slug}-agreement.{format}"'}
    return HttpResponse(drawn(agreement["figure"], format), content_type=FIGURE_TYPES[format], headers=named)


def _context(label_project: LabelProject, current: str) -> dict[str, Any]:
    bots = simulated_annotators(label_project.project_id)
    return {
        "project": label_project.project,
        "nav": "labelling",
        "label_project": label_project,
        "current": current,
        "simulated": label_project.assignments.filter(annotator__in=bots, status="submitted").exists(),
    }


def _figure_urls(label_project: LabelProject) -> dict[str, str]:
    place = [label_project.project.slug, label_project.slug]
    return {format: reverse("label_agreement_figure", args=[*place, format]) for format in FIGURE_TYPES}


def _details(label_project: LabelProject, row: dict[str, Any], pair: str) -> dict[str, Any]:
    details = row["details"]
    names = dict(User.objects.filter(pk__in=details["raters"]).values_list("pk", "username"))
    pairs = {(found["first"], found["second"]): found for found in details["pairs"]}
    chosen = next((found for key, found in pairs.items() if pair == "-".join(map(str, key))), None)
    chosen = chosen or max(pairs.values(), key=lambda found: found["n"], default=None)
    return {
        "row": row,
        "matrix": [
            (names[one], [pairs.get((min(one, other), max(one, other))) for other in details["raters"]])
            for one in details["raters"]
        ],
        "names": [names[rater] for rater in details["raters"]],
        "pair": chosen,
        "confusion": _confusion(row, chosen) if chosen else [],
        "first": names[chosen["first"]] if chosen else "",
        "second": names[chosen["second"]] if chosen else "",
    }


def _confusion(row: dict[str, Any], pair: dict[str, Any]) -> list[tuple[str, list[tuple[int, str]]]]:
    """For each label of the first the counts by label of the second, with the query of the items behind each."""
    details = row["details"]

    def query(one: Any, other: Any) -> str:
        asked = {"show": "all", "question": row["question"], "first": pair["first"], "second": pair["second"]}
        # An option among several is part of an answer; the items of both people are the nearest list.
        exact = {} if details["option"] else {"one": json.dumps(one), "other": json.dumps(other)}
        return urlencode(asked | exact)

    return [
        (
            label,
            [(n, query(one, other)) for other, n in zip(details["values"], counts, strict=True)],
        )
        for label, one, counts in zip(details["labels"], details["values"], pair["confusion"], strict=True)
    ]


@project_view(*READERS)
def label_labels(request: MemberRequest, project: Project, label: str) -> HttpResponse:
    """Majority, Dawid-Skene and adjudicated labels side by side, and their downloads."""
    found = find(project, label)
    results = label_results.look(found)
    asked = request.GET.get("page", "")
    number = max(1, int(asked)) if asked.isascii() and asked.isdigit() and len(asked) < 9 else 1
    rows = label_results.labels(found)
    shown = list(islice(rows, (number - 1) * PAGE, number * PAGE + 1)) if rows else []
    context = _context(found, "labels") | {
        "results": results,
        "doubts": dawid_skene_doubts(results.agreement["rows"]) if results.agreement else [],
        "rows": shown[:PAGE],
        "previous_url": f"?page={number - 1}" if number > 1 else "",
        "next_url": f"?page={number + 1}" if len(shown) > PAGE else "",
    }
    template = "labels_part" if "HX-Request" in request.headers else "labels"
    return render(request, f"evaluation/{template}.html", context)


@project_view(*READERS)
def label_labels_file(request: MemberRequest, project: Project, label: str, format: str) -> HttpResponseBase:
    """All aggregated labels of today's answers; while those are computed, back to the page that says so."""
    if format not in CONTENT_TYPES:
        raise Http404
    found = find(project, label)
    rows = label_results.labels(found) if label_results.look(found).current else None
    if rows is None:
        messages.info(request, "The labels of the latest answers are being computed; download them in a moment.")
        return redirect("label_labels", slug=project.slug, label=label)
    audit(project=project, user=request.user, action="labels exported", label_project=found.slug, format=format)
    lines = _csv_lines(rows) if format == "csv" else (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    response = StreamingHttpResponse(lines, content_type=CONTENT_TYPES[format])
    response["Content-Disposition"] = f'attachment; filename="{found.slug}-labels.{format}"'
    return response


def _csv_lines(rows: Iterator[dict[str, Any]]) -> Iterator[str]:
    writer = csv.writer(SimpleNamespace(write=str))  # what is written is given back
    yield writer.writerow(label_results.COLUMNS)
    for row in rows:
        yield writer.writerow([csv_cell(value) for value in row.values()])
