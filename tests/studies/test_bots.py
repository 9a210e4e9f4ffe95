from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from studies.bots import Person, Rates, choose, draw_person, rate, skips

CHOICES = {"country": ["b", "a", "c"], "gender": ["f", "m"]}


def people(n, rates=Rates(), seed=1):  # noqa: B008 - frozen
    return [
        draw_person(index, seed=seed, choices=CHOICES, balanced="country", rates=rates, pages=10) for index in range(n)
    ]


def person(index=0):
    return Person(f"1/{index}", {}, refuses=False, attentive=True, pages_before_leaving=None)


def test_people_are_balanced_over_countries_and_seeded():
    drawn = people(30)
    assert set(Counter(one.attributes["country"] for one in drawn).values()) == {10}
    assert {one.attributes["gender"] for one in drawn} == {"f", "m"}
    assert drawn == people(30)
    assert drawn != people(30, seed=2)


def test_rates_are_met():
    drawn = people(2000, Rates(drop_out=0.3, refuse=0.1, inattentive=0.2))
    assert abs(sum(one.refuses for one in drawn) / 2000 - 0.1) < 0.03
    assert abs(sum(not one.attentive for one in drawn) / 2000 - 0.2) < 0.03
    leaving = [one.pages_before_leaving for one in drawn if one.pages_before_leaving]
    assert abs(len(leaving) / 2000 - 0.3) < 0.04
    assert set(leaving) == set(range(1, 10))
    assert not any(one.refuses or one.pages_before_leaving or not one.attentive for one in people(200))


@given(st.permutations(["culture", "preference", "neither"]), st.text(), st.integers(0, 50))
def test_the_order_on_the_page_does_not_matter(codes, item, index):
    expected = choose(person(index), question="q", item=item, codes=["culture", "neither", "preference"])
    assert choose(person(index), question="q", item=item, codes=codes) == expected


def test_rates_differ_between_items_and_countries():
    def share(item, country):
        chosen = [
            choose(person(index), question="q", item=item, codes=["x", "y"], country=country) for index in range(300)
        ]
        return chosen.count("x") / 300

    by_item = [share(f"item {index}", "a") for index in range(20)]
    assert max(by_item) - min(by_item) > 0.4
    assert max(abs(share(f"item {index}", "a") - share(f"item {index}", "b")) for index in range(10)) > 0.15


def test_ratings_stay_on_the_scale_and_vary():
    ratings = [rate(person(index), question="q", item="i", points=range(1, 6)) for index in range(300)]
    assert set(ratings) <= set(range(1, 6))
    assert len(set(ratings)) >= 3


def test_some_optional_questions_are_skipped():
    skipped = sum(skips(person(index), question="q", item="i") for index in range(1000))
    assert 50 < skipped < 150
