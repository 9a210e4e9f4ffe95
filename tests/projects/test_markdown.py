import pytest

from projects.markdown import render_markdown


def test_paragraphs_lists_and_emphasis():
    assert render_markdown("## A\n\n**b** and\n\n1. c\n2. d") == (
        "<h2>A</h2>\n<p><strong>b</strong> and</p>\n<ol>\n<li>c</li>\n<li>d</li>\n</ol>\n"
    )


def test_tables():
    table = "".join(render_markdown("| a |\n|---|\n| b |").split())
    assert table == "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>b</td></tr></tbody></table>"


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[a](javascript:alert(1))",
        "[a](data:text/html,x)",
        "![a](https://example.org/pixel.png)",
        '<a href="x" onclick="y">a</a>',
        "<style>p{}</style>",
    ],
)
def test_nothing_runs_and_nothing_is_loaded(text):
    html = render_markdown(text)
    for tag in ("<script", "<img", "<style", 'href="javascript', 'href="data', '<a href="x"'):
        assert tag not in html


def test_links_do_not_tell_where_they_came_from():
    assert 'rel="noopener noreferrer"' in render_markdown("[a](https://example.org)")


def test_there_is_one_first_heading_a_page():
    assert render_markdown("# Title") == "<h2>Title</h2>\n"
