"""Who gets which answer at which address: one row for every named URL, requested for real by test_permissions.py.

Add a row at the bottom section of your app. The key is the URL's name; where another method answers differently, add a
second row with the key "name post". `kwargs` (and `data`) are built from the World, whose objects are made when used;
add an object to World as a cached_property when a URL needs a new noun.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any, Literal
from uuid import uuid4

from django.utils import timezone

from annotation.models import Assignment, Guidelines, KnownAnswer, LabelMember, LabelProject
from evaluation.kept_frames import pack
from evaluation.models import Report, ReportData, ReportShare
from llm.models import Call, Endpoint, Job, Prompt
from materials.importing_runs import begin, start_check
from materials.models import Dataset, ImportRun, Instrument, Item
from materials.services import content_hash, publish_instrument
from projects.models import ApiToken, AuditEvent, Membership, Project, User
from projects.services import audit, create_token
from protocols.models import ProtocolRun
from protocols.services import start_protocol
from responses.models import Respondent, RespondentKind
from responses.services import get_condition, get_respondent
from studies.models import (
    PlatformAccount,
    PlatformAction,
    PlatformIdentity,
    PlatformSubmission,
    Preregistration,
    Screen,
    Session,
    Study,
)
from studies.services import preregister
from studies.services.platform_accounts import save_account

Expected = int | Literal["login"]  # "login": sent to the log-in page
Answers = dict[str, Any]  # Expected by role; Any lets a Row be made of it
QUESTIONS = [
    {
        "kind": "choice",
        "code": "fits",
        "text": "Does it fit?",
        "options": [{"code": "yes", "text": "Yes"}, {"code": "no", "text": "No"}],
    }
]


class World:
    """One project with its members by role, and one object of each noun, made when a row asks for it."""

    def __init__(self, project: Project, users: dict[str, User]) -> None:
        self.project = project
        self.users = users

    def member(self, role: str) -> Membership:
        return self.project.memberships.get(user=self.users[role])

    @cached_property
    def token(self) -> ApiToken:
        return create_token(project=self.project, user=self.users["researcher"], name="t", scopes=["read"])[0]

    @cached_property
    def dataset(self) -> Dataset:
        return Dataset.objects.create(project=self.project, name="Items", slug="items")

    @cached_property
    def item(self) -> Item:
        content = {"text": "Tea is served first."}
        return Item.objects.create(
            dataset=self.dataset, external_id="a", content=content, content_hash=content_hash(content)
        )

    @cached_property
    def import_run(self) -> ImportRun:
        """A file that was checked and has a fault."""
        run = begin(
            project=self.project,
            dataset_slug="more",
            file_name="more.csv",
            chunks=[b"id,text\na,Tea\n,Milk\n"],
            by=self.users["researcher"],
        )
        start_check(run=run, by=self.users["researcher"])
        return run

    @cached_property
    def instrument(self) -> Instrument:
        return publish_instrument(project=self.project, name="fits", title="Fits", questions=QUESTIONS)

    @cached_property
    def respondent(self) -> Respondent:
        return get_respondent(project=self.project, kind=RespondentKind.MODEL, key="model:1:none", attributes={})

    @cached_property
    def endpoint(self) -> Endpoint:
        return Endpoint.objects.create(project=self.project, name="e", base_url="http://127.0.0.1:9/v1", model="m")

    @cached_property
    def prompt(self) -> Prompt:
        return Prompt.objects.create(project=self.project, name="p", version=1, user="{{ item.text }}")

    @cached_property
    def job(self) -> Job:
        assert self.item
        job = Job.objects.create(
            project=self.project,
            name="j",
            kind="judge",
            endpoint=self.endpoint,
            dataset=self.dataset,
            instrument=self.instrument,
            personas=[{}],
        )
        job.prompts.set([self.prompt])
        return job

    @cached_property
    def call(self) -> Call:
        condition = get_condition(project=self.project, factors={})
        return Call.objects.create(job=self.job, item=self.item, respondent=self.respondent, condition=condition)

    @cached_property
    def label_project(self) -> LabelProject:
        return LabelProject.objects.create(
            project=self.project, name="l", slug="l", dataset=self.dataset, instrument=self.instrument
        )

    @cached_property
    def label_member(self) -> LabelMember:
        member, _ = LabelMember.objects.get_or_create(label_project=self.label_project, user=self.users["annotator"])
        return member

    @cached_property
    def known_answer(self) -> KnownAnswer:
        return KnownAnswer.objects.create(
            label_project=self.label_project, item=self.item, purpose="gold", answers={"fits": ["yes"]}, position=0
        )

    @cached_property
    def example(self) -> int:
        """The number of an example in the guidelines."""
        examples = [{"item": self.item.external_id, "answers": {}, "why": ""}]
        Guidelines.objects.create(label_project=self.label_project, version=1, examples=examples)
        return 1

    @cached_property
    def assignment(self) -> Assignment:
        """An item that the annotator holds."""
        return Assignment.objects.create(
            label_project=self.label_project,
            item=self.item,
            place=0,
            rank=0,
            status="leased",
            annotator=self.users["annotator"],
            lease_until=timezone.now() + timedelta(minutes=30),
        )

    @cached_property
    def study(self) -> Study:
        assert self.item
        return Study.objects.create(
            project=self.project,
            name="s",
            slug="s",
            dataset=self.dataset,
            instrument=self.instrument,
            platform="none",
            texts={"title": "T", "consent": "C"},
            design={"items_each": 1, "minutes": 1, "item_template": {"item_fields": ["text"]}},
        )

    @cached_property
    def preregistration(self) -> Preregistration:
        return preregister(study=self.study, planned_report="Means by country.", by=self.users["researcher"])

    @cached_property
    def session(self) -> Session:
        return Session.objects.create(study=self.study, person_digest="0" * 64, number=1)

    @cached_property
    def deletion(self) -> AuditEvent:
        return audit(project=self.project, user=None, action="participant deleted", study=self.study.pk)

    @cached_property
    def screen(self) -> Screen:
        return Screen.objects.create(session=self.session, position=0, kind="consent")

    @cached_property
    def platform_account(self) -> PlatformAccount:
        return save_account(project=self.project, name="Lab", token="t")

    @cached_property
    def platform_action(self) -> PlatformAction:
        """A bonus on a list that nobody has confirmed."""
        identity = PlatformIdentity.objects.create(study=self.study, person_digest="0" * 64)
        submission = PlatformSubmission.objects.create(identity=identity, status="APPROVED")
        return PlatformAction.objects.create(
            study=self.study, submission=submission, batch=uuid4(), kind="bonus", amount="1.50"
        )

    @cached_property
    def report(self) -> Report:
        return Report.objects.create(project=self.project, title="r", kind="alignment")

    @cached_property
    def ready_report(self) -> Report:
        spec = {"mark": "point", "data": {"values": [{"who": "People"}]}}
        figure = {"code": "f", "title": "f", "caption": "", "source": "", "spec": spec}
        table = {"code": "t", "title": "t", "caption": "", "columns": [], "rows": []}
        section = {"code": "s", "title": "s", "paragraphs": [], "tables": [table], "figures": [figure]}
        report = Report.objects.create(
            project=self.project,
            title="r",
            kind="alignment",
            parameters={"min_n": 5},
            status="ready",
            data_fingerprint="0" * 64,
            code_version="1",
            finished_at=timezone.now(),
            sections=[section],
        )
        ReportData.objects.create(report=report, frames=pack({}), versions={"python": "3.11"})
        return report

    @cached_property
    def share(self) -> ReportShare:
        return ReportShare.objects.create(report=self.ready_report)

    @cached_property
    def protocol_run(self) -> ProtocolRun:
        return start_protocol(project=self.project, name="pact", by=self.users["researcher"])


def no_kwargs(world: World) -> dict[str, Any]:
    return {}


def project_slug(world: World) -> dict[str, Any]:
    return {"slug": world.project.slug}


@dataclass(frozen=True, kw_only=True)
class Row:
    """The expected status for each role. `api` rows are requested with a bearer token that has both scopes; the
    outsider's token belongs to a project of their own."""

    anonymous: Expected
    outsider: Expected
    viewer: Expected
    annotator: Expected
    researcher: Expected
    owner: Expected
    kwargs: Callable[[World], dict[str, Any]] = project_slug
    method: Literal["get", "post", "put", "delete"] = "get"
    data: Callable[[World], Any] = no_kwargs
    query: str = ""
    api: bool = False


PUBLIC: Answers = {"anonymous": 200, "outsider": 200, "viewer": 200, "annotator": 200, "researcher": 200, "owner": 200}
SIGNED_IN: Answers = PUBLIC | {"anonymous": "login"}
EVERY_ROLE = SIGNED_IN | {"outsider": 404}
READERS = EVERY_ROLE | {"annotator": 403}
MANAGERS = READERS | {"viewer": 403}
OWNER = MANAGERS | {"researcher": 403}
LABELLERS = MANAGERS | {"annotator": 200}
HOLDER = LABELLERS | {"researcher": 404, "owner": 404}  # an assignment that the annotator holds
API_LIST = READERS | {"anonymous": 401, "outsider": 200}  # the outsider's token lists their own project
API_DETAIL = API_LIST | {"outsider": 404}
API_WRITE: Answers = {role: 201 if status == 200 else status for role, status in (API_LIST | {"viewer": 403}).items()}


def answers(base: Answers, status: int) -> Answers:
    """The same row with another status in place of 200, for example 302 after a POST."""
    return {role: status if expected == 200 else expected for role, expected in base.items()}


def label_project_slugs(world: World) -> dict[str, Any]:
    return {"slug": world.project.slug, "label": world.label_project.slug}


def label_person(world: World) -> dict[str, Any]:
    return label_project_slugs(world) | {"pk": world.label_member.user_id}


def labelled_item(world: World) -> dict[str, Any]:
    return label_project_slugs(world) | {"pk": world.assignment.item_id}


def assignment_pk(world: World) -> dict[str, Any]:
    return label_project_slugs(world) | {"pk": world.assignment.pk}


def study_pk(world: World) -> dict[str, Any]:
    return {"slug": world.project.slug, "pk": world.study.pk}


def preregistration_pk(world: World) -> dict[str, Any]:
    return study_pk(world) | {"record": world.preregistration.pk}


def list_batch(world: World) -> dict[str, Any]:
    return study_pk(world) | {"batch": world.platform_action.batch}


def session_keys(world: World) -> dict[str, Any]:
    assert world.screen
    return {"key": world.study.key, "session_key": world.session.key}


def import_pk(world: World) -> dict[str, Any]:
    return project_slug(world) | {"pk": world.import_run.pk}


def report_pk(world: World) -> dict[str, Any]:
    return project_slug(world) | {"pk": world.report.pk}


def protocol_pk(world: World) -> dict[str, Any]:
    return project_slug(world) | {"pk": world.protocol_run.pk}


def protocol_dataset(world: World) -> dict[str, Any]:
    return project_slug(world) | {"dataset": world.dataset.slug}


def protocol_stage(world: World) -> dict[str, Any]:
    return protocol_pk(world) | {"stage": "read"}


def report_part(world: World) -> dict[str, Any]:
    return project_slug(world) | {"pk": world.ready_report.pk}


def shared_part(world: World) -> dict[str, Any]:
    return {"key": world.share.key}


ROWS: dict[str, Row] = {
    # config
    "healthz": Row(**PUBLIC, kwargs=no_kwargs),
    "readyz": Row(**PUBLIC, kwargs=no_kwargs),
    # projects
    "home": Row(**answers(SIGNED_IN, 302) | {"outsider": 302}, kwargs=no_kwargs),
    "projects": Row(**SIGNED_IN, kwargs=no_kwargs),
    "project_new": Row(**SIGNED_IN | {"viewer": 403, "annotator": 403}, kwargs=no_kwargs),
    "project_new post": Row(
        **answers(SIGNED_IN, 422) | {"viewer": 403, "annotator": 403}, kwargs=no_kwargs, method="post"
    ),
    "login": Row(**answers(PUBLIC, 302) | {"anonymous": 200}, kwargs=no_kwargs),
    "logout": Row(**dict.fromkeys(PUBLIC, "login"), kwargs=no_kwargs, method="post"),
    "password_change": Row(**SIGNED_IN, kwargs=no_kwargs),
    "styleguide": Row(**PUBLIC, kwargs=no_kwargs),
    "project": Row(**EVERY_ROLE | {"annotator": 302}),
    "members": Row(**OWNER),
    "members post": Row(**answers(OWNER, 422), method="post"),
    "member_role": Row(
        **answers(OWNER, 302),
        method="post",
        data=lambda w: {"role": "viewer"},
        kwargs=lambda w: {"slug": w.project.slug, "pk": w.member("annotator").pk},
    ),
    "member_remove": Row(
        **answers(OWNER, 302),
        method="post",
        kwargs=lambda w: {"slug": w.project.slug, "pk": w.member("annotator").pk},
    ),
    "tokens": Row(**MANAGERS),
    "tokens post": Row(**MANAGERS, method="post", data=lambda w: {"name": "n", "scopes": ["read"]}),
    "token_revoke": Row(
        **answers(MANAGERS, 302),
        method="post",
        kwargs=lambda w: {"slug": w.project.slug, "pk": w.token.pk},
    ),
    # materials
    "datasets": Row(**READERS),
    "dataset": Row(**READERS, kwargs=lambda w: {"slug": w.project.slug, "dataset": w.item.dataset.slug}),
    "import_items": Row(**MANAGERS),
    "import_items post": Row(**answers(MANAGERS, 422), method="post"),
    "import_columns": Row(**MANAGERS, kwargs=import_pk),
    "import_columns post": Row(**answers(MANAGERS, 422), method="post", kwargs=import_pk),
    "import_run": Row(**MANAGERS, kwargs=import_pk),
    "import_live": Row(**MANAGERS, kwargs=import_pk),
    "import_faults": Row(**MANAGERS, kwargs=import_pk),
    "import_plan": Row(**MANAGERS, kwargs=import_pk),
    "import_action": Row(
        **answers(MANAGERS, 302), method="post", kwargs=lambda w: import_pk(w) | {"action": "discard"}
    ),
    "instruments": Row(**READERS),
    "instrument": Row(**READERS, kwargs=lambda w: {"slug": w.project.slug, "pk": w.instrument.pk}),
    "instrument_new": Row(**MANAGERS),
    "instrument_new post": Row(**answers(MANAGERS, 422), method="post"),
    "instrument_draft": Row(**answers(MANAGERS, 302), method="post"),
    "instrument_participant": Row(**READERS, kwargs=lambda w: {"slug": w.project.slug, "pk": w.instrument.pk}),
    # responses
    "responses": Row(**READERS),
    "export_responses": Row(**READERS, kwargs=lambda w: {"slug": w.project.slug, "format": "csv"}),
    "download_responses": Row(**READERS),
    "codebook": Row(**READERS, kwargs=lambda w: {"slug": w.project.slug, "format": "csv"}),
    "item": Row(**READERS, kwargs=lambda w: {"slug": w.project.slug, "pk": w.item.pk}),
    # annotation
    "labelling": Row(**EVERY_ROLE),
    "label_project_new": Row(**MANAGERS),
    "label_project_new post": Row(**answers(MANAGERS, 422), method="post"),
    "label_project": Row(**READERS, kwargs=label_project_slugs),
    "label_status": Row(**answers(MANAGERS, 302), method="post", kwargs=label_project_slugs),
    "label_person": Row(**READERS, kwargs=label_person),
    "label_person_bulk": Row(**MANAGERS, kwargs=lambda w: label_person(w) | {"action": "invalidate"}),
    "label_person_bulk post": Row(
        **answers(MANAGERS, 422), method="post", kwargs=lambda w: label_person(w) | {"action": "invalidate"}
    ),
    "label_bulk": Row(**MANAGERS, kwargs=lambda w: label_project_slugs(w) | {"action": "release"}),
    "label_bulk post": Row(
        **answers(MANAGERS, 302), method="post", kwargs=lambda w: label_project_slugs(w) | {"action": "skipped"}
    ),
    "label_hand": Row(**MANAGERS, kwargs=label_project_slugs),
    "label_adjudicate": Row(**READERS, kwargs=label_project_slugs),
    "label_adjudicate_item": Row(**READERS, kwargs=labelled_item),
    "label_adjudicate_next": Row(**answers(READERS, 302), kwargs=labelled_item),
    "label_decide": Row(**answers(MANAGERS, 422), method="post", kwargs=labelled_item),
    "label_setup": Row(**MANAGERS, kwargs=label_project_slugs),
    "label_setup post": Row(**answers(MANAGERS, 422), method="post", kwargs=label_project_slugs),
    "label_overlap": Row(**answers(MANAGERS, 302), method="post", kwargs=label_project_slugs),
    "label_items": Row(**answers(MANAGERS, 302), method="post", kwargs=label_project_slugs),
    "label_guidelines_versions": Row(**READERS, kwargs=label_project_slugs),
    "label_guidelines_publish": Row(**answers(MANAGERS, 302), method="post", kwargs=label_project_slugs),
    "label_example_remove": Row(
        **answers(MANAGERS, 302), method="post", kwargs=lambda w: label_project_slugs(w) | {"number": w.example}
    ),
    "label_members": Row(**MANAGERS, kwargs=label_project_slugs),
    "label_members post": Row(**answers(MANAGERS, 422), method="post", kwargs=label_project_slugs),
    "label_member": Row(
        **answers(MANAGERS, 302), method="post", kwargs=lambda w: label_project_slugs(w) | {"pk": w.label_member.pk}
    ),
    "label_known": Row(**MANAGERS, kwargs=label_project_slugs),
    "label_known post": Row(**answers(MANAGERS, 422), method="post", kwargs=label_project_slugs),
    "label_known_item": Row(**answers(MANAGERS, 302), kwargs=label_project_slugs),
    "label_known_remove": Row(
        **answers(MANAGERS, 302), method="post", kwargs=lambda w: label_project_slugs(w) | {"pk": w.known_answer.pk}
    ),
    "label_right": Row(**MANAGERS, kwargs=lambda w: label_project_slugs(w) | {"pk": w.item.pk}),
    "label_right post": Row(
        **answers(MANAGERS, 422), method="post", kwargs=lambda w: label_project_slugs(w) | {"pk": w.item.pk}
    ),
    "label_download": Row(**READERS, kwargs=label_project_slugs),
    "label_export": Row(**READERS, kwargs=lambda w: label_project_slugs(w) | {"format": "xlsx"}),
    "label_codebook": Row(**READERS, kwargs=lambda w: label_project_slugs(w) | {"format": "json"}),
    "label_work": Row(**LABELLERS, kwargs=label_project_slugs),
    "label_guidelines": Row(**LABELLERS, kwargs=label_project_slugs),
    "label_guidelines_read": Row(
        **answers(LABELLERS, 302), method="post", kwargs=lambda w: label_project_slugs(w) | {"version": w.example}
    ),
    "label_answers": Row(**LABELLERS, kwargs=label_project_slugs),
    "label_back": Row(**LABELLERS, kwargs=label_project_slugs),
    "label_assignment": Row(**HOLDER, kwargs=assignment_pk),
    "label_assignment post": Row(**answers(HOLDER, 422), method="post", kwargs=assignment_pk),
    "label_draft": Row(**answers(HOLDER, 204), method="post", kwargs=assignment_pk),
    "label_skip": Row(**HOLDER, kwargs=assignment_pk),
    "label_skip post": Row(
        **answers(HOLDER, 302), method="post", data=lambda w: {"note": "unclear"}, kwargs=assignment_pk
    ),
    "label_flag": Row(**HOLDER, kwargs=assignment_pk),
    "label_flag post": Row(
        **answers(HOLDER, 302), method="post", data=lambda w: {"note": "unclear"}, kwargs=assignment_pk
    ),
    # studies
    "studies": Row(**READERS),
    "study": Row(**READERS, kwargs=study_pk),
    "study_new": Row(**MANAGERS),
    "study_new post": Row(**answers(MANAGERS, 422), method="post"),
    "study_from_file": Row(**answers(MANAGERS, 422), method="post"),
    "study_edit": Row(**MANAGERS, kwargs=study_pk),
    "study_edit post": Row(**answers(MANAGERS, 422), method="post", kwargs=study_pk),
    "study_languages": Row(**MANAGERS, kwargs=study_pk),
    "study_language": Row(**MANAGERS, kwargs=lambda w: study_pk(w) | {"language": "es"}),
    "study_design": Row(**READERS, kwargs=study_pk),
    "study_new_version": Row(**answers(MANAGERS, 302), method="post", kwargs=study_pk),
    "study_file": Row(**READERS, kwargs=study_pk),
    "study_preregister": Row(**MANAGERS, kwargs=study_pk),
    "study_preregister post": Row(**answers(MANAGERS, 422), method="post", kwargs=study_pk),
    "preregistration": Row(**READERS, kwargs=preregistration_pk),
    "preregistration_file": Row(**READERS, kwargs=preregistration_pk),
    "study_open": Row(**answers(MANAGERS, 302), method="post", kwargs=study_pk),
    "study_close": Row(**answers(MANAGERS, 302), method="post", kwargs=study_pk),
    "study_sessions": Row(**READERS, kwargs=study_pk),
    "study_session": Row(**READERS, kwargs=lambda w: study_pk(w) | {"number": w.session.number}),
    "study_delete_person": Row(**MANAGERS, kwargs=study_pk),
    "study_delete_person post": Row(
        **answers(MANAGERS, 302),
        method="post",
        kwargs=study_pk,
        data=lambda w: {"number": w.session.number, "sure": "on"},
    ),
    "study_receipt": Row(**MANAGERS, kwargs=lambda w: study_pk(w) | {"event": w.deletion.pk}),
    "study_retention": Row(**answers(MANAGERS, 302), method="post", kwargs=study_pk, data=lambda w: {}),
    "study_exports": Row(**READERS, kwargs=study_pk),
    "study_export": Row(**READERS, kwargs=lambda w: study_pk(w) | {"name": "wide.csv"}),
    "study_preview": Row(**READERS, kwargs=lambda w: study_pk(w) | {"position": 1}),
    "platform_accounts": Row(**MANAGERS),
    "platform_account_new": Row(**MANAGERS),
    "platform_account_new post": Row(**answers(MANAGERS, 422), method="post"),
    "platform_account": Row(**MANAGERS, kwargs=lambda w: project_slug(w) | {"pk": w.platform_account.pk}),
    "study_platform": Row(**READERS, kwargs=lambda w: study_pk(w) | {"pk": w.platform_action.study_id}),
    "study_connection": Row(**MANAGERS, kwargs=study_pk),
    "study_connection post": Row(**answers(MANAGERS, 302), method="post", kwargs=study_pk),
    "study_pull": Row(**answers(MANAGERS, 302), method="post", kwargs=study_pk),
    "study_submissions_file": Row(**answers(MANAGERS, 422), method="post", kwargs=study_pk),
    "study_list_new": Row(**answers(MANAGERS, 422), method="post", kwargs=study_pk),
    "study_list": Row(**READERS, kwargs=list_batch),
    "study_list_action": Row(
        **answers(MANAGERS, 302), method="post", kwargs=lambda w: list_batch(w) | {"action": "discard"}
    ),
    "platform_message": Row(
        **answers(PUBLIC, 401), method="post", kwargs=lambda w: {"key": w.platform_account.webhook_key}
    ),
    "participant_entry": Row(**PUBLIC, kwargs=lambda w: {"key": w.study.key}),
    "participant_session": Row(**PUBLIC, kwargs=session_keys),
    "participant_screen": Row(**answers(PUBLIC, 302), kwargs=lambda w: session_keys(w) | {"position": 0}),
    "participant_screen post": Row(
        **answers(PUBLIC, 302),
        method="post",
        data=lambda w: {"consent": "yes"},
        kwargs=lambda w: session_keys(w) | {"position": w.screen.position},
    ),
    "participant_draft": Row(
        **answers(PUBLIC, 404), method="post", kwargs=lambda w: session_keys(w) | {"position": 99}
    ),
    # llm
    "jobs": Row(**READERS),
    "job_plan": Row(**MANAGERS),
    "job_plan post": Row(**answers(MANAGERS, 422), method="post"),
    "job": Row(**READERS, kwargs=lambda w: {"slug": w.project.slug, "pk": w.job.pk}),
    "job_live": Row(**READERS, kwargs=lambda w: {"slug": w.project.slug, "pk": w.job.pk}),
    "job_findings": Row(**READERS, kwargs=lambda w: {"slug": w.project.slug, "pk": w.job.pk}),
    "job_compare": Row(**READERS, kwargs=lambda w: {"slug": w.project.slug, "pk": w.job.pk}),
    "job_budget": Row(
        **answers(MANAGERS, 302), method="post", kwargs=lambda w: {"slug": w.project.slug, "pk": w.job.pk}
    ),
    "job_concurrency": Row(
        **answers(MANAGERS, 302),
        method="post",
        data=lambda w: {"concurrency": 2},
        kwargs=lambda w: {"slug": w.project.slug, "pk": w.job.pk},
    ),
    "job_action": Row(
        **answers(MANAGERS, 302),
        method="post",
        kwargs=lambda w: {"slug": w.project.slug, "pk": w.job.pk, "action": "discard"},
    ),
    "job_bundle": Row(**MANAGERS),
    "job_bundle post": Row(**answers(MANAGERS, 422), method="post"),
    "job_export": Row(**READERS, kwargs=lambda w: {"slug": w.project.slug, "pk": w.job.pk, "what": "calls"}),
    "job_requests": Row(
        **answers(MANAGERS, 302), method="post", kwargs=lambda w: {"slug": w.project.slug, "pk": w.job.pk}
    ),
    "job_dataset": Row(
        **answers(MANAGERS, 302), method="post", kwargs=lambda w: {"slug": w.project.slug, "pk": w.job.pk}
    ),
    "job_results": Row(
        **answers(MANAGERS, 422), method="post", kwargs=lambda w: {"slug": w.project.slug, "pk": w.job.pk}
    ),
    "calls": Row(**READERS, kwargs=lambda w: {"slug": w.project.slug, "pk": w.job.pk}),
    "call": Row(**READERS, kwargs=lambda w: {"slug": w.project.slug, "pk": w.call.pk}),
    "endpoints": Row(**READERS),
    "endpoint_embedded": Row(**answers(MANAGERS, 302), method="post"),
    "endpoint_new": Row(**MANAGERS),
    "endpoint_new post": Row(**answers(MANAGERS, 422), method="post"),
    "endpoint": Row(**MANAGERS, kwargs=lambda w: {"slug": w.project.slug, "pk": w.endpoint.pk}),
    "endpoint_test": Row(
        **answers(MANAGERS, 302), method="post", kwargs=lambda w: {"slug": w.project.slug, "pk": w.endpoint.pk}
    ),
    "prompts": Row(**READERS),
    "prompt": Row(**READERS, kwargs=lambda w: {"slug": w.project.slug, "pk": w.prompt.pk}),
    "prompt_changes": Row(**READERS, kwargs=lambda w: {"slug": w.project.slug, "pk": w.prompt.pk}),
    "prompt_new": Row(**MANAGERS),
    "prompt_new post": Row(**answers(MANAGERS, 422), method="post"),
    # evaluation
    "label_agreement": Row(**READERS, kwargs=label_project_slugs),
    "label_agreement_figure": Row(**answers(READERS, 404), kwargs=lambda w: label_project_slugs(w) | {"format": "svg"}),
    "label_labels": Row(**READERS, kwargs=label_project_slugs),
    "label_labels_file": Row(**answers(READERS, 302), kwargs=lambda w: label_project_slugs(w) | {"format": "csv"}),
    "reports": Row(**READERS),
    "report_new": Row(**MANAGERS),
    "report_new post": Row(**answers(MANAGERS, 422), method="post"),
    "report": Row(**READERS, kwargs=report_pk),
    "report_build": Row(**answers(MANAGERS, 302), method="post", kwargs=report_pk),
    "report_share": Row(**answers(MANAGERS, 302), method="post", kwargs=report_part),
    "report_unshare": Row(**answers(MANAGERS, 302), method="post", kwargs=report_part),
    "report_document": Row(**READERS, kwargs=report_part),
    "report_bundle": Row(**READERS, kwargs=report_part),
    "shared_report": Row(**PUBLIC, kwargs=shared_part),
    "shared_document": Row(**PUBLIC, kwargs=shared_part),
    "shared_table": Row(**PUBLIC, kwargs=lambda w: shared_part(w) | {"code": "t", "format": "tex"}),
    "shared_figure": Row(**PUBLIC, kwargs=lambda w: shared_part(w) | {"code": "f", "format": "csv"}),
    "report_table": Row(**READERS, kwargs=lambda w: report_part(w) | {"code": "t", "format": "csv"}),
    "report_figure": Row(**READERS, kwargs=lambda w: report_part(w) | {"code": "f", "format": "csv"}),
    # protocols
    "protocols": Row(**READERS),
    "protocol_start": Row(**answers(MANAGERS, 302), method="post", data=lambda w: {"protocol": "pact"}),
    "people_study": Row(**MANAGERS),
    "people_study post": Row(**answers(MANAGERS, 422), method="post"),
    "protocol": Row(**READERS, kwargs=protocol_pk),
    "protocol_table": Row(**READERS, kwargs=protocol_dataset),
    "protocol_table_csv": Row(**READERS, kwargs=protocol_dataset),
    "protocol_file": Row(
        **answers(MANAGERS, 302), method="post", kwargs=lambda w: protocol_pk(w) | {"source": "plain"}
    ),
    "protocol_shipped": Row(**answers(MANAGERS, 302), method="post", kwargs=protocol_pk),
    "protocol_settings": Row(
        **answers(MANAGERS, 302), method="post", kwargs=protocol_stage, data=lambda w: {"read-seed": "1"}
    ),
    "protocol_run": Row(**answers(MANAGERS, 302), method="post", kwargs=protocol_stage),
    "protocol_collect": Row(**answers(MANAGERS, 302), method="post", kwargs=protocol_stage),
    # api
    "api_schema": Row(**PUBLIC, api=True, kwargs=no_kwargs),
    "api_project": Row(**API_LIST, api=True, kwargs=no_kwargs),
    "api_datasets": Row(**API_LIST, api=True, kwargs=no_kwargs),
    "api_dataset": Row(**API_DETAIL, api=True, kwargs=lambda w: {"slug": w.dataset.slug}),
    "api_items": Row(**API_DETAIL, api=True, kwargs=lambda w: {"slug": w.dataset.slug}),
    "api_items post": Row(  # an outsider imports into their own project
        **API_WRITE,
        api=True,
        kwargs=lambda w: {"slug": "new"},
        method="post",
        data=lambda w: {"items": [{"external_id": "a", "content": {"text": "x"}}]},
    ),
    "api_item": Row(**API_DETAIL, api=True, kwargs=lambda w: {"pk": w.item.pk}),
    "api_index": Row(**API_LIST, api=True, kwargs=no_kwargs),
    "api_instruments": Row(**API_LIST, api=True, kwargs=no_kwargs),
    "api_instrument": Row(**API_DETAIL, api=True, kwargs=lambda w: {"pk": w.instrument.pk}),
    "api_responses": Row(**API_LIST, api=True, kwargs=no_kwargs),
    "api_label_projects": Row(**API_LIST, api=True, kwargs=no_kwargs),
    "api_label_project": Row(**API_DETAIL, api=True, kwargs=lambda w: {"slug": w.label_project.slug}),
    "api_studies": Row(**API_LIST, api=True, kwargs=no_kwargs),
    "api_study": Row(**API_DETAIL, api=True, kwargs=lambda w: {"pk": w.study.pk}),
    "api_jobs": Row(**API_LIST, api=True, kwargs=no_kwargs),
    "api_job": Row(**API_DETAIL, api=True, kwargs=lambda w: {"pk": w.job.pk}),
    "api_reports": Row(**API_LIST, api=True, kwargs=no_kwargs),
    "api_report": Row(**API_DETAIL, api=True, kwargs=lambda w: {"pk": w.report.pk}),
}
