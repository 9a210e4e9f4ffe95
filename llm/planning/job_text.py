"""Factors, personas and item filters as lines of a form, and back. Pure code.

A line is `name: one | two | three`; a factor's level may have a text of its own: `tone: none = | kind = Be kind.`.
What no line can say (texts of several lines, numbers, personas that are no combination) is written as JSON.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

from llm.planning.grid import Factor, GridError, Level
from llm.planning.personas import check_persona, crossed


def read_factors(text: str) -> list[dict[str, Any]]:
    """Factors, one a line, as JSON. Raises GridError with the line.

    >>> read_factors("tone: kind | blunt = Say it straight.")[0]["levels"][1]
    {'name': 'blunt', 'value': 'Say it straight.'}
    """
    if text.lstrip().startswith("["):
        return [Factor.from_json(factor).to_json() for factor in _json(text)]
    factors = []
    for number, name, entries in _lines(text):
        _check_apart(name, entries, "level")
        levels = []
        for entry in entries:
            level, sign, value = (part.strip() for part in entry.partition("="))
            levels.append(Level(level, value if sign else level))
        try:
            factors.append(Factor(name, tuple(levels)).to_json())
        except GridError as error:
            raise GridError(f"Line {number}: {error}") from error
    return factors


def read_filter(text: str) -> dict[str, list[str]]:
    """Values by field, one field a line; an item passes that has one of the values in each field. Raises GridError.

    >>> read_filter("country: Brazil | India")
    {'country': ['Brazil', 'India']}
    """
    return _json_values(text) if text.lstrip().startswith("{") else _values(text)


def read_personas(text: str) -> dict[str, list[str]] | list[dict[str, Any]]:
    """Values by attribute, of which every combination is a persona, or a list of personas from JSON. Raises GridError.

    >>> read_personas("religion: Hindu | Muslim")
    {'religion': ['Hindu', 'Muslim']}
    """
    if text.lstrip().startswith("["):
        personas = _json(text)
        if not all(isinstance(persona, dict) for persona in personas):
            raise GridError('Each persona in the list is a JSON object, like {"country": "Chile"}.')
        return [_checked(persona) for persona in personas]
    values = _values(text)
    for name, entries in values.items():
        _check_apart(name, entries, "value")
    return _checked(values)


def factors_text(factors: Sequence[Mapping[str, Any]]) -> str:
    """What read_factors reads as these factors."""
    lines = [f"{factor['name']}: {' | '.join(map(_level_text, factor['levels']))}" for factor in factors]
    return _written(read_factors, lines, list(factors))


def filter_text(wanted: Mapping[str, Sequence[str]]) -> str:
    """What read_filter reads as this filter."""
    return _written(read_filter, _value_lines(wanted), dict(wanted))


def persona_parts(
    personas: Sequence[Mapping[str, Any]], boxes: Mapping[str, Sequence[str]]
) -> tuple[bool, dict[str, list[str]], str]:
    """Whether nobody ({}) is asked too, which boxes of each attribute are ticked, and what read_personas reads as the
    rest. Together they make these personas in this order."""
    alone = bool(personas) and not personas[0]
    people = list(personas[1:] if alone else personas)
    values: dict[str, list[Any]] = {}
    for name, value in (pair for persona in people for pair in persona.items()):
        if value not in values.setdefault(name, []):
            values[name].append(value)
    known = {
        name: [box for box in boxes[name] if box in values[name]]
        for name in boxes
        if name in values and all(value in boxes[name] for value in values[name])
    }
    for ticked in (known, {}):
        lines = {name: found for name, found in values.items() if name not in ticked}
        text = "\n".join(_value_lines(lines))
        if not people or (_reads_as(read_personas, text, lines) and _cross_to(ticked | lines, people)):
            return alone, ticked, text
    return alone, {}, json.dumps(people, ensure_ascii=False, indent=2)


def read_json(text: str) -> Any:
    """JSON that PostgreSQL takes. Raises ValueError for other, and for what only Python takes for JSON."""
    document = json.loads(text)
    again = json.dumps(document, ensure_ascii=False, allow_nan=False)
    again.encode()  # half of a surrogate pair cannot be
    if "\\u0000" in again.replace("\\\\", ""):
        raise ValueError("a NUL character cannot be stored")
    return document


def _lines(text: str) -> Iterator[tuple[int, str, list[str]]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        name, colon, rest = line.partition(":")
        entries = [entry.strip() for entry in rest.split("|")]
        if not colon or not name.strip() or not all(entries):
            raise GridError(f"Line {number}: write a name, a colon and values with | between them, as in a: x | y.")
        yield number, name.strip(), entries


def _values(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for number, name, entries in _lines(text):
        if name in found:
            raise GridError(f"Line {number}: {name} is there twice; give all its values in one line.")
        found[name] = entries
    return found


def _check_apart(name: str, entries: Sequence[str], what: str) -> None:
    """Raises GridError for a single entry with commas, which was meant to be several."""
    if len(entries) == 1 and "," in entries[0] and "=" not in entries[0]:
        apart = " | ".join(part.strip() for part in entries[0].split(","))
        raise GridError(f'"{entries[0]}" is one {what}. Separate {what}s with |: {name}: {apart}')


def _checked(persona: dict[str, Any]) -> dict[str, Any]:
    try:
        check_persona(persona)
    except ValueError as error:
        raise GridError(f"{error}.") from error
    return persona


def _json(text: str) -> Any:
    try:
        return read_json(text)
    except (ValueError, RecursionError) as error:
        raise GridError(f"What begins with {text.lstrip()[0]} is read as JSON, and this is none: {error}.") from error


def _json_values(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = _json(text)
    for name, values in found.items():
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise GridError(f'{name}: as JSON the values are a list of texts, like {{"{name}": ["x", "y"]}}.')
    return found


def _level_text(level: Mapping[str, Any]) -> str:
    """With its value where that is another, and where a comma would pass for a separator."""
    name, value = level["name"], level["value"]
    return f"{name}" if name == value and "," not in name else f"{name} = {value}".rstrip()


def _value_lines(values: Mapping[str, Sequence[Any]]) -> list[str]:
    return [f"{name}: {' | '.join(map(str, found))}" for name, found in values.items()]


def _written(reader: Callable[[str], Any], lines: Sequence[str], meant: Any) -> str:
    """The lines where the reader makes of them what is meant, otherwise its JSON."""
    text = "\n".join(lines)
    return text if _reads_as(reader, text, meant) else json.dumps(meant, ensure_ascii=False, indent=2)


def _reads_as(reader: Callable[[str], Any], text: str, meant: Any) -> bool:
    try:
        return bool(reader(text) == meant)
    except GridError:
        return False


def _cross_to(values: Mapping[str, Sequence[Any]], people: Sequence[Mapping[str, Any]]) -> bool:
    return prod(map(len, values.values())) == len(people) and crossed(values) == people
