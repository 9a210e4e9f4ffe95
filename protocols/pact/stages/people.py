"""People answer the same questions as models: the study, the jobs with and without personas, and how they compare."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

from django.db.models import Count, Q
from django.db.models.fields.json import KeyTextTransform
from pydantic import Field

from llm.files.jobfile_parts import published_instrument
from llm.models import Job
from protocols.asking import Asked, PromptFiles, plan_asking, start_asking
from protocols.context import Made, StageContext
from protocols.outputs import finished_jobs
from protocols.pact.asked_cases import study_items
from protocols.pact.cases import personas
from protocols.pact.human_study import CLOSE, INSTRUMENT, QUESTIONS, HumanStudyError, human_study, new_codes
from protocols.pact.instruments import MODEL_QUESTION_CODES, PAIRED_QUESTIONS, PARTICIPANT_COUNTRIES
from protocols.pact.model_questions import PROMPTS, STYLES
from protocols.pact.stages.behaviour import Reporting
from protocols.reporting import ask_for_report, collect_reports
from protocols.stages import EndpointNames, Stage, StageError, StageResult, StageSettings
from responses.models import Response
from responses.querysets import of_completed_sessions
from studies.models import Study
from studies.quality import filter_sessions
from studies.services import StudyNotReadyError, create_study_from_file

# Apart from what people answered, so that styles and positions do not enter the comparison with them.
AUDIT_INSTRUMENT = "pact-human-audit"
TITLE = "Personal choice and norm"
COMPACT = STYLES[0]


class Participants(StageSettings):
    source: Literal["normad", "cultureatlas", "plain", "all"] = Field(
        "normad", description="Whose scenarios are taken, as published those of NormAd-ETI."
    )
    scenarios: int = Field(63, ge=5, le=10_000, description="So many scenarios are dealt out, 7 to each person.")
    per_country: int = Field(40, ge=1, le=10_000, description="So many people from each of the five countries.")
    minutes: int = Field(12, ge=1, le=120, description="How long it takes, as people are told.")
    contact: str = Field("the people who sent you here", description="Whom participants ask: an address, or words.")
    seed: int = Field(1, ge=0, description="Draws the scenarios, and every draw of the study follows from it.")


def make_study(ctx: StageContext) -> StageResult:
    """A draft: its texts and completion codes are there to be looked at before people are let in."""
    settings: Participants = ctx.settings
    usable = [item for item in ctx.items("remove") if settings.source in ("all", item.content["source"])]
    if not usable:
        raise StageError(f"No usable scenario is of the source {settings.source}; choose another in the settings.")
    pks = {item.external_id: item.pk for item in usable}
    chosen = study_items(
        [(item.external_id, item.content) for item in usable],
        own=PARTICIPANT_COUNTRIES,
        close=[country for countries in CLOSE.values() for country in countries],
        most=settings.scenarios,
        seed=settings.seed,
    )
    made = ctx.make_dataset(Made(external_id, content, {"item": pks[external_id]}) for external_id, content in chosen)
    published_instrument(ctx.project, INSTRUMENT, TITLE, [dict(question) for question in QUESTIONS])
    try:
        data = human_study(
            {item.content["receiver_country"] for item in made.items.all()},
            dataset=made.slug,
            contact=settings.contact,
            codes=new_codes(),
            per_country=settings.per_country,
            minutes=settings.minutes,
            seed=settings.seed,
        )
        study = create_study_from_file(project=ctx.project, data=data, by=ctx.by)
    except HumanStudyError as error:
        raise StageError(f"{error} {_more_scenarios(settings)}") from error
    except StudyNotReadyError as error:
        raise StageError(" ".join(error.problems)) from error
    return StageResult({"dataset": made.slug, "study": study.pk}, done=False)


def _more_scenarios(settings: Participants) -> str:
    """Which settings let more scenarios come here."""
    wider = "" if settings.source == "all" else "Here source=all takes those of every source. "
    return (
        f"{wider}For a trial, let more pass in the automatic checks (most_overlap, most_length_ratio) and run the "
        "stages from there again."
    )


def collect_study(ctx: StageContext) -> StageResult:
    """Each filter of the study is a reason; people and bots in their places are counted together and named apart."""
    study = Study.objects.get(project=ctx.project, pk=ctx.output("study")["study"])
    why: Counter[str] = Counter()
    came = kept = 0
    notes = []
    for simulated, found in filter_sessions(study).items():
        entered = found.rows[0].came if found.rows else len(found.passed)
        came, kept = came + entered, kept + len(found.passed)
        for row in found.rows:
            why.update(row.out)
        notes.append(f"{entered:,} {'bots' if simulated else 'people'} came, {len(found.passed):,} passed the filters.")
    if not came:
        raise StageError("Nobody has entered the study yet; open it on its page and let people in.")
    return StageResult({"note": notes}, came, kept, dict(+why))


class Aligning(StageSettings):
    endpoints: EndpointNames = Field((), description="The models that are asked; none for the first of the project.")
    personas: bool = Field(
        True, description="Ask also as people of each country, age group and gender, not only without a persona."
    )
    temperature: float = Field(0.0, ge=0, le=2, description="As published for the study of people.")
    max_tokens: int = Field(128, ge=1, le=8000, description="The longest answer, in tokens.")
    seed: int = Field(1, ge=0, description="Draws the order of the options.")


class Styling(Aligning):
    personas: bool = Field(False, description="Ask also as people of each country, age group and gender.")


def _asked(ctx: StageContext, *, instrument: str, styles: Sequence[str], orders: Literal["drawn", "both"]) -> Asked:
    settings: Aligning = ctx.settings
    return Asked(
        dataset=ctx.dataset("study"),
        instrument=instrument,
        title=TITLE,
        questions=QUESTIONS if instrument == INSTRUMENT else PAIRED_QUESTIONS,
        prompts=[_style(name) for name in styles],
        endpoints=settings.endpoints,
        kind=Job.Kind.SIMULATE,
        personas=[{}, *(personas(PARTICIPANT_COUNTRIES) if settings.personas else [])],
        fields={
            "question_codes": list(MODEL_QUESTION_CODES),
            "temperature": settings.temperature,
            "max_tokens": settings.max_tokens,
            "option_orders": orders,
            "seed": settings.seed,
        },
    )


def _style(name: str) -> PromptFiles:
    """The compact style is the prompt that human-model alignment is asked with anyway; all have its system prompt."""
    return PromptFiles(PROMPTS, "human_alignment" if name == COMPACT else name, system="human_alignment")


def _alignment(ctx: StageContext) -> Asked:
    return _asked(ctx, instrument=INSTRUMENT, styles=[COMPACT], orders="drawn")


def _styles(ctx: StageContext) -> Asked:
    return _asked(ctx, instrument=AUDIT_INSTRUMENT, styles=STYLES, orders="drawn")


def _positions(ctx: StageContext) -> Asked:
    return _asked(ctx, instrument=AUDIT_INSTRUMENT, styles=[COMPACT], orders="both")


def collect_calls(ctx: StageContext) -> StageResult:
    planned, answered, why = finished_jobs(ctx.project, ctx.output(ctx.stage.code)["job"])
    return StageResult({}, planned, answered, why)


def collect_styles(ctx: StageContext) -> StageResult:
    """The calls, and for each style how well it does what people do, with the difference to the compact one."""
    import pandas as pd

    from protocols.pact.style_scores import style_scores, words

    result = collect_calls(ctx)
    answers = Response.objects.filter(
        project=ctx.project, item__dataset=ctx.dataset("study"), question__in=MODEL_QUESTION_CODES, superseded_by=None
    )
    counts = {"n": Count("pk"), "n_culture": Count("pk", filter=Q(value="culture"))}
    people = answers.filter(respondent__kind="participant", instrument__name=INSTRUMENT)
    models = answers.filter(respondent__kind="model", instrument__name=AUDIT_INSTRUMENT)
    named = models.annotate(
        prompt=KeyTextTransform("prompt", "condition__factors"),
        model=KeyTextTransform("model", "respondent__attributes"),
    )
    of_people = pd.DataFrame(list(of_completed_sessions(people).values("item", "question").annotate(**counts)))
    of_models = pd.DataFrame(list(named.values("prompt", "model", "item", "question").annotate(**counts)))
    if of_people.empty or of_models.empty:
        return result._replace(outputs={"note": ["Without answers of people or models nothing can be compared."]})
    styles = {_style(name).project_name: name for name in STYLES}
    of_models["style"] = of_models["prompt"].str.rsplit(" ", n=1).str[0].map(styles)
    return result._replace(outputs={"note": words(style_scores(of_people, of_models, styles=STYLES, baseline=COMPACT))})


class Comparing(Reporting):
    people: Literal["real", "simulated"] = Field("real", description="Whose answers; simulated people are bots.")
    sessions: Literal["passed", "completed"] = Field(
        "passed", description="Sessions that pass the study’s filters, or all that were completed."
    )


def alignment_reports(ctx: StageContext) -> StageResult:
    settings: Comparing = ctx.settings
    common: dict[str, Any] = {
        "dataset": ctx.dataset("study").slug,
        "questions": list(MODEL_QUESTION_CODES),
        "resamples": settings.resamples,
        "seed": settings.seed,
    }
    alignment = {**common, "instrument": INSTRUMENT, "people": settings.people, "sessions": settings.sessions}
    factors = [{"name": "cond_prompt", "baseline": _baseline(ctx)}, {"name": "cond_option_order"}]
    audit = {**common, "instrument": AUDIT_INSTRUMENT, "factors": factors}
    return StageResult(
        {
            "report": ask_for_report(ctx, "alignment", alignment),
            "report_audit": ask_for_report(ctx, "behaviour", audit, title=f"{ctx.title}: styles and positions"),
        },
        done=False,
    )


def _baseline(ctx: StageContext) -> str:
    """The compact prompt as conditions name it."""
    job = Job.objects.get(project=ctx.project, pk=ctx.output("positions")["job"][0])
    return str(job.prompt_list[0])


STAGES = (
    Stage(
        code="study",
        title="Study of people",
        says="Five countries, scenarios of the participant’s own country, of close and of far ones, two linked "
        "questions each, two ratings of importance, a reason for chosen answers, an attention check, and the filters.",
        decides="A researcher looks through texts and codes, opens the study, lets people in and closes it.",
        kind="study",
        needs=("remove",),
        settings=Participants,
        run=make_study,
        collect=collect_study,
    ),
    Stage(
        code="align",
        title="Models as participants",
        says="Models answer both questions about the scenarios of the study, as themselves and as people of each "
        "country, age group and gender.",
        kind="job",
        needs=("study",),
        settings=Aligning,
        prompts=_style(COMPACT).paths,
        plan=lambda ctx: plan_asking(ctx, _alignment(ctx)),
        run=lambda ctx: StageResult({"job": start_asking(ctx, _alignment(ctx))}, done=False),
        collect=collect_calls,
    ),
    Stage(
        code="styles",
        title="Styles of asking",
        says="The same content in five prompts, to see how much of a result is the wording of the prompt.",
        kind="job",
        needs=("study",),
        settings=Styling,
        prompts=tuple(path for name in STYLES for path in _style(name).paths),
        plan=lambda ctx: plan_asking(ctx, _styles(ctx)),
        run=lambda ctx: StageResult({"job": start_asking(ctx, _styles(ctx))}, done=False),
        collect=collect_styles,
    ),
    Stage(
        code="positions",
        title="Positions of the options",
        says="Each item twice, the action that follows the custom once as A and once as B.",
        kind="job",
        needs=("study",),
        settings=Styling,
        prompts=_style(COMPACT).paths,
        plan=lambda ctx: plan_asking(ctx, _positions(ctx)),
        run=lambda ctx: StageResult({"job": start_asking(ctx, _positions(ctx))}, done=False),
        collect=collect_calls,
    ),
    Stage(
        code="alignment_report",
        title="Reports on alignment",
        says="How close models come to people: majorities, rates, gaps, doubt and personas; and what styles and "
        "positions change.",
        kind="report",
        needs=("study", "align", "styles", "positions"),
        settings=Comparing,
        run=alignment_reports,
        collect=collect_reports,
    ),
)
