"""What answering as somebody changes in how close a model comes to the people."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from evaluation.figures import arrows
from evaluation.metrics.alignment import alignment_changes, alignment_summary
from evaluation.metrics.result import Estimate
from evaluation.sections.comparison import Comparison, Setting
from evaluation.sections.shape import Column, Figure, Row, Section, Table, estimate_cell, two_decimals

COLUMNS = (
    Column("question", "Question"),
    Column("model", "Model", "name"),
    Column("setting", "Persona", "name"),
    Column("items", "Items", "count", "n"),
    Column("mae_without", "Rate MAE without", "estimate", "0 to 1"),
    Column("mae_with", "Rate MAE with", "estimate", "0 to 1"),
    Column("mae_change", "Change of rate MAE", "estimate"),
    Column("mae_ceiling", "Human MAE", "estimate", "0 to 1"),
    Column("majority_without", "Majority alignment without", "estimate", "0 to 1"),
    Column("majority_with", "Majority alignment with", "estimate", "0 to 1"),
    Column("majority_change", "Change of majority alignment", "estimate"),
    Column("majority_ceiling", "Human ceiling", "estimate", "0 to 1"),
)


@dataclass(frozen=True, slots=True)
class Change:
    """A model's numbers without and with a persona, against the same people on the same items."""

    question: str
    setting: Setting
    without: Mapping[str, Estimate]
    with_persona: Mapping[str, Estimate]
    changes: Mapping[str, Estimate]
    ceiling: Mapping[str, Estimate]


def persona(comparison: Comparison) -> Section | None:
    """None where no model answered both without and with a persona."""
    changes = [change for question in comparison.questions for change in _changes(comparison, question)]
    if not changes:
        return None
    return Section(
        code="persona",
        title="What a persona changes",
        paragraphs=(
            "Each model is compared with the same people on the same items twice: as itself, and as a person of their "
            "countries. A lower rate MAE is better. The change can come from the persona's words alone; it does not "
            "show that the model knows the people it answers as.",
            "Brackets are 95 % bootstrap intervals over items. Those of a change draw each item with both answers, so "
            "a change can be sure where the two intervals overlap. Human MAE and human ceiling are what one half of "
            "these people reaches with the other half, on the same items.",
        ),
        tables=(
            Table(
                "persona",
                "Without and with persona",
                "On items answered both ways, against the people of the persona's countries.",
                COLUMNS,
                tuple(_row(comparison, change) for change in changes),
            ),
        ),
        figures=(_figure(comparison, changes),),
    )


def _changes(comparison: Comparison, question: str) -> Iterator[Change]:
    plain = {_asked(setting): setting for setting in comparison.settings if setting.persona == "none"}
    for setting in comparison.settings:
        if setting.persona == "none" or _asked(setting) not in plain:
            continue
        # As itself, but against the people that the persona is compared with.
        itself = replace(plain[_asked(setting)], countries=setting.countries)
        before, after = comparison.items(question, itself), comparison.items(question, setting)
        both = (before["n_model"] > 0) & (after["n_model"] > 0)
        parameters = comparison.parameters
        without, with_persona = (
            alignment_summary(items[both], n_resamples=parameters.resamples, seed=parameters.seed)
            for items in (before, after)
        )
        if with_persona["rate_mae"].defined:
            drawn = {"n_resamples": parameters.resamples, "seed": parameters.seed}
            changes = alignment_changes(before[both], after[both], **drawn)
            yield Change(question, setting, without, with_persona, changes, comparison.ceiling(after[both]))


def _asked(setting: Setting) -> tuple[str, ...]:
    return setting.model, setting.endpoint, setting.prompt, setting.temperature


def _row(comparison: Comparison, change: Change) -> Row:
    return Row(
        cells={
            "question": change.question,
            "model": comparison.label(change.setting),
            "setting": change.setting.name,
            "items": change.changes["rate_mae"].n,
            "mae_without": estimate_cell(change.without["rate_mae"]),
            "mae_with": estimate_cell(change.with_persona["rate_mae"]),
            "mae_change": estimate_cell(change.changes["rate_mae"]),
            "mae_ceiling": estimate_cell(change.ceiling["rate_mae"]),
            "majority_without": estimate_cell(change.without["majority_alignment"]),
            "majority_with": estimate_cell(change.with_persona["majority_alignment"]),
            "majority_change": estimate_cell(change.changes["majority_alignment"]),
            "majority_ceiling": estimate_cell(change.ceiling["majority_alignment"]),
        },
        marks=(*comparison.who.people_marks, change.setting.mark),
        n_people=comparison.n_people(change.setting.countries),
    )


def _figure(comparison: Comparison, changes: list[Change]) -> Figure:
    who = dict.fromkeys(comparison.line(change.setting) for change in changes)
    return Figure(
        code="persona",
        title="Rate MAE without persona and with it",
        caption="Arrows go from the rate MAE of the model as itself to that as a person of the country, against the "
        f"people there, and bear the difference; to the left is closer. {comparison.who.legend}",
        source=comparison.source,
        spec=arrows(
            [_arrow(comparison, change) for change in changes],
            who=list(who),
            x_title="Rate MAE",
            caution=comparison.who.caution,
        ),
    )


def _arrow(comparison: Comparison, change: Change) -> dict[str, Any]:
    setting, difference = change.setting, change.changes["rate_mae"].value
    after = estimate_cell(change.with_persona["rate_mae"])
    return {
        "who": comparison.line(setting),
        "question": change.question,
        "mark": setting.mark,
        "before": change.without["rate_mae"].value,
        **after,
        "direction": "same" if abs(difference) < 0.005 else "up" if difference > 0 else "down",
        "label": f"{change.question} {two_decimals(difference)}",
        "people": comparison.n_people(setting.countries),
        **comparison.who.marked(*comparison.who.people_marks, setting.mark),
    }
