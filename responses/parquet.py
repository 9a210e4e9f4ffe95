"""Tables of answers as Parquet, in groups of rows, so that memory stays the same whatever their number."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from responses.export_columns import Column, Type

TYPES: dict[Type, pa.DataType] = {
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "text": pa.string(),
    "time": pa.timestamp("us", tz="UTC"),
    "list": pa.list_(pa.string()),
    "json": pa.string(),
}


def write_parquet(
    file: IO[bytes], columns: Sequence[Column], rows: Iterable[Sequence[Any]], *, group_rows: int
) -> None:
    """`group_rows`: how many rows are in memory at once."""
    schema = pa.schema([(column.name, TYPES[column.type]) for column in columns])
    rows = iter(rows)
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        while group := list(islice(rows, group_rows)):
            arrays = [
                pa.array([_typed(value, column.type) for value in values], TYPES[column.type])
                for column, values in zip(columns, zip(*group, strict=True), strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _typed(value: Any, type: Type) -> Any:
    """The value as its column's type has it."""
    if value is None or type in ("integer", "boolean", "list"):
        return value
    if type == "number":
        return float(value)
    if type == "time":
        return datetime.fromisoformat(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
