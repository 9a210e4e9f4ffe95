"""Data with a key named "items" is shown like any other."""

from django.urls import reverse

from projects.services import audit
from projects.templatetags.mappings import pairs


def test_pairs_of_a_mapping():
    assert pairs({"items": 48, "a": None}) == [("items", 48), ("a", None)]
    assert pairs(None) == pairs({}) == []


def test_the_members_page_shows_an_event_that_counts_items(project, owner, client_as):
    audit(project=project, user=owner, action="labelling created", items=48, overlap=2)
    page = client_as(owner).get(reverse("members", kwargs={"slug": project.slug}))
    assert page.status_code == 200
    assert "items: 48, overlap: 2" in page.content.decode()


def test_the_item_page_shows_content_with_a_field_named_items(project, researcher, make_dataset, client_as):
    dataset = make_dataset(project, n=1, content=lambda i: {"items": "tea and cake", "place": "Leeds"})
    url = reverse("item", kwargs={"slug": project.slug, "pk": dataset.items.get().pk})
    page = client_as(researcher).get(url).content.decode()
    assert "tea and cake" in page
    assert "Leeds" in page
