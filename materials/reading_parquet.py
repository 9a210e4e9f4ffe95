"""Rows out of Parquet, a few at a time. Times become ISO text, whole decimals whole numbers, maps objects."""

from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from materials.reading_faults import SourceError

BATCH_ROWS = 500
MAX_GROUP_BYTES = 2 << 30
LONG_CHARACTERS = 20_000  # a row at a time, or a text that stands once in the file would stand in memory in every row


def parquet_rows(file: IO[bytes]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Each row with its number from 1. Raises SourceError when the file is damaged or unpacks to too much."""
    try:
        number = 0
        for batch in _batches(file):
            for part in _parts(batch):
                for row in part.to_pylist():
                    number += 1
                    yield number, {name: _plain(value) for name, value in row.items()}
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise _damaged(error) from error


def parquet_row_count(file: IO[bytes]) -> int:
    """How many rows the file says it has. Raises SourceError."""
    try:
        count: int = pq.ParquetFile(file).metadata.num_rows
    except (pa.ArrowException, OSError) as error:
        raise _damaged(error) from error
    return count


def _batches(file: IO[bytes]) -> Iterator[pa.RecordBatch]:
    table = pq.ParquetFile(file)
    groups = [table.metadata.row_group(index).total_byte_size for index in range(table.metadata.num_row_groups)]
    if max(groups, default=0) > MAX_GROUP_BYTES:
        raise SourceError(
            f"A row group unpacks to {max(groups) / 1e6:,.0f} MB; write the file with smaller row groups."
        )
    texts = [field.name for field in table.schema_arrow if pa.types.is_string(field.type)]
    if len(set(table.schema_arrow.names)) < len(table.schema_arrow.names):
        raise SourceError("Two columns have the same name; rename one of them.")
    yield from pq.ParquetFile(file, read_dictionary=texts).iter_batches(batch_size=BATCH_ROWS)


def _parts(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The batch, or single rows when it has long texts."""
    dictionaries = [column.dictionary for column in batch.columns if pa.types.is_dictionary(column.type)]
    texts = [words for words in dictionaries if pa.types.is_string(words.type) or pa.types.is_binary(words.type)]
    longest = max((pc.max(pc.binary_length(words)).as_py() or 0 for words in texts), default=0)
    size = 1 if longest > LONG_CHARACTERS else batch.num_rows
    yield from (batch.slice(start, size) for start in range(0, batch.num_rows, size))


def _plain(value: Any) -> Any:
    """The value as JSON has it."""
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, list):
        is_map = bool(value) and all(isinstance(entry, tuple) for entry in value)
        return {str(key): _plain(entry) for key, entry in value} if is_map else [_plain(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, bytes):
        return value.decode()
    return str(value) if isinstance(value, timedelta) else value


def _damaged(error: Exception) -> SourceError:
    if isinstance(error, SourceError):
        return error
    return SourceError(f"The Parquet file is damaged ({' '.join(str(error).split())[:100]}); write it again.")
