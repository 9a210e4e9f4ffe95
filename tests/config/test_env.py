"""The readers of the environment: a wrong value ends in a sentence that names the variable."""

from collections.abc import Callable

import pytest
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured

from config import env
from config.database import database_settings


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Callable[[str | None], None]:
    def set_value(value: str | None) -> None:
        monkeypatch.delenv("PLACE", raising=False)
        if value is not None:
            monkeypatch.setenv("PLACE", value)

    return set_value


def test_text(given: Callable[[str | None], None]) -> None:
    given("  here ")
    assert env.text("PLACE") == "here"
    given("   ")
    assert env.text("PLACE", "there") == "there"
    with pytest.raises(ImproperlyConfigured, match=r"^Set the environment variable PLACE\.$"):
        env.text("PLACE")


@pytest.mark.parametrize(("value", "expected"), [("1", True), ("Yes", True), ("off", False), ("", True), (None, True)])
def test_flag(given: Callable[[str | None], None], value: str | None, expected: bool) -> None:
    given(value)
    assert env.flag("PLACE", True) is expected


def test_flag_refuses_what_it_does_not_know(given: Callable[[str | None], None]) -> None:
    given("maybe")
    with pytest.raises(ImproperlyConfigured, match="PLACE is 'maybe'; set it to true or false"):
        env.flag("PLACE", False)


@pytest.mark.parametrize(("value", "expected"), [("7", 7), ("", 3), (None, 3)])
def test_integer(given: Callable[[str | None], None], value: str | None, expected: int) -> None:
    given(value)
    assert env.integer("PLACE", 3) == expected


@pytest.mark.parametrize("value", ["-1", "2.5", "many", "0"])
def test_integer_refuses_others(given: Callable[[str | None], None], value: str) -> None:
    given(value)
    with pytest.raises(ImproperlyConfigured, match=r"PLACE is .*; set it to a whole number of at least 1"):
        env.integer("PLACE", 3, minimum=1)


def test_words(given: Callable[[str | None], None]) -> None:
    given(" a, b ,,c")
    assert env.words("PLACE") == ["a", "b", "c"]
    given(None)
    assert env.words("PLACE") == []


def test_database_over_the_network() -> None:
    settings = database_settings("postgresql://me:p%40ss@db.example:5433/concord?sslmode=require")
    assert [settings[name] for name in ("USER", "PASSWORD", "HOST", "PORT", "NAME", "OPTIONS")] == [
        "me",
        "p@ss",
        "db.example",
        "5433",
        "concord",
        {"sslmode": "require"},
    ]


def test_database_on_a_socket_in_a_folder_with_a_space() -> None:
    settings = database_settings("postgresql://postgres@/concord?host=/a%20folder/run")
    assert (settings["HOST"], settings["PORT"], settings["OPTIONS"]) == ("/a folder/run", "", {})


@pytest.mark.parametrize("url", ["mysql://a@b/c", "postgresql://a@b", "concord"])
def test_other_database_addresses_are_refused(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL must look like postgresql://"):
        database_settings(url)


@pytest.mark.parametrize(
    "url", ["postgresql://me:hidden@db:many/concord", "postgresql://me:hidden@db:70000/concord", "postgresql://[db/x"]
)
def test_a_wrong_port_is_a_sentence_without_the_password(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="port or the brackets in DATABASE_URL") as caught:
        database_settings(url)
    assert "hidden" not in str(caught.value)


def test_a_wrong_port_of_a_socket_is_a_sentence() -> None:
    with pytest.raises(ImproperlyConfigured, match="The port in DATABASE_URL must be a number"):
        database_settings("postgresql:///concord?host=/run&port=many")


def test_the_limit_of_a_statement_joins_other_options() -> None:
    settings = database_settings("postgresql://db/concord?options=-c%20search_path%3Dmine", 60)
    assert settings["OPTIONS"] == {"options": "-c search_path=mine -c statement_timeout=60s"}


def test_fernet_keys(given: Callable[[str | None], None]) -> None:
    keys = [Fernet.generate_key().decode(), Fernet.generate_key().decode()]
    given(", ".join(keys))
    assert env.fernet_keys("PLACE") == keys
    given(None)
    assert env.fernet_keys("PLACE") == []


@pytest.mark.parametrize("wrong", ["abc", "ü" * 44, "YWJj"])
def test_what_is_no_fernet_key_is_refused_and_not_repeated(given: Callable[[str | None], None], wrong: str) -> None:
    given(f"{Fernet.generate_key().decode()},{wrong}")
    with pytest.raises(ImproperlyConfigured, match="PLACE: key 2 of 2 is not a Fernet key") as caught:
        env.fernet_keys("PLACE")
    assert wrong not in str(caught.value)
