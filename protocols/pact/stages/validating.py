"""Scenarios validated by people, then by a model judge whose agreement with them is shown first; flagged ones go."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from pydantic import Field

from llm.models import Job
from materials.models import Item
from materials.services import content_hash
from protocols.asking import Asked, answers, plan_asking, start_asking
from protocols.context import Made, StageContext, check_items
from protocols.labelling import Key, decided, given_labels, key_of, start_labelling, undecided
from protocols.pact.draws import draw_index, drawn
from protocols.pact.dyads import AGES, GENDERS
from protocols.pact.instruments import VALIDATION_QUESTIONS
from protocols.pact.model_questions import CRITERIA, JUDGE, OVERRULE
from protocols.pact.stages.building import SCENARIO, Asking, asked_about, prompt
from protocols.stages import Stage, StageResult, StageSettings

FAILED = {question["code"]: f"no: {question['text']}" for question in VALIDATION_QUESTIONS}
NOT_LABELLED = "not labelled"
GUIDELINES = """\
Each page shows one everyday scenario with a custom, a personal preference and the two actions that follow from them.
Answer three questions about the **scenario**, not about what you would do yourself.

1. **Plausible?** Could someone in the actor's place well have this preference, for the reason given?
2. **Different?** Does the preference lead to another action than the custom?
3. **Clear?** Is it plain who is where and what can be done, without a hint at a right answer?

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
    bots = 0
    for given in given_labels(ctx, "people"):
        if given.question in CRITERIA:
            by_cell[given.item, given.question].append(given.value)
            bots += given.by_bot
    texts = {question["code"]: question["text"] for question in VALIDATION_QUESTIONS}
    notes = [
        f"{texts[code]} Yes for {sum(verdicts.get(code) == 'yes' for _, verdicts in labelled):,} of {len(labelled):,}."
        for code in CRITERIA
    ]
    simulated = [f"{bots:,} of these answers are of bots and say nothing about people."] if bots else []
    return [*notes, agreement_words(list(by_cell.values())), *simulated]


def _criteria(verdicts: Mapping[str, Any]) -> dict[str, str]:
    """What people decided by criterion; "split" where they did not agree."""
    return {code: verdicts.get(code, "split") for code in CRITERIA}


# The model judge


class Judging(Asking):
    notes: str = Field("", description="What the notes of people made clearer; the judge reads it with the criteria.")


def _judging(ctx: StageContext, code: str) -> Asked:
    settings: Judging = ctx.settings
    asked = asked_about(ctx, code, "judge", JUDGE)
    questions = [dict(question) for question in asked.questions]
    if settings.notes:
        questions[0]["help"] += f" {settings.notes}"
    return replace(asked, kind=Job.Kind.JUDGE, questions=questions)


def collect_pilot(ctx: StageContext) -> StageResult:
    from protocols.pact.validation import is_usable, judge_words

    texts = {question["code"]: question["text"] for question in VALIDATION_QUESTIONS}
    found = list(answers(ctx, ctx.output("judge_pilot")["job"]))
    notes = []
    for code in CRITERIA:
        pairs = [(one.item.content[code], one.values[code]) for one in found if one.item.content[code] != "split"]
        notes.append(judge_words(texts[code], [one for one, _ in pairs], [other for _, other in pairs]))
    same = sum(is_usable(one.item.content, CRITERIA) == is_usable(one.values, CRITERIA) for one in found)
    came = ctx.dataset("people").items.count()
    why = Counter({"not answered": came - len(found), "judged otherwise than by people": len(found) - same})
    return StageResult({"note": notes}, came, same, dict(+why))


def collect_judge(ctx: StageContext) -> StageResult:
    """All scenarios with whether the judge flags them and why; one it did not answer about is flagged, too."""
    verdicts = {one.item.pk: one for one in answers(ctx, ctx.output("judge")["job"])}
    why: Counter[str] = Counter()

    def judged() -> Iterator[Made]:
        for item in ctx.items("check"):
            one = verdicts.get(item.pk)
            values = one.values if one else {}
            failed = [code for code in CRITERIA if values.get(code) != "yes"] if one else []
            reason = FAILED[failed[0]] if failed else "" if one else "not answered by the judge"
            why[reason] += 1
            content = {**item.content, "flag": reason, "flag_reason": values.get("judge_reason", "") if reason else ""}
            yield Made(item.external_id, content, one.lineage if one else {"item": item.pk})

    made = ctx.make_dataset(judged())
    good = why.pop("", 0)
    return StageResult({"dataset": made.slug}, good + why.total(), good, dict(why))


# A person can overrule


def _flagged(ctx: StageContext) -> list[Item]:
    return [item for item in ctx.items("judge") if item.content["flag"]]


def start_overruling(ctx: StageContext) -> StageResult:
    open_ones = undecided(_flagged(ctx), decided(ctx, "overrule"))
    if not open_ones:
        return collect_overruling(ctx)
    made = ctx.make_dataset((Made(one.external_id, one.content, {"item": one.pk}) for one in open_ones), part="flagged")
    label_project = start_labelling(
        ctx,
        dataset=made,
        instrument="pact-overrule",
        title="Keep or remove a flagged scenario",
        questions=OVERRULE,
        item_fields=[
            {"field": "flag", "label": "The judge says"}, {"field": "flag_reason", "label": "Because"}, *SHOWN[:3],
            {"field": "option_culture", "label": "Option that follows the expectation"},
            {"field": "option_preference", "label": "Option that follows the preference"},
        ],
    )  # fmt: skip
    return StageResult({"label_project": label_project.slug}, done=False)


def collect_overruling(ctx: StageContext) -> StageResult:
    known, flagged = decided(ctx, "overrule"), _flagged(ctx)
    said = Counter(known.get(key_of(item), {}).get("keep", "") for item in flagged)
    why = +Counter({"left to the judge": said[""], "removed by a person": said["no"]})
    return StageResult({}, len(flagged), said["yes"], dict(why))


def remove(ctx: StageContext) -> StageResult:
    """What a person decided holds against the judge, whichever way."""
    people = {item.external_id: item.content for item in ctx.items("people")}
    overruled = decided(ctx, "overrule")
    why: Counter[str] = Counter()

    def reason(item: Item) -> str:
        said = overruled.get(key_of(item), {}).get("keep")
        if said:
            return "" if said == "yes" else "removed by a person"
        seen = people.get(item.external_id)
        if seen and "no" in (seen[code] for code in CRITERIA):
            return "found unusable by people"
        if seen and all(seen[code] == "yes" for code in CRITERIA):
            return ""
        return "flagged by the judge" if item.content["flag"] else ""

    def kept() -> Iterator[Made]:
        for item in ctx.items("judge"):
            if because := reason(item):
                why[because] += 1
            else:
                yield Made(item.external_id, {name: item.content[name] for name in SCENARIO}, {"item": item.pk})

    made = ctx.make_dataset(kept())
    out = made.items.count()
    return StageResult({"dataset": made.slug}, out + why.total(), out, dict(why))


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
    Stage(
        code="judge_pilot",
        title="Judge beside people",
        says="The model judge answers the same questions about the same sample, so that its agreement with people is "
        "known before it is trusted with the rest.",
        decides="A researcher looks at the agreement before the next stage is run.",
        kind="job",
        needs=("people",),
        settings=Judging,
        prompts=prompt("judge").paths,
        plan=lambda ctx: plan_asking(ctx, _judging(ctx, "people")),
        run=lambda ctx: StageResult({"job": start_asking(ctx, _judging(ctx, "people"))}, done=False),
        collect=collect_pilot,
    ),
    Stage(
        code="judge",
        title="Judge on all scenarios",
        says="The judge checks every scenario and says why it flags one. Give it the notes that the pilot had.",
        kind="job",
        needs=("check", "judge_pilot"),
        settings=Judging,
        prompts=prompt("judge").paths,
        plan=lambda ctx: plan_asking(ctx, _judging(ctx, "check")),
        run=lambda ctx: StageResult({"job": start_asking(ctx, _judging(ctx, "check"))}, done=False),
        collect=collect_judge,
    ),
    Stage(
        code="overrule",
        title="Flagged scenarios",
        says="Whoever looks at a flagged scenario can keep it against the judge; what nobody looks at is removed.",
        decides="A researcher keeps or removes each flagged scenario.",
        kind="decision",
        needs=("judge",),
        run=start_overruling,
        collect=collect_overruling,
    ),
    Stage(
        code="remove",
        title="Removal",
        says="Removes what people found unusable and what the judge flagged and nobody kept.",
        kind="transformation",
        needs=("people", "judge", "overrule"),
        run=remove,
    ),
)
