"""A new project: who may make one, and the address it gets."""

import threading

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from projects.models import Project, Role, User
from projects.services import create_project, create_token


def test_a_researcher_becomes_owner_of_the_project_they_make(client_as, researcher):
    answer = client_as(researcher).post(reverse("project_new"), {"name": "Tea customs", "description": "Who pours?"})
    made = Project.objects.get(slug="tea-customs")
    assert answer.url == reverse("project", kwargs={"slug": "tea-customs"})
    assert made.memberships.get(user=researcher).role == Role.OWNER


def test_a_name_without_letters_still_gets_an_address(researcher):
    assert create_project(name="…", by=researcher).slug == "project"


def test_the_first_project_of_an_installation_is_made_by_staff(client_as, db):
    staff = User.objects.create_superuser("first", password="a-long-passphrase")
    page = client_as(staff).get(reverse("projects"))
    assert reverse("project_new") in page.content.decode()
    assert client_as(staff).post(reverse("project_new"), {"name": "First"}).status_code == 302


@pytest.mark.django_db(transaction=True)
def test_projects_of_one_name_made_at_once_get_different_addresses(researcher):
    start = threading.Barrier(5)

    def make():
        start.wait()
        create_project(name="Same name", by=researcher)
        connection.close()

    threads = [threading.Thread(target=make) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    slugs = set(Project.objects.filter(name="Same name").values_list("slug", flat=True))
    assert slugs == {"same-name", "same-name-2", "same-name-3", "same-name-4", "same-name-5"}


def test_the_interface_has_an_index_of_its_own_project(project, researcher):
    _, key = create_token(project=project, user=researcher, name="n", scopes=["read"])
    answer = Client().get("/api/v1/", headers={"authorization": f"Bearer {key}"}).json()
    assert answer["project"] == project.slug
    assert answer["datasets"] == "http://testserver/api/v1/datasets/"
    assert answer["schema"] == "http://testserver/api/v1/schema/"
    refused = Client().get("/api/v1/")
    assert (refused.status_code, refused["Content-Type"]) == (401, "application/json")
