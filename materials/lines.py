"""Short lists as people type them into a form. Pure code."""

from collections.abc import Iterable


def lines_of(text: str) -> list[str]:
    """The lines that hold something, without white space around them."""
    return list(filter(None, map(str.strip, text.splitlines())))


def names_in(line: str) -> list[str]:
    """Names that are separated by commas."""
    return list(filter(None, map(str.strip, line.split(","))))


def read_names(text: str) -> list[str]:
    """Names that are separated by commas or line ends.

    >>> read_names("personal, norm")
    ['personal', 'norm']
    """
    return [name for line in text.splitlines() for name in names_in(line)]


def write_names(names: Iterable[str]) -> str:
    return ", ".join(names)


def pair_of(line: str, example: str) -> tuple[str, str]:
    """What stands before and after the line's first colon. Raises ValueError, which shows the example, without both."""
    name, colon, rest = (part.strip() for part in line.partition(":"))
    if not colon or not name or not rest:
        raise ValueError(f"“{line}” needs a code, a colon and what goes with it, such as “{example}”.")
    return name, rest
