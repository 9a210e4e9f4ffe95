"""Lines and descriptions of batches, as OpenAI's server and those that follow it write them."""

import io
import json

import pytest

from llm.batches import lines
from llm.batches.lines import read_batch, read_page, read_result, read_results, request_line

COMPLETION = {"choices": [{"message": {"content": "A"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3}}


def line(**entry):
    return json.dumps({"id": "r1", "custom_id": "call-1"} | entry).encode()


def reply_of(**entry):
    return read_result(line(**entry), wants_json=False).reply


def test_a_request_is_one_line_whatever_is_in_it():
    sent = request_line("call-1", {"model": "m", "messages": [{"role": "user", "content": "a\nb \u2028 é"}]})
    assert sent.count(b"\n") == 1
    assert json.loads(sent) == {
        "custom_id": "call-1",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {"model": "m", "messages": [{"role": "user", "content": "a\nb \u2028 é"}]},
    }


def test_a_result_is_read_as_a_live_answer_is():
    reply = reply_of(response={"status_code": 200, "body": COMPLETION}, error=None)
    assert (reply.status, reply.text, reply.prompt_tokens) == ("ok", "A", 3)


@pytest.mark.parametrize(
    "response",
    [
        {"status_code": 200, "body": json.dumps(COMPLETION)},  # the body as text
        {"body": COMPLETION},  # no status
        COMPLETION,  # the body itself
    ],
)
def test_other_shapes_of_a_result_are_understood(response):
    assert reply_of(response=response).text == "A"


def test_a_fault_keeps_the_servers_words_and_whether_to_ask_again():
    wrong = reply_of(response={"status_code": 400, "body": {"error": {"message": "No such model"}}})
    assert (wrong.status, wrong.retryable, wrong.error) == ("error", False, "The server answered 400: No such model.")
    busy = reply_of(response={"status_code": 503, "body": None})
    assert (busy.status, busy.retryable, busy.error) == ("error", True, "The server answered 503.")
    filtered = reply_of(response={"status_code": 400, "body": {"error": {"code": "content_filter", "message": "No"}}})
    assert filtered.status == "refused"


def test_a_fault_without_a_response_can_be_asked_again():
    reply = reply_of(response=None, error={"code": "server_error", "message": "It fell over."})
    assert (reply.status, reply.retryable) == ("error", True)
    assert reply.error == "The server's batch could not have it answered: It fell over."
    assert "no answer and no reason" in reply_of(response=None, error=None).error


@pytest.mark.parametrize("code", ["batch_expired", "batch_cancelled"])
def test_what_was_not_carried_out_is_no_reply(code):
    result = read_result(line(response=None, error={"code": code, "message": "Not executed."}), wants_json=False)
    assert (result.custom_id, result.reply) == ("call-1", None)


@pytest.mark.parametrize(
    "text", [b"", b"not json\n", b"[]\n", b'{"custom_id": 7}\n', b'{"response": {}}\n', b"\xff\xfe\n"]
)
def test_lines_that_name_no_request_are_left_out(text):
    good = line(response={"status_code": 200, "body": COMPLETION}) + b"\n"
    found = list(read_results(io.BytesIO(text + good), wants_json=False))
    assert [result.custom_id for result in found] == ["call-1"]


def test_a_line_beyond_all_bounds_is_not_held(monkeypatch):
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 100)
    with pytest.raises(ValueError, match="a line of the server's file is longer"):
        list(read_results(io.BytesIO(b" " * 101 + b"\n"), wants_json=False))


def test_a_batch_is_understood_from_little():
    batch = read_batch({"id": "b1"})
    assert (batch.status, batch.files, batch.completed, batch.key, batch.created_at) == ("", {}, 0, "", None)
    assert not batch.over
    loud = read_batch({"id": "b1", "status": "COMPLETED", "output_file_id": "f", "request_counts": None, "errors": []})
    assert (loud.over, loud.files, loud.problem) == (True, {"output": "f"}, "")
    for payload in (None, [], "b1", {}, {"id": ""}, {"id": 7}):
        assert read_batch(payload) is None


@pytest.mark.parametrize(
    ("errors", "problem"),
    [
        ({"object": "list", "data": [{"code": "x", "message": "Bad JSON.", "line": 3}]}, "line 3: Bad JSON"),
        ([{"message": "One"}, {"message": "Two", "line": None}], "One; Two"),
        ("The file is empty", "The file is empty"),
        ({"data": [{"message": f"Fault {n}"} for n in range(5)]}, "Fault 0; Fault 1; Fault 2; and 2 more"),
        (None, ""),
    ],
)
def test_what_a_server_found_wrong_is_said_in_its_words(errors, problem):
    assert read_batch({"id": "b", "status": "failed", "errors": errors}).problem == problem


def test_a_full_queue_is_told_from_a_bad_file():
    full = {"data": [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached."}]}
    assert read_batch({"id": "b", "errors": full}).queue_full
    assert not read_batch({"id": "b", "errors": {"data": [{"code": "invalid_json_line", "message": "x"}]}}).queue_full


def test_a_page_of_the_list():
    batches, more = read_page({"data": [{"id": "b2"}, None, {"id": "b1"}], "has_more": True})
    assert ([batch.id for batch in batches], more) == (["b2", "b1"], True)
    assert read_page([{"id": "b1"}])[1] is False
    with pytest.raises(ValueError, match="not a list"):
        read_page({"error": "no"})
