"""Lists of entries in a form: nothing here needs the database."""

import pytest

from materials.question_rows import QuestionRow
from materials.rows import MOST, posted, with_change
from studies.check_rows import CheckRow
from studies.design import Factor
from studies.design_lines import read_close, write_close
from studies.design_offers import ATTENTION, COMPREHENSION, FACTORS, FILTER_OFFERS, PEOPLE
from studies.design_rows import FactorRow, FilterRow
from studies.draft_form import DraftForm

OFFERED = [
    (row, entry)
    for row, offers in (
        (QuestionRow, PEOPLE),
        (CheckRow, ATTENTION),
        (CheckRow, COMPREHENSION),
        (FactorRow, FACTORS),
        (FilterRow, FILTER_OFFERS),
    )
    for _, entry in offers.values()
]


def through_the_form(row, entry):
    """What the form makes of an entry that is shown in it and posted as it is."""
    form = row(posted(row(initial=row.values_of(entry))))
    assert form.is_valid(), form.errors
    return form.entry


@pytest.mark.parametrize(("row", "entry"), OFFERED)
def test_an_entry_that_is_posted_as_it_was_shown_is_the_same(row, entry):
    again = through_the_form(row, entry)
    assert again == through_the_form(row, again)
    assert again.get("expected") == entry.get("expected")
    before, after = (value.get("question", value) for value in (entry, again))
    model = row.models[before["kind"]] if "kind" in before else Factor
    assert model.model_validate(after) == model.model_validate(before)


def names(data):
    return [data[f"factors-{n}-name"] for n in range(int(data["factors-count"]))]


def test_entries_are_added_moved_and_removed_with_all_that_they_hold():
    data = {"factors-count": "0", "name": "Kept"}
    for expected in ("factors-0", "factors-1", "factors-2"):
        data, at = with_change(data, "factors-add", DraftForm.base_fields)
        assert at == expected
    assert names(data) == ["framing", "framing_2", "framing_3"]
    data, at = with_change(data, "factors-2-levels-add", DraftForm.base_fields)
    assert (at, data["factors-2-levels-count"]) == ("factors-2-levels-2", "3")
    data, at = with_change(data, "factors-2-up", DraftForm.base_fields)
    assert (at, names(data)) == ("factors-1", ["framing", "framing_3", "framing_2"])
    assert (data["factors-1-levels-count"], data["factors-2-levels-count"]) == ("3", "2")
    data, _ = with_change(data, "factors-1-levels-0-remove", DraftForm.base_fields)
    assert [data["factors-1-levels-0-code"], data["factors-1-levels-1-code"]] == ["abroad", "level"]
    data, _ = with_change(data, "factors-0-remove", DraftForm.base_fields)
    assert names(data) == ["framing_3", "framing_2"]
    assert data["name"] == "Kept"


@pytest.mark.parametrize(
    "change", ["", "factors", "factors-7-up", "factors-x-remove", "name-add", "mood-add", "factors-0-name-add", "-add"]
)
def test_a_change_that_makes_no_sense_changes_nothing(change):
    data, _ = with_change({"factors-count": "0"}, "factors-add", DraftForm.base_fields)
    assert with_change(data, change, DraftForm.base_fields) == (data, "")


@pytest.mark.parametrize("count", ["-1", "x", "9" * 400, "٣"])
def test_a_forged_number_of_entries_makes_few(count):
    data, _ = with_change({"filters-count": count}, "filters-add", DraftForm.base_fields)
    assert int(data["filters-count"]) <= MOST


def test_names_with_commas_can_be_close():
    close = {"India": ["Nepal", "Korea, Republic of"], "Brazil": ["Argentina"], "X": ["A, B"]}
    assert read_close(write_close(close)) == close
