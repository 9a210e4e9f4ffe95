"""Logging in and out, the home page, and the password."""

import pytest
from django.test import Client, override_settings
from django.urls import reverse

from projects.models import Project, Role, User
from projects.services import set_member
from tests.conftest import PASSWORD


def test_log_in_goes_to_the_only_project_and_log_out_needs_a_post(project: Project, viewer: User):
    client = Client()
    response = client.post(reverse("login"), {"username": "viewer", "password": PASSWORD}, follow=True)
    assert response.redirect_chain == [("/", 302), ("/p/everyday-norms/", 302)]
    assert client.get(reverse("logout")).status_code == 405
    client.post(reverse("logout"))
    assert client.get("/").status_code == 302


def test_an_annotator_lands_on_the_work(project: Project, annotator: User, client_as):
    response = client_as(annotator).get("/", follow=True)
    assert response.redirect_chain == [("/p/everyday-norms/", 302), ("/p/everyday-norms/labelling/", 302)]


def test_several_projects_are_listed_with_roles_in_few_queries(
    project: Project, viewer: User, client_as, django_assert_max_num_queries
):
    for number in range(20):
        other = Project.objects.create(name=f"Other {number}", slug=f"other-{number}")
        set_member(project=other, user=viewer, role=Role.OWNER, by=None)
    client = client_as(viewer)
    with django_assert_max_num_queries(4):
        page = client.get("/projects/").content.decode()
    assert "Everyday norms" in page
    assert "Viewer" in page
    assert page.count("Owner") == 20


def test_without_a_project_the_page_says_what_to_do(outsider: User, client_as):
    assert "Tell its owner your username" in client_as(outsider).get("/projects/").content.decode()


def test_the_next_page_stays_on_this_site(viewer: User):
    login = reverse("login") + "?next=https://elsewhere.example/"
    response = Client().post(login, {"username": "viewer", "password": PASSWORD, "next": "https://elsewhere.example/"})
    assert response["Location"] == "/"


def test_a_wrong_password_is_said_once_on_top(viewer: User):
    page = Client().post(reverse("login"), {"username": "viewer", "password": "x"}).content.decode()
    assert "correct username and password" in page


@override_settings(AXES_ENABLED=True, AXES_FAILURE_LIMIT=3)
def test_guessing_is_locked_out_with_a_page_that_says_how_long(viewer: User):
    client = Client()
    statuses = [
        client.post(reverse("login"), {"username": "viewer", "password": f"guess {n}"}).status_code for n in range(3)
    ]
    assert statuses == [200, 200, 429]
    locked = client.post(reverse("login"), {"username": "viewer", "password": PASSWORD})
    assert locked.status_code == 429
    assert "15 minutes" in locked.content.decode()


@pytest.mark.parametrize(("old", "works"), [(PASSWORD, True), ("wrong", False)])
def test_password_change(project: Project, viewer: User, client_as, old: str, works: bool):
    new = "another long word"
    data = {"old_password": old, "new_password1": new, "new_password2": new}
    client_as(viewer).post(reverse("password_change"), data)
    viewer.refresh_from_db()
    assert viewer.check_password(new) is works


@pytest.mark.parametrize("length", [151, 256, 5000])
def test_a_name_that_nobody_can_have_is_refused_on_the_page(db, length: int):
    page = Client().post(reverse("login"), {"username": "x" * length, "password": "y"})
    assert page.status_code == 200
    assert "at most 150 characters" in page.content.decode()
