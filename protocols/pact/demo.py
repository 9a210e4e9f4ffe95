"""The demo project: PACT in small, made from this package's own scenarios by the services that everybody uses.

`load` makes what a first page needs and changes nothing when it is there already; `fill` lets simulated participants
answer, sets the model to work and writes the report, and goes on where it was interrupted.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.db import transaction

from annotation.models import LabelProject
from annotation.services import NewKnown, add_known_answers, create_label_project, publish_guidelines
from evaluation.models import Report
from evaluation.services import create_report
from llm.models import Endpoint, Job
from llm.services import (
    move_embedded_endpoints,
    plan_job,
    probe_endpoint,
    publish_prompt,
    save_endpoint,
    start_job,
    use_embedded_model,
)
from materials.importing import import_items
from materials.models import Dataset, Instrument
from materials.reading import read_items
from materials.services import publish_instrument
from projects.models import Project, Role, User
from projects.services import set_member
from protocols.pact.countries import relation
from protocols.pact.instruments import (
    CONSENT,
    DEBRIEF,
    DEMOGRAPHICS,
    INSTRUCTIONS,
    MODEL_QUESTION_CODES,
    PAIRED_QUESTIONS,
    PARTICIPANT_COUNTRIES,
    VALIDATION_GUIDELINES,
    VALIDATION_QUESTIONS,
)
from protocols.pact.prompts import prompt_text
from protocols.pact.scenarios import SCENARIOS_FILE, all_scenarios
from protocols.services import start_protocol
from studies.models import Session, Study
from studies.services import create_study, open_study
from studies.walk import walk

SLUG = "demo"
DATASET_SLUG = "scenarios"
STUDY_SLUG = "norms-and-preferences"
JOB_NAME = "Both questions, without persona and as people of five countries"
REPORT_TITLE = "Do models answer as people do? Norms and preferences"
KEY_VARIABLE = "CONCORD_MODEL_KEY"
SEED = 20261130
PEOPLE = 120
LOGINS = {"owner": Role.OWNER, "researcher": Role.RESEARCHER, "annotator": Role.ANNOTATOR, "viewer": Role.VIEWER}
SCENARIO_FIELDS = (
    "situation",
    {"field": "cultural_expectation", "label": "What is usual there"},
    {"field": "personal_preference", "label": "What the actor prefers"},
)
VALIDATION_FIELDS = (
    *SCENARIO_FIELDS,
    {"field": "option_culture", "label": "Option that follows the expectation"},
    {"field": "option_preference", "label": "Option that follows the preference"},
    {"field": "receiver_country", "label": "Country"},
    {"field": "setting", "label": "Setting"},
)
GUIDELINES = f"""{VALIDATION_GUIDELINES}
Example: "prefers a quiet table because of a hearing aid" is plausible; "prefers it because people like that always do"
is not. When you are unsure, answer as best you can and write down why in the note.
"""

ATTENTION = {
    "kind": "choice",
    "code": "attention",
    "text": "This question checks that the page is being read. Please choose Blue.",
    "options": [{"code": name.lower(), "text": name} for name in ("Red", "Green", "Blue", "Yellow")],
}
EXAMPLES = (
    ("pact-in-02", "Being left-handed is an ordinary reason, and one cannot eat with both hands alike."),
    ("pact-br-01", "Finding many greetings tiring is an ordinary reason, and nobody is made fun of."),
)
GOLD = ("pact-br-02", "pact-br-03", "pact-in-01")
ALL_RIGHT = {"preference_plausible": "yes", "preference_distinct": "yes", "scenario_clear": "yes"}


@dataclass(frozen=True)
class Materials:
    dataset: Dataset
    paired: Instrument
    validation: Instrument


@transaction.atomic
def load(*, password: str) -> Project:
    """The demo project with its logins, scenarios, labelling, open survey, planned model job and started protocol."""
    project, _ = Project.objects.get_or_create(
        slug=SLUG,
        defaults={
            "name": "Norms and preferences (demo)",
            "description": "Everyday scenarios in which a custom and a personal preference point to different actions. "
            "Its participants are simulated and its model is tiny: it shows how Concord works and says nothing "
            "about people or models.",
        },
    )
    for name, role in LOGINS.items():
        _make_login(project, name, role, password)
    materials = _materials(project)
    _labelling(project, materials)
    _study(project, materials)
    if settings.MODEL_BASE_URL:
        _job(project, materials, _endpoint(project))
    if not project.protocol_runs.exists():
        start_protocol(project=project, name="pact", by=None)
    return project


def _make_login(project: Project, name: str, role: Role, password: str) -> None:
    user, made = User.objects.get_or_create(username=name)
    if made or not user.check_password(password):
        validate_password(password, user)
        user.set_password(password)
        user.save(update_fields=["password"])
    if not project.memberships.filter(user=user).exists():
        set_member(project=project, user=user, role=role, by=None)


def _materials(project: Project) -> Materials:
    if not project.datasets.filter(slug=DATASET_SLUG).exists():
        import_items(
            project=project,
            dataset_slug=DATASET_SLUG,
            records=read_items(BytesIO(SCENARIOS_FILE.read_bytes()), filename=SCENARIOS_FILE.name),
            source=f"protocols/pact/data/{SCENARIOS_FILE.name}",
            by=None,
        )
    paired = publish_instrument(
        project=project, name="paired", title="Personal choice and norm", questions=PAIRED_QUESTIONS
    )
    validation = publish_instrument(
        project=project, name="validation", title="Validation of scenarios", questions=VALIDATION_QUESTIONS
    )
    return Materials(project.datasets.get(slug=DATASET_SLUG), paired, validation)


def _labelling(project: Project, materials: Materials) -> None:
    if LabelProject.objects.filter(project=project, slug="validation").exists():
        return
    made = create_label_project(
        project=project,
        name="Validation",
        dataset=materials.dataset,
        instrument=materials.validation,
        by=None,
        item_fields=VALIDATION_FIELDS,
        overlap=2,
        seed=SEED,
        gold_every=12,
    )
    examples = [{"item": item, "answers": ALL_RIGHT, "why": why} for item, why in EXAMPLES]
    publish_guidelines(label_project=made, text=GUIDELINES, examples=examples, by=None)
    right = {code: [value] for code, value in ALL_RIGHT.items()}
    known = [NewKnown(item, right) for item in materials.dataset.items.filter(external_id__in=GOLD)]
    add_known_answers(label_project=made, known=known, purpose="gold", by=None)


def _study(project: Project, materials: Materials) -> None:
    if Study.objects.filter(project=project, slug=STUDY_SLUG).exists():
        return
    study = create_study(
        project=project,
        name="Norms and preferences",
        slug=STUDY_SLUG,
        dataset=materials.dataset,
        instrument=materials.paired,
        texts={
            "title": "Everyday customs and preferences",
            "consent": CONSENT,
            "instructions": INSTRUCTIONS,
            "debrief": DEBRIEF,
        },
        design={
            "items_each": 7,
            "seed": SEED,
            "strata": ["country"],
            "relation": {"attribute": "country", "field": "receiver_country", "close": _close_countries()},
            "balance": ["relation", "receiver_age", "receiver_gender"],
            "item_template": {"item_fields": list(SCENARIO_FIELDS)},
            "attention_checks": [{"question": ATTENTION, "expected": "blue"}],
            "minutes": 5,
            "contact": "the person who gave you this link",
        },
        demographics=DEMOGRAPHICS,
        completion_codes={"completed": "CDEMO1OK", "no_consent": "CDEMO2NC", "failed_attention": "CDEMO3AC"},
    )
    open_study(study=study, by=None)


def _close_countries() -> dict[str, list[str]]:
    """By country of participants, which of the scenarios' countries are close to it."""
    receivers = sorted({scenario["receiver_country"] for scenario in all_scenarios()})
    return {own: [other for other in receivers if relation(own, other) == "close"] for own in PARTICIPANT_COUNTRIES}


def _endpoint(project: Project) -> Endpoint:
    """The model of the environment: the embedded one, whose address may change with a start, or another."""
    if settings.DEMO_MODEL:
        move_embedded_endpoints(settings.MODEL_BASE_URL)
        return use_embedded_model(project=project)
    name = settings.MODEL_NAME
    existing = Endpoint.objects.filter(project=project, name=name).first()
    if existing and existing.base_url == settings.MODEL_BASE_URL:
        return existing
    return save_endpoint(
        project=project,
        endpoint=existing,
        name=name,
        base_url=settings.MODEL_BASE_URL,
        model=settings.MODEL_NAME,
        key_variable=KEY_VARIABLE if os.environ.get(KEY_VARIABLE) else "",
        concurrency=4,
        timeout_seconds=120,
    )


def _job(project: Project, materials: Materials, endpoint: Endpoint) -> None:
    if Job.objects.filter(project=project, name=JOB_NAME).exists():
        return
    prompt = publish_prompt(
        project=project,
        name="human-alignment",
        system=prompt_text("human_alignment", 1, "system"),
        user=prompt_text("human_alignment", 1, "user"),
    )
    plan_job(
        project=project,
        name=JOB_NAME,
        kind=Job.Kind.SIMULATE,
        endpoint=endpoint,
        prompts=[prompt],
        dataset=materials.dataset,
        instrument=materials.paired,
        question_codes=MODEL_QUESTION_CODES,
        personas=[{}, *({"country": country} for country in PARTICIPANT_COUNTRIES)],
        seed=SEED,
        max_tokens=40,
        logprobs=True,
    )


def fill(*, base_url: str, say: Callable[[str], None], poll_seconds: float = 2.0) -> None:
    """Start the model's job, send the simulated participants through the survey, and report when both are done.

    A job that somebody pauses or stops is waited for: it may go on, and without it there is nothing to report.
    """
    project = Project.objects.get(slug=SLUG)
    job = Job.objects.filter(project=project, name=JOB_NAME).first()
    if job and job.status == Job.Status.PLANNED:
        if job.endpoint.probed_at is None:
            probe_endpoint(endpoint=job.endpoint)
        start_job(job=job)
        say("The model's job has started.")
    study = Study.objects.get(project=project, slug=STUDY_SLUG, version=1)
    if Session.objects.filter(study=study, simulated=True).exclude(finished_at=None).count() < PEOPLE * 3 // 4:
        say(str(walk(base_url, study.key, PEOPLE, SEED, drop_out=0.05, countries=PARTICIPANT_COUNTRIES)))
    if job is None or Report.objects.filter(project=project, title=REPORT_TITLE).exists():
        return
    while (status := Job.objects.filter(pk=job.pk).values_list("status", flat=True).first()) != Job.Status.DONE:
        if status is None:
            return
        time.sleep(poll_seconds)
    create_report(
        project=project,
        title=REPORT_TITLE,
        kind="alignment",
        parameters={
            "dataset": DATASET_SLUG,
            "instrument": "paired",
            "questions": list(MODEL_QUESTION_CODES),
            "people": "simulated",
            "seed": SEED,
        },
        created_by=None,
    )
    say("The alignment report is being computed.")
