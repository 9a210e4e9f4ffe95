"""The prompts' pages: publishing versions, what changed between them, and the preview on real items."""

import re
from functools import partial
from html import escape, unescape
from threading import Barrier, Thread

import pytest
from django.urls import reverse

from llm.models import Job, Prompt
from llm.prompting.prompt_preview import MOST_COUNTED
from llm.prompting.prompt_publishing import NewerPromptError, publish_prompt
from materials.models import Item
from responses.models import RespondentKind
from responses.services import get_respondent
from tests.llm.jobs import CHOICE, USER, JobMaker, in_thread

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(client_as, researcher):
    return client_as(researcher)


@pytest.fixture
def new_url(project):
    return reverse("prompt_new", args=[project.slug])


@pytest.fixture
def materials(project, make_dataset, make_instrument):
    """Three items, of which the last lacks a note."""

    def content(i: int) -> dict[str, object]:
        words = {"text": f"Scenario {i} " + "long " * 100 * i, "place": {"city": "Lima"} if i else {}}
        return words | ({} if i == 2 else {"note": None})

    return make_dataset(project, n=3, content=content), make_instrument(project, questions=[CHOICE])


def text(response) -> str:
    return " ".join(response.content.decode().split())


def url(prompt: Prompt, name: str = "prompt") -> str:
    return reverse(name, args=[prompt.project.slug, prompt.pk])


def link(response, rel: str) -> str:
    found = re.search(f'rel="{rel}" href="([^"]+)"', response.content.decode())
    return unescape(found[1]) if found else ""


def publish(project, user: str, system: str = "") -> Prompt:
    return publish_prompt(project=project, name="ask", system=system, user=user)


def test_prompts_are_published_in_versions_and_previewed_on_a_real_item(jobs: JobMaker, client, new_url):
    first = jobs.plan("http://127.0.0.1:9/v1").prompts.get()
    form = client.get(f"{new_url}?from={first.pk}").context["form"]
    assert form.initial == {"name": "ask", "system": first.system, "user": USER, "base": first.pk}
    source = "Read <b>: {{ item.text }}\r\n{{ answer_format }}"
    page = text(client.post(new_url, {"name": "ask", "user": source, "base": first.pk}, follow=True))
    assert "ask v2 is published." in page
    assert "Read &lt;b&gt;: Scenario 0 Answer with one JSON object" in page
    assert Prompt.objects.get(version=2).user == "Read <b>: {{ item.text }}\n{{ answer_format }}"


def test_a_text_is_previewed_before_it_is_published(project, client, new_url, materials, make_instrument):
    movable = make_instrument(project, [CHOICE | {"randomise": True}], name="movable")
    first = publish(project, "Is {{ item.text[:10] }} usual?")
    typed = {
        "name": "ask",
        "user": "Is <b>{{ item.text[:10] }}</b> usual in {{ persona.country }}? {{ condition.tone }}"
        "{% for option in questions[0].options %} {{ option.text }}{% endfor %}",
        "base": str(first.pk),
    }
    get_respondent(project=project, kind=RespondentKind.PARTICIPANT, key="p", attributes={"country": "Kenya"})
    shown = {"country": "Kenya", "condition.tone": "Be kind.", "instrument": movable.pk, "order": "reversed"}
    page = client.post(new_url, typed | shown | {"preview": ""})
    assert page.status_code == 200
    assert "Is &lt;b&gt;Scenario 0&lt;/b&gt; usual in Kenya? Be kind. No Yes" in text(page)
    assert "All 3 items have it" in text(page)
    assert [name for name, *_ in page.context["sample"].rows] == ["user", "in all"]
    assert "What changes since ask v1" in text(page)
    assert '<span class="visually-hidden">gone</span>' in text(page)
    assert {name: page.context["form"][name].value() for name in typed} == typed
    assert "Scenario 1" in text(client.post(new_url, typed | shown | {"item": "x", "preview": "scenarios-1"}))
    assert "has no item x; this is its first one." in text(client.post(new_url, typed | {"item": "x", "preview": ""}))
    assert list(Prompt.objects.all()) == [first]


@pytest.mark.parametrize("name", ["item.nothing", "itme.text", "questions.text", 'item["a\\nb"]'])
def test_a_name_that_nothing_has_is_told_in_the_preview_and_confirmed_to_publish(client, new_url, materials, name):
    typed = {"name": "ask", "user": f"{{{{ {name} }}}}"}
    preview = client.post(new_url, typed | {"preview": ""})
    assert preview.context["nowhere"] == name
    assert f"Nothing has {escape(name)}: neither an item of {materials[0]} nor a job." in text(preview)
    asked = client.post(new_url, typed)
    assert asked.status_code == 422
    assert f"Not published yet, because nothing has {escape(name)}" in text(asked)
    agreed = re.search(r'name="anyway" value="([^"]*)">Publish anyway', asked.content.decode())
    other = {"user": typed["user"] + "{{ item.other }}", "anyway": unescape(agreed[1])}
    assert "item.other" in text(client.post(new_url, typed | other))
    assert not Prompt.objects.exists()
    page = text(client.post(new_url, typed | {"anyway": unescape(agreed[1])}, follow=True))
    assert "ask v1 is published." in page


def test_what_a_job_may_give_and_some_items_have_needs_no_confirmation(client, new_url, materials):
    user = "{{ item.note }}{{ persona.religion }}{{ condition.tone }}"
    assert "ask v1 is published." in text(client.post(new_url, {"name": "ask", "user": user}, follow=True))


def test_the_preview_in_an_empty_project_says_what_it_needs_and_which_names_there_are_not(client, new_url):
    page = text(client.post(new_url, {"name": "ask", "user": "{{ item.text }}{{ itme }}", "preview": ""}))
    assert "The preview needs <a" in page
    assert "Nothing has itme: neither an item nor a job." in page


def test_a_fault_is_shown_at_its_line_and_the_text_stays(client, new_url):
    page = client.post(new_url, {"name": "ask", "user": "one\r\ntwo\r\n{{ item.text\r\n}\r\nfive\r\nsix"})
    assert page.status_code == 422
    assert "Line 4: " in text(page)
    assert "    2  two\n    3  {{ item.text\n→   4  }\n    5  five\n    6  six</code>" in page.content.decode()
    assert page.context["form"]["user"].value() == "one\r\ntwo\r\n{{ item.text\r\n}\r\nfive\r\nsix"
    assert not Prompt.objects.exists()


def test_a_version_that_is_the_same_as_the_newest_is_not_published(project, client, new_url):
    first = publish(project, "a")
    page = client.post(new_url, {"name": "ask", "user": "a", "base": first.pk})
    assert page.status_code == 422
    assert "This is ask v1 letter by letter, so there is nothing to publish." in text(page)
    assert Prompt.objects.count() == 1


def test_a_text_that_started_from_an_older_version_is_told_of_the_newer_one(project, client, new_url):
    first, second = publish(project, "a"), publish(project, "b")
    page = client.post(new_url, {"name": "ask", "user": "mine", "base": first.pk})
    assert page.status_code == 422
    assert "There is ask v2 by now, and your text started from version 1: publish again to make yours version 3" in (
        text(page)
    )
    assert f"{url(second, 'prompt_changes')}?before={first.pk}" in text(page)
    assert Prompt.objects.count() == 2
    again = {name: page.context["form"][name].value() for name in ("name", "user", "base")}
    assert again == {"name": "ask", "user": "mine", "base": str(second.pk)}
    assert "ask v3 is published." in text(client.post(new_url, again, follow=True))


def test_a_new_prompt_with_a_name_that_is_taken_is_told(project, client, new_url):
    publish(project, "a")
    page = client.post(new_url, {"name": "ask", "user": "mine"})
    assert "There is ask v1 by now, and your text did not start from it" in text(page)
    other = Prompt.objects.create(project=project, name="other", version=7, user="x")
    page = client.post(new_url, {"name": "ask", "user": "mine", "base": other.pk})
    assert "your text did not start from it" in text(page)
    assert Prompt.objects.filter(name="ask").count() == 1


def test_the_service_refuses_an_old_base_and_takes_the_newest(project):
    publish(project, "a")
    newest = publish(project, "b")
    with pytest.raises(NewerPromptError) as error:
        publish_prompt(project=project, name="ask", system="", user="c", base=1)
    assert error.value.newest == newest
    assert publish_prompt(project=project, name="ask", system="", user="c", base=2).version == 3


@pytest.mark.django_db(transaction=True)
def test_of_two_who_publish_at_once_from_the_same_version_one_is_told(project):
    publish(project, "a")
    told: list[Prompt] = []
    start = Barrier(2)

    def work(user: str) -> None:
        start.wait(timeout=30)
        try:
            publish_prompt(project=project, name="ask", system="", user=user, base=1)
        except NewerPromptError as error:
            told.append(error.newest)

    threads = [Thread(target=in_thread(partial(work, user))) for user in "bc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert [prompt.version for prompt in told] == [2]
    assert sorted(Prompt.objects.values_list("version", flat=True)) == [1, 2]


def test_what_changed_is_marked_by_signs_and_words(project, client):
    publish(project, "zero")
    second = publish(project, "Is it usual?\n<b>Answer</b> with a letter.")
    third = publish(project, "Is it usual?\n<b>Answer</b> with one letter.", system="Be kind.")
    page = text(client.get(url(third, "prompt_changes")))
    assert "From version 2 to version 3." in page
    assert "&lt;b&gt;Answer&lt;/b&gt; with <del>a</del> letter." in page
    assert "&lt;b&gt;Answer&lt;/b&gt; with <ins>one</ins> letter." in page
    assert page.count('<span class="visually-hidden">new</span>') == 2  # also the system message
    assert page.count('<span class="visually-hidden">gone</span>') == 1
    other_way = text(client.get(url(third, "prompt_changes"), {"before": third.pk, "after": second.pk}))
    assert "with <del>one</del> letter." in other_way
    assert "From version 1 to version 2." in text(client.get(url(second, "prompt_changes")))
    assert url(third, "prompt_changes") in text(client.get(url(third)))


def test_what_changed_in_an_only_version_and_beside_itself(project, client):
    first = publish(project, "a")
    assert "is the only version so far" in text(client.get(url(first, "prompt_changes")))
    assert url(first, "prompt_changes") not in text(client.get(url(first)))
    second = publish(project, "b")
    page = text(client.get(url(second, "prompt_changes"), {"before": second.pk, "after": "nonsense"}))
    assert "The same in both." in page


def test_the_names_of_a_template_and_which_items_lack_a_field(project, client, materials):
    prompt = publish(
        project,
        "{{ item.text }}{{ item.note }}{{ item.place.city }}{{ item['not there'] }}{{ itme.text }}"
        "{% for question in questions %}{{ question.text }}{% endfor %}{{ condition.tone }}",
        system="{% if persona %}{{ persona.country }}{% endif %}",
    )
    found = {str(use): use.missing for use in client.get(url(prompt)).context["uses"]}
    assert found == {
        "condition.tone": None, 'item["not there"]': 3, "item.note": 1, "item.place.city": 1, "item.text": 0,
        "itme.text": None, "persona": None, "persona.country": None, "questions": None,
    }  # fmt: skip
    page = text(client.get(url(prompt)))
    assert "1 of 3 items lack it" in page
    assert "All 3 items have it" in page
    assert "No such name" in page


def test_tokens_are_estimated_over_a_sample_and_items_that_do_not_fit_are_told(project, client, materials):
    prompt = publish(project, "{{ item.text }}", system="{% if item.note is defined %}1234567890{% endif %}")
    rows = {name: values for name, *values in client.get(url(prompt)).context["sample"].rows}
    assert set(rows) == {"system", "user", "in all"}
    assert rows["system"] == [0, 9, 9]  # 10 bytes and what is around a message; the last item has no such message
    assert rows["user"] == [9, 148, 287]
    assert rows["in all"] == [18, 157, 287]
    faulty = publish(project, "{{ item.note }}{{ item.text }}")
    page = client.get(url(faulty))
    assert page.context["sample"].rendered == 2
    assert "1 of 3 sampled items cannot be asked with this. scenarios-2: User prompt, line 1: there is no" in text(page)


def test_a_sample_is_spread_over_the_dataset(project, client, make_dataset, make_instrument):
    make_dataset(project, n=45, content=lambda i: {"text": "x" * 36 * i})
    make_instrument(project, questions=[CHOICE])
    sample = client.get(url(publish(project, "{{ item.text }}."))).context["sample"]
    places = [0, 2, 4, 6, 9, 11, 13, 16, 18, 20, 23, 25, 27, 30, 32, 34, 37, 39, 41, 44]
    assert sample.items == 20
    assert sample.tokens["user"] == [round((36 * i + 1) / 3.6) + 6 for i in places]


def test_the_preview_goes_from_item_to_item_and_keeps_what_is_chosen(project, client, materials):
    get_respondent(project=project, kind=RespondentKind.PARTICIPANT, key="p", attributes={"country": "Kenya"})
    prompt = publish(project, "{{ item.text[:10] }} {{ persona.country }} {{ persona.gender }} {{ condition.tone }}")
    query = {"country": "Kenya", "gender": "other", "condition.tone": "Be kind."}
    first = client.get(url(prompt), query)
    assert "Scenario 0 Kenya other Be kind." in text(first)
    assert not link(first, "prev")
    second = client.get(url(prompt) + link(first, "next"))
    assert "Scenario 1 Kenya other Be kind." in text(second)
    assert "Scenario 0 Kenya other Be kind." in text(client.get(url(prompt) + link(second, "prev")))
    last = client.get(url(prompt), query | {"item": "scenarios-2"})
    assert "Scenario 2 Kenya other Be kind." in text(last)
    assert not link(last, "next")
    assert "gender" not in client.get(url(publish(project, "{{ item.text }}"))).context["preview_form"].fields
    lost = text(client.get(url(prompt), query | {"item": "<nowhere>"}))
    assert "has no item &lt;nowhere&gt;; this is its first one." in lost
    assert "Scenario 0 Kenya" in lost


def test_a_factor_without_a_value_shows_its_name_and_may_be_an_object(project, client, materials):
    prompt = publish(project, "{{ condition.tone }} {{ condition.config.name }} {{ condition.config.size }}")
    page = text(client.get(url(prompt)))
    assert "[tone] [config.name] [config.size]" in page
    assert "A factor without a value shows its name in brackets." in page
    shown = client.get(url(prompt), {"condition.config": '{"name": "C1", "size": 3}', "condition.tone": "{no"})
    assert "{no C1 3" in text(shown)


def test_the_levels_of_the_newest_job_can_be_chosen(jobs: JobMaker, client):
    tone = {"name": "tone", "levels": ["plain", {"name": "kind", "value": "Be kind."}]}
    job = jobs.plan("http://127.0.0.1:9/v1", user="{{ item.text }} {{ condition.tone }}", factors=[tone])
    prompt = job.prompts.get()
    assert "Scenario 0 plain" in text(client.get(url(prompt)))
    page = client.get(url(prompt), {"condition.tone": "kind"})
    assert "Scenario 0 Be kind." in text(page)
    assert page.context["preview_form"].fields["condition.tone"].choices == [("plain", "plain"), ("kind", "kind")]


def test_a_prompt_is_previewed_with_what_its_jobs_use_and_a_new_one_starts_from_an_example(
    jobs: JobMaker, client, new_url, make_dataset, make_instrument
):
    make_dataset(jobs.project, n=1, slug="first")
    tone = [{"name": "tone", "levels": [{"name": "kind", "value": "Be kind."}]}]
    job: Job = jobs.plan("http://127.0.0.1:9/v1", n=2, factors=tone)
    make_instrument(jobs.project, [CHOICE | {"text": "Another one?"}], name="aaa")
    choice = client.get(url(job.prompts.get())).context["choice"]
    assert (choice.dataset, choice.item.dataset, choice.instrument) == (job.dataset, job.dataset, job.instrument)
    example = client.get(new_url).context["form"].initial
    page = text(client.post(new_url, {"name": "example", **example}, follow=True))
    assert "text: Scenario 0" in page
    assert "tone: Be kind." in page
    assert "A. Yes B. No" in page
    assert "Answer with one JSON object" in page


def test_a_prompt_in_an_empty_project_says_what_the_preview_needs(project, client):
    page = text(client.get(url(publish(project, "{{ item.text }}"))))
    assert "The preview needs <a" in page
    assert "A field of the item" in page


def test_a_template_of_more_fields_than_one_query_can_count_is_shown(project, client, materials):
    prompt = publish(project, "".join(f"{{{{ item.a{n} }}}}" for n in range(2000)))
    found = client.get(url(prompt)).context["uses"]
    assert (len(found), sum(use.missing == 3 for use in found)) == (2000, MOST_COUNTED)


def test_the_page_costs_the_same_number_of_queries_however_many_items(
    project, client, make_dataset, make_instrument, django_assert_max_num_queries
):
    make_dataset(project, n=200, content=lambda i: {"text": "x", "note": "y"})
    make_instrument(project, questions=[CHOICE])
    prompt = publish(project, "{{ item.text }}{{ item.note }}")
    assert Item.objects.count() == 200
    with django_assert_max_num_queries(17):
        client.get(url(prompt))
