"""What a fault of the program looks like to each kind of visitor."""

import pytest
from django.db import OperationalError
from django.test import Client


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch, db: None) -> Client:
    """A client whose every request for a page meets a database that has gone."""

    def fail(*args: object, **kwargs: object) -> None:
        raise OperationalError("the server closed the connection")

    monkeypatch.setattr("django.db.models.sql.compiler.SQLCompiler.execute_sql", fail)
    client = Client(raise_request_exception=False)
    client.cookies["sessionid"] = "x" * 32
    return client


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/s/some-key/", "open the study's link again"),
        ("/projects/", "tell whoever runs this installation"),
        ("/api/v1/project/", "may not have been carried out"),
    ],
)
def test_a_fault_is_told_to_whom_it_meets_with_its_number(broken: Client, path: str, words: str):
    answer = broken.get(path, headers={"X-Request-ID": "1234abcd1234abcd", "Authorization": "Bearer x"})
    assert answer.status_code == 500
    text = answer.content.decode()
    assert words in text
    assert answer["X-Request-ID"] in text
    assert ("All projects" in text) == (path == "/projects/")
