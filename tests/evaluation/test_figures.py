"""Figures hold their data, obey the schema and say in words what they show."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from evaluation import figure_files
from evaluation.figures import COOL, WARM, agreement_scatter, interval_dots, rate_bars

PEOPLE: dict[str, Any] = {"question": "norm", "who": "People with people", "mark": "human", "label": "norm 0.90"}
MODEL: dict[str, Any] = {"question": "norm", "who": "tiny · As Brazil", "mark": "demo-model", "label": "norm 0.50"}
DOTS = [
    PEOPLE | {"value": 0.9, "low": None, "high": None, "n": 9},
    MODEL | {"value": 0.5, "low": 0.25, "high": 0.75, "n": 9},
]
WHO = ["People with people", "tiny · As Brazil"]


def dots(domain: tuple[float, float] = (0, 1)) -> dict[str, Any]:
    return interval_dots(DOTS, who=WHO, x_title="Majority alignment", domain=domain, caution="Demo model")


def svg(spec: dict[str, Any]) -> str:
    return figure_files.render(spec, "svg").decode()


def test_labels_stand_in_the_svg():
    drawn = svg(dots())
    for words in ("norm 0.90", "norm 0.50", "People with people", "As Brazil", "Majority alignment", "Demo model"):
        assert words in drawn, words


def test_demo_models_are_outlined_and_people_solid():
    marks = re.findall(r'aria-roledescription="point"[^>]*?(fill="[^"]+")? stroke="([^"]+)"', svg(dots()))
    assert marks == [(f'fill="{WARM}"', WARM), ("", COOL)]


def test_a_signed_gap_has_a_line_at_zero():
    assert len(dots((-1, 1))["layer"]) == len(dots()["layer"]) + 1


def test_bars_carry_who_and_n():
    row = {"country": "Brazil", "who": "People", "mark": "simulated", "value": 0.5, "low": 0.2, "high": 0.8, "n": 4}
    spec = rate_bars([row | {"label": "People 0.50, n = 4"}], countries=["Brazil"], who=["People"], caution="")
    assert "People 0.50, n = 4" in svg(spec)


def test_each_of_several_models_has_a_panel_with_its_own_points():
    points = [
        {"who": f"{who} · No persona", "mark": "model", "u": 0.6, "v": v, "items": 2}
        for who, v in (("one", 0.7), ("two", 0.8), ("two", 0.9))
    ]
    assert "concat" not in agreement_scatter(points[:1], caution="")
    drawn = svg(agreement_scatter(points, caution=""))
    marks = re.findall(r'aria-label="([^"]+)" role="graphics-symbol" aria-roledescription="point"', drawn)
    assert [mark.partition("who: ")[2][:3] for mark in marks] == ["one", "two", "two"]


@pytest.mark.parametrize(("value", "side"), [(-0.9, "start"), (0, "middle"), (0.9, "end")])
def test_words_at_an_end_of_the_figure_stand_inside_it(value: float, side: str):
    row = DOTS[1] | {"value": value, "low": None, "high": None}
    drawn = svg(interval_dots([row], who=WHO, x_title="Gap", domain=(-1, 1), caution=""))
    (anchor,) = re.findall(r'text-anchor="(\w+)"[^>]*>norm 0\.50</text>', drawn)
    assert anchor == side


def test_nothing_is_fetched_when_a_figure_is_drawn():
    with pytest.raises(ValueError, match=r"(?i)not allowed|denied"):
        figure_files.render({**dots(), "data": {"url": "http://127.0.0.1:9/data.json"}}, "svg")


def test_a_figure_is_rendered_once(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    settings.VAR_DIR = tmp_path
    first = figure_files.paper_file(dots(), "svg")
    monkeypatch.setattr(figure_files, "render", None)
    assert figure_files.paper_file(dots(), "svg") == first
    assert len(list(tmp_path.rglob("*.svg"))) == 1


def test_a_figure_can_be_asked_for_by_many_at_once(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    settings.VAR_DIR = tmp_path
    together, spec = threading.Barrier(8), dots()

    def drawn(spec: dict[str, Any], format: str) -> bytes:
        together.wait()
        return b"<svg/>" * 10_000

    monkeypatch.setattr(figure_files, "render", drawn)
    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            found = list(pool.map(lambda _: figure_files.paper_file(spec, "svg"), range(8)))
            assert found == [b"<svg/>" * 10_000] * 8
            assert [path.suffix for path in (tmp_path / "cache" / "figures").iterdir()] == [".svg"]
            next((tmp_path / "cache" / "figures").iterdir()).unlink()


def test_on_paper_a_figure_says_what_it_shows_of_whom():
    figure = {"title": "Majority alignment", "caption": "Share of items; n = 9 items.", "spec": dots()}
    source = (
        "Models: tiny. The people in this report are simulated: its numbers say nothing about real people. tiny is a"
    )
    drawn = svg(figure_files.on_paper(figure | {"source": f"{source} demo model."}))
    for words in ("Majority alignment", "n = 9 items", "Models: tiny", "simulated: its numbers", "demo model."):
        assert words in drawn, words


def test_the_data_of_a_figure_are_its_rows():
    lines = figure_files.data_csv(dots()).splitlines()
    assert lines[0] == "question,who,mark,value,low,high,n,label"
    assert lines[1] == "norm,People with people,human,0.9,,,9,norm 0.90"
