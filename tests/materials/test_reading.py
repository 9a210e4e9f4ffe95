import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from materials.reading import MAX_ITEM_CHARACTERS, Fault, Record, read_items, read_json_items


def read(data: bytes | str, filename: str = "items.csv", id_columns: tuple[str, ...] = ()) -> list[Record | Fault]:
    raw = data.encode() if isinstance(data, str) else data
    return list(read_items(io.BytesIO(raw), filename=filename, id_columns=id_columns))


def contents(entries: list[Record | Fault]) -> list[dict]:
    assert all(isinstance(entry, Record) for entry in entries), entries
    return [json.loads(entry.content) for entry in entries if isinstance(entry, Record)]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_csv_with_any_usual_delimiter_and_byte_order_mark(delimiter: str, bom: bytes):
    entries = read(bom + f'ID{delimiter}text\r\na{delimiter}"x{delimiter}\n""y"""\r\n'.encode())
    assert contents(entries) == [{"ID": "a", "text": f'x{delimiter}\n"y"'}]
    assert entries[0] == Record(2, "a", entries[0].content, ("ID", "text"))  # type: ignore[union-attr]


def test_tsv_is_always_split_at_tabs():
    assert contents(read("id\ta,b\n1\tx,y\n", "items.tsv")) == [{"id": "1", "a,b": "x,y"}]


def test_json_lines_skip_blank_lines_and_count_them():
    entries = read('{"id": 1, "n": 0.5}\n\n{"id": "b"}', "items.jsonl")
    assert [(entry.row, entry.external_id) for entry in entries] == [(1, "1"), (3, "b")]  # type: ignore[union-attr]


def test_external_id_is_preferred_to_id():
    assert read("id,External_ID\n1,x\n")[0].external_id == "x"  # type: ignore[union-attr]


FAULTS = [
    ("items.csv", "", [(0, "", "empty")]),
    ("items.csv", "id,a\n", [(0, "", "empty")]),
    ("items.csv", "\nid,a\n1,2\n", [(1, "", "blank")]),
    ("items.csv", "id,a\n,2\n", [(2, "id", "missing")]),
    ("items.csv", "id,a\n1,2\n2\n3,4,5\n", [(3, "2", "1 cells, the header 2"), (4, "3", "3 cells")]),
    ("items.csv", "id,a,a,\n1,2,3,4\n", [(1, "3", "twice"), (1, "4", "no name")]),
    ("items.csv", "id,a\n1,x\x00y\n", [(2, "a", "NUL")]),
    ("items.csv", 'id,a\n1,"open\n2,x\n', [(2, "", "not valid CSV")]),
    ("items.csv", b"id,a\n1,caf\xe9\n2,\xff\n", [(2, "", "line 2, byte 6: 0xe9"), (3, "", "line 3, byte 3: 0xff")]),
    ("items.csv", "id,a\n1,2\n".encode("utf-16"), [(0, "", "UTF-16")]),
    ("items.csv", "name,a\nx,2\ny,2\n", [(0, "", "name differs in every row read, so give name as the ID column")]),
    ("items.csv", "id,a\r1,2\r", [(1, "", "not valid CSV")]),
    ("items.csv", f"id,a\n{'x' * 201},2\n", [(2, "id", "longer than 200")]),
    ("items.xlsx", "PK", [(0, "", "not a .csv, .tsv or .jsonl")]),
    ("items.jsonl", "", [(0, "", "empty")]),
    ("items.jsonl", '{"id": 1}\n{"id": 2,}\n[3]\n', [(2, "10", "not JSON"), (3, "", "JSON object")]),
    ("items.jsonl", '{"id": 1}\n{"a": 2}\n{"id": true}\n', [(2, "id", "missing"), (3, "id", "whole number")]),
    ("items.jsonl", '{"id": 1, "a": NaN}\n{"id": 2, "a": 1e999}\n', [(1, "", "NaN"), (2, "", "too large")]),
    (
        "items.jsonl",
        '{"id": 1, "a": "x\\u0000"}\n{"id": 2, "b": "\\ud800"}',
        [(1, "a", "NUL"), (2, "'b'", "surrogate")],
    ),
    ("items.jsonl", '{"id": 1, "id": 2}\n', [(1, "", "twice")]),
    ("items.jsonl", '{"id": 1, "a": ' + "[" * 100_000 + "\n", [(1, "", "nested")]),
    ("items.jsonl", '{"id": 1, "a": "%s"}' % ("x" * MAX_ITEM_CHARACTERS), [(1, "", "at most 1,000,000")]),
    ("items.jsonl", '{"id": 1, "a": "%s"}' % ("x" * 4 * MAX_ITEM_CHARACTERS), [(1, "", "line is longer")]),
]


@pytest.mark.parametrize(("filename", "data", "expected"), FAULTS)
def test_every_fault_is_named_with_its_place(filename: str, data: bytes | str, expected: list[tuple[int, str, str]]):
    faults = [entry for entry in read(data, filename) if isinstance(entry, Fault)]
    assert [(fault.row, fault.column) for fault in faults] == [(row, column) for row, column, _ in expected]
    for fault, (_, _, words) in zip(faults, expected, strict=True):
        assert words in fault.what


def test_a_backslash_before_u0000_is_text_and_no_nul():
    assert contents(read(r'{"id": 1, "a": "\\u0000"}', "i.jsonl")) == [{"id": 1, "a": r"\u0000"}]


def test_columns_that_are_unique_only_together_are_proposed():
    rows = "".join(f'{{"subset": "{s}", "idx": {i}, "input": "{"x" * 99}"}}\n' for s in "ab" for i in range(3))
    assert "give subset,idx as the ID column" in read(rows, "llmbar.jsonl")[0].what  # type: ignore[union-attr]
    ids = [entry.external_id for entry in read(rows, "llmbar.jsonl", ("subset", "idx"))]  # type: ignore[union-attr]
    assert ids == ["a/0", "a/1", "a/2", "b/0", "b/1", "b/2"]


@given(st.dictionaries(st.text(), st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists)))
def test_whatever_json_comes_is_a_record_or_a_fault(content: dict):
    line = json.dumps(content | {"id": "x"}) + "\n"
    (entry,) = read(line, "items.jsonl")
    assert isinstance(entry, Fault) or entry.external_id == "x"


@given(st.binary(max_size=300), st.sampled_from(["i.csv", "i.tsv", "i.jsonl"]))
def test_whatever_bytes_come_are_answered(data: bytes, filename: str):
    assert read(data, filename)


@pytest.mark.parametrize(
    ("items", "place"),
    [
        (None, (0, "items")),
        ([], (0, "items")),
        ([3], (1, "")),
        ([{"external_id": "a"}], (1, "")),
        ([{"external_id": "a", "content": {}, "more": 1}], (1, "")),
        ([{"external_id": "a", "content": []}], (1, "content")),
        ([{"external_id": None, "content": {}}], (1, "external_id")),
        ([{"external_id": "a\x00", "content": {}}], (1, "external_id")),
        ([{"external_id": "\ud800", "content": {}}], (1, "external_id")),
        ([{"external_id": "a", "content": {"x": float("inf")}}], (1, "")),
    ],
)
def test_items_of_the_rest_interface_are_checked_alike(items: object, place: tuple[int, str]):
    (fault,) = read_json_items(items)
    assert isinstance(fault, Fault)
    assert (fault.row, fault.column) == place


def test_items_of_the_rest_interface_become_records():
    assert list(read_json_items([{"external_id": 7, "content": {"b": 1, "a": "é"}}])) == [
        Record(1, "7", '{"a":"é","b":1}', ("b", "a"))
    ]
