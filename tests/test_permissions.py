"""Requests every named URL as every role and compares with tests/permissions.py."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from projects.models import Project, Role, User
from projects.services import create_token, set_member
from tests.permissions import ROWS, Row, World

MEMBERS = ("viewer", "annotator", "researcher", "owner")
ROLES = ("anonymous", "outsider", *MEMBERS)


def url_names(patterns: list[Any], prefix: str = "") -> Iterator[tuple[str | None, str]]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from url_names(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern):
            yield pattern.name, route


@pytest.fixture
def members(db: None) -> tuple[Project, dict[str, User]]:
    users = {role: User.objects.create_user(username=f"{role}-person") for role in ROLES if role != "anonymous"}
    project = Project.objects.create(name="Tables", slug="tables")
    for role in MEMBERS:
        set_member(project=project, user=users[role], role=Role(role), by=None)
    other = Project.objects.create(name="Elsewhere", slug="elsewhere")
    set_member(project=other, user=users["outsider"], role=Role.OWNER, by=None)
    return project, users


def test_every_url_has_a_row_and_every_row_a_url():
    found = list(url_names(get_resolver().url_patterns))
    unnamed = [route for name, route in found if not name]
    assert not unnamed, f"give these addresses a name: {unnamed}"
    names = {name for name, _ in found if name}
    rows = {key.split()[0] for key in ROWS}
    assert sorted(names - rows) == [], "add these to tests/permissions.py"
    assert sorted(rows - names) == [], "these rows of tests/permissions.py have no address"


def client_for(world: World, role: str, row: Row) -> Client:
    client = Client(raise_request_exception=False)
    if role == "anonymous":
        return client
    user = world.users[role]
    if not row.api:
        client.force_login(user)
        return client
    project = world.project if role in MEMBERS else user.memberships.get().project
    _, key = create_token(project=project, user=user, name=role, scopes=["read", "write"])
    client.defaults["HTTP_AUTHORIZATION"] = f"Bearer {key}"
    return client


def answer(world: World, key: str, role: str) -> int | str:
    """The status of the answer, or "login" when it leads to the log-in page."""
    row = ROWS[key]
    url = reverse(key.split(maxsplit=1)[0], kwargs=row.kwargs(world))
    form = {"content_type": "application/json"} if row.api else {}
    send = getattr(client_for(world, role, row), row.method)
    response = send(url + row.query) if row.method == "get" else send(url + row.query, row.data(world), **form)
    to_login = response.status_code == 302 and response.url.split("?")[0] == reverse(settings.LOGIN_URL)
    return "login" if to_login else response.status_code


@pytest.mark.parametrize("key", ROWS)
def test_answers_as_the_table_says(members: tuple[Project, dict[str, User]], key: str):
    answers = {}
    for role in ROLES:
        with transaction.atomic():  # each role finds the project as it was
            answers[role] = answer(World(*members), key, role)
            transaction.set_rollback(True)
    assert answers == {role: getattr(ROWS[key], role) for role in ROLES}
