import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from materials.importing import Imported, ImportRefusedError, import_items
from materials.models import Dataset, Item
from materials.reading import read_items
from materials.services import content_hash
from projects.models import AuditEvent, Project

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def load(project: Project, text: str, dataset: str = "food", filename: str = "food.csv") -> Imported:
    records = read_items(io.BytesIO(text.encode()), filename=filename)
    return import_items(project=project, dataset_slug=dataset, records=records, source=filename, by=None)


def refused(project: Project, text: str) -> list[tuple[int, str]]:
    with pytest.raises(ImportRefusedError) as caught:
        load(project, text)
    assert caught.value.total == len(caught.value.faults)
    return [(fault.row, fault.column) for fault in caught.value.faults]


def test_items_come_in_with_content_hash_lineage_and_order(project: Project):
    result = load(project, "id,text\nb,é\na,2\n")
    assert (result.made_dataset, result.added, result.unchanged) == (True, 2, 0)
    items = list(Item.objects.filter(dataset=result.dataset))
    assert [item.external_id for item in items] == ["b", "a"]
    assert items[0].content == {"id": "b", "text": "é"}
    assert items[0].content_hash == content_hash(items[0].content)
    assert items[0].lineage == {"source": "food.csv", "row": 2}
    assert AuditEvent.objects.get(action="items imported").detail["added"] == 2


def test_again_is_unchanged_and_more_goes_behind(project: Project):
    load(project, "id,text\nb,1\na,2\n")
    result = load(project, "id,text\nc,3\na,2\n")
    assert (result.made_dataset, result.added, result.unchanged) == (False, 1, 1)
    assert [item.external_id for item in Item.objects.all()] == ["b", "a", "c"]


def test_other_content_under_a_known_id_is_refused(project: Project):
    load(project, "id,text\na,1\n")
    assert refused(project, "id,text\nb,1\na,2\n") == [(3, "id")]
    assert Item.objects.get().content["text"] == "1"


def test_all_faults_of_a_file_come_together_and_nothing_stays(project: Project):
    assert refused(project, "id,text\na,1\na,2\n,3\nb\nc,1\na,4\n") == [(3, "id"), (4, "id"), (5, "2"), (7, "id")]
    assert not Dataset.objects.exists()
    assert not Item.objects.exists()


def test_a_dataset_needs_a_slug(project: Project):
    with pytest.raises(ImportRefusedError, match="1 fault"):
        load(project, "id\na\n", dataset="my food")


def test_same_slug_in_another_project_is_another_dataset(project: Project):
    other = Project.objects.create(name="Other", slug="other")
    load(project, "id,text\na,1\n")
    assert load(other, "id,text\na,2\n").added == 1
    assert Dataset.objects.count() == 2


def run(project: Project, path: Path, *options: str, dataset: str = "d") -> str:
    out = io.StringIO()
    call_command("import_items", "--project", project.slug, "--dataset", dataset, str(path), *options, stdout=out)
    return out.getvalue()


def test_command_says_what_it_did_and_lists_faults(project: Project, tmp_path: Path):
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text("id,text\na,1\n")
    bad.write_text("id,text\na,1\n,1\nb,1,2\n")
    assert run(project, good).startswith("Made the dataset d.\n1 items added, 0 unchanged, in ")
    err = io.StringIO()
    with pytest.raises(CommandError, match="Nothing was imported: 2 faults"):
        call_command("import_items", "--project", project.slug, "--dataset", "e", str(bad), stderr=err)
    assert err.getvalue().splitlines() == [
        "row 3, column id: the id is missing.",
        "row 4, column 3: the row has 3 cells, the first row 2.",
    ]


@pytest.mark.parametrize(("name", "words"), [("nowhere", "no project nowhere"), (None, "cannot be read")])
def test_command_refuses_unknown_projects_and_files(project: Project, tmp_path: Path, name: str | None, words: str):
    arguments = ["--project", name or project.slug, "--dataset", "d", str(tmp_path / "none.csv")]
    with pytest.raises(CommandError, match=words):
        call_command("import_items", *arguments)


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"{SHARED} is not on this machine")
def test_published_files(project: Project):
    run(project, SHARED / "fork_food_customs.csv", dataset="food")
    assert Item.objects.filter(dataset__slug="food").count() == 184
    llmbar = SHARED / "llmbar_419.jsonl"
    err = io.StringIO()
    with pytest.raises(CommandError):
        call_command("import_items", "--project", project.slug, "--dataset", "bar", str(llmbar), stderr=err)
    assert "give subset,idx with --id-column" in err.getvalue()
    run(project, llmbar, "--id-column", "subset,idx", dataset="bar")
    first = json.loads(llmbar.read_text().splitlines()[0])
    assert Item.objects.filter(dataset__slug="bar").count() == 419
    assert Item.objects.filter(dataset__slug="bar").first().content == first  # type: ignore[union-attr]


def test_a_dataset_name_that_is_too_long_is_refused_in_a_sentence(project: Project):
    with pytest.raises(ImportRefusedError) as refused:
        import_items(project=project, dataset_slug="x" * 81, records=[], source="s", by=None)
    assert "at most 80 characters" in refused.value.faults[0].what
