"""The list of calls with its filters and pages, and two conditions side by side."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from llm.models import Call, Job
from llm.pages import call_pages
from llm.pages.call_pages import CallFilter, page_of_calls
from llm.pages.comparison import Comparing, Side
from llm.planning.axes import axes_of
from llm.running.ledger import expand
from tests.llm.jobs import CHOICE, JobMaker

pytestmark = pytest.mark.django_db(transaction=True)
NOWHERE = "http://127.0.0.1:9/v1"
TURNED = CHOICE | {"randomise": True}
USER = "{{ item.text }} {{ condition.tone }} {{ answer_format }}"
PERSONAS = [{}, {"country": "Peru"}, {"country": "Chile"}]
FACTORS = [{"name": "tone", "levels": ["plain", "kind"]}, {"name": "job", "levels": ["x", "y"]}]


@pytest.fixture
def client(client_as, researcher):
    return client_as(researcher)


@pytest.fixture
def written(jobs: JobMaker) -> Job:
    """A job with its whole ledger written and nothing asked: 4 items under 3 x 2 x 2 x 2 conditions."""
    job = jobs.start(
        NOWHERE, n=4, questions=[TURNED], user=USER, personas=PERSONAS, factors=FACTORS, option_orders="both"
    )
    while expand(job):
        pass
    return job


def answer(job: Job, cell: int, *values: str) -> None:
    """Answer the calls of a cell, item after item."""
    for call, value in zip(job.calls.filter(cell=cell).order_by("item__position"), values, strict=False):
        Call.objects.filter(pk=call.pk).update(status="ok", values={"answer": value})


def text(response) -> str:
    return " ".join(response.content.decode().split())


def test_the_axes_find_the_calls_that_the_grid_made(written: Job):
    for axis in axes_of(written):
        for level in range(axis.size):
            found = page_of_calls(written, CallFilter(levels={axis: level})).calls
            assert len(found) == 96 // axis.size
            for call in found:
                cell = written.grid[call.cell]
                names = {"prompt": cell.prompt, "option_order": cell.order, "persona": PERSONAS.index(cell.persona)}
                if axis.name in names:
                    assert names[axis.name] == level
                else:
                    assert cell.names[axis.name] == axis.levels[level]


def test_pages_follow_each_other_without_a_gap_and_back_again(written: Job, monkeypatch):
    monkeypatch.setattr(call_pages, "PAGE", 10)
    answer(written, 3, "yes", "no", "yes", "no")
    ids = list(written.calls.order_by("id").values_list("pk", flat=True))
    seen, after, last = [], 0, None
    while after is not None:
        page = page_of_calls(written, CallFilter(), after=after)
        seen += [call.pk for call in page.calls]
        after, last = page.after, page
    assert seen == ids
    before = page_of_calls(written, CallFilter(), before=last.before)
    assert [call.pk for call in before.calls] == ids[80:90]
    assert before.after == ids[90] - 1


@pytest.mark.parametrize("way", ["after", "before"])
def test_a_search_that_finds_little_ends_and_goes_on_where_it_ended(written: Job, monkeypatch, way):
    monkeypatch.setattr(call_pages, "SEARCHED", 20)
    tone = next(axis for axis in axes_of(written) if axis.name == "tone")
    wanted = CallFilter(levels={tone: 1}, status="pending")
    found, cursor, pages = [], {"after": 0} if way == "after" else {"before": call_pages.LAST}, 0
    while cursor[way] is not None:
        page = page_of_calls(written, wanted, **cursor)
        found += [call.pk for call in page.calls]
        cursor, pages = {way: getattr(page, way)}, pages + 1
        assert page.searched_all == (cursor[way] is None)
    assert sorted(found) == [c.pk for c in written.calls.order_by("id") if written.grid[c.cell].names["tone"] == "kind"]
    assert pages == 5


def test_filters_of_the_page(written: Job, client):
    answer(written, 0, "yes")
    item = written.dataset.items.first()
    address = reverse("calls", args=[written.project.slug, written.pk])

    def rows(query: str) -> list[Call]:
        return [call for call, _ in client.get(f"{address}?{query}").context["rows"]]

    assert len(rows("")) == 96
    assert [call.cell for call in rows("status=ok")] == [0]
    assert {call.persona.get("country") for call in rows("axis_persona=1")} == {"Peru"}
    assert {tuple(call.orders["answer"]) for call in rows("shown_first=no")} == {("no", "yes")}
    assert len(rows("shown_first=no&axis_tone=0&axis_persona=0")) == 8
    assert {call.item_id for call in rows(f"item={item.external_id}")} == {item.pk}
    assert rows("reused=yes") == []
    assert len(rows("after=x&before=-1&page=9")) == 96
    wrong = client.get(f"{address}?item=nobody")
    assert wrong.status_code == 422
    assert "has no item nobody." in text(wrong)
    assert client.get(f"{address}?axis_tone=7").status_code == 422


def test_a_page_of_a_large_job_reads_no_more_than_its_bounds_and_counts_nothing(written: Job, client):
    with CaptureQueriesContext(
        connection,
    ) as queries:
        page = client.get(reverse("calls", args=[written.project.slug, written.pk]))
    assert "96 calls" in text(page)
    on_calls = [query["sql"] for query in queries if '"llm_call"' in query["sql"] or "llm_call" in query["sql"]]
    assert len(on_calls) == 2
    assert all("COUNT(" not in sql and ("LIMIT" in sql or " IN (" in sql) for sql in on_calls)


def test_two_conditions_are_paired_by_item_and_everything_else_alike(written: Job):
    # The persona changes fastest: cells 0, 1, 2 are the three personas under one condition.
    answer(written, 0, "yes", "yes", "no", "no")
    answer(written, 1, "yes", "no", "yes")
    comparing = Comparing(Side(written, {"persona": 0}), Side(written, {"persona": 1}), written.questions[0])
    found = comparing.counts()
    assert (found.n, found.same, found.different) == (3, 1, 2)
    assert {(flip.a, flip.b, flip.count) for flip in found.flips} == {("yes", "no", 1), ("no", "yes", 1)}
    assert dict(found.not_comparable) == {"A is pending, B is pending": 28, "B is pending": 1}
    assert [pair.verdict for pair in comparing.pairs("different")] == ["different", "different"]
    for pair in comparing.pairs():
        assert (pair.a.item_id, pair.a.sample) == (pair.b.item_id, pair.b.sample)
        assert pair.b.cell == pair.a.cell + 1
    assert len(comparing.pairs(page=2)) == 0


def test_a_factor_with_a_name_of_the_statement_is_compared_too(written: Job):
    comparing = Comparing(Side(written, {"job": 0}), Side(written, {"job": 1}), written.questions[0])
    assert comparing.counts().left_out == 48
    assert {written.grid[pair.b.cell].names["job"] for pair in comparing.pairs()} == {"y"}


def test_what_cannot_be_compared_is_said_in_a_sentence(written: Job, client):
    address = reverse("job_compare", args=[written.project.slug, written.pk])
    assert "persona" in text(client.get(address)).lower()
    same = client.get(f"{address}?a_axis_persona=1&b_axis_persona=1")
    assert same.status_code == 422
    assert "A and B are the same condition" in text(same)
    half = client.get(f"{address}?a_axis_persona=1")
    assert "Persona is chosen for one side only" in text(half)
    answer(written, 0, "yes")
    answer(written, 1, "no")
    page = text(client.get(f"{address}?a_axis_persona=0&b_axis_persona=1&show=different"))
    assert "A: no persona. B: Peru" in page
    assert "<dt>Different answers</dt><dd>1</dd>" in page
    assert page.count("<strong>different</strong>") == 1
    assert "1.00 [" not in page
    assert "0.00 [0.00, 0.79]" in page.replace('</span> <span class="estimate-interval">', " ")


def test_jobs_of_one_series_are_compared_across_endpoints(jobs: JobMaker, written: Job):
    other = Job.objects.get(pk=written.pk)
    other.pk, other.endpoint = None, jobs.endpoint(NOWHERE)
    other.expanded, other.expanded_items, other.expanded_position, other.status = False, 0, 0, "running"
    other.save()
    other.prompts.set(written.prompt_list)
    other = Job.objects.get(pk=other.pk)
    while expand(other):
        pass
    answer(written, 5, "yes", "no")
    answer(other, 5, "yes", "yes")
    found = Comparing(Side(written), Side(other), written.questions[0]).counts()
    assert (found.same, found.different, found.left_out) == (1, 1, 94)
