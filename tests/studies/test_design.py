import pytest

from studies.design import DesignError, parse_design, parse_texts

CHECK = {
    "question": {
        "kind": "choice",
        "code": "attention",
        "text": "Choose blue.",
        "options": [{"code": "blue", "text": "Blue"}, {"code": "red", "text": "Red"}],
    },
    "expected": "blue",
}
RELATION = {"attribute": "country", "field": "of", "close": {"India": ["Nepal"]}}
FACTOR = {"name": "framing", "levels": [{"code": "a", "text": "Read."}, {"code": "b", "item_fields": ["short"]}]}
UNDERSTOOD = {"questions": [CHECK["question"]], "expected": {"attention": "blue"}}
SMALL = {"items_each": 2, "minutes": 5, "item_template": {"item_fields": ["situation"]}}


def test_a_design_names_fields_in_short_or_with_a_label():
    design = parse_design({**SMALL, "item_template": {"item_fields": ["a", {"field": "b", "label": "B"}]}})
    assert [(entry.field, entry.label) for entry in design.item_template.item_fields] == [("a", ""), ("b", "B")]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"items_each": 0}, "Design, at items_each"),
        ({"itmes": 3}, "Design, at itmes"),
        ({"item_template": {"item_fields": []}}, "Design, at item_template > item_fields"),
        ({"attention_checks": [CHECK, CHECK]}, "items_each must be at least one more"),
        ({"attention_checks": [CHECK], "attention_limit": 2}, "attention_limit is more than the 1 checks"),
        ({"attention_checks": [{**CHECK, "expected": "green"}]}, "the expected answer is not allowed"),
        ({"groups": [["a"], ["a", "b"]]}, "no question may stand in two"),
        ({"questions": ["a"], "groups": [["a", "b"]]}, "the same codes as questions"),
        ({"asked_on": {"why": 3}}, "asked_on why must be 1 to 2"),
        ({"relation": RELATION, "factors": [FACTOR | {"name": "relation"}]}, "names of their own"),
        ({"factors": [FACTOR | {"name": "language"}]}, "names of their own"),
        ({"factors": [FACTOR | {"levels": [{"code": "a"}, {"code": "a"}]}]}, "two levels have the same code"),
        ({"relation": RELATION, "strata": ["a", "b", "c"]}, "there can be 3 strata"),
        (
            {"comprehension": UNDERSTOOD | {"expected": {}}},
            "each question needs one expected answer; look at attention",
        ),
        ({"comprehension": UNDERSTOOD | {"expected": {"attention": "green"}}}, "the expected answer is not allowed"),
    ],
)
def test_a_faulty_design_is_refused_with_its_place(change, sentence):
    with pytest.raises(DesignError, match=sentence):
        parse_design({**SMALL, **change})


def test_texts_need_a_title_and_consent():
    with pytest.raises(DesignError, match="Texts, at consent"):
        parse_texts({"title": "A"})


def test_the_expected_answer_is_compared_without_letter_case():
    check = parse_design({**SMALL, "attention_checks": [CHECK]}).attention_checks[0]
    assert check.is_passed("Blue ")
    assert not check.is_passed("red")


@pytest.mark.parametrize(("of", "level"), [("India", "same"), ("Nepal", "close"), ("Peru", "far")])
def test_the_relation_is_to_the_persons_own_answer(of, level):
    relation = parse_design({**SMALL, "relation": RELATION}).relation
    assert relation.level({"country": "India"}, {"of": of}) == level
    assert relation.level({"country": "Nepal"}, {"of": "India"}) == "far"  # the list says nothing of people from Nepal


def test_the_relations_attribute_is_a_stratum_of_itself():
    assert parse_design({**SMALL, "relation": RELATION, "strata": ["age"]}).dealt_apart == ("age", "country")


def test_levels_bring_their_own_fields():
    design = parse_design({**SMALL, "factors": [FACTOR]})
    for code, fields in (("a", ["situation"]), ("b", ["short"])):
        assert [
            entry.field for entry in design.fields_shown(design.levels({"framing": code, "relation": "far"}))
        ] == fields


def test_pages_follow_the_groups_and_the_instruments_order():
    design = parse_design({**SMALL, "groups": [["why"], ["norm", "personal"]]})
    assert design.pages(["personal", "norm", "why"]) == [["why"], ["personal", "norm"]]
    with pytest.raises(DesignError, match="why is not asked"):
        design.pages(["personal", "norm"])


def test_comprehension_compares_what_is_stored():
    several = CHECK["question"] | {"kind": "multi", "code": "several"}
    questions = [CHECK["question"], several]
    check = parse_design(
        {
            **SMALL,
            "comprehension": {"questions": questions, "expected": {"attention": "blue", "several": ["red", "blue"]}},
        }
    ).comprehension
    assert check.wrong({"attention": "blue", "several": ["blue", "red"]}) == []
    assert check.wrong({"attention": "red", "several": ["blue"]}) == ["attention", "several"]
