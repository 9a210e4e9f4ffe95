"""The test server's Batch API, by the openai library: jobs that go as batches lean on it."""

import json
import time

import openai
import pytest

from tests.model_server import MODEL, Script, ScriptedModelServer


def request(number, **changes):
    body = {"model": MODEL, "messages": [{"role": "user", "content": f"Question {number}: A or B?"}]}
    return {"custom_id": f"call-{number}", "method": "POST", "url": "/v1/chat/completions", "body": body} | changes


def client_of(server, key="sk-scripted"):
    return openai.OpenAI(base_url=server.base_url, api_key=key, max_retries=0)


def upload(client, lines):
    content = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines).encode()
    return client.files.create(file=("requests.jsonl", content), purpose="batch")


def submit(client, lines, **metadata):
    return client.batches.create(
        input_file_id=upload(client, lines).id,
        endpoint="/v1/chat/completions",
        completion_window="24h",
        metadata=metadata,
    )


def states_until_over(client, batch):
    states = [batch.status]
    while states[-1] not in ("completed", "failed", "expired", "cancelled"):
        batch = client.batches.retrieve(batch.id)
        states.append(batch.status)
        assert len(states) < 100
    return states, batch


def lines_of(client, file_id):
    return [json.loads(line) for line in client.files.content(file_id).text.splitlines()] if file_id else []


def test_a_batch_goes_through_its_states_and_every_line_is_answered_as_a_live_call_would_be():
    with ScriptedModelServer() as server:
        client = client_of(server)
        states, batch = states_until_over(client, submit(client, [request(n) for n in range(30)], job="7"))
        answers = {line["custom_id"]: line["response"] for line in lines_of(client, batch.output_file_id)}
        live = client.chat.completions.create(**request(3)["body"])
    assert states == ["validating", "in_progress", "finalizing", "completed"]
    assert (batch.request_counts.total, batch.request_counts.completed, batch.request_counts.failed) == (30, 30, 0)
    assert batch.metadata == {"job": "7"}
    assert (batch.error_file_id, batch.errors) == (None, None)
    assert batch.completed_at
    assert set(answers) == {f"call-{n}" for n in range(30)}
    assert list(answers) != sorted(answers, key=lambda name: int(name[5:]))  # the order is not the input's
    assert answers["call-3"]["body"]["choices"][0]["message"]["content"] == live.choices[0].message.content
    assert {answer["status_code"] for answer in answers.values()} == {200}


def test_faults_of_single_lines_are_in_the_error_file():
    script = Script(behaviours=["error_400", "hang", "rate_limited", "length", "ok"], batch_polls=1)
    with ScriptedModelServer(script) as server:
        client = client_of(server)
        _, batch = states_until_over(client, submit(client, [request(n) for n in range(5)]))
        faults = {line["custom_id"]: line for line in lines_of(client, batch.error_file_id)}
        answers = {line["custom_id"]: line["response"]["body"] for line in lines_of(client, batch.output_file_id)}
    assert (batch.status, batch.request_counts.failed) == ("completed", 3)
    assert faults["call-0"]["response"]["status_code"] == 400
    assert faults["call-0"]["response"]["body"]["error"]["message"] == "scripted error_400"
    assert (faults["call-1"]["response"], faults["call-1"]["error"]["code"]) == (None, "server_error")
    assert set(faults) == {"call-0", "call-1", "call-2"}
    assert {name: body["choices"][0]["finish_reason"] for name, body in answers.items()} == {
        "call-3": "length",
        "call-4": "stop",
    }
    assert len(server.batches.bodies) == 5
    assert server.requests == 0


def test_an_expired_batch_keeps_what_was_answered_and_names_the_rest():
    with ScriptedModelServer(Script(batch_expires_after=4)) as server:
        client = client_of(server)
        _, batch = states_until_over(client, submit(client, [request(n) for n in range(10)]))
        answered = lines_of(client, batch.output_file_id)
        expired = lines_of(client, batch.error_file_id)
    assert batch.status == "expired"
    assert (batch.request_counts.completed, batch.request_counts.failed) == (4, 0)
    assert {line["custom_id"] for line in answered} == {f"call-{n}" for n in range(4)}
    assert {line["error"]["code"] for line in expired} == {"batch_expired"}
    assert len(expired) == 6


def test_answers_can_get_lost():
    with ScriptedModelServer(Script(batch_loses=2)) as server:
        client = client_of(server)
        _, batch = states_until_over(client, submit(client, [request(n) for n in range(5)]))
        found = {line["custom_id"] for line in lines_of(client, batch.output_file_id)}
    assert (batch.status, batch.request_counts.completed) == ("completed", 5)
    assert found == {"call-0", "call-1", "call-2"}


def test_a_cancelled_batch_keeps_what_was_answered():
    with ScriptedModelServer(Script(batch_polls=10)) as server:
        client = client_of(server)
        batch = submit(client, [request(n) for n in range(10)])
        for _ in range(5):
            client.batches.retrieve(batch.id)
        assert client.batches.cancel(batch.id).status == "cancelling"
        _, batch = states_until_over(client, client.batches.retrieve(batch.id))
        assert len(lines_of(client, batch.output_file_id)) == 5
        with pytest.raises(openai.ConflictError, match="Cannot cancel a batch with status 'cancelled'"):
            client.batches.cancel(batch.id)
    assert (batch.status, batch.error_file_id) == ("cancelled", None)


@pytest.mark.parametrize(
    ("lines", "code", "line"),
    [
        ([request(1), "{not json"], "invalid_json_line", 2),
        ([request(1), request(1)], "duplicate_custom_id", 2),
        ([request(1, url="/v1/embeddings")], "invalid_url", 1),
        ([request(1, body={"model": MODEL})], "invalid_request", 1),
        ([], "empty_file", None),
    ],
)
def test_a_file_that_is_no_batch_fails_with_the_line_and_the_reason(lines, code, line):
    with ScriptedModelServer() as server:
        client = client_of(server)
        states, batch = states_until_over(client, submit(client, lines))
    assert states == ["validating", "failed"]
    assert [(error.code, error.line) for error in batch.errors.data] == [(code, line)]
    assert batch.output_file_id is None
    assert server.batches.bodies == []


def test_validation_can_fail_by_script_and_time_can_decide():
    with ScriptedModelServer(Script(batch_fails=True)) as server:
        _, batch = states_until_over(client_of(server), submit(client_of(server), [request(1)]))
        assert batch.errors.data[0].code == "token_limit_exceeded"
    with ScriptedModelServer(Script(batch_seconds=0.3)) as server:
        client = client_of(server)
        batch = submit(client, [request(1)])
        assert client.batches.retrieve(batch.id).status == "validating"
        states, _ = polled_slowly(client, batch)
    assert states[-1] == "completed"


def polled_slowly(client, batch):
    states = [batch.status]
    while states[-1] != "completed":
        time.sleep(0.05)
        batch = client.batches.retrieve(batch.id)
        states.append(batch.status)
        assert len(states) < 100
    return states, batch


def test_batches_are_listed_newest_first_and_by_page():
    with ScriptedModelServer() as server:
        client = client_of(server)
        made = [submit(client, [request(1)]).id for _ in range(5)]
        assert [batch.id for batch in client.batches.list(limit=2)] == made[::-1]  # the library turns the pages
        page = client.batches.list(limit=2, after=made[3])
        assert ([batch.id for batch in page.data], page.has_more) == ([made[2], made[1]], True)
        assert client.batches.retrieve(made[0]).status == "in_progress"  # listing moved nothing on


def test_files_are_kept_and_deleted():
    with ScriptedModelServer() as server:
        client = client_of(server)
        file = upload(client, [request(1)])
        assert (client.files.retrieve(file.id).purpose, file.filename) == ("batch", "requests.jsonl")
        assert json.loads(client.files.content(file.id).text) == request(1)
        assert client.files.delete(file.id).deleted
        for missing in (client.files.retrieve, client.files.content, client.files.delete, client.batches.retrieve):
            with pytest.raises(openai.NotFoundError, match="No such"):
                missing(file.id)
        with pytest.raises(openai.BadRequestError, match="input_file_id"):
            client.batches.create(input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h")


def test_the_requests_to_the_batch_api_can_fail_too():
    script = Script(batch_behaviours=["error_500", "ok", "cut", "rate_limited"], api_key="sk-right")
    with ScriptedModelServer(script) as server:
        with pytest.raises(openai.AuthenticationError):
            upload(client_of(server, "sk-wrong"), [request(1)])
        client = client_of(server, "sk-right")
        with pytest.raises(openai.InternalServerError):
            upload(client, [request(1)])
        upload(client, [request(1)])
        with pytest.raises(openai.APIConnectionError):
            client.batches.list()
        with pytest.raises(openai.RateLimitError):
            client.batches.list()
        assert client.batches.list().data == []


@pytest.mark.parametrize("dialect", ["vllm", "ollama", "gemini"])
def test_most_kinds_of_server_have_no_batches(dialect):
    with ScriptedModelServer(Script(dialect=dialect)) as server, pytest.raises(openai.NotFoundError):
        client_of(server).batches.list()
