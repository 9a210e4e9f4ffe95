"""A model judge whose agreement with people is shown first; what it flags goes, unless a person keeps it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from pydantic import Field

from llm.models import Job
from materials.models import Item
from protocols.asking import Asked, answers, plan_asking, start_asking
from protocols.context import Made, StageContext
from protocols.labelling import bots_note, decided, given_labels, key_of, start_labelling, undecided
from protocols.pact.instruments import VALIDATION_QUESTIONS
from protocols.pact.model_questions import CRITERIA, JUDGE, OVERRULE
from protocols.pact.stages.building import SCENARIO
from protocols.pact.stages.common import Asking, asked_about, prompt
from protocols.pact.stages.validating import FAILED, SHOWN
from protocols.stages import Stage, StageResult


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
    return StageResult({"note": bots_note(given_labels(ctx, "overrule"))}, len(flagged), said["yes"], dict(why))


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
