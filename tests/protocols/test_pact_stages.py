"""What PACT's stages are made of: checks of scenarios, cases as a job's grid, prompts, and the items of the study."""

from collections import Counter
from typing import Any

import pytest

from llm.planning.grid import Factor
from llm.planning.grid import Grid as JobGrid
from llm.prompting.rendering import render_messages
from protocols.asking import PromptFiles
from protocols.pact.asked_cases import DEMOGRAPHICS, factors, pairs_of, study_items
from protocols.pact.cases import CONFIGS, DEMOGRAPHIC_CONDITIONS, Grid
from protocols.pact.checks import ALIKE, EMPTY, NAMES_A_GROUP, REVEALS, UNEVEN, faults, typed
from protocols.pact.countries import find
from protocols.pact.draws import drawn
from protocols.pact.instruments import PARTICIPANT_COUNTRIES
from protocols.pact.model_questions import PROMPTS, STYLES
from protocols.pact.scenarios import all_scenarios
from protocols.pact.stages.people import Participants, _more_scenarios, _style
from protocols.pact.validation import agreement_words

LIMITS = {"most_overlap": 0.7, "most_length_ratio": 2.5, "wording": True}
GOOD = all_scenarios()[0]
TEXTS = {"balance": "B", "no_balance": "N"}
RELATIONS = 3


def grid(chosen: Grid) -> JobGrid:
    return JobGrid(prompts=1, personas=[{}], factors=tuple(map(Factor.from_json, factors(chosen, TEXTS))))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"receiver_role": " "}, EMPTY),
        ({"option_preference": GOOD["option_culture"].upper()}, ALIKE),
        ({"option_culture": "Go on and on. " * 20}, UNEVEN),
        ({"personal_preference": "As an older person, the guest wants to sit."}, NAMES_A_GROUP),
        ({"personal_preference": "The guest comes from Niger and prefers to wait."}, NAMES_A_GROUP),
        ({"situation": "A guest should greet everyone."}, REVEALS),
    ],
)
def test_checks_name_the_fault(change: dict[str, str], fault: str):
    assert next(faults({**GOOD, **change}, **LIMITS)) == fault


def test_wording_can_be_let_pass():
    scenario = {**GOOD, "situation": "A guest should greet everyone."}
    assert list(faults(scenario, **LIMITS | {"wording": False})) == []


def test_the_shipped_scenarios_pass_the_checks():
    assert [one["external_id"] for one in all_scenarios() if list(faults(one, **LIMITS))] == []


def test_types_of_preference_take_turns_within_each_country():
    countries = ["Chile", "Peru"] * 30
    counts = Counter(zip(countries, typed(countries), strict=True))
    assert set(counts.values()) == {10}


def test_cases_are_counted_without_being_made():
    """The published numbers, by the job's own grid over three items a scenario."""
    n_items = RELATIONS * (2_633 + 4_007)
    assert RELATIONS * DEMOGRAPHICS == 48
    assert n_items * DEMOGRAPHICS == 318_720
    one = {"demographic_conditions": ("full_demo",)}
    assert n_items * len(grid(Grid(prompt_conditions=("balance",), **one))) == 956_160
    assert n_items * len(grid(Grid(**one))) == 1_912_320
    assert n_items * len(grid(Grid())) == 7_649_280


def test_a_pair_has_the_countries_of_its_relation():
    pool = [find(name) for name in ("Brazil", "Argentina", "Japan")]
    found = dict(pairs_of(GOOD, "s", pool=pool, seed=1))
    assert {key: pair["actor_country"] for key, pair in found.items()} == {
        "s/same": "Brazil", "s/close": "Argentina", "s/far": "Japan",
    }  # fmt: skip
    assert found["s/far"]["actor_region"] == "Eastern Asia"


def behaviour_prompt(**levels: str) -> str:
    """The user prompt of one case: names of levels in place of those of the first cell."""
    cells = grid(Grid())
    names = cells[0].names | levels
    cell = next(cells[n] for n in range(len(cells)) if cells[n].names == names)
    item = next(pair for _, pair in pairs_of(GOOD, "s", pool=[find("Brazil"), find("Japan")], seed=1))
    files = PromptFiles(PROMPTS, "behaviour")
    variables: dict[str, Any] = {"item": item, "condition": cell.values, "questions": [], "answer_format": "Letter."}
    system, user = render_messages(files.text("system"), files.text("user"), variables)
    assert system["content"] == TEXTS[names["prompt_condition"]]
    return user["content"]


def changed_lines(one: str, other: str) -> list[str]:
    return [line for line in other.splitlines() if line not in one.splitlines()]


def test_prompts_of_cases_differ_only_where_the_condition_does():
    first = behaviour_prompt()
    assert "Actor: guest, younger, female, from Brazil" in first
    assert changed_lines(first, behaviour_prompt(prompt_condition="balance")) == []
    assert changed_lines(first, behaviour_prompt(actor_age="older")) == ["Actor: guest, older, female, from Brazil"]
    for condition, told in DEMOGRAPHIC_CONDITIONS.items():
        actor, receiver = behaviour_prompt(demographic_condition=condition).splitlines()[:2]
        assert ("younger" in actor, "female" in receiver) == ("age" in told, "gender" in told)
    configs = [behaviour_prompt(config=name) for name in CONFIGS]
    assert changed_lines(configs[0], configs[1]) == [
        "The actor favours the custom; the receiver favours the preference."
    ]
    assert changed_lines(configs[0], configs[2])[0].startswith("Both the actor and the receiver favour the preference")


@pytest.mark.parametrize("style", STYLES)
def test_every_style_holds_the_same_content(style: str):
    options = [{"letter": "A", "text": GOOD["option_culture"]}, {"letter": "B", "text": GOOD["option_preference"]}]
    questions = [{"code": code, "text": f"Ask {code}", "options": options} for code in ("personal", "norm")]
    item = {**GOOD, "receiver_age": "older", "receiver_gender": "male"}
    for persona in (None, {"country": "India", "age_group": "younger", "gender": "female"}):
        variables = {"item": item, "persona": persona, "questions": questions, "answer_format": "As JSON."}
        files = _style(style)
        text = render_messages(files.text("system"), files.text("user"), variables)[1]["content"]
        shown = [GOOD[name] for name in ("situation", "cultural_expectation", "personal_preference", "actor_role")]
        shown += [GOOD["option_culture"], GOOD["option_preference"], "Ask personal", "Ask norm", "As JSON.", "Brazil"]
        assert [part for part in shown if part not in text] == []
        assert all((word in text) == bool(persona) for word in ("India", "female"))


def test_items_of_the_study_are_balanced():
    scenarios = [(one["external_id"], one) for one in all_scenarios()]
    items = list(study_items(scenarios, own=PARTICIPANT_COUNTRIES, close=["Mexico", "Ethiopia"], most=12, seed=3))
    countries = Counter(content["receiver_country"] for _, content in items)
    assert sum(countries[own] for own in PARTICIPANT_COUNTRIES) == 4
    assert countries["Mexico"] == countries["Ethiopia"] == 2
    receivers = Counter((content["receiver_age"], content["receiver_gender"]) for _, content in items)
    assert set(receivers.values()) == {3}
    assert len(list(study_items(scenarios, own=PARTICIPANT_COUNTRIES, close=[], most=63, seed=3))) == 48


def test_a_study_that_lacks_scenarios_names_settings_that_are_not_set_yet():
    assert "source=all" in _more_scenarios(Participants())
    assert "source=all" not in _more_scenarios(Participants(source="all"))


def test_a_sample_hardly_changes_with_what_comes_or_goes():
    things = [str(n) for n in range(100)]
    first = drawn(things, 20, seed=1, key=str)
    again = drawn([thing for thing in things if thing != first[0]], 20, seed=1, key=str)
    assert set(first) - set(again) == {first[0]}


def test_agreement_of_nobody_is_said_in_words():
    assert "No two people" in agreement_words([["yes"]])
