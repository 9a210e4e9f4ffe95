"""Short lists of a design as people type them into a form, one entry a line, and back. Pure code.

What reads raises ValueError with a sentence that names the line.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from materials.lines import lines_of, names_in, pair_of, write_names

Rule = dict[str, Any]


def read_groups(text: str) -> list[list[str]]:
    """A page a line, with the codes of its questions."""
    return [names_in(line) for line in lines_of(text)]


def read_numbers(text: str) -> dict[str, int]:
    """Whole numbers by name.

    >>> read_numbers("why: 2")
    {'why': 2}
    """
    numbers = {}
    for line in lines_of(text):
        name, number = pair_of(line, "why: 2")
        numbers[name] = _whole(number, line)
    return numbers


def read_screening(text: str) -> list[Rule]:
    """The answers that let people go on, by question; all answers are texts.

    >>> read_screening("country: India, Nepal")
    [{'question': 'country', 'allowed': ['India', 'Nepal']}]
    """
    rules = []
    for line in lines_of(text):
        question, allowed = pair_of(line, "country: India, Nepal")
        rules.append({"question": question, "allowed": names_in(allowed)})
    return rules


def read_quotas(text: str) -> list[Rule]:
    """At most so many people with these answers, which are all texts; without any, people altogether.

    >>> read_quotas("country = India: 40")
    [{'attributes': {'country': 'India'}, 'most': 40}]
    """
    quotas = []
    for line in lines_of(text):
        who, _, most = line.rpartition(":")
        attributes = {}
        for part in names_in(who):
            name, equals, value = (word.strip() for word in part.partition("="))
            if not equals or not name or not value:
                raise ValueError(f"“{line}” is no quota; write it as “country = India: 40”.")
            attributes[name] = value
        quotas.append({"attributes": attributes, "most": _whole(most, line)})
    return quotas


def read_close(text: str) -> dict[str, list[str]]:
    """What is close to each answer; names with commas are parted by semicolons.

    >>> read_close("India: Nepal, Pakistan")
    {'India': ['Nepal', 'Pakistan']}
    """
    pairs = (pair_of(line, "India: Nepal, Pakistan") for line in lines_of(text))
    return {
        own: list(filter(None, map(str.strip, others.split(";" if ";" in others else ",")))) for own, others in pairs
    }


def typed_rules(rules: Iterable[Rule], kinds: Mapping[str, str]) -> Iterator[Rule]:
    """Rules of screening and quotas with numbers for the questions, by code and kind, that are answered by numbers."""
    for rule in rules:
        if "allowed" in rule:
            yield {**rule, "allowed": [_typed(value, kinds.get(rule["question"], "")) for value in rule["allowed"]]}
        else:
            typed = {name: _typed(value, kinds.get(name, "")) for name, value in rule["attributes"].items()}
            yield {**rule, "attributes": typed}


def write_groups(groups: Iterable[Iterable[str]]) -> str:
    return "\n".join(map(write_names, groups))


def write_numbers(numbers: Mapping[str, int]) -> str:
    return "\n".join(f"{name}: {number}" for name, number in numbers.items())


def write_screening(rules: Iterable[Rule]) -> str:
    return "\n".join(f"{rule['question']}: {write_names(map(str, rule['allowed']))}" for rule in rules)


def write_quotas(quotas: Iterable[Rule]) -> str:
    return "\n".join(map(_quota, quotas))


def write_close(close: Mapping[str, Iterable[str]]) -> str:
    return "\n".join(f"{own}: {_parted(list(others))}" for own, others in close.items())


def _parted(names: list[str]) -> str:
    return "; ".join(names) + ";" if any("," in name for name in names) else ", ".join(names)


def _quota(quota: Rule) -> str:
    who = write_names(f"{name} = {value}" for name, value in quota.get("attributes", {}).items())
    return f"{who}: {quota['most']}" if who else str(quota["most"])


def _whole(text: str, line: str) -> int:
    digits = text.strip()
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 10):
        raise ValueError(f"“{line}” should end with a whole number.")
    return int(digits)


def _typed(value: str, kind: str) -> str | int:
    is_number = kind in ("scale", "number") and value.lstrip("-").isdecimal() and len(value) < 10
    return int(value) if is_number else value
