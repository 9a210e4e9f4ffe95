"""Prompts in our own words: what is the same for all items comes first, where a server reads it once."""

from pathlib import Path

import pytest

import protocols

# Their options are texts of the item, so that hardly anything is the same.
OPTIONS_OF_ITEMS = {
    "behaviour", "human_alignment", "delimited_metadata", "minimal_direct", "natural_paragraph", "survey_form",
}  # fmt: skip
OWN = [
    path
    for path in sorted(Path(protocols.__file__).parent.glob("*/prompts/*.user.jinja"))
    if "answer_format" in path.read_text(encoding="utf-8") and path.name.partition(".")[0] not in OPTIONS_OF_ITEMS
]


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_questions_options_and_the_form_of_the_answer_come_before_the_item(path):
    before, item, after = path.read_text(encoding="utf-8").partition("{{ item.")
    assert item
    assert "answer_format" in before
    assert "question" not in after
