"""A model's suggestions on the annotator's page, in the ways in which they may be shown."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from json import dumps, loads
from typing import Any

from materials.presentation import PREFIX, ShownOption, ShownQuestion
from materials.questions import Questionnaire, option_codes

PRESELECTED, AUDITED = "preselected", "audited"  # of LabelProject.Suggestions
AUDIT = "audit_"  # of the names of form fields
RIGHT, WRONG = "right", "wrong"
ONE_OF = ("choice", "pairwise", "scale")  # kinds of question whose answer is one option
VERDICTS = (ShownOption(RIGHT, "Right", "r"), ShownOption(WRONG, "Wrong", "w"))


@dataclass(frozen=True, slots=True)
class Suggested:
    """A question as it is shown, and the model's answer in words where it stands beside it."""

    question: ShownQuestion
    says: str = ""


def audit_key(code: str) -> str:
    """Under which a verdict on the model's answer is kept among the answers; no question has such a code."""
    return f"audit:{code}"


def read_audits(suggested: Iterable[str], data: Mapping[str, Any]) -> dict[str, str]:
    """The verdicts of a form on the model's answers to these questions, as audit_key names them."""
    given = {audit_key(code): str(data.get(AUDIT + code, "")) for code in suggested}
    return {key: verdict for key, verdict in given.items() if verdict in (RIGHT, WRONG)}


def with_audits(
    questionnaire: Questionnaire, suggested: Mapping[str, Any], answers: Mapping[str, Any]
) -> dict[str, Any]:
    """The answers that the verdicts amount to: the model's where it is right, the person's own where it is wrong.

    Of two options the other one is meant when the model's is wrong.
    """
    verdicts = {code: answers.get(audit_key(code)) for code in suggested}
    own = {code: value for code, value in answers.items() if verdicts.get(code, WRONG) == WRONG}
    for code, verdict in verdicts.items():
        question = questionnaire[code]
        others = _others(question.kind, option_codes(question), suggested[code])
        if verdict == RIGHT:
            own[code] = suggested[code]
        elif verdict == WRONG and len(others) == 1:
            own[code] = others[0]
    return {code: value for code, value in own.items() if not code.startswith("audit:")}


def contradictions(
    suggested: Mapping[str, Any], answers: Mapping[str, Any], values: Mapping[str, Any]
) -> dict[str, str]:
    """A sentence for each question whose value is the one that the verdict among the answers calls wrong.

    >>> contradictions({"a": [1], "b": [1]}, {"audit:a": "wrong", "audit:b": "wrong"}, {"a": [1], "b": [2]}).keys()
    dict_keys(['a'])
    """
    return {
        code: "You said that the model is wrong: give another answer than the model’s, or say that it is right."
        for code, value in values.items()
        if answers.get(audit_key(code)) == WRONG and value == suggested.get(code)
    }


def _others(kind: str, codes: Iterable[str], value: Any) -> list[str]:
    """The options besides this value where one of them is chosen; else none."""
    return [code for code in codes if code != str(value)] if kind in ONE_OF else []


def audits_of(suggested: Mapping[str, Any], answers: Mapping[str, Any]) -> dict[str, str]:
    """The verdicts that stored answers amount to.

    >>> audits_of({"a": "yes", "b": "no", "c": "no"}, {"a": "yes", "b": "yes"})
    {'audit:a': 'right', 'audit:b': 'wrong'}
    """
    return {
        audit_key(code): RIGHT if answers[code] == value else WRONG
        for code, value in suggested.items()
        if code in answers
    }


def show_suggestions(
    questions: Sequence[ShownQuestion],
    *,
    suggested: Mapping[str, Any],
    says: Mapping[str, str],
    shown_as: str,
    answers: Mapping[str, Any],
) -> list[Suggested]:
    """The questions with what the model says (`says`, in words by code, of the values `suggested`).

    Audited ones follow a question about that. Their own options lack the model's, and where only one is left the
    verdict chooses it.
    """
    if shown_as != AUDITED:
        return [Suggested(question, says.get(question.code, "")) for question in questions]
    others = {
        question.code: _others(question.kind, (option.code for option in question.options), suggested[question.code])
        for question in questions
        if question.code in says
    }
    keys = Counter(option.hotkey for question in questions for option in question.options)
    shown = []
    for asked in questions:
        question = replace(asked, show_if=_asked_after(asked.show_if, suggested, others))
        if question.code not in says:
            shown.append(Suggested(question))
            continue
        left = tuple(option for option in question.options if option.code in others[question.code])
        other = left[0] if len(left) == 1 else None
        right, wrong = (replace(option, shared=len(says) > 1 or option.hotkey in keys) for option in VERDICTS)
        name, verdict = AUDIT + question.code, answers.get(audit_key(question.code))
        audit = ShownQuestion(
            code=name,
            name=name,
            kind="choice",
            legend=f"{question.legend} The model says: {says[question.code]}.",
            help=question.help,
            optional=question.optional,
            value=verdict,
            error="" if verdict == WRONG and not other else question.error,
            options=(right, replace(wrong, label=f"Wrong: {other.label}") if other else wrong),
            inline=True,
            show_if=question.show_if,
        )
        shown.append(Suggested(audit))
        if not other:
            own = replace(
                question,
                options=left or question.options,
                show_if=dumps({"name": name, "any_of": [WRONG]}),
                error=question.error if verdict == WRONG else "",
            )
            shown.append(Suggested(own))
    return shown


def _asked_after(show_if: str, suggested: Mapping[str, Any], others: Mapping[str, list[str]]) -> str:
    """The condition, met also by a verdict that amounts to one of the answers that it names."""
    rule = loads(show_if) if show_if else {"name": ""}
    code = rule["name"].removeprefix(PREFIX)
    if code not in others:
        return show_if
    said = suggested[code] if isinstance(suggested[code], list) else [suggested[code]]
    meant = {RIGHT: said, WRONG: others[code] if len(others[code]) == 1 else []}
    verdicts = [verdict for verdict, values in meant.items() if any(str(value) in rule["any_of"] for value in values)]
    return dumps([{"name": AUDIT + code, "any_of": verdicts}, rule])
