import io
import json
import zipfile
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from materials.reading import MAX_ITEM_CHARACTERS, Record, read_items, read_json_items
from materials.reading_faults import Fault, SourceError
from materials.reading_plan import Column, Plan, Source, Type, converted
from materials.reading_source import find_encoding, find_source


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
    ("items.csv", "id,a\n1,2\n2\n3,4,5\n", [(3, "2", "1 cells, the first row 2"), (4, "3", "3 cells")]),
    ("items.csv", "id,a,a,\n1,2,3,4\n", [(1, "3", "twice"), (1, "4", "no name")]),
    ("items.csv", "id,a\n1,x\x00y\n", [(2, "a", "NUL")]),
    ("items.csv", "id,a\x00b\n1,x\n", [(1, "2", "a�b holds a character that cannot be stored")]),
    ("items.jsonl", '{"id": 1, "a\\u0000": 2}\n', [(1, "a�", "NUL")]),
    ("items.jsonl", '{"id": 1, "n": ' + "9" * 5000 + "}\n", [(1, "", "9… is too large")]),
    ("items.csv", 'id,a\n1,"open\n2,x\n', [(2, "", "not valid CSV")]),
    ("items.csv", b"id,a\n1,caf\xe9\n2,\xff\n", [(2, "", "line 2, byte 6: 0xe9"), (3, "", "line 3, byte 3: 0xff")]),
    ("items.csv", "name,a\nx,2\ny,2\n", [(0, "", "name differs in every row read, so give name as the ID column")]),
    ("items.csv", "id,a\r1,2\r", [(1, "", "not valid CSV")]),
    ("items.csv", f"id,a\n{'x' * 201},2\n", [(2, "id", "longer than 200")]),
    ("items.xlsx", "PK", [(0, "", "items.xlsx is not a CSV, TSV")]),
    ("items.xls", b"\xd0\xcf\x11\xe0old", [(0, "", "old Excel")]),
    ("items.csv.gz", b"\x1f\x8bdata", [(0, "", "unpack it first")]),
    ("items.xlsx", b"PK\x03\x04half", [(0, "", "damaged")]),
    ("items.parquet", b"PAR1half", [(0, "", "damaged")]),
    ("items.json", "", [(0, "", "list of objects")]),
    ("items.json", "[]", [(0, "", "empty")]),
    ("items.json", '{\n "a": 1\n}', [(0, "", "list of objects")]),
    ("items.json", '[{"id": 1}, {"id": NaN}, {"id": 3}]', [(2, "", "NaN is not JSON; use null. The rest")]),
    ("items.json", '[{"id": 1}, 3, {"id": 2}', [(2, "", "JSON object"), (3, "", "comma or ] must follow")]),
    ("items.json", '[{"id": 1}] more', [(0, "", "remove it")]),
    ("items.json", b'[{"id": 1}, {"id": "\xe9"}]', [(0, "", "0xe9 is not UTF-8")]),
    ("items.jsonl", "", [(0, "", "empty")]),
    ("items.jsonl", '{"id": 1}\n{"id": 2,}\n[3]\n', [(2, "", "character 10"), (3, "", "JSON object")]),
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
    ("items.csv", f"id,a\n1,{'x' * 10_000_000}\n2\n", [(2, "", "10,000,0"), (3, "2", "1 cells")]),
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


@given(
    st.dictionaries(
        st.text(), st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists, max_leaves=5), max_size=5
    )
)
def test_whatever_json_comes_is_a_record_or_a_fault(content: dict):
    line = json.dumps(content | {"id": "x"}) + "\n"
    (entry,) = read(line, "items.jsonl")
    assert isinstance(entry, Fault) or entry.external_id == "x"


@given(st.binary(max_size=300), st.sampled_from(["i.csv", "i.jsonl", "i.json"]))
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
        ([{"external_id": "a", "content": {"x": float("inf")}}], (1, "x")),
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


def workbook(*rows: list[Any], more: str = "") -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    if more:
        book.create_sheet(more).append(["id"])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def parquet(**columns: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def with_plan(data: bytes | str, filename: str = "items.csv", **plan: Any) -> list[Record | Fault]:
    raw = data.encode() if isinstance(data, str) else data
    return list(read_items(io.BytesIO(raw), filename=filename, plan=Plan(**plan)))


def test_a_workbook_gives_dates_as_iso_text_and_numbers_as_they_are():
    data = workbook(
        ["id", "day", "at", "n"], ["a", date(2026, 11, 30), datetime.fromisoformat("2026-11-30T09:05"), 2], [], ["b"]
    )
    entries = read(data, "items.xlsx")
    assert contents(entries) == [
        {"id": "a", "day": "2026-11-30", "at": "2026-11-30T09:05:00", "n": 2},
        {"id": "b", "day": "", "at": "", "n": ""},
    ]
    assert [entry.row for entry in entries if isinstance(entry, Record)] == [2, 4]


def test_a_formula_gives_its_stored_value_and_is_a_fault_without_one():
    data = workbook(["id", "n"], ["a", "=1+1"], ["b", 5])
    (fault, five) = read(data, "items.xlsx")
    assert isinstance(fault, Fault)
    assert (fault.row, fault.column) == (2, "n")
    assert "no stored value" in fault.what
    assert contents([five]) == [{"id": "b", "n": 5}]
    stored = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(stored, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            new.writestr(name, part.replace(b"<v />", b"<v>2</v>").replace(b"<v></v>", b"<v>2</v>"))
    assert contents(read(stored.getvalue(), "items.xlsx"))[0] == {"id": "a", "n": 2}


def test_an_error_in_a_cell_is_a_fault():
    data = workbook(["id", "n"], ["a", "#DIV/0!"])
    assert "#DIV/0!" in str(read(data, "items.xlsx")[0])


def test_a_sheet_is_chosen_by_name():
    data = workbook(["id"], ["a"], more="Second")
    source = Source(format="xlsx", sheet="Second", header=False)
    assert contents(with_plan(data, source=source, id_columns=["column 1"])) == [{"column 1": "id"}]
    (fault,) = with_plan(data, source=source.model_copy(update={"sheet": "Third"}))
    assert "it has: Sheet, Second" in str(fault)


def test_a_workbook_that_unpacks_to_much_more_is_refused():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
        archive.writestr("xl/worksheets/sheet1.xml", " " * (60 << 20))
    assert "unpacks from" in str(read(out.getvalue(), "items.xlsx")[0])


@pytest.mark.parametrize(
    ("part", "old", "new", "what"),
    [
        ("xl/worksheets/sheet1.xml", b'<row r="2">', b'<row r="2000000000">', "rows past 1,048,576"),
        ("xl/styles.xml", b"</styleSheet>", b"<!--" + bytes(2) * (9 << 20) + b"--></styleSheet>", "MB of formats"),
    ],
)
def test_a_workbook_that_would_take_for_ever_to_read_is_refused(part: str, old: bytes, new: bytes, what: str):
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(workbook(["id"], ["a"]))) as given,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made,
    ):
        for name in given.namelist():
            content = given.read(name)
            made.writestr(name, content.replace(old, new) if name == part else content)
    (fault,) = read(out.getvalue(), "items.xlsx")
    assert what in str(fault)


def test_parquet_keeps_numbers_lists_and_objects():
    data = parquet(
        id=["a", "b"],
        n=[1, None],
        when=[datetime.fromisoformat("2026-11-30"), None],
        price=[Decimal("1.50"), Decimal("2.00")],
        turns=[["x", "y"], []],
        who=[{"name": "Ada"}, None],
    )
    assert contents(read(data, "items.parquet")) == [
        {"id": "a", "n": 1, "when": "2026-11-30T00:00:00", "price": 1.5, "turns": ["x", "y"], "who": {"name": "Ada"}},
        {"id": "b", "n": None, "when": None, "price": 2, "turns": [], "who": None},
    ]


def test_a_number_that_is_none_is_named_with_its_column():
    (fault,) = read(parquet(id=["a"], n=[float("nan")]), "items.parquet")
    assert (fault.row, fault.column) == (1, "n")  # type: ignore[union-attr]


def test_a_text_that_stands_once_in_parquet_and_often_in_its_rows_is_held_once():
    often = pa.DictionaryArray.from_arrays(pa.array([0] * 3000, pa.int32()), pa.array(["x" * 2_000_000]))
    entries = read_items(io.BytesIO(parquet(id=[str(n) for n in range(3000)], text=often)), filename="items.parquet")
    assert "2,000,0" in str(next(entries))


def test_a_json_list_is_read_on_over_any_length():
    rows = [{"id": n, "text": "é" * 1000 * (n % 7), "n": 10**n} for n in range(300)]
    assert contents(read(json.dumps(rows, ensure_ascii=False, indent=1), "items.json")) == rows


@pytest.mark.parametrize(
    ("data", "filename", "expected"),
    [
        (b"id;a\n", "i.csv", Source(format="csv", delimiter=";")),
        (b"id,a\n", "i.tsv", Source(format="csv", delimiter="\t")),
        (b"id,caf\xe9\n", "i.csv", Source(format="csv", encoding="cp1252")),
        ("id,é\n".encode("utf-16"), "i.csv", Source(format="csv", encoding="utf-16")),
        (b'{"id": 1}\n{"id": 2}\n', "i.json", Source(format="jsonl")),
        (b' [ {"id": 1}]', "i.jsonl", Source(format="json")),
        (b'{"id": 1}\n', "i.csv", Source(format="jsonl")),
        (workbook(["id"]), "i.csv", Source(format="xlsx")),
        (parquet(id=["a"]), "i.json", Source(format="parquet")),
    ],
)
def test_what_a_file_is_is_found_in_it(data: bytes, filename: str, expected: Source):
    file = io.BytesIO(data)
    assert find_encoding(file, find_source(file, filename)) == expected


def test_other_encodings_are_read_when_they_are_chosen():
    for encoding in ("utf-16", "cp1252", "cp1251"):
        word = "Тee" if encoding == "cp1251" else "Café"
        source = Source(format="csv", encoding=encoding)
        assert contents(with_plan(f"id,text\n1,{word}\u2028\n"[:-2].encode(encoding), source=source))[0]["text"] == word


def test_columns_are_renamed_typed_and_left_out_and_new_ones_come_along():
    columns = [
        Column(source="n", name="count", type="number"),
        Column(source="tags", name="tags", type="list"),
        Column(source="raw", name="raw", type="json"),
        Column(source="x", name="x", type="text"),
    ]
    rows = [
        {"id": "007", "n": "1e3", "tags": "a | b", "raw": "[1]", "x": 5, "gone": "?"},
        {"id": "8", "n": "", "tags": "", "raw": "", "x": None, "later": "NA"},
    ]
    entries = with_plan("\n".join(map(json.dumps, rows)), "i.jsonl", columns=columns, left_out=["gone"])
    assert contents(entries) == [
        {"id": "007", "count": 1000.0, "tags": ["a", "b"], "raw": [1], "x": "5"},
        {"id": "8", "count": None, "tags": [], "raw": None, "x": None, "later": "NA"},
    ]


def test_every_wrong_cell_of_a_row_is_a_fault():
    columns = [Column(source="n", name="n", type="number"), Column(source="j", name="j", type="json")]
    faults = with_plan("id,n,j\n1,NA,{\n", columns=columns)
    assert [(fault.row, fault.column) for fault in faults if isinstance(fault, Fault)] == [(2, "n"), (2, "j")]


@pytest.mark.parametrize("text", ["NA", "null", "1_000", "1,5", "nan", "inf", "0x10", "٣", "1e", "9" * 5000])
def test_what_is_no_number_is_refused_in_a_sentence(text: str):
    with pytest.raises(ValueError, match="is no number"):
        converted(text, "number")


@given(st.text())
def test_text_stays_what_it_is(text: str):
    kinds: list[Type] = ["keep", "text"]
    assert [converted(text, kind) for kind in kinds] == [text, text]


def test_an_id_from_the_content_is_the_same_for_the_same_content():
    ids = [entry.external_id for entry in with_plan("a,b\n1,2\n1,3\n1,2\n", id_from_content=True)]  # type: ignore[union-attr]
    assert ids[0] == ids[2] != ids[1]
    assert len(ids[0]) == 20


def test_a_file_of_another_kind_raises():
    with pytest.raises(SourceError, match="save it as one of these"):
        find_source(io.BytesIO(b"%PDF"), "paper.pdf")
