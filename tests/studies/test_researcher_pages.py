import re
from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from projects.models import AuditEvent
from responses.models import Response
from studies.models import Screen, Session, Study
from studies.services import enter
from tests.studies.conftest import Participant

pytestmark = pytest.mark.django_db


def page(client, study, tail=""):
    response = client.get(f"/p/{study.project.slug}/studies/{study.pk}/{tail}")
    assert response.status_code == 200
    return response.content.decode()


def row(html, label):
    """The cells of the table row that starts with this label."""
    found = re.search(rf'<th scope="row"[^>]*>\s*(?:<a[^>]*>)?{re.escape(label)}.*?</tr>', html, re.S)[0]
    return re.findall(r'<td class="number">(.*?)</td>', found)


@pytest.fixture
def busy_study(study):
    """Two completed, one failed, one without consent, one running, one who left; and one simulated person."""
    for name in ("a", "b"):
        Participant(study, pid=name).go_to("")
    failing = Participant(study, pid="c")
    failing.go_to("attention")
    failing.send({"colour": "red"})
    failing.go_to("")
    refusing = Participant(study, pid="d")
    refusing.enter()
    refusing.send({"consent": "no"})
    Participant(study, pid="e").go_to("item")
    left = Participant(study, pid="f")
    left.go_to("item")
    Screen.objects.filter(session=left.session).update(shown_at=timezone.now() - timedelta(hours=1))
    enter(study, participant_id="g", submission_id="s", simulated=True)
    Session.objects.filter(status="completed").update(started_at=F("finished_at") - timedelta(minutes=6))
    Session.objects.filter(pk=left.session.pk).update(started_at=timezone.now() - timedelta(hours=1))
    return study


def test_the_live_page_counts_people_apart_from_simulated_ones(busy_study, researcher, client_as):
    html = page(client_as(researcher), busy_study)
    assert row(html, "Entered") == ["6", "1"]
    assert row(html, "Consented") == ["5", "0"]
    assert row(html, "Completed") == ["2", "0"]
    assert row(html, "Failed the attention check") == ["1", "0"]
    assert row(html, "Gave no consent") == ["1", "0"]
    assert row(html, "Running") == ["1", "1"]
    assert row(html, "Left") == ["1", "0"]
    assert row(html, "Median time") == ["6.0", "n/a"]
    assert row(html, "Brazil") == ["2", "0"]
    assert row(html, "United Kingdom") == ["0", "0"]
    assert row(html, "40 or over") == ["2", "0"]
    per_item = [int(row(html, f"customs-items-{index}")[0]) for index in range(9)]
    assert sum(per_item) == Response.objects.filter(question="personal").count() == 9
    assert html.count("badge-simulated") >= 2


def test_no_platform_id_and_no_session_key_on_the_page(busy_study, owner, client_as):
    html = page(client_as(owner), busy_study)
    assert "5f0c" not in html
    for key, digest in Session.objects.values_list("key", "person_digest"):
        assert key not in html
        assert digest not in html


def test_the_link_has_the_placeholders_of_the_platform(study, viewer, client_as):
    html = page(client_as(viewer), study)
    link = f"http://testserver/s/{study.key}/?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&amp;STUDY_ID={{{{%STUDY_ID%}}}}&amp;SESSION_ID={{{{%SESSION_ID%}}}}"
    assert link in html
    assert "Close study" not in html


def test_opening_and_closing_are_audited_posts(draft, researcher, client_as):
    study, client = draft(), client_as(researcher)
    assert "Open study" in page(client, study)
    url = f"/p/{study.project.slug}/studies/{study.pk}/"
    assert client.get(f"{url}open/").status_code == 405
    assert "The study is open." in client.post(f"{url}open/", follow=True).content.decode()
    assert Study.objects.get().status == "open"
    assert "The study is closed." in client.post(f"{url}close/", follow=True).content.decode()
    assert Study.objects.get().status == "closed"
    assert list(AuditEvent.objects.filter(user=researcher).values_list("action", flat=True)) == [
        "study closed",
        "study opened",
    ]


def test_a_draft_that_is_not_ready_says_why(draft, researcher, client_as):
    study, client = draft(n=2, completion_codes={}), client_as(researcher)
    html = page(client, study)
    assert "The dataset has 2 items" in html
    assert "no completion code for the outcome completed" in html
    url = f"/p/{study.project.slug}/studies/{study.pk}/"
    assert "The dataset has 2 items" in client.post(f"{url}open/", follow=True).content.decode()
    assert client.get(f"{url}preview/0/", follow=True).redirect_chain[-1][0] == url


def test_the_preview_shows_every_page_and_stores_nothing(draft, viewer, client_as):
    study, client = draft(), client_as(viewer)
    kinds = [re.search(r'data-screen="(\w+)"', page(client, study, f"preview/{at}/"))[1] for at in range(8)]
    assert sorted(kinds) == sorted(
        ["consent", "demographics", "instructions", "item", "item", "item", "attention", "debrief"]
    )
    assert client.get(f"/p/{study.project.slug}/studies/{study.pk}/preview/8/").status_code == 404
    assert Session.objects.count() == Screen.objects.count() == 0
    assert "Nothing is stored." in page(client, study, "preview/3/")


def test_the_list(busy_study, viewer, client_as):
    html = client_as(viewer).get(f"/p/{busy_study.project.slug}/studies/").content.decode()
    assert row(html, "Customs") == ["6", "2", "1"]


def test_an_empty_list_says_what_a_study_is(project, viewer, client_as):
    assert "No study yet" in client_as(viewer).get(f"/p/{project.slug}/studies/").content.decode()


def test_few_queries(busy_study, researcher, client_as, django_assert_max_num_queries):
    client = client_as(researcher)
    with django_assert_max_num_queries(20):
        page(client, busy_study)


def test_the_table_of_items_is_cut_with_a_word(study, viewer, client_as, monkeypatch):
    monkeypatch.setattr("studies.live.LISTED_ITEMS", 4)
    html = page(client_as(viewer), study)
    assert "The first 4 of 9 items" in html
    assert html.count(">customs-items-") == 4
