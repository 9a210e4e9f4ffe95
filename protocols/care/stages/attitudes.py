"""The list of tones, what a model proposes of each, and the attitude on which people agree."""

from pydantic import Field

from annotation.models import Decision
from materials.models import Dataset
from projects.services import audit
from protocols.asking import Asked, PromptFiles, answers, plan_asking, start_asking
from protocols.care.prompts import FOLDER
from protocols.care.stages.deciding import NAMED, ask_people, collected, decisions, outcome
from protocols.care.stages.lineage import of
from protocols.care.tones import ATTITUDE_TEXTS, SHIPPED, ToneListError, attitude_question, read_tones
from protocols.context import Made, StageContext
from protocols.files import open_given
from protocols.labelling import given_labels, label_projects
from protocols.stages import EndpointName, Plan, Stage, StageError, StageResult, StageSettings

PROPOSAL = PromptFiles(FOLDER, "attitude_proposal", version=2)
STANCES = {"support": "Support", "opposition": "Opposition", "neutral": "Neither, or both"}
PROPOSAL_QUESTIONS = (
    {
        "kind": "choice",
        "code": "polarity",
        "text": "Is the event valued positively or negatively?",
        "options": [{"code": code, "text": text} for code, text in ATTITUDE_TEXTS.items()],
    },
    {
        "kind": "choice",
        "code": "stance",
        "text": "Does the writer stand for or against what is reported?",
        "options": [{"code": code, "text": text} for code, text in STANCES.items()],
    },
)
NO_PROPOSAL = "without a proposal"


class ProposalSettings(StageSettings):
    endpoint: EndpointName = Field(default="", description="The model that proposes.")


class AttitudeSettings(StageSettings):
    votes: int = Field(default=2, ge=1, le=20, description="People who vote on each tone.")


def read_tone_list(ctx: StageContext) -> StageResult:
    name, text = SHIPPED.name, SHIPPED.read_text(encoding="utf-8")
    if "tones" in ctx.files:
        name = ctx.files["tones"].name
        with open_given(ctx.files["tones"]) as file:
            text = file.read().decode("utf-8-sig", errors="replace")
    try:
        tones = read_tones(text)
    except ToneListError as error:
        raise StageError(f"{name}: {error}") from error
    dataset = ctx.make_dataset(
        Made(
            f"{tone.name}/v{tones.version}",
            {
                "tone": tone.name,
                "definition": tone.definition,
                "example": tone.example,
                "draft": tone.attitude,
                "version": tones.version,
            },
            {"file": name},
        )
        for tone in tones.tones
    )
    return StageResult({"dataset": dataset.slug}, len(tones.tones), len(tones.tones))


def _asked(ctx: StageContext) -> Asked:
    return Asked(
        dataset=ctx.dataset("tones"),
        instrument="care-proposals",
        title="Polarity and stance of tones",
        questions=PROPOSAL_QUESTIONS,
        prompts=(PROPOSAL,),
        endpoints=(ctx.settings.endpoint,),
        kind="annotate",
        fields={"option_orders": "written"},
    )


def plan_proposals(ctx: StageContext) -> Plan:
    return plan_asking(ctx, _asked(ctx))


def ask_for_proposals(ctx: StageContext) -> StageResult:
    return StageResult({"job": start_asking(ctx, _asked(ctx))}, done=False)


def with_proposals(ctx: StageContext) -> StageResult:
    """All tones go on, those without a proposal as well: people decide."""
    proposed = {answered.item.pk: answered for answered in answers(ctx, ctx.output("proposals")["job"])}
    tones = list(ctx.items("tones"))
    made = []
    for tone in tones:
        values = proposed[tone.pk].values if tone.pk in proposed else {}
        content = {
            **tone.content,
            "polarity": ATTITUDE_TEXTS.get(values.get("polarity", ""), ""),
            "stance": STANCES.get(values.get("stance", ""), ""),
        }
        lineage = proposed[tone.pk].lineage if tone.pk in proposed else of(tone)
        made.append(Made(tone.external_id, content, lineage))
    dataset = ctx.make_dataset(made)
    lacking = len(tones) - len(proposed)
    return StageResult({"dataset": dataset.slug}, len(tones), len(tones), {NO_PROPOSAL: lacking} if lacking else {})


def ask_for_attitudes(ctx: StageContext) -> StageResult:
    items = (Made(item.external_id, item.content, of(item)) for item in ctx.items("proposals"))
    return ask_people(
        ctx,
        items,
        locked_attitudes,
        instrument="care-attitudes",
        title="Attitudes of tones",
        questions=[attitude_question()],
        overlap=ctx.settings.votes,
        item_fields=[
            "tone",
            {"field": "definition", "label": "Definition"},
            {"field": "example", "label": "Example"},
            {"field": "draft", "label": "Draft of the list"},
            {"field": "polarity", "label": "Polarity proposed by the model"},
            {"field": "stance", "label": "Stance proposed by the model"},
        ],
    )


def locked_attitudes(ctx: StageContext, dataset: Dataset) -> StageResult:
    """The mapping, which holds from now on.

    Raises StageError as long as a tone is split or lacks votes, unless an adjudicator has settled it.
    """
    code, rules = ctx.stage.code, ctx.settings
    known = decisions(ctx, code)
    votes: dict[str, list[str]] = {}
    for given in given_labels(ctx, code):
        votes.setdefault(given.item[0], []).append(given.value)
    adjudicated = Decision.objects.filter(label_project__in=label_projects(ctx, code))
    settled = set(adjudicated.values_list("item__external_id", flat=True))
    settled |= {tone for tone, given in votes.items() if len(given) >= rules.votes and "attitude" in known[tone]}
    items = list(dataset.items.order_by("position", "pk"))
    open_tones = [item.content["tone"] for item in items if item.external_id not in settled]
    if open_tones:
        raise StageError(
            f"Tones without an attitude: {len(open_tones)} ({', '.join(open_tones[:NAMED])}). Each needs {rules.votes} "
            "votes that are not split; split ones are settled under Adjudication."
        )
    made = []
    for item in items:
        content = {
            "tone": item.content["tone"],
            "attitude": known[item.external_id]["attitude"],
            "votes": sorted(votes.get(item.external_id, [])),
            "version": item.content["version"],
        }
        made.append(Made(item.external_id, content, of(item)))
    mapping = {one.content["tone"]: one.content["attitude"] for one in made}
    audit(project=ctx.project, user=ctx.by, action="attitudes of tones locked", protocol=ctx.run.name, mapping=mapping)
    return outcome(ctx, made, 0, {})


TONES = Stage(
    code="tones",
    title="List of tones",
    says="Takes the list by which reactions are labelled, with its version: your file, or the one of this project.",
    kind="import",
    sources=("tones",),
    run=read_tone_list,
)
PROPOSALS = Stage(
    code="proposals",
    title="Proposed attitudes",
    says="A model says of each tone, not of each reaction, how it values the event and where its writer stands.",
    kind="job",
    needs=("tones",),
    settings=ProposalSettings,
    prompts=PROPOSAL.paths,
    plan=plan_proposals,
    run=ask_for_proposals,
    collect=with_proposals,
)
ATTITUDES = Stage(
    code="attitudes",
    title="Attitudes of tones",
    says="People vote on the attitude that each tone expresses, with a model’s proposals and the list’s draft beside "
    "it. Going on locks the mapping, from which alone attitudes are derived. After a changed decision, run it again.",
    kind="labelling",
    needs=("proposals",),
    decides="The authors, for each tone: negative, neutral or mixed, positive. An adjudicator settles split votes.",
    settings=AttitudeSettings,
    run=ask_for_attitudes,
    collect=collected(locked_attitudes),
)
