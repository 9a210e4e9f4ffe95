"""Pages and downloads of reports, requested for real."""

import csv
import io
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from evaluation.building import build_report
from evaluation.models import Report
from evaluation.services import create_report
from materials.models import Instrument
from materials.services import publish_instrument
from projects.models import User
from tests.evaluation.conftest import PAIRED, Paired

pytestmark = pytest.mark.django_db
ClientAs = Callable[[User | None], Client]


@pytest.fixture
def report(answered: Paired, parameters: dict[str, Any]) -> Report:
    made = create_report(
        project=answered.project, title="Wave 1", kind="alignment", parameters=parameters, created_by=None
    )
    return build_report(made.pk)


@pytest.fixture
def reader(client_as: ClientAs, viewer: User) -> Client:
    return client_as(viewer)


def publish(paired: Paired, *, name: str) -> Instrument:
    return publish_instrument(project=paired.project, name=name, title=name, questions=PAIRED)


def url(report: Report, rest: str = "") -> str:
    return f"/p/{report.project.slug}/reports/{report.pk}/{rest}"


def test_the_page_says_first_what_was_compared(report: Report, reader: Client):
    page = reader.get(url(report)).content.decode()
    order = [
        page.index(words) for words in ("What was compared", "are simulated", "How close models come", "Data fing")
    ]
    assert order == sorted(order)
    assert "badge-simulated" in page
    assert "badge-demo-model" in page
    assert report.data_fingerprint in page


def test_a_number_leads_to_the_answers_behind_it(report: Report, reader: Client):
    page = reader.get(url(report)).content.decode()
    links = [parse_qs(urlsplit(unescape(link)).query) for link in re.findall(r'href="([^"]+/responses/[^"]+)"', page)]
    plain = {"dataset": ["scenarios"], "instrument_name": ["paired"], "question": ["personal"], "kind": ["model"]}
    plain |= {"mark": ["demo-model"], "attr_model": ["tiny"], "attr_endpoint": ["local"]}
    plain |= {"cond_prompt": ["plain v1"], "cond_temperature": ["0"]}
    assert plain | {"persona": ["false"]} in links
    assert plain | {"persona": ["true"], "attr_country": ["Brazil"]} in links


def followed(report: Report, reader: Client) -> list[tuple[int, int]]:
    """For each link of the report's page: how many answers it promises, and how many its page counts."""
    page = reader.get(url(report)).content.decode()
    links = re.findall(r'href="([^"]+/responses/[^"]+)">(\d+) answer', page)
    assert len(links) == sum(bool(row["answers"]) for s in report.sections for t in s["tables"] for row in t["rows"])
    return [(int(promised), reader.get(unescape(link)).context["count"]) for link, promised in links]


@pytest.mark.parametrize("people", ["simulated", "real", "all"])
@pytest.mark.parametrize("sessions", ["completed", "all"])
def test_every_link_leads_to_exactly_the_answers_of_its_row(
    answered: Paired, parameters: dict[str, Any], reader: Client, people: str, sessions: str
):
    """Beside what `answered` holds: real people and annotators, other sessions, another instrument and another model
    with the same name and questions, people without a country or without a pair, other temperatures and no prompt."""
    everybody = [
        (answered.person("real", simulated=False), "Brazil"),
        (answered.person("nowhere", country=""), ""),
        (answered.person("left", outcome="unfinished"), "Brazil"),
        (answered.person("failed", simulated=False, outcome="failed_attention"), "Brazil"),
        (answered.person("done", outcome="completed"), "Brazil"),
    ]
    for who, _ in everybody:
        answered.record([(who, 0, "personal", "culture"), (who, 0, "norm", "preference"), (who, 1, "norm", "culture")])
    answered.record([(everybody[0][0], 3, "personal", "preference"), (answered.person("a"), 3, "personal", "culture")])
    namesake = answered.model("tiny", demo_model=False, gender="female")
    for factors in ({}, {"temperature": 1}, {"temperature": "0", "prompt": "plain v1"}):
        answered.record([(namesake, 0, "norm", "culture"), (answered.model("tiny"), 3, "norm", "culture")], **factors)
    other = replace(answered, instrument=publish(answered, name="again"))
    other.record([(who, 0, code, "culture") for who, _ in everybody for code in ("personal", "norm")])
    choices = parameters | {"people": people, "sessions": sessions, "kinds": ["participant", "annotator"]}
    report = build_report(
        create_report(project=answered.project, title="l", kind="alignment", parameters=choices, created_by=None).pk
    )
    pairs = followed(report, reader)
    assert pairs
    assert [promised for promised, _ in pairs] == [counted for _, counted in pairs]


def test_the_list_shows_reports_and_offers_a_new_one_to_managers(
    report: Report, reader: Client, client_as: ClientAs, researcher: User
):
    listed = f"/p/{report.project.slug}/reports/"
    assert "Wave 1" in reader.get(listed).content.decode()
    assert "New report" not in reader.get(listed).content.decode()
    assert "New report" in client_as(researcher).get(listed).content.decode()


def pending(report: Report) -> Report:
    return Report.objects.create(project=report.project, title="p", kind="alignment", parameters=report.parameters)


def test_a_pending_report_polls_until_it_is_there(report: Report, reader: Client):
    waiting = pending(report)
    assert 'hx-trigger="every 2s"' in reader.get(url(waiting)).content.decode()
    fragment = reader.get(url(waiting), headers={"HX-Request": "true"})
    assert "<html" not in fragment.content.decode()
    assert "Sections" not in fragment.content.decode()  # the answers are being counted
    Report.objects.filter(pk=waiting.pk).update(sections_done=2, sections_total=5)
    counted = reader.get(url(waiting), headers={"HX-Request": "true"}).content.decode()
    assert "Sections: <strong>2</strong> of 5" in counted
    build_report(waiting.pk)
    done = reader.get(url(waiting), headers={"HX-Request": "true"})
    assert (done.status_code, done.headers["HX-Refresh"]) == (286, "true")


def test_a_report_whose_worker_is_gone_can_be_built_again(
    report: Report, reader: Client, client_as: ClientAs, researcher: User
):
    waiting = pending(report)
    assert "Build again" not in client_as(researcher).get(url(waiting)).content.decode()
    Report.objects.filter(pk=waiting.pk).update(active_at=timezone.now() - timedelta(minutes=2))
    assert "Build again" in client_as(researcher).get(url(waiting)).content.decode()
    assert "Build again" not in reader.get(url(waiting)).content.decode()
    client_as(researcher).post(url(waiting, "build/"))
    waiting.refresh_from_db()
    assert timezone.now() - waiting.active_at < timedelta(minutes=1)


def test_a_failed_report_shows_its_sentence(report: Report, reader: Client):
    failed = pending(report)
    Report.objects.filter(pk=failed.pk).update(status="failed", problem="The dataset is gone.")
    assert "The dataset is gone." in reader.get(url(failed)).content.decode()
    assert reader.get(url(failed, "tables/items.csv")).status_code == 404


def test_a_table_downloads_with_its_marks(report: Report, reader: Client):
    answer = reader.get(url(report, "tables/alignment_personal.csv"))
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    plain = next(row for row in rows if row["setting"] == "No persona")
    assert (plain["question"], plain["simulated"], plain["demo_model"]) == ("personal", "true", "true")
    assert plain["majority_alignment"] == "1.0"
    assert plain["rate_mae_n"] == "2"
    assert plain["uncertainty_correlation"] == ""
    assert plain["uncertainty_correlation_note"]


def test_a_spreadsheet_runs_nothing_from_a_download(answered: Paired, parameters: dict[str, Any], reader: Client):
    answered.record([(answered.model("=1+1"), 0, "norm", "culture")])
    made = create_report(project=answered.project, title="t", kind="alignment", parameters=parameters, created_by=None)
    build_report(made.pk)
    assert "'=1+1" in reader.get(url(made, "tables/models.csv")).content.decode()


@pytest.mark.parametrize(
    ("format", "starts"),
    [("json", b"{"), ("csv", b"question,who"), ("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")],
)
def test_a_figure_downloads_in_each_format(report: Report, reader: Client, format: str, starts: bytes):
    answer = reader.get(url(report, f"figures/alignment.{format}"))
    assert answer.status_code == 200
    assert answer.content.startswith(starts)
    assert "immutable" in answer.headers["Cache-Control"]


@pytest.mark.parametrize("rest", ["figures/none.svg", "figures/alignment.exe", "tables/none.csv"])
def test_what_a_report_does_not_have_is_not_found(report: Report, reader: Client, rest: str):
    assert reader.get(url(report, rest)).status_code == 404
