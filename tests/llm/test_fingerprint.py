import pytest

from llm.running.fingerprint import endpoint_identity, fingerprint

CALL = {
    "base_url": "http://127.0.0.1:8081/v1",
    "model": "m",
    "messages": [{"role": "user", "content": "Grüße"}],
    "parameters": {"temperature": 0, "max_tokens": 5, "schema": {"enum": ["A", "B"]}},
    "prompt_version": 3,
    "sample": 0,
}


def test_it_is_a_fixed_function_of_the_call():
    assert fingerprint(**CALL) == "de495bed8a3124b74f647d04cab317b0b3d81adc28e2531a257c4bac04b56c4d"


@pytest.mark.parametrize(
    "change",
    [
        {"base_url": "http://127.0.0.1:8082/v1"},
        {"base_url": "https://127.0.0.1:8081/v1"},
        {"base_url": "http://127.0.0.1:8081/v2"},
        {"model": "M"},
        {"messages": [{"role": "system", "content": "Grüße"}]},
        {"messages": [{"role": "user", "content": "Grüße "}]},
        {"messages": []},
        {"parameters": {**CALL["parameters"], "temperature": 0.1}},
        {"parameters": {**CALL["parameters"], "top_p": 1}},
        {"parameters": {**CALL["parameters"], "schema": {"enum": ["B", "A"]}}},
        {"prompt_version": 4},
        {"sample": 1},
    ],
)
def test_everything_that_can_change_the_answer_changes_it(change):
    assert fingerprint(**{**CALL, **change}) != fingerprint(**CALL)


@pytest.mark.parametrize(
    "same",
    [
        {"base_url": "HTTP://127.0.0.1:8081/v1/"},
        {"parameters": dict(reversed(CALL["parameters"].items()))},
        {"parameters": {**CALL["parameters"], "temperature": 0.0, "seed": None}},
        {"prompt_version": "3"},
    ],
)
def test_two_spellings_of_one_call_have_one_fingerprint(same):
    assert fingerprint(**{**CALL, **same}) == fingerprint(**CALL)


def test_parts_cannot_run_into_each_other():
    split = [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]
    joined = [{"role": "user", "content": 'a"},{"role":"user","content":"b'}]
    assert fingerprint(**{**CALL, "messages": split}) != fingerprint(**{**CALL, "messages": joined})


def test_lone_surrogates_have_one_too_and_nan_has_none():
    assert len(fingerprint(**{**CALL, "messages": [{"role": "user", "content": "\ud800"}]})) == 64
    with pytest.raises(ValueError):
        fingerprint(**{**CALL, "parameters": {"temperature": float("nan")}})


@pytest.mark.parametrize(
    ("url", "identity"),
    [
        ("https://API.example.org:443/v1/", "https://api.example.org/v1"),
        ("http://user:secret@host/v1", "http://host/v1"),
        ("http://[::1]:8080/V1", "http://[::1]:8080/V1"),
        ("https://host/v1?api-version=2", "https://host/v1?api-version=2"),
    ],
)
def test_endpoint_identity(url, identity):
    assert endpoint_identity(url) == identity
