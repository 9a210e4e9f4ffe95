"""A trial goes on where it was, leaves other runs and people alone, and asks as many models as its settings name."""

from dataclasses import replace

import pytest
from django.core.management import CommandError, call_command

from annotation.models import LabelProject
from annotation.services import claim_next, submit
from llm.models import Endpoint
from projects.models import Project, User
from protocols import catalogue, trial
from protocols.context import StageContext
from protocols.services import start_protocol
from protocols.stages import StageError, StageResult
from tests.protocols import small as small_protocol

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(catalogue.PROTOCOLS, "small", "tests.protocols.small")


def stages(project: Project) -> list[tuple[str, str]]:
    return list(project.protocol_runs.latest("pk").stage_runs.order_by("pk").values_list("code", "status"))


def test_one_that_was_killed_goes_on_and_is_done_once(project: Project, monkeypatch, capsys):
    start_protocol(project=project, name="small", by=None)

    def killed(**_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(trial, "label_with_bots", killed)
        with pytest.raises(KeyboardInterrupt):
            call_command("protocol", "small", "--trial")
    assert stages(project) == [("read", "done"), ("keep", "done"), ("label", "under_way")]
    call_command("protocol", "small", "--trial")
    call_command("protocol", "small", "--trial")
    assert stages(project) == [("read", "done"), ("keep", "done"), ("label", "done")]
    assert [run.stage_runs.count() for run in project.protocol_runs.order_by("pk")] == [0, 3]
    printed = capsys.readouterr().out
    assert printed.count("Simulated annotators (1) filled 2 places; 0 are left.") == 1
    assert printed.count("Together") == 3


def test_people_who_have_begun_are_left_to_it(project: Project, annotator: User, monkeypatch):
    real = trial.label_with_bots

    def after_a_person(*, label_project: LabelProject, **given: object) -> object:
        place = claim_next(label_project, annotator)
        assert place
        submit(place, annotator, {"fine": "yes"})
        return real(label_project=label_project, **given)

    monkeypatch.setattr(trial, "label_with_bots", after_a_person)
    with pytest.raises(CommandError, match="People have begun to label"):
        call_command("protocol", "small", "--trial")
    assert stages(project)[-1] == ("label", "under_way")


def test_a_stage_that_cannot_be_done_keeps_only_those_back_that_need_it(project: Project, monkeypatch, capsys):
    def refuse(ctx: StageContext) -> StageResult:
        raise StageError("There is no second topic.")

    read, keep, label = small_protocol.PROTOCOL.stages
    cross = replace(label, code="cross", title="Cross", needs=("read",), run=refuse)
    judge = replace(label, code="judge", title="Judge", needs=("cross",))
    stages_of = replace(small_protocol.PROTOCOL, stages=(read, cross, judge, keep))
    monkeypatch.setattr(small_protocol, "PROTOCOL", stages_of)
    with pytest.raises(CommandError, match=r"^Cross: There is no second topic\.$"):
        call_command("protocol", "small", "--trial")
    assert stages(project)[-1] == ("keep", "done")
    assert "judge" not in dict(stages(project))


def test_a_trial_has_its_own_stages_and_settings(project: Project):
    with pytest.raises(CommandError, match="A trial does all stages with settings of its own"):
        call_command("protocol", "small", "keep", "--trial")
    with pytest.raises(CommandError, match="needs 1 endpoints and the project has 0"):
        call_command("protocol", "pact", "--trial")
    Endpoint.objects.create(project=project, name="silent", base_url="http://127.0.0.1:9/v1", model="m")
    with pytest.raises(CommandError, match=r"Endpoint silent does not answer\. \w+"):
        call_command("protocol", "pact", "--trial")
    assert not project.protocol_runs.exists()
