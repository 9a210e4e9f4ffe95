"""How many people answered, as a table, where small numbers are masked when a report is shared."""

from collections.abc import Iterator

import pandas as pd

from evaluation.sections.shape import Column, Row, Table

COLUMNS = (
    Column("kind", "Answers by"),
    Column("persons", "People", "count", "n"),
    Column("answers", "Answers", "count", "n"),
)


def people_table(persons: pd.DataFrame, caption: str) -> Table:
    """A row for each kind of people, real and simulated apart, from `kind`, `simulated`, `persons` and `n`."""
    return Table("people", "People", caption, COLUMNS, tuple(_rows(persons)))


def _rows(persons: pd.DataFrame) -> Iterator[Row]:
    for row in persons.to_dict("records"):
        cells = {"kind": row["kind"].capitalize(), "persons": row["persons"], "answers": row["n"]}
        yield Row(cells, marks=("simulated" if row["simulated"] else "human",))
