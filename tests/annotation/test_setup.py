import pytest

from annotation.models import Assignment
from annotation.services import (
    GuidelinesError,
    LabelProjectError,
    add_items,
    claim_next,
    publish_guidelines,
    raise_overlap,
)
from materials.models import Item


def places(label_project):
    """Item and place in the order in which free places are handed out."""
    free = Assignment.objects.filter(label_project=label_project, status="free").order_by("rank", "place")
    return list(free.values_list("item__position", "place"))


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("fixed", [(0, 2), (1, 1), (1, 2), (2, 1), (2, 2)]),
        ("least_labelled", None),
    ],
)
def test_raising_the_overlap_adds_places_where_the_order_has_them(make_label_project, annotator, order, expected):
    label_project = make_label_project(n=3, order=order)
    claim_next(label_project, annotator)
    assert raise_overlap(label_project=label_project, overlap=2, by=None) == 3
    found = places(label_project)
    if order == "least_labelled":
        assert [place for _, place in found] == [1, 1, 2, 2, 2]
    else:
        assert found == expected
    assert raise_overlap(label_project=label_project, overlap=2, by=None) == 0
    with pytest.raises(LabelProjectError, match="raised but not lowered"):
        raise_overlap(label_project=label_project, overlap=1, by=None)


def test_a_place_that_was_left_out_does_not_count_for_the_overlap(make_label_project, annotator):
    label_project = make_label_project(n=1)
    held = claim_next(label_project, annotator)
    Assignment.objects.filter(pk=held.pk).update(status="invalid", lease_until=None)
    assert raise_overlap(label_project=label_project, overlap=2, by=None) == 2
    assert [place for _, place in places(label_project)] == [2, 3]


def test_items_that_come_later_get_places_behind_the_others(make_label_project):
    label_project = make_label_project(n=2, overlap=2, calibration_size=1, calibration_overlap=3)
    assert add_items(label_project=label_project, by=None) == 0
    for n in (2, 3):
        Item.objects.create(
            dataset=label_project.dataset, external_id=f"late-{n}", content={}, content_hash="0" * 64, position=n
        )
    assert add_items(label_project=label_project, by=None) == 2
    assert places(label_project)[-4:] == [(2, 1), (2, 2), (3, 1), (3, 2)]
    assert add_items(label_project=label_project, by=None) == 0


def test_guidelines_get_a_version_for_each_change(make_label_project, researcher):
    label_project = make_label_project(guidelines="Read closely.")
    example = {"item": "scenarios-1", "answers": {"clear": "no"}, "why": "Nobody acts."}
    changed = publish_guidelines(label_project=label_project, text="Read closely.", examples=[example], by=researcher)
    again = publish_guidelines(label_project=label_project, text="Read closely.", examples=[example], by=researcher)
    assert (changed.version, again.pk, changed.examples) == (2, changed.pk, [example])


@pytest.mark.parametrize(
    ("example", "sentence"),
    [
        ({"item": "none", "answers": {}}, "has no item none"),
        ({"item": "scenarios-1", "answers": {"tone": "x"}}, "has no question tone"),
        (
            {"item": "scenarios-1", "answers": {"clear": "maybe"}},
            "Example scenarios-1: clear: 'maybe' is not an option",
        ),
    ],
)
def test_an_example_must_fit(make_label_project, example, sentence):
    with pytest.raises(GuidelinesError, match=sentence):
        publish_guidelines(label_project=make_label_project(), text="", examples=[example], by=None)
