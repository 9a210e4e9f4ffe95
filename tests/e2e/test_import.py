"""A researcher imports a file: with scripts a large one in the background, without scripts a small one at once."""

from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from materials import importing_runs
from materials.models import ImportRun, Item
from projects.models import Project, User

pytestmark = pytest.mark.django_db(transaction=True)
SCREENS = (({"width": 1280, "height": 800}, "light"), ({"width": 360, "height": 740}, "dark"))


def upload(page: Page, project: Project, file: Path) -> None:
    page.goto(reverse("import_items", args=[project.slug]))
    page.get_by_label("Dataset").fill("food")
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Upload").click()


def test_a_file_is_mapped_mended_and_imported_without_javascript(
    new_page: Callable[..., Page],
    login: Callable[[Page, User], None],
    researcher: User,
    project: Project,
    tmp_path: Path,
) -> None:
    file = tmp_path / "food.csv"
    file.write_bytes("id;text;n\na;Café;NA\n".encode("cp1252"))
    page = new_page(java_script_enabled=False)
    login(page, researcher)
    upload(page, project, file)
    assert "Windows-1252 is a guess" in page.locator(".notice-warning").inner_text()
    page.get_by_label("Type of n").select_option("number")
    page.get_by_role("button", name="Check the whole file").click()
    assert "“NA” is no number" in page.get_by_role("region", name="Faults").inner_text()
    page.get_by_role("link", name="Change the columns").click()
    page.get_by_label("Type of n").select_option("text")
    page.get_by_label("New name of text").fill("words")
    page.get_by_role("button", name="Check the whole file").click()
    page.get_by_role("button", name="Import 1 item").click()
    page.get_by_role("link", name="Open the dataset").click()
    assert Item.objects.get().content == {"id": "a", "words": "Café", "n": "NA"}
    expect(page.get_by_role("link", name="food.csv")).to_be_visible()


def test_each_step_has_no_barrier_and_progress_becomes_the_result_by_itself(
    new_page: Callable[..., Page],
    login: Callable[[Page, User], None],
    axe: Callable[[Page], None],
    researcher: User,
    project: Project,
    tmp_path: Path,
) -> None:
    file = tmp_path / "food.csv"
    file.write_text("id,text\na,Tea\nb,Milk\n")
    page = new_page(allow=["422"], reduced_motion="reduce")
    login(page, researcher)

    def look() -> None:
        for viewport, scheme in SCREENS:
            page.set_viewport_size(viewport)  # type: ignore[arg-type]
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
            axe(page)

    upload(page, project, file)
    page.get_by_label("New name of text").fill("id")
    page.get_by_role("button", name="Check the whole file").click()
    assert "Two columns are named id" in page.get_by_role("alert").inner_text()
    look()
    page.get_by_label("New name of text").fill("text")
    with (
        mock.patch.object(importing_runs, "AT_ONCE_BYTES", 0),
        mock.patch.object(importing_runs.current_app, "send_task"),
    ):
        page.get_by_role("button", name="Check the whole file").click()
        page.get_by_text("It waits for a free worker.").wait_for()
        look()
    importing_runs.perform(ImportRun.objects.get().pk)
    page.get_by_role("button", name="Import 2 items").wait_for()
    look()
