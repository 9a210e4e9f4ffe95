"""Counted frames as files and back, so that a report's sections can be computed again from what was kept.

Pure. A frame is a CSV file; `types.json` says of each column whether it holds text, whole numbers, fractions or truth
values. Text that a spreadsheet would run has an apostrophe before it, as everywhere in Concord's files; so has text
that begins with an apostrophe, which makes it plain what to take away again.
"""

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from typing import Any, Literal

import pandas as pd
from pandas.api import types

from evaluation.zips import zipped

Type = Literal["text", "whole", "fraction", "truth"]
_TO_ESCAPE = ("=", "+", "-", "@", "\t", "\r", "'")
_READ: Mapping[Type, "Callable[[pd.Series[Any]], pd.Series[Any]]"] = {
    "text": lambda texts: texts.map(_unescaped).astype("str"),
    "whole": lambda texts: texts.astype("int64"),
    "fraction": lambda texts: pd.to_numeric(texts.where(texts != "", None)).astype("float64"),
    "truth": lambda texts: texts == "True",
}


def pack(data: Mapping[str, pd.DataFrame]) -> bytes:
    """A zip file of the frames; the same frames give the same bytes.

    >>> frame = pd.DataFrame({"who": ["=a", "'b", ""], "n": [1, 2, 3], "u": [0.1, float("nan"), 1.0]})
    >>> unpack(pack({"people": frame}))["people"].equals(frame)
    True
    """
    types_by_frame = {
        name: {str(column): _type(frame[column]) for column in frame} for name, frame in sorted(data.items())
    }
    files = {f"{name}.csv": _csv(data[name], columns) for name, columns in types_by_frame.items()}
    return zipped({**files, "types.json": json.dumps(types_by_frame, indent=1)})


def unpack(content: bytes) -> dict[str, pd.DataFrame]:
    """The frames of `pack`, with text for columns of mixed values."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        return read_frames({name: file.read(name).decode() for name in file.namelist()})


def read_frames(files: Mapping[str, str]) -> dict[str, pd.DataFrame]:
    """The frames from the texts of the files, by their names."""
    frames = {}
    for name, columns in json.loads(files["types.json"]).items():
        texts = pd.read_csv(io.StringIO(files[f"{name}.csv"]), dtype="str", keep_default_na=False, na_filter=False)
        frames[name] = pd.DataFrame({column: _READ[type](texts[column]) for column, type in columns.items()})
    return frames


def _csv(frame: pd.DataFrame, columns: Mapping[str, Type]) -> str:
    texts = {name: frame[name].fillna("").map(_escaped) for name, type in columns.items() if type == "text"}
    return frame.assign(**texts).to_csv(index=False, lineterminator="\n")


def _type(column: "pd.Series[Any]") -> Type:
    if types.is_bool_dtype(column):
        return "truth"
    if types.is_integer_dtype(column):
        return "whole"
    return "fraction" if types.is_float_dtype(column) else "text"


def _escaped(value: Any) -> str:
    text = str(value)
    return f"'{text}" if text.startswith(_TO_ESCAPE) else text


def _unescaped(text: str) -> str:
    return text[1:] if text.startswith("'") else text
