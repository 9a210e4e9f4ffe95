"""Source files as their authors publish them: which rows can be used, and why the others cannot."""

import pytest

from protocols.pact.sources import LONE, NO_TEXT, NOT_TRUE, OTHER_LABEL, UNKNOWN_COUNTRY, SourceRowsError, source_rows

NORMAD = {
    "ID": "7",
    "Country": "united_states_of_america",
    "Axis": "Etiquette",
    "Subaxis": "dining",
    "Rule-of-Thumb": "Bring a dish.",
    "Story": "Sam brings  a dish.",
    "Explanation": "It is usual.",
    "Gold Label": "Yes",
}


def numbered(*cells: str) -> dict[str, str]:
    return dict(zip(["index", *map(str, range(11))], ["0", *cells], strict=True))


def statement(text: str, true: str, country: str = "Chad") -> dict[str, str]:
    return numbered(
        country, "food", "", "", "url", "meals", "", "They share tea.", "In Chad they share tea.", text, true
    )


def test_normad_rows_have_their_country_label_and_number():
    rows = list(
        source_rows(
            "normad",
            enumerate(
                [NORMAD, NORMAD | {"Gold Label": "maybe"}, NORMAD | {"Country": "atlantis"}, NORMAD | {"Story": ""}]
            ),
        )
    )
    assert [row.why for row in rows] == ["", OTHER_LABEL, UNKNOWN_COUNTRY, NO_TEXT]
    first = rows[0].content
    assert (rows[0].key, first["country"], first["label"], first["setting"]) == (
        "normad-7",
        "United States",
        "yes",
        "dining",
    )
    assert first["story"] == "Sam brings a dish."


def test_false_statements_stand_beside_the_true_one_they_vary():
    true, false = statement("They share tea.", "True", "Kenya"), statement("They share soup.", "False", "Kenya")
    rows = list(source_rows("cultureatlas", enumerate([true, false, statement("They sell tea.", "False", "Nepal")])))
    assert [row.why for row in rows] == ["", NOT_TRUE, LONE]
    assert rows[0].content["negative"] == "They share soup."
    named = {"country": "Kenya", "assertion": "a", "positive": "b", "negative": "c"}
    (row,) = source_rows("cultureatlas", enumerate([named]))
    assert (row.content["story"], row.content["norm"], row.content["negative"]) == ("a", "b", "c")


def test_a_file_of_another_kind_is_refused_with_what_it_lacks():
    with pytest.raises(SourceRowsError, match=r"needs columns for country .*, story .*, norm .*; it has colour, size"):
        list(source_rows("plain", enumerate([{"colour": "red", "size": "1"}])))
