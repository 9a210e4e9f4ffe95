"""The questions of an instrument as a text of JSON, from a page or a file."""

import json
from typing import Any

from materials.questions import QuestionError, parse_questions


def read_json(text: str) -> Any:
    """The data that the text holds. Raises QuestionError with the place of the fault."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        what = f"this is not JSON ({error.msg[:1].lower()}{error.msg[1:]})"
        raise QuestionError(f"Line {error.lineno}, column {error.colno}: {what}.") from error
    except ValueError as error:  # the only other one: an integer of more digits than Python reads
        raise QuestionError("The JSON holds a number that is too long.") from error
    except RecursionError as error:
        raise QuestionError("The JSON is nested too deeply.") from error


def read_questions(text: str) -> list[dict[str, Any]]:
    """The list of questions, complete with defaults. Raises QuestionError with every fault and its place."""
    questions: list[dict[str, Any]] = parse_questions(read_json(text)).model_dump(mode="json")["questions"]
    for number, question in enumerate(questions, start=1):
        if "\\u0000" in json.dumps(question).replace("\\\\", ""):
            raise QuestionError(f"Question {number} holds a NUL character, which cannot be stored; remove it.")
    return questions


def short_questions(questions: Any) -> list[dict[str, Any]]:
    """Stored questions as somebody would write them: what has its default is left out."""
    return [
        {"kind": question.kind, **question.model_dump(mode="json", exclude_defaults=True)}
        for question in (parse_questions(questions).questions if questions else ())
    ]


def questions_json(questions: Any) -> str:
    """The same as a text of JSON."""
    return json.dumps(short_questions(questions), indent=2, ensure_ascii=False)
