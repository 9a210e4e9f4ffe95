"""A sample of the scenarios validated by people, and how far they agree."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from pydantic import Field

from materials.models import Item
from materials.services import content_hash
from protocols.context import Made, StageContext, check_items
from protocols.labelling import Key, bots_note, decided, given_labels, start_labelling
from protocols.pact.draws import draw_index, drawn
from protocols.pact.dyads import AGES, GENDERS
from protocols.pact.instruments import VALIDATION_GUIDELINES, VALIDATION_QUESTIONS
from protocols.pact.model_questions import CRITERIA
from protocols.stages import Stage, StageResult, StageSettings

FAILED = {question["code"]: f"no: {question['text']}" for question in VALIDATION_QUESTIONS}
NOT_LABELLED = "not labelled"
GUIDELINES = f"""{VALIDATION_GUIDELINES}
A scenario is used when all three answers are yes. When you are unsure, answer as best you can and say why in the note:
notes make the criteria clearer for the model that checks all scenarios after you.
"""
SHOWN = [
    "situation",
    {"field": "cultural_expectation", "label": "What is usual there"},
    {"field": "personal_preference", "label": "What the actor prefers"},
    {"field": "receiver_country", "label": "Country"},
    {"field": "people", "label": "Age and gender"},
    "setting",
]


class Validating(StageSettings):
    sample: int = Field(200, ge=1, le=100_000, description="So many scenarios are drawn for people.")
    annotators: int = Field(4, ge=1, le=50, description="People who label, each a part of the sample.")
    shared: int = Field(10, ge=0, le=10_000, description="So many of the sample are labelled by all of them.")
    seed: int = Field(1, ge=0, description="Draws the sample, what is shared, and the ages and genders shown.")


def shown(item: Item, seed: int) -> dict[str, Any]:
    """The scenario as annotators see it: with the age and gender of two people, drawn by the seed."""
    pairs = list(product(AGES, GENDERS, AGES, GENDERS))
    drawn_pair = pairs[draw_index(len(pairs), seed=seed, key=f"people/{item.external_id}")]
    actor_age, actor_gender, receiver_age, receiver_gender = drawn_pair
    words = f"{item.content['actor_role']}: {actor_age}, {actor_gender}; "
    words += f"{item.content['receiver_role']}: {receiver_age}, {receiver_gender}"
    return {**item.content, "people": words}


def _sample(ctx: StageContext) -> list[Item]:
    settings: Validating = ctx.settings
    return drawn(list(ctx.items("check")), settings.sample, seed=settings.seed, key=lambda item: item.external_id)


def _key(item: Item, seed: int) -> Key:
    return item.external_id, content_hash(shown(item, seed))


def start_people(ctx: StageContext) -> StageResult:
    settings: Validating = ctx.settings
    check_items(ctx.dataset("check"))
    known = decided(ctx, "people")
    open_ones = [item for item in _sample(ctx) if _key(item, settings.seed) not in known]
    if not open_ones:
        return collect_people(ctx)
    made = ctx.make_dataset(
        (Made(item.external_id, shown(item, settings.seed), {"item": item.pk}) for item in open_ones), part="to-label"
    )
    label_project = start_labelling(
        ctx,
        dataset=made,
        instrument="pact-validation",
        title="Validation of scenarios",
        questions=VALIDATION_QUESTIONS,
        guidelines=GUIDELINES,
        item_fields=SHOWN,
        calibration_size=min(settings.shared, len(open_ones)),
        calibration_overlap=settings.annotators,
        seed=settings.seed,
    )
    return StageResult({"label_project": label_project.slug}, done=False)


def collect_people(ctx: StageContext) -> StageResult:
    """The sample with what people decided on each criterion; also what earlier runs of the stage decided."""
    settings: Validating = ctx.settings
    known, sample = decided(ctx, "people"), _sample(ctx)
    labelled = [(item, verdicts) for item in sample if (verdicts := known.get(_key(item, settings.seed)))]
    made = ctx.make_dataset(
        Made(item.external_id, {**item.content, **_criteria(verdicts)}, {"item": item.pk})
        for item, verdicts in labelled
    )
    why = Counter({NOT_LABELLED: len(sample) - len(labelled)})
    for _, verdicts in labelled:
        why[next((FAILED[code] for code in CRITERIA if verdicts.get(code) != "yes"), "")] += 1
    usable = why.pop("", 0)
    return StageResult({"dataset": made.slug, "note": _people_notes(ctx, labelled)}, len(sample), usable, dict(+why))


def _people_notes(ctx: StageContext, labelled: Sequence[tuple[Item, Mapping[str, Any]]]) -> list[str]:
    from protocols.pact.validation import agreement_words  # numpy and what else the metrics take

    by_cell: dict[tuple[Key, str], list[str]] = defaultdict(list)
    answers = [given for given in given_labels(ctx, "people") if given.question in CRITERIA]
    for given in answers:
        by_cell[given.item, given.question].append(given.value)
    texts = {question["code"]: question["text"] for question in VALIDATION_QUESTIONS}
    notes = [
        f"{texts[code]} Yes for {sum(verdicts.get(code) == 'yes' for _, verdicts in labelled):,} of {len(labelled):,}."
        for code in CRITERIA
    ]
    return [*notes, agreement_words(list(by_cell.values())), *bots_note(answers)]


def _criteria(verdicts: Mapping[str, Any]) -> dict[str, str]:
    """What people decided by criterion; "split" where they did not agree."""
    return {code: verdicts.get(code, "split") for code in CRITERIA}


STAGES = (
    Stage(
        code="people",
        title="Validation by people",
        says="People say of a sample whether the preference is plausible, whether it is distinct, and whether the "
        "scenario is clear. A scenario is usable when all three are yes.",
        decides="Annotators, a part of the sample each and some scenarios all of them.",
        kind="labelling",
        needs=("check",),
        settings=Validating,
        run=start_people,
        collect=collect_people,
    ),
)
