"""What a study asked of whom, and how: every question with its options and codes, and the design around them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from responses.export_columns import Column, question_columns
from studies.export_tables import StudyTable
from studies.filters import in_words
from studies.models import Study
from studies.translating import language_name

EVERYBODY = "everybody"


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that a reader of the data looks up. `options` are labels by code; `asked` says of whom, or when."""

    name: str
    kind: str
    text: str
    asked: str = ""
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Part:
    title: str
    entries: list[Entry]


def codebook(study: Study, tables: Mapping[str, Sequence[Column]]) -> list[Part]:
    """The parts that the study has; `tables` are columns of files by title. Raises DesignError for a faulty study."""
    parts = [
        Part("Study", list(_about(study))),
        Part("Questions about people", [_question(q, "everybody who consents") for q in study.demographic_questions]),
        Part("Questions about items", [_question(q, _when(study, q)) for q in study.item_questions]),
        Part("Checks", list(_checks(study))),
        Part("Design", list(_design(study))),
        Part("Factors", list(_factors(study))),
        Part("Filters, in order", [Entry(e.kind, "filter", in_words(e)) for e in study.parsed_filters]),
        Part("Languages", list(_languages(study))),
        *(Part(title, [_column(column) for column in columns]) for title, columns in tables.items()),
    ]
    return [part for part in parts if part.entries]


def as_table(parts: Sequence[Part]) -> StudyTable:
    """One row an entry."""
    columns = [Column(name, "text", "") for name in ("part", "name", "kind", "text", "asked")]
    rows = [
        [part.title, entry.name, entry.kind, entry.text, entry.asked, dict(entry.options) or None]
        for part in parts
        for entry in part.entries
    ]
    return StudyTable([*columns, Column("options", "json", "")], lambda: iter(rows))


def as_markdown(title: str, parts: Sequence[Part]) -> str:
    """A heading a part and a list below it."""
    return "".join(_markdown(title, parts))


def _markdown(title: str, parts: Sequence[Part]) -> Iterator[str]:
    yield f"# {_plain(title)}\n"
    for part in parts:
        yield f"\n## {part.title}\n\n"
        for entry in part.entries:
            asked = f" Asked: {entry.asked}." if entry.asked else ""
            yield f"- `{entry.name}` ({entry.kind}): {_plain(entry.text)}{asked}\n"
            for code, label in entry.options.items():
                yield f"  - `{code}`{f': {_plain(label)}' if label else ''}\n"


def _plain(text: str) -> str:
    """On one line, with the signs that Markdown or HTML would read taken literally."""
    escaped = "".join(f"\\{sign}" if sign in "\\`*_[]<>#|" else sign for sign in text)
    return " ".join(escaped.split())


def _about(study: Study) -> Iterator[Entry]:
    design = study.parsed_design
    yield Entry("title", "text", study.parsed_texts.title)
    yield Entry("version", "number", str(study.version))
    yield Entry("instrument", "name", f"{study.instrument.name}/{study.instrument.version}")
    yield Entry("dataset", "name", study.dataset.slug)
    yield Entry("items_each", "number", str(design.items_each))
    fields = ", ".join(entry.field for entry in design.item_template.item_fields)
    yield Entry("item_fields", "list", f"The scenario is made of {fields}.")
    yield Entry("seed", "number", f"{design.seed}; every draw follows from it.")


def _question(question: Any, asked: str) -> Entry:
    (first, *_) = question_columns(question)
    needed = "" if question.required else "; may be left out"
    shown = "; options in random order" if getattr(question, "randomise", False) else ""
    text = " ".join(filter(None, [question.text, question.help]))
    return Entry(question.code, question.kind, text, f"{asked}{needed}{shown}", _options(question) or first.options)


def _options(question: Any) -> dict[str, str]:
    """Of a ranking, whose columns have none."""
    options = question.options if question.kind == "rank" else ()
    return {option.code: option.text or f"the item's {option.text_field}" for option in options}


def _when(study: Study, question: Any) -> str:
    design = study.parsed_design
    each = f"{EVERYBODY}, about each of {design.items_each} items"
    if n := design.asked_on.get(question.code):
        each = f"{EVERYBODY}, about {n} of {design.items_each} items drawn by seed"
    if rule := question.show_if:
        each += f", if {rule.question} is {' or '.join(map(str, rule.any_of))}"
    return each


def _checks(study: Study) -> Iterator[Entry]:
    design = study.parsed_design
    if check := design.comprehension:
        for question in check.questions:
            yield _question(question, f"{EVERYBODY}, {check.tries} tries; right is {check.expected[question.code]}")
    for attention in design.attention_checks:
        yield _question(attention.question, f"{EVERYBODY}, between items by seed; right is {attention.expected}")


def _design(study: Study) -> Iterator[Entry]:
    design = study.parsed_design
    if design.balance:
        yield Entry("balance", "assignment", f"Levels are even within a person: {', '.join(design.balance)}.")
    if design.dealt_apart:
        yield Entry("strata", "assignment", f"Places are dealt apart within {' and '.join(design.dealt_apart)}.")
    for rule in design.screening:
        yield Entry(rule.question, "screening", f"Only {', '.join(map(str, rule.allowed))} go on.")
    for quota in design.quotas:
        who = " and ".join(f"{code} {value}" for code, value in quota.attributes.items())
        yield Entry("quota", "quota", f"At most {quota.most} people{f' with {who}' if who else ''}.")
    if design.attention_checks:
        yield Entry("attention_limit", "number", f"Failed checks that fail the person: {design.attention_limit}.")


def _factors(study: Study) -> Iterator[Entry]:
    design = study.parsed_design
    if relation := design.relation:
        close = "; ".join(f"{own}: {', '.join(others)}" for own, others in relation.close.items() if others)
        text = (
            f"How the item's {relation.field} stands to the person's {relation.attribute}. Close are {close or 'none'}."
        )
        levels = dict.fromkeys(("same", "close", "far"), "")
        yield Entry(relation.name, "relation", text, options=levels)
    for factor in design.factors:
        where = "Varies over the items of a person." if factor.within else "Varies between people."
        yield Entry(factor.name, "factor", where, options={level.code: level.text for level in factor.levels})


def _languages(study: Study) -> Iterator[Entry]:
    for language in study.languages if study.translations else ():
        yield Entry(language, "language", language_name(language, study.parsed_translations.get(language)))
    for language, translation in study.parsed_translations.items():
        for code, words in translation.questions.items():
            yield Entry(f"{code} ({language})", "translation", words.text, options=words.options)


def _column(column: Column) -> Entry:
    return Entry(column.name, column.type, column.about, options=column.options)
