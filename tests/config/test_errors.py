"""What a fault of the program looks like to each kind of visitor."""

import pytest
from django.core.exceptions import RequestDataTooBig
from django.db import OperationalError
from django.test import Client, RequestFactory, override_settings

from config.errors import bad_request


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
        ("/s/some-key/", "The pages you sent before are stored"),
        ("/projects/", "tell whoever runs this installation"),
        ("/api/v1/project/", "may not have been carried out"),
    ],
)
def test_a_fault_is_told_to_whom_it_meets_with_its_number(broken: Client, path: str, words: str):
    answer = broken.get(path, headers={"X-Request-ID": "1234abcd1234abcd", "Authorization": "Bearer x"})
    assert answer.status_code == (503 if path.startswith("/s/") else 500)
    text = answer.content.decode()
    assert words in text
    assert answer["X-Request-ID"] in text
    assert ("All projects" in text) == (path == "/projects/")


@pytest.mark.parametrize(
    ("path", "words", "others"),
    [
        ("/s/some-key/", "The pages you sent before are stored", "All projects"),
        ("/login/", "All projects", "The pages you sent before"),
        ("/api/v1/project/", "The request is too large. Nothing of it was carried out.", "<h1>"),
    ],
)
def test_a_form_that_is_too_large_is_told_to_whom_sent_it(db: None, path: str, words: str, others: str):
    request = RequestFactory().post(path)
    answer = bad_request(request, RequestDataTooBig())
    assert answer.status_code == 400
    text = answer.content.decode()
    assert "too large" in text
    assert words in text
    assert others not in text


def test_forms_that_cannot_be_read_get_a_page(db: None):
    with override_settings(DATA_UPLOAD_MAX_NUMBER_FIELDS=2):
        answer = Client().post("/login/", {"a": "1", "b": "2", "c": "3"})
    assert (answer.status_code, "This is too large" in answer.content.decode()) == (400, True)
    broken = Client().post("/login/", b"--x\r\nbroken", content_type="multipart/form-data; boundary=")
    assert (broken.status_code, "This could not be read" in broken.content.decode()) == (400, True)


def test_another_name_of_the_server_is_explained(db: None):
    with override_settings(ALLOWED_HOSTS=["concord.example"]):
        answer = Client().get("/login/", headers={"Host": "other.example"})
    assert (answer.status_code, "ALLOWED_HOSTS" in answer.content.decode()) == (400, True)
