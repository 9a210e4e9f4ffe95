"""How a study stands: tables for its live page, each from one query or two. People and simulated people are apart."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Q
from django.db.models.fields.json import KeyTextTransform
from django.urls import reverse
from django.utils import timezone

from materials.models import Item
from materials.questions import option_codes, option_label
from studies.filters import FunnelRow, parameters_in_words
from studies.models import Screen, Session, Study
from studies.quality import filter_sessions
from studies.querysets import LEFT_AFTER, SessionQuerySet

RECENT_SESSIONS = 20
COUNTED = ("choice", "scale")  # kinds of questions about people whose answers are few, and one a person
LISTED_ITEMS = 500
STEPS = {
    "entered": "Entered",
    "consented": "Consented",
    "running": "Running",
    "completed": "Completed",
    "finished_late": "of these late, after their place was given back",
    "no_consent": "Gave no consent",
    "screened_out": "Screened out",
    "quota_full": "Quota full",
    "failed_comprehension": "Failed the comprehension check",
    "failed_attention": "Failed the attention check",
    "returned": "Returned on the platform",
    "left": "Left (no new page for 30 minutes)",
    "median_minutes": "Median time of the completed (min)",
}
Counts = dict[Any, dict[bool, list[int]]]  # by what a row is about and by whether simulated, a number for each measure


@dataclass(frozen=True, slots=True)
class Row:
    label: str
    people: tuple[Any, ...]
    simulated: tuple[Any, ...]
    note: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """`measures` head the numbers, once for people and once more for simulated people; `note` explains them."""

    title: str
    subject: str
    measures: tuple[str, ...]
    rows: list[Row]
    note: str = ""


def live_context(study: Study) -> dict[str, Any]:
    """Everything that changes while people take part. About 15 queries, whose cost grows with sessions and screens."""
    now = timezone.now()
    sessions = Session.objects.counted().filter(study=study)
    steps = sessions.funnel(now)
    tables = [
        _steps(steps),
        _quotas(study, sessions),
        _places(sessions),
        _pages(study, now),
        _checks(study),
        _filters(study),
        *(_attribute(sessions, question) for question in study.demographic_questions if question.kind in COUNTED),
        _levels(study),
    ]
    return {
        "tables": [table for table in tables if table.rows],
        "items": _items(study, sessions),
        "has_simulated": True in steps,
        "recent": sessions.newest_first()[:RECENT_SESSIONS],
        "pages": study.page_count,
        "changing": study.status == Study.Status.OPEN or any(row["running"] for row in steps.values()),
    }


def _rows(labels: Mapping[Any, str], counts: Counts, width: int = 1) -> list[Row]:
    """A row for each label, with zeros where nobody is counted."""
    rows = []
    for key, label in labels.items():
        people, simulated = (tuple(counts.get(key, {}).get(who, [0] * width)) for who in (False, True))
        rows.append(Row(label, people, simulated))
    return rows


def _counted(rows: Iterable[tuple[Any, ...]]) -> Counts:
    """From rows of a key, whether simulated, and numbers; those of rows that have both in common are added."""
    counts: Counts = {}
    for key, simulated, *numbers in rows:
        before = counts.setdefault(key, {}).get(simulated, [0] * len(numbers))
        counts[key][simulated] = [a + b for a, b in zip(before, numbers, strict=True)]
    return counts


def _steps(steps: Mapping[bool, Mapping[str, Any]]) -> Table:
    def cell(simulated: bool, name: str) -> tuple[Any]:
        value = steps.get(simulated, {}).get(name, None if name == "median_minutes" else 0)
        return ("n/a" if value is None else f"{value:.1f}" if isinstance(value, float) else value,)

    rows = [Row(label, cell(False, name), cell(True, name)) for name, label in STEPS.items()]
    return Table("People", "Step", ("People",), rows)


def _quotas(study: Study, sessions: SessionQuerySet) -> Table:
    quotas = study.parsed_design.quotas
    counted = {
        f"quota_{n}": Count("pk", filter=Q(attributes__contains=quota.attributes)) for n, quota in enumerate(quotas)
    }
    holding = sessions.filter(place__isnull=False, given_back_at=None) if quotas else sessions.none()
    found: dict[bool, Any] = {row["simulated"]: row for row in holding.values("simulated").annotate(**counted)}

    def cell(simulated: bool, n: int) -> tuple[str]:
        return (f"{found.get(simulated, {}).get(f'quota_{n}', 0)} of {quotas[n].most}",)

    rows = [
        Row(
            ", ".join(f"{code}: {value}" for code, value in quota.attributes.items()) or "Altogether",
            cell(False, n),
            cell(True, n),
        )
        for n, quota in enumerate(quotas)
    ]
    return Table("Quotas", "Quota", ("Hold a place",), rows, "Who runs or has completed holds a place.")


def _places(sessions: SessionQuerySet) -> Table:
    """By stratum and cell; without rows where all places are alike."""
    held = Count("pk", filter=Q(given_back_at=None))
    completed = Count("pk", filter=Q(status=Session.Status.COMPLETED))
    back = Count("pk", filter=Q(given_back_at__isnull=False))
    dealt = sessions.filter(place__isnull=False)
    found = dealt.values_list("stratum", "cell", "simulated").annotate(held=held, completed=completed, back=back)
    named = [(_place_name(stratum, cell), *row) for stratum, cell, *row in found.order_by("stratum", "cell")]
    labels = {name: name for name, *_ in named if name}
    return Table(
        "Places by stratum and cell",
        "Stratum and cell",
        ("Held", "Completed", "Given back"),
        _rows(labels, _counted(named), width=3),
        "A place that is given back goes to the next person.",
    )


def _place_name(stratum: str, cell: Mapping[str, str]) -> str:
    parts = [*([stratum.replace("=", ": ")] if stratum else []), *(f"{name}: {level}" for name, level in cell.items())]
    return ", ".join(parts)


def _pages(study: Study, now: datetime) -> Table:
    """How many came to each page, and where those stopped who left. Kinds of pages at one position may differ."""
    stopped = Q(answered_at=None, session__status=Session.Status.STARTED, shown_at__lt=now - LEFT_AFTER)
    shown = Screen.objects.filter(session__study=study, session__pilot=False, shown_at__isnull=False)
    rows = shown.values_list("position", "kind", "session__simulated").annotate(
        reached=Count("pk"), stopped=Count("pk", filter=stopped)
    )
    found = list(rows.order_by("position", "kind"))
    kinds: dict[int, dict[str, None]] = {}
    for position, kind, *_ in found:
        kinds.setdefault(position, {})[str(Screen.Kind(kind).label)] = None
    labels = {position: f"{position + 1}. {' or '.join(names)}" for position, names in kinds.items()}
    counts = _counted((position, simulated, *numbers) for position, _, simulated, *numbers in found)
    note = "Stopped: on this page for more than 30 minutes."
    return Table("Drop-out by page", "Page", ("Reached", "Stopped here"), _rows(labels, counts, width=2), note)


def _checks(study: Study) -> Table:
    """How often each check was taken and failed."""
    design = study.parsed_design
    screens = Screen.objects.filter(session__study=study, session__pilot=False, answered_at__isnull=False)
    checks = {check.question.code: check for check in design.attention_checks}
    attention = screens.filter(kind=Screen.Kind.ATTENTION).values_list("answers", "session__simulated")
    counts = _counted(
        (code, simulated, n, 0 if checks[code].is_passed(value) else n)
        for answers, simulated, n in attention.annotate(n=Count("pk"))
        for code, value in answers.items()
    )
    labels = {code: f"Attention: {check.question.text}" for code, check in checks.items()}
    if design.comprehension:
        failed = Count("pk", filter=Q(session__status=Session.Status.FAILED_COMPREHENSION))
        first = Count("pk", filter=Q(tries__gt=0) | Q(session__status=Session.Status.FAILED_COMPREHENSION))
        taken = screens.filter(kind=Screen.Kind.COMPREHENSION).values_list("session__simulated")
        for simulated, n, at_first, at_last in taken.annotate(n=Count("pk"), first=first, failed=failed):
            counts.setdefault("comprehension at first", {})[simulated] = [n, at_first]
            counts.setdefault("comprehension at last", {})[simulated] = [n, at_last]
        labels |= {
            "comprehension at first": "Comprehension, first try",
            "comprehension at last": f"Comprehension, all {design.comprehension.tries} tries",
        }
    return Table("Checks", "Check", ("Taken", "Failed"), _rows(labels, counts, width=2))


def _filters(study: Study) -> Table:
    found = filter_sessions(study)
    none = [FunnelRow(entry, came=0, kept=0, out={}) for entry in study.parsed_filters]
    people, simulated = (found[who].rows if who in found else none for who in (False, True))
    rows = [
        Row(real.filter.label, _funnel_cells(real), _funnel_cells(bots), note=_details(real, bots))
        for real, bots in zip(people, simulated, strict=True)
    ]
    note = "In this order. Filters select what a report may use; they delete nothing."
    return Table("Quality filters", "Filter", ("Came", "Out", "Stay"), rows, note)


def _funnel_cells(row: FunnelRow) -> tuple[int, int, int]:
    return row.came, row.came - row.kept, row.kept


def _details(people: FunnelRow, simulated: FunnelRow) -> str:
    told = [parameters_in_words(people.filter)]
    told += [f"{n} {why}" for why, n in people.out.items()]
    told += [f"simulated: {n} {why}" for why, n in simulated.out.items()]
    return "; ".join(filter(None, told))


def _attribute(sessions: SessionQuerySet, question: Any) -> Table:
    """Each option of the question with who completed, those that nobody chose too; then whatever else there is."""
    found = sessions.by_attribute(question.code)
    words = {code: option_label(question, code, {}) for code in option_codes(question)}
    counts: Counts = {value: {who: [n] for who, n in by.items()} for value, by in found.items()}
    labels = words | {value: value for value in found if value not in words}
    return Table(f"Completed: {question.text}", "Answer", ("People",), _rows(labels, counts))


def _levels(study: Study) -> Table:
    """Pages about items that were answered, by level of what is balanced and of what varies within people."""
    design = study.parsed_design
    fields = {f"field_{n}": KeyTextTransform(name, "item__content") for n, name in enumerate(design.balance_fields)}
    if not (fields or design.relation or design.within):
        return Table("", "", (), [])
    answered = Screen.objects.filter(
        session__study=study, session__pilot=False, item__isnull=False, answered_at__isnull=False
    )
    columns = answered.annotate(**fields).values_list("session__simulated", "factors", *fields)
    counts = _counted(
        (f"{name}: {level}", simulated, n)
        for simulated, factors, *levels, n in columns.annotate(n=Count("pk"))
        for name, level in [*zip(design.balance_fields, levels, strict=True), *factors.items()]
    )
    labels = {name: name for name in sorted(counts)}
    return Table("Answered pages by level", "Level", ("People",), _rows(labels, counts))


def _items(study: Study, sessions: SessionQuerySet) -> Table:
    found = sessions.item_counts()
    items = Item.objects.filter(dataset_id=study.dataset_id).order_by("position", "pk")
    rows = [
        Row(
            external_id,
            (found.get(pk, {}).get(False, 0),),
            (found.get(pk, {}).get(True, 0),),
            url=reverse("item", kwargs={"slug": study.project.slug, "pk": pk}),
        )
        for pk, external_id in items.values_list("pk", "external_id")[:LISTED_ITEMS]
    ]
    total = items.count()
    note = f"The first {LISTED_ITEMS} of {total:,} items." if total > LISTED_ITEMS else ""
    return Table("Answers by item", "Item", ("People",), rows, note)
