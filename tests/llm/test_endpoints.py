"""Endpoints: whose key goes where, what is refused, and what a test stores."""

import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest
from django.db import connection
from django.urls import reverse

from llm.models import Endpoint
from llm.servers.endpoints import check_base_url
from llm.servers.server_kinds import KINDS
from llm.services import EndpointError, endpoint_config, probe_endpoint, save_endpoint
from projects.models import AuditEvent
from tests.llm.jobs import JobMaker
from tests.model_server import MODEL, Script, ScriptedModelServer

pytestmark = pytest.mark.django_db(transaction=True)
URL = "http://models.example.org/v1"
KEY = "sk-very-secret-0123456789"


def save(project, endpoint=None, **changes):
    given = {"name": "hosted", "base_url": URL, "model": "m"} | changes
    return save_endpoint(project=project, endpoint=endpoint, **given)


def test_a_key_is_stored_encrypted_and_kept_when_nothing_is_given(project):
    endpoint = save(project, key=KEY)
    assert KEY not in str(Endpoint.objects.values().get())
    save(project, endpoint, concurrency=9)
    stored = Endpoint.objects.get()
    assert endpoint_config(stored).api_key == KEY
    assert stored.concurrency == 9
    assert KEY not in str(list(AuditEvent.objects.values()))


def test_another_server_drops_the_stored_key_and_what_was_found_out(project):
    endpoint = save(project, key=KEY)
    Endpoint.objects.update(capabilities={"ok": True}, probed_at="2026-01-01T00:00Z")
    endpoint.refresh_from_db()
    save(project, endpoint, base_url="HTTP://models.example.org:80/v1/")  # the same server in other words
    assert endpoint_config(Endpoint.objects.get()).api_key == KEY
    save(project, endpoint, base_url="http://attacker.example/v1")
    stored = Endpoint.objects.get()
    assert endpoint_config(stored).api_key == ""
    assert (stored.capabilities, stored.probed_at) == ({}, None)


def test_a_key_can_be_forgotten_and_is_when_a_variable_takes_its_place(project):
    endpoint = save(project, key=KEY)
    save(project, endpoint, forget_key=True)
    assert Endpoint.objects.get().key_encrypted == ""
    save(project, endpoint, key=KEY)
    save(project, endpoint, key_variable="CONCORD_MODEL_KEY_HOSTED")
    assert Endpoint.objects.get().key_encrypted == ""


def test_a_key_from_the_environment_goes_only_to_the_server_it_is_for(project, monkeypatch):
    endpoint = save(project, key_variable="CONCORD_MODEL_KEY_HOSTED")
    with pytest.raises(EndpointError, match="which is not set"):
        endpoint_config(endpoint)
    monkeypatch.setenv("CONCORD_MODEL_KEY_HOSTED", KEY)
    with pytest.raises(EndpointError, match="set CONCORD_MODEL_KEY_HOSTED_URL to that address"):
        endpoint_config(endpoint)
    monkeypatch.setenv("CONCORD_MODEL_KEY_HOSTED_URL", URL + "/")
    assert endpoint_config(endpoint).api_key == KEY
    monkeypatch.setenv("CONCORD_MODEL_KEY", "embedded-token")
    monkeypatch.setenv("CONCORD_MODEL_BASE_URL", "http://127.0.0.1:8099/v1")
    own = save(project, name="own", base_url="http://127.0.0.1:8099/v1", key_variable="CONCORD_MODEL_KEY")
    assert endpoint_config(own).api_key == "embedded-token"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"base_url": "ftp://a/v1"}, "must start with http"),
        ({"base_url": "models.example.org"}, "must start with http"),
        ({"base_url": "http://user:pw@a/v1"}, "holds a user or password"),
        ({"base_url": "http://a:99999/v1"}, "cannot be read"),
        ({"base_url": "http://169.254.169.254/latest"}, "machines' own metadata"),
        ({"base_url": "http://[fe80::1]/v1"}, "machines' own metadata"),
        ({"base_url": "http://[::ffff:169.254.169.254]/v1"}, "machines' own metadata"),
        ({"base_url": "http://metadata.google.internal./v1"}, "machines' own metadata"),
        ({"base_url": "http://[fd00:0ec2:0:0::254]/v1"}, "machines' own metadata"),
        ({"base_url": "http://[64:ff9b::a9fe:a9fe]/v1"}, "machines' own metadata"),
        ({"base_url": "http://[2002:a9fe:a9fe::]/v1"}, "machines' own metadata"),
        ({"base_url": "http://[fe80::1%25eth0]/v1"}, "machines' own metadata"),
        ({"base_url": "http://100.100.100.200/v1"}, "machines' own metadata"),
        ({"base_url": "http://0xA9FEA9FE/"}, "no address in the usual form"),
        ({"base_url": "http://2852039166/"}, "no address in the usual form"),
        ({"base_url": "http://0177.0.0.1:1/v1"}, "no address in the usual form"),
        ({"base_url": "http://0251.0376.0251.0376/"}, "no address in the usual form"),
        ({"base_url": "http://169.254.43518/"}, "no address in the usual form"),
        ({"base_url": "http://169.254.169.254../"}, "no address in the usual form|neither a host's name"),
        ({"base_url": "http://\uff11\uff12\uff17.0.0.1/v1"}, "beyond ASCII"),
        ({"base_url": "http://a\nb/"}, "cannot be seen"),
        ({"base_url": "http://a/v1 x"}, "cannot be seen"),
        ({"base_url": "http://a\x00b/v1"}, "cannot be seen"),
        ({"base_url": "http://a..b/v1"}, "neither a host's name nor an IP address"),
        ({"base_url": "http://a*b/v1"}, "neither a host's name nor an IP address"),
        ({"base_url": "http://-a/v1"}, "neither a host's name nor an IP address"),
        ({"base_url": "http://[::1/v1"}, "cannot be read"),
        ({"key_variable": "SECRET_KEY"}, "must be named CONCORD_MODEL_KEY"),
        ({"key_variable": "CONCORD_MODEL_KEY_A", "key": "k"}, "not both"),
    ],
)
def test_what_cannot_be_an_endpoint_is_refused_with_a_reason(project, changes, words):
    with pytest.raises(EndpointError, match=words):
        save(project, **changes)
    assert not Endpoint.objects.exists()


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:8080/v1", "http://[::1]:8080/v1", "http://10.1.2.3/v1", "http://model_server:80/v1",
     "https://API.example.org./v1", "http://localhost/v1", "https://xn--bcher-kva.example/v1", "http://3m.example/v1"],
)  # fmt: skip
def test_names_and_addresses_in_their_usual_form_are_taken(url):
    check_base_url(url)


def test_an_address_stored_when_less_was_refused_is_refused_when_it_is_used(project):
    endpoint = save(project)
    Endpoint.objects.update(base_url="http://2852039166/v1")
    endpoint.refresh_from_db()
    with pytest.raises(EndpointError, match="no address in the usual form"):
        probe_endpoint(endpoint=endpoint)


def test_of_two_who_choose_a_name_at_once_one_is_told(project):
    def attempt(model):
        barrier.wait()
        try:
            return save(project, model=model).model
        except EndpointError as error:
            return str(error)
        finally:
            connection.close()

    barrier = threading.Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        said = sorted(pool.map(attempt, ["m", "n"]))
    assert said[0] == "There is an endpoint hosted already; choose another name."
    assert said[1] == Endpoint.objects.get().model


def test_names_are_used_once_a_project(project):
    endpoint = save(project)
    save(project, endpoint, model="n")
    with pytest.raises(EndpointError, match="choose another name"):
        save(project)
    other = save(project, name="other")
    with pytest.raises(EndpointError, match="choose another name"):
        save(project, other)
    assert other.name == "other"


def test_an_endpoint_that_has_answered_stays_the_same_model(jobs: JobMaker):
    with ScriptedModelServer() as server:
        job = jobs.run(server, n=1)
    endpoint = job.endpoint
    with pytest.raises(EndpointError, match="make a new endpoint"):
        save(jobs.project, endpoint, base_url=endpoint.base_url, model="another")
    with pytest.raises(EndpointError, match="make a new endpoint"):
        save(jobs.project, endpoint, base_url=endpoint.base_url, model=MODEL, demo_model=True)
    save(jobs.project, endpoint, base_url="http://127.0.0.1:1/v1", model=MODEL)  # a local server's port may change


def test_a_test_stores_what_the_server_can_do(project):
    with ScriptedModelServer(Script(rejects=["seed", "max_tokens"], api_key=KEY)) as server:
        endpoint = save(project, base_url=server.base_url, model=MODEL, key=KEY, timeout_seconds=2)
        probe_endpoint(endpoint=endpoint)
    assert endpoint.probed_at is not None
    config = endpoint_config(Endpoint.objects.get())
    assert (config.supports_seed, config.token_limit_field) == (False, "max_completion_tokens")
    assert "It refuses a seed: samples cannot be repeated exactly." in endpoint.capabilities["sentences"]


def test_the_pages_make_test_and_change_an_endpoint_without_ever_showing_the_key(project, researcher, client_as):
    client = client_as(researcher)
    with ScriptedModelServer(Script(api_key=KEY)) as server:
        data = {
            "name": "hosted",
            "base_url": server.base_url,
            "model": MODEL,
            "key": KEY,
            "concurrency": 4,
            "timeout_seconds": 2,
            "batch_price_factor": "0.5",
        }
        answer = client.post(reverse("endpoint_new", args=[project.slug]), data)
        endpoint = Endpoint.objects.get()
        url = reverse("endpoint", args=[project.slug, endpoint.pk])
        assert (answer.status_code, answer.url) == (302, url)
        page = client.post(reverse("endpoint_test", args=[project.slug, endpoint.pk]), follow=True)
    text = page.content.decode()
    assert "hosted answers." in text
    assert "It takes a seed." in text
    assert "with a stored key" in text
    assert KEY not in text
    assert endpoint.key_encrypted not in text
    refused = client.post(url, data | {"base_url": "http://169.254.169.254/"})
    assert refused.status_code == 422
    assert "169.254.169.254 is an address" in refused.content.decode()
    wrong = client.post(url, data | {"concurrency": 0})
    assert "Ensure this value is greater than or equal to 1" in wrong.content.decode()
    client.post(url, data | {"key": "", "price_per_million_in": "0.5"})
    changed = Endpoint.objects.get()
    assert endpoint_config(changed).api_key == KEY
    assert changed.price_per_million_in is not None


def test_a_test_without_its_key_says_what_to_set(project, researcher, client_as):
    endpoint = save(project, key_variable="CONCORD_MODEL_KEY_NOWHERE")
    page = client_as(researcher).post(reverse("endpoint_test", args=[project.slug, endpoint.pk]), follow=True)
    assert "takes its key from CONCORD_MODEL_KEY_NOWHERE, which is not set" in page.content.decode()


def form_data(**changes):
    given = {"name": "hosted", "base_url": URL, "model": "m", "concurrency": 4, "timeout_seconds": 2}
    return given | {"batch_price_factor": "0.5"} | changes


def test_limits_and_prices_of_the_form_are_kept(project, researcher, client_as):
    data = form_data(tokens_per_minute=90_000, price_per_million_in="2.5", batch_price_factor="0.25")
    client_as(researcher).post(reverse("endpoint_new", args=[project.slug]), data)
    endpoint = Endpoint.objects.get()
    assert (endpoint.tokens_per_minute, endpoint.price_per_million_in) == (90_000, Decimal("2.5"))
    assert (endpoint.batch_price_factor, endpoint.requests_per_minute) == (Decimal("0.25"), None)


@pytest.mark.parametrize(
    "changes",
    [
        {"tokens_per_minute": 0},
        {"tokens_per_minute": 2**31},
        {"concurrency": 1001},
        {"batch_price_factor": "1.5"},
        {"batch_price_factor": ""},
        {"price_per_million_in": "-1"},
        {"timeout_seconds": "1e9"},
        {"timeout_seconds": "nan"},
    ],
)
def test_numbers_that_cannot_be_are_refused_at_their_field(project, researcher, client_as, changes):
    answer = client_as(researcher).post(reverse("endpoint_new", args=[project.slug]), form_data(**changes))
    assert answer.status_code == 422
    assert set(answer.context["form"].errors) == set(changes)
    assert not Endpoint.objects.exists()


def test_a_known_server_fills_in_its_address_and_says_what_to_mind(project, researcher, client_as):
    client, url = client_as(researcher), reverse("endpoint_new", args=[project.slug])
    text = client.get(url).content.decode()
    assert all(kind.base_url in text for kind in KINDS)
    assert client.get(url, {"server": "vLLM"}).context["form"]["base_url"].value() == "http://127.0.0.1:8000/v1"
    assert "vLLM: A key only if" in client.get(url, {"server": "vLLM"}).content.decode()
    assert client.get(url, {"server": "<script>"}).context["form"]["base_url"].value() is None


def test_what_a_test_found_out_is_told_in_words_and_offers_the_listed_names(project, researcher, client_as):
    with ScriptedModelServer(Script(dialect="deepseek", models=["chat", "thinks <b>"])) as server:
        endpoint = save(project, base_url=server.base_url, model="chat", timeout_seconds=5)
        url = reverse("endpoint_test", args=[project.slug, endpoint.pk])
        page = client_as(researcher).post(url, follow=True)
    text = page.content.decode()
    for words in ("It looks like DeepSeek.", "It refuses to give log probabilities.", "It has no Batch API"):
        assert words in text
    assert "Keeps to JSON but to no schema" in text
    assert '<option value="thinks &lt;b&gt;">' in text
    listed = client_as(researcher).get(reverse("endpoints", args=[project.slug])).content.decode()
    assert "DeepSeek" in listed
    config = endpoint_config(Endpoint.objects.get())
    assert (config.json_mode, config.supports_logprobs, config.token_limit_field) == (
        "json_object",
        False,
        "max_tokens",
    )


def test_log_probabilities_that_were_found_are_asked_for(project):
    with ScriptedModelServer(Script(max_top_logprobs=5)) as server:
        endpoint = save(project, base_url=server.base_url, model=MODEL, timeout_seconds=5)
        assert endpoint_config(endpoint).supports_logprobs is False
        probe_endpoint(endpoint=endpoint)
    config = endpoint_config(endpoint)
    assert (config.supports_logprobs, config.max_top_logprobs) == (True, 5)
