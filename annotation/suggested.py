"""A model's suggestions on the annotator's page, in the ways in which they may be shown."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from json import dumps
from typing import Any

from materials.presentation import ShownOption, ShownQuestion

PRESELECTED, AUDITED = "preselected", "audited"  # of LabelProject.Suggestions
AUDIT = "audit_"  # of the names of form fields
RIGHT, WRONG = "right", "wrong"
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


def with_audits(suggested: Mapping[str, Any], answers: Mapping[str, Any]) -> dict[str, Any]:
    """The answers that the verdicts amount to: the model's where it is right, the person's own where it is wrong.

    >>> with_audits({"a": "yes", "b": "no"}, {"audit:a": "right", "audit:b": "wrong", "a": "no", "b": "yes"})
    {'b': 'yes', 'a': 'yes'}
    """
    verdicts = {code: answers.get(audit_key(code)) for code in suggested}
    own = {code: value for code, value in answers.items() if verdicts.get(code, WRONG) == WRONG}
    agreed = {code: suggested[code] for code, verdict in verdicts.items() if verdict == RIGHT}
    return {code: value for code, value in (own | agreed).items() if not code.startswith("audit:")}


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
    questions: Sequence[ShownQuestion], *, says: Mapping[str, str], shown_as: str, answers: Mapping[str, Any]
) -> list[Suggested]:
    """The questions with what the model says (`says`, in words by code); audited ones follow a question about that."""
    if shown_as != AUDITED:
        return [Suggested(question, says.get(question.code, "")) for question in questions]
    keys = Counter(option.hotkey for question in questions for option in question.options)
    shown = []
    for question in questions:
        if question.code not in says:
            shown.append(Suggested(question))
            continue
        verdicts = tuple(replace(option, shared=len(says) > 1 or option.hotkey in keys) for option in VERDICTS)
        name, verdict = AUDIT + question.code, answers.get(audit_key(question.code))
        audit = ShownQuestion(
            code=name,
            name=name,
            kind="choice",
            legend=f"{question.legend} The model says: {says[question.code]}.",
            help=question.help,
            optional=question.optional,
            value=verdict,
            error="" if verdict == WRONG else question.error,
            options=verdicts,
            inline=True,
            show_if=question.show_if,
        )
        own = replace(
            question,
            show_if=dumps({"name": name, "any_of": [WRONG]}),
            error=question.error if verdict == WRONG else "",
        )
        shown += [Suggested(audit), Suggested(own)]
    return shown
