"""The parts of the labelling benchmark that do not depend on the machine; nothing is timed here."""

import json
from pathlib import Path

import httpx2
import pytest

from bench import annotate
from bench.annotate_peer_label_studio import LabelStudio
from bench.annotate_peer_potato import Potato
from bench.annotate_peers import answers
from config.processes import StartError


def test_arguments_decide_what_is_measured(capsys, tmp_path):
    assert tuple(annotate.parse(["--quick"]).parts) == annotate.PARTS
    (tmp_path / "potato").touch()
    of_potato = ["--peer", "potato", "--peer-python", f"{tmp_path}/python"]
    options = annotate.parse(of_potato)
    assert (options.parts, options.peers) == ([], [("potato", tmp_path / "potato")])
    assert annotate.parse([*of_potato, "--part", "race"]).parts == ["race"]
    for bad, words in (
        (["--peer", "potato"], "with potato-annotation (DIR/bin/pip install)"),
        (["--peer", "label-studio", "--peer-python", f"{tmp_path}/python"], "python -m pip install label-studio"),
    ):
        with pytest.raises(SystemExit):
            annotate.parse(bad)
        assert words in capsys.readouterr().err


class Page:
    """Stands in for a tool's server: two items, then the second for ever."""

    def __init__(self):
        self.asked, self.at = [], 0

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(f"{request.method} {request.url.path}")
        content = json.loads(request.content) if request.content.startswith(b"{") else {}
        if content.get("action") == "next_instance" or request.url.params.get("id") == "next_task":
            self.at = min(self.at + 1, 2)
        if request.url.path == "/annotate":
            return httpx2.Response(200, text=f'<input type="hidden" id="instance_id" value="{self.at}">')
        return httpx2.Response(200, json={"id": self.at}, headers={"Set-Cookie": "csrftoken=t; Path=/"})

    @property
    def http(self) -> httpx2.Client:
        return httpx2.Client(base_url="http://tool", transport=httpx2.MockTransport(self))


@pytest.mark.parametrize(
    ("peer", "requests"),
    [
        (Potato, ["POST /updateinstance", "POST /annotate", "GET /annotate"]),
        (LabelStudio, ["POST /api/tasks/{}/annotations", "POST /api/dm/actions"]),
    ],
)
def test_a_peer_answers_by_the_requests_of_its_page_and_never_the_same_item_twice(peer, requests):
    page = Page()
    person = peer(page.http)
    first = person.first(["one", "two"])
    page.asked.clear()
    assert [item for item, _ in answers(person, first, 1)] == [f"{int(first) + 1}"]
    assert page.asked == [request.format(first) for request in requests]
    with pytest.raises(StartError, match="the next was 2, which cannot be"):
        list(answers(person, f"{int(first) + 1}", 2))


def test_the_peers_get_the_questions_of_concords_annotators(tmp_path: Path):
    Potato.arguments(tmp_path, 1, ["one", "two"])
    schemes = json.loads((tmp_path / "config.yaml").read_text())["annotation_schemes"]
    assert [scheme["annotation_type"] for scheme in schemes] == ["radio", "radio", "radio", "text"]
    assert len((tmp_path / "items.jsonl").read_text().splitlines()) == 2
    LabelStudio.arguments(tmp_path, 1, [])
    form = (tmp_path / "form.xml").read_text()
    assert (form.count("<Choices"), form.count("<Choice "), form.count("<TextArea")) == (3, 6, 1)
