import pytest

from materials.item_parts import Entry, item_parts
from materials.rich_text import LONGEST_TEXT, render_rich_text


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 and $6.",
        "US$7, or $10–$20",
        "a $ b $ c",
        r"\$x\$",
        "5$ or 6$",
    ],
)
def test_amounts_of_money_stay_text(text):
    assert "<math" not in render_rich_text(text)
    assert render_rich_text(text) == f"<p>{text.replace(chr(92), '')}</p>\n"


@pytest.mark.parametrize(
    ("text", "formulas", "apart"),
    [
        (r"$x^2$ and \(y_1\)", 2, 0),
        (r"so \[ x \] and $$y$$", 2, 2),
        ("$$\n\\begin{aligned} a &= b \\\\\n+ c\n\\end{aligned}\n$$\nnext", 1, 1),
        ("| a | $b$ |\n| - | - |\n| $c$ | d |", 2, 0),
        ("> $$x$$", 1, 1),
        ("`$x$`\n\n```\n$y$\n```", 0, 0),
    ],
)
def test_formulas_become_mathml(text, formulas, apart):
    html = render_rich_text(text)
    assert html.count("<math") == formulas
    assert html.count('display="block"') == apart


def test_what_is_not_latex_shows_its_source():
    assert render_rich_text(r"so $\foo{<b>$ it") == "<p>so <code>$\\foo{&lt;b&gt;$</code> it</p>\n"


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "[x](javascript:alert(1))",
        "![x](https://example.org/x.png)",
        r"$\text{<img src=x onerror=alert(1)>}$",
        r"$\href{javascript:alert(1)}{x}$",
        '<p style="color:red" onclick="x()">',
    ],
)
def test_nothing_in_a_text_runs_or_loads(text):
    html = render_rich_text(text)
    assert not any(found in html for found in ("<script", "<img", "href=", "<p style", "<p onclick"))


def test_headings_are_below_those_of_the_page_and_code_keeps_its_signs():
    assert "<h3>One</h3>" in render_rich_text("# One")
    assert "<code>a &lt; b\n</code>" in render_rich_text("```\na < b\n```")


def test_a_text_that_is_too_long_is_shown_as_it_is():
    (part,) = item_parts({"text": "*" * (LONGEST_TEXT + 1)}, [{"field": "text", "format": "markdown"}])
    assert not part.html
    assert part.text


def test_formats_of_fields_turns_and_marked_texts():
    content = {
        "reply": "*a*\r\nb",
        "turns": [{"role": "user", "content": "*Hi*"}, {"role": "model", "content": "Ho"}],
        "mixed": [{"role": "user", "content": "x", "id": 1}],
    }
    rich = [{"field": name, "format": "markdown"} for name in content]
    reply, turns, mixed = item_parts(content, rich, marked=["reply"])
    assert (reply.marked, reply.html, reply.exact) == ("reply", "", "*a*&#13;\nb")
    assert turns.entries[0] == Entry("*Hi*", "user", "<p><em>Hi</em></p>\n")
    assert mixed.code.startswith("[")
    assert [part.marked for part in item_parts(content, ["turns"], marked=["reply"])] == ["", "reply"]


@pytest.mark.parametrize(
    ("turns", "runs"),
    [
        (["x"] * 12, [(1, 12, False)]),
        (["x" * 600] * 3, [(1, 3, False)]),
        (["x" * 600] * 4, [(1, 1, False), (2, 1, True), (3, 2, False)]),
        (["x"] * 6 + ["x" * 600] + ["x"] * 6, [(1, 1, False), (2, 6, True), (8, 6, False)]),
    ],
    ids=["many short ones", "no middle", "few long ones", "as many last ones as fit"],
)
def test_a_dialogue_that_does_not_fit_a_page_folds_in_its_middle(turns, runs):
    (part,) = item_parts({"turns": [{"role": "user", "content": turn} for turn in turns]}, [])
    assert [(run.start, len(run.entries), run.folded) for run in part.runs] == runs
    assert [entry for run in part.runs for entry in run.entries] == list(part.entries)


def test_a_dialogue_above_a_pair_takes_less_room():
    content = {"turns": ["x"] * 20, "one": "a", "two": "b"}
    assert len(item_parts(content, ["turns"])[0].runs) == 1
    assert len(item_parts(content, ["turns"], without=["one", "two"])[0].runs) == 3
