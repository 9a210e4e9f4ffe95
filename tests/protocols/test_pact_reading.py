"""Files that cannot be used are refused in one sentence with file, row and column."""

import pytest

from protocols.pact.reading import FileFaultError, check_filled, check_values, read_table


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "it is empty; it needs a header and at least one row."),
        (b"item,choice\n\n", "it is empty; it needs a header and at least one row."),
        (b"itme,choice\nx,A\n", "row 1, column item: there is no such column; is it itme?"),
        (b"choice\nA\n", "row 1, column item: there is no such column; the columns are choice."),
        (b"item,item\nx,y\n", "row 1, column 2: the name item stands there twice."),
        (b"item,\nx,y\n", "row 1, column 2: the column has no name."),
        (b"item,choice\nx,A\ny\n", "row 3, column 2: the row has 1 cells, the header 2."),
        (
            b"it\xe9m\nx\n",
            "row 1, column 1: byte 0xe9 is not UTF-8, as if files of two encodings were joined; save it as UTF-8.",
        ),
        (b'item,choice\nx,"A\n', "row 2: this is not valid CSV (unexpected end of data)."),
        (
            "item,choice\nS\xe3o,A\n".encode() + "S\xe3o,B\n".encode("latin-1"),
            "row 3, column item: byte 0xe3 is not UTF-8, as if files of two encodings were joined; save it as UTF-8.",
        ),
    ],
)
def test_a_fault_has_its_place(tmp_path, content, fault):
    path = tmp_path / "answers.csv"
    path.write_bytes(content)
    with pytest.raises(FileFaultError) as raised:
        read_table(path, columns=["item"])
    separator = ", " if fault.startswith("row") else ": "
    assert str(raised.value) == f"{path}{separator}{fault}"


def test_cells_are_text_and_rows_keep_their_number(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_bytes('\ufeffitem,choice\r\n007, A \r\n\r\n"S\xe3o\nPaulo",\r\n'.encode())
    table = read_table(path)
    assert table.to_dict("index") == {2: {"item": "007", "choice": "A"}, 4: {"item": "S\xe3o\nPaulo", "choice": ""}}
    with pytest.raises(FileFaultError, match="row 4, column choice: it is empty"):
        check_filled(path, table, ["item", "choice"])
    with pytest.raises(FileFaultError, match="row 2, column item: '007' is none of x, y"):
        check_values(path, table, "item", ["x", "y"])


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileFaultError, match=r"nowhere\.csv: it cannot be read"):
        read_table(tmp_path / "nowhere.csv")
