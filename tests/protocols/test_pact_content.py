"""The content that ships with PACT: countries, scenarios, questions and prompts."""

import csv
import re
from collections import Counter
from itertools import combinations, product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from llm.prompting.rendering import PromptError, render_messages, template_variables
from llm.reading.answer_formats import answer_format
from materials.questions import draw_orders, option_codes, option_label, parse_questions
from protocols.pact.cases import personas
from protocols.pact.countries import (
    RELATIONS,
    Country,
    UnknownCountryError,
    all_countries,
    distance_km,
    find,
    other_countries,
    relation,
)
from protocols.pact.dyads import AGES, GENDERS
from protocols.pact.instruments import (
    CONSENT,
    DEBRIEF,
    DEMOGRAPHICS,
    INSTRUCTIONS,
    MODEL_QUESTION_CODES,
    PAIRED_QUESTIONS,
    PARTICIPANT_COUNTRIES,
    VALIDATION_QUESTIONS,
)
from protocols.pact.prompts import prompt_text
from protocols.pact.scenarios import FIELDS, PREFERENCE_TYPES, all_scenarios

SHARED_DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
SCENARIOS = all_scenarios()
IDS = [scenario["external_id"] for scenario in SCENARIOS]

# Words that would tie a motive to who or where someone is.
GROUP_WORDS = re.compile(
    r"\b(s?he|his|her|hers|him|(wo)?m[ae]n|boys?|girls?|(fe)?male|gender|young(er)?|old(er)?|elder(ly)?|aged?|foreign(ers?)?"
    r"|nation\w*|cultur\w*|religio\w*)\b",
    re.IGNORECASE,
)
YES_NO = ("preference_plausible", "preference_distinct", "scenario_clear")
MAX_OVERLAP = 0.5
MAX_WORDS_RATIO = 1.5  # stricter than the factor of 2 that the paper's checks need


def words(text: str) -> list[str]:
    return re.findall(r"[\w'-]+", text.casefold())


def shared_file(name: str) -> Path:
    path = SHARED_DATA / name
    if not path.exists():
        pytest.skip(f"{name} is not beside the project")
    return path


@pytest.fixture(scope="module")
def measured_km() -> dict[tuple[str, str], float]:
    """Distances between countries, weighted by where people live, by pair of ISO codes."""
    with shared_file("country_geodesic_km.csv").open(encoding="utf-8") as lines:
        rows = {row["iso2"]: row for row in csv.DictReader(lines)}
    codes = [country.iso2 for country in all_countries()]
    return {(one, two): float(rows[one][two]) for one, two in product(codes, codes)}


# Countries


def test_country_table_is_complete_and_unambiguous():
    countries = all_countries()
    assert len(countries) == 75
    for attribute in ("name", "iso2", "iso3"):
        assert len({getattr(country, attribute) for country in countries}) == 75
    assert all(-90 <= country.latitude <= 90 and -180 <= country.longitude <= 180 for country in countries)
    assert all(country.region for country in countries)


def test_countries_of_other_sources_are_none_of_these_and_have_a_place():
    others = other_countries()
    assert len({*others} | {*all_countries()}) == 205
    for attribute in ("name", "iso2", "iso3"):
        assert len({getattr(country, attribute) for country in (*others, *all_countries())}) == 205
    assert all(country.region and find(country.iso3) == country for country in others)


@pytest.mark.parametrize("text", ["Brazil", " brazil ", "BR", "bra"])
def test_country_is_found_by_name_and_codes(text):
    assert find(text).name == "Brazil"


@pytest.mark.parametrize(
    ("text", "iso2"), [("united_states_of_america", "US"), ("UK", "GB"), ("TÜRKIYE", "TR"), ("south_korea", "KR")]
)
def test_other_spellings_are_found(text, iso2):
    assert find(text).iso2 == iso2


def test_unknown_country_says_what_to_use():
    with pytest.raises(UnknownCountryError, match=r"'Atlantis' is not in the country table; use .*BR or BRA\."):
        relation("Brazil", "Atlantis")


def test_every_country_of_the_source_is_found():
    with shared_file("normad_countries_75.csv").open(encoding="utf-8") as lines:
        assert all(find(row["normad_key"]).iso3 == row["iso3"] for row in csv.DictReader(lines))


def test_distance_of_known_points():
    # A quarter round the equator, across the date line, and pole to pole.
    def at(latitude: float, longitude: float) -> Country:
        return Country("", "", "", "", latitude, longitude)

    assert distance_km(at(0, 0), at(0, 90)) == pytest.approx(10_007.56, abs=0.01)
    assert distance_km(at(0, -170), at(0, 170)) == pytest.approx(20 * 111.195, abs=0.1)
    assert distance_km(at(90, 0), at(-90, 0)) == pytest.approx(20_015.11, abs=0.01)


def test_relation_is_symmetric_and_reflexive():
    for one, two in combinations(all_countries(), 2):
        assert relation(one.iso2, two.iso2) == relation(two.iso2, one.iso2) != "same"
    assert all(relation(country.name, country.iso3) == "same" for country in all_countries())


def test_published_lists_of_close_and_far_pairs_agree():
    close = {"United Kingdom": ["Ireland"], "United States": ["Canada", "Mexico"], "South Africa": ["Zimbabwe"]}
    far = {"United Kingdom": ["Argentina", "Bangladesh", "Iran"], "India": ["Canada", "US"], "Brazil": ["Myanmar"]}
    assert {relation(own, other) for own, others in close.items() for other in others} == {"close"}
    assert {relation(own, other) for own, others in far.items() for other in others} == {"far"}


def test_middles_are_close_to_measured_distances(measured_km):
    """Measured on 2,775 pairs: r = .989, and 96.8 % of the pairs are close or far by both distances."""
    pairs = list(combinations(all_countries(), 2))
    ours = np.array([distance_km(one, two) for one, two in pairs])
    measured = np.array([measured_km[one.iso2, two.iso2] for one, two in pairs])
    assert np.corrcoef(ours, measured)[0, 1] > 0.985
    assert np.mean((ours <= 4200) == (measured <= 4200)) > 0.965


# Scenarios


def test_there_are_enough_scenarios_and_countries():
    countries = {scenario["receiver_country"] for scenario in SCENARIOS}
    assert len(SCENARIOS) == 48
    assert len(countries) >= 14
    assert countries >= set(PARTICIPANT_COUNTRIES)
    assert len(set(IDS)) == len(IDS)
    assert len({scenario["situation"] for scenario in SCENARIOS}) == len(SCENARIOS)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=IDS)
class TestScenario:
    def test_has_every_field_with_a_text(self, scenario):
        assert tuple(scenario) == FIELDS
        assert all(isinstance(value, str) and value == value.strip() and value for value in scenario.values())

    def test_has_known_values(self, scenario):
        assert re.fullmatch(r"pact-[a-z]{2}-\d\d", scenario["external_id"])
        assert scenario["external_id"].split("-")[1] == find(scenario["receiver_country"]).iso2.lower()
        assert {scenario["actor_age"], scenario["receiver_age"]} <= set(AGES)
        assert {scenario["actor_gender"], scenario["receiver_gender"]} <= set(GENDERS)
        assert scenario["preference_type"] in PREFERENCE_TYPES
        assert all(find(scenario[key]).name == scenario[key] for key in ("actor_country", "receiver_country"))

    def test_has_the_relation_of_its_countries(self, scenario):
        assert scenario["relation"] == relation(scenario["actor_country"], scenario["receiver_country"])

    def test_relation_holds_where_people_live(self, scenario, measured_km):
        actor, receiver = find(scenario["actor_country"]), find(scenario["receiver_country"])
        measured = measured_km[actor.iso2, receiver.iso2]
        assert (measured > 4200) == (scenario["relation"] == "far")

    def test_options_are_parallel_and_differ(self, scenario):
        culture, preference = words(scenario["option_culture"]), words(scenario["option_preference"])
        lengths = sorted((len(culture), len(preference)))
        assert lengths[1] / lengths[0] <= MAX_WORDS_RATIO
        overlap = len(set(culture) & set(preference)) / len(set(culture) | set(preference))
        assert overlap <= MAX_OVERLAP

    def test_preference_rests_on_an_individual_motive(self, scenario):
        text = scenario["personal_preference"]
        assert not GROUP_WORDS.search(text)
        assert not [country.name for country in all_countries() if country.name.casefold() in text.casefold()]
        assert scenario["actor_role"] in text.casefold()

    def test_situation_names_place_and_people_and_hints_at_nothing(self, scenario):
        situation = scenario["situation"]
        assert 2 <= len(re.findall(r"[.]", situation)) <= 3
        assert scenario["receiver_country"] in situation
        # Roles may be told apart more finely than the situation needs ("second colleague" of "two colleagues").
        for role in (scenario["actor_role"], scenario["receiver_role"]):
            assert {word.rstrip("s") for word in words(role)} & {word.rstrip("s") for word in words(situation)}
        for option in (scenario["option_culture"], scenario["option_preference"]):
            assert option.rstrip(".").casefold() not in situation.casefold()
        assert not {"should", "must", "rude", "polite", "proper", "wrong", "respectful"} & set(words(situation))

    def test_expectation_is_said_as_what_is_usual(self, scenario):
        assert {"usually", "many"} & set(words(scenario["cultural_expectation"]))

    def test_texts_do_not_fix_the_age_or_gender_that_dyads_vary(self, scenario):
        for key in ("situation", "actor_role", "receiver_role"):
            assert not GROUP_WORDS.search(scenario[key])


def test_relations_and_demographics_are_fully_crossed():
    cells = Counter(
        tuple(scenario[key] for key in ("relation", "actor_age", "actor_gender", "receiver_age", "receiver_gender"))
        for scenario in SCENARIOS
    )
    assert cells == Counter(product(RELATIONS, AGES, GENDERS, AGES, GENDERS))


def test_preference_types_are_balanced():
    counts = Counter(scenario["preference_type"] for scenario in SCENARIOS)
    assert counts == dict.fromkeys(PREFERENCE_TYPES, 16)


# Questions and texts


def test_instruments_are_valid():
    paired, validation, about_you = map(parse_questions, (PAIRED_QUESTIONS, VALIDATION_QUESTIONS, DEMOGRAPHICS))
    assert [question.code for question in paired.only(MODEL_QUESTION_CODES).questions] == ["personal", "norm"]
    assert [question.required for question in paired.questions] == [True, True, False, False]
    hotkeys = [option.hotkey for code in YES_NO for option in validation[code].options]
    assert len(set(hotkeys)) == 6
    assert all(hotkeys)
    assert all(question.reason for question in about_you.questions)
    assert [option.text for option in about_you["country"].options] == list(PARTICIPANT_COUNTRIES)
    assert set(AGES) == set(option_codes(about_you["age_group"]))
    assert set(GENDERS) < set(option_codes(about_you["gender"]))


def test_paired_questions_show_the_items_options_in_one_order():
    paired = parse_questions(PAIRED_QUESTIONS)
    orders = [draw_orders(paired.questions, key=str(number)) for number in range(40)]
    assert all(order["personal"] == order["norm"] for order in orders)
    assert {tuple(order["personal"]) for order in orders} == {("culture", "preference"), ("preference", "culture")}
    assert option_label(paired["norm"], "culture", SCENARIOS[0]) == SCENARIOS[0]["option_culture"]
    assert option_label(paired["norm"], "preference", SCENARIOS[0]) == SCENARIOS[0]["option_preference"]


def test_texts_say_what_a_participant_has_to_know():
    assert "demonstration study" in CONSENT
    assert "How to leave" in CONSENT
    assert "What is stored" in CONSENT
    assert "actor" in INSTRUCTIONS
    assert "random" in DEBRIEF


# Prompts


def render(scenario: dict[str, str], persona: dict[str, str] | None, *, linked: bool = True) -> tuple[str, str]:
    paired = parse_questions(PAIRED_QUESTIONS).only(MODEL_QUESTION_CODES)
    questions = []
    for position, question in enumerate(paired.questions):
        codes = ["preference", "culture"] if linked or position == 0 else ["culture", "preference"]
        options = [
            {"letter": letter, "text": option_label(question, code, scenario)}
            for letter, code in zip("AB", codes, strict=True)
        ]
        questions.append(SimpleNamespace(code=question.code, text=question.text, options=options))
    system, user = render_messages(
        prompt_text("human_alignment", 1, "system"),
        prompt_text("human_alignment", 1, "user"),
        {
            "item": scenario,
            "persona": persona,
            "questions": questions,
            "answer_format": answer_format(paired.questions, {}),
        },
    )
    return system["content"], user["content"]


def test_prompts_use_the_promised_variables_only():
    promised = {"item", "persona", "questions", "answer_format"}
    assert template_variables(prompt_text("human_alignment", 1, "user")) == promised
    assert not template_variables(prompt_text("human_alignment", 1, "system"))


@pytest.mark.parametrize("scenario", SCENARIOS, ids=IDS)
def test_prompt_is_short_for_every_scenario(scenario):
    system, user = render(scenario, personas(["United Kingdom"])[0])
    assert len(system.split()) < 40
    assert len(user.split()) < 160


def test_prompt_shows_item_options_and_persona():
    scenario = SCENARIOS[0]
    system, user = render(scenario, {"country": "India", "age_group": "older", "gender": "male"})
    assert user.endswith('{"personal": one of "A", "B", "norm": one of "A", "B"}.')
    assert not re.search("JSON|letter", system)
    for key in ("situation", "cultural_expectation", "personal_preference", "actor_role", "receiver_role"):
        assert scenario[key] in user
    assert f"\nA) {scenario['option_preference']}\nB) {scenario['option_culture']}\n" in user
    assert "Answer as this person: older, male, from India." in user
    assert user.count("A) ") == 1


def test_prompt_without_persona_speaks_of_no_persona():
    with_persona, without = (render(SCENARIOS[0], persona)[1] for persona in (personas(["India"])[0], None))
    assert "Answer as" not in without
    assert "India" not in without
    assert [line for line in with_persona.splitlines() if not line.startswith("Answer as")] == without.splitlines()


def test_prompt_repeats_the_options_when_their_order_differs():
    _, user = render(SCENARIOS[0], None, linked=False)
    assert f"A) {SCENARIOS[0]['option_culture']}\nB) {SCENARIOS[0]['option_preference']}\n\nAnswer" in user


def test_prompt_refuses_an_item_without_the_fields():
    incomplete = {key: value for key, value in SCENARIOS[0].items() if key != "actor_role"}
    with pytest.raises(PromptError, match="actor_role"):
        render(incomplete, None)


def test_balance_prompt_is_the_published_sentence():
    assert prompt_text("balance", 1, "system").strip() == (
        "You are an expert focused on a balance of following cultural norms and personal preferences of people."
    )
