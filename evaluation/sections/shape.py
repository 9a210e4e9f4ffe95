"""What a section is made of, as it is stored with the report: paragraphs, tables, figures."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from evaluation.marks import Mark
from evaluation.metrics.result import Estimate

Cell = str | int | float | None | dict[str, Any]
ColumnKind = Literal["text", "name", "wide", "tally", "count", "estimate"]
P_UNITS = ("p", "q")  # of estimates that are read as p-values are


@dataclass(frozen=True, slots=True)
class Column:
    """`unit` stands in the header. A name is not broken into lines, wide text gets room for a sentence. A tally is
    counts of people in words, which are never shared.

    A column that is only in the download has `shown` False.
    """

    key: str
    label: str
    kind: ColumnKind = "text"
    unit: str = ""
    shown: bool = True


@dataclass(frozen=True, slots=True)
class Row:
    """`marks` are the badges of who answered.

    `answers` are the responses page's parameters for exactly the `n_answers` answers that the row speaks of. `n_people`
    is how many people its numbers rest on, where there are people and no column counts them.
    """

    cells: Mapping[str, Cell]
    marks: tuple[Mark, ...] = ()
    answers: Mapping[str, str] = field(default_factory=dict)
    n_answers: int = 0
    n_people: int | None = None


@dataclass(frozen=True, slots=True)
class Table:
    code: str  # unique in the report
    title: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A Vega-Lite specification that holds its own data.

    `source` says whose answers it shows; on paper it stands with title and caption inside the figure.
    """

    code: str  # unique in the report
    title: str
    caption: str
    source: str
    spec: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Section:
    code: str
    title: str
    warnings: tuple[str, ...] = ()  # what must be read before the numbers
    paragraphs: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The section as plain JSON values."""
        return asdict(self)


def estimate_cell(estimate: Estimate) -> dict[str, Any]:
    """The estimate with None in place of NaN, which JSON does not have.

    >>> estimate_cell(Estimate(0.5, 4))
    {'value': 0.5, 'n': 4, 'low': None, 'high': None, 'reason': ''}
    """
    return {
        "value": _defined(estimate.value),
        "n": estimate.n,
        "low": _defined(estimate.low),
        "high": _defined(estimate.high),
        "reason": estimate.reason,
    }


def two_decimals(number: float) -> str:
    """The number in words of a label or a sentence, with a minus sign in place of the hyphen.

    >>> two_decimals(-0.333), two_decimals(-0.001)
    ('−0.33', '0.00')
    """
    return f"{number:z.2f}".replace("-", "−")


def n_items(n: int) -> str:
    """The number of items in words of a caption.

    >>> n_items(1), n_items(2)
    ('n = 1 item', 'n = 2 items')
    """
    return f"n = {n} {'item' if n == 1 else 'items'}"


def _defined(number: float) -> float | None:
    return None if math.isnan(number) else float(number)
