"""What somebody sees whose login has ended."""

from django.test import Client
from django.urls import reverse

from projects.models import Project


def test_a_page_asks_to_log_in_and_leads_back(project: Project):
    address = reverse("labelling", args=[project.slug]) + "?a=b"
    assert Client().get(address).headers["Location"] == "/login/?next=/p/everyday-norms/labelling/%3Fa%3Db"


def test_a_live_part_is_not_replaced_by_the_log_in_page(project: Project):
    answer = Client().get(reverse("labelling", args=[project.slug]), headers={"HX-Request": "true"})
    assert (answer.status_code, answer.headers["HX-Refresh"]) == (401, "true")
    assert answer.content.decode() == "Your login has ended. Reload the page and log in again."
