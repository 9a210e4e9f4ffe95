"""What the shared includes draw, and what they refuse to draw."""

import math

import pytest
from django import forms
from django.template.loader import render_to_string
from django.test import RequestFactory


def draw(component: str, /, **context: object) -> str:
    return " ".join(render_to_string(f"components/{component}.html", context).split())


def test_an_estimate_shows_value_interval_and_n():
    html = draw("estimate", value=0.6249, low=0.55, high=0.691, n=48)
    assert ">0.62<" in html
    assert "[0.55, 0.69]" in html
    assert "n = 48" in html


def test_an_estimate_of_zero_is_a_number():
    assert ">0.0<" in draw("estimate", value=0.0, low=-0.1, high=0.1, n=3, digits=1)


@pytest.mark.parametrize("value", [None, math.nan, 0.5])
def test_an_undefined_estimate_says_why_in_words(value: float | None):
    html = draw("estimate", value=value, low=0.1, high=0.9, n=1, reason="only one answer")
    assert "n/a" in html
    assert "only one answer" in html
    assert "0.1" not in html


def test_an_undefined_value_without_a_reason_is_never_a_number():
    assert "n/a" in draw("estimate", value=math.nan)


def test_an_estimate_without_an_interval_shows_none():
    html = draw("estimate", value=0.5, low=math.nan, high=math.nan, n=2)
    assert "0.50" in html
    assert "[" not in html


@pytest.mark.parametrize(
    ("kind", "words"), [("simulated", "Simulated"), ("demo-model", "Demo model"), ("human", "People")]
)
def test_badges_have_their_words(kind: str, words: str):
    assert draw("badge", kind=kind) == f'<span class="badge badge-{kind}">{words}</span>'


def test_words_from_strangers_are_escaped():
    assert "<script>" not in draw("badge", kind="human", label="<script>")
    assert "<script>" not in draw(
        "choices", name="q", legend="<script>", options=[{"code": '"><script>', "label": "<script>"}]
    )


def test_choices_mark_only_what_was_chosen():
    options = [{"code": "no", "label": "No"}, {"code": "no_idea", "label": "No idea"}]
    none = draw("choices", name="q", legend="Well", options=options)
    one = draw("choices", name="q", legend="Well", options=options, selected=["no_idea"])
    assert "checked" not in none
    assert one.count("checked") == 1
    assert 'value="no_idea" checked' in one


def test_the_error_summary_points_at_the_field_that_shows_the_error():
    form = forms.Form({})
    form.fields["age"] = forms.IntegerField(label="Age")
    form.fields["order"] = forms.ChoiceField(choices=[("a", "A")], widget=forms.RadioSelect)
    summary = draw("error_summary", form=form)
    for name in ("age", "order"):
        field = draw("field", field=form[name])
        assert f'href="#id_{name}"' in summary
        assert f'id="id_{name}"' in field
        assert f'id="id_{name}_error"' in field
        assert f'aria-describedby="id_{name}_error"' in field


def test_the_error_summary_is_silent_without_errors():
    assert draw("error_summary") == ""


def test_pages_keep_the_other_parameters_of_the_address():
    from django.core.paginator import Paginator

    request = RequestFactory().get("/", {"q": "tea", "page": "2"})
    html = " ".join(
        render_to_string(
            "components/pagination.html", {"page": Paginator(range(30), 10).page(2)}, request=request
        ).split()
    )
    assert "Page 2 of 3" in html
    assert 'rel="next" href="?q=tea&amp;page=3"' in html


def test_one_page_needs_no_pagination():
    assert draw("pagination") == ""


def test_progress_gives_the_browser_plain_numbers():
    html = draw("progress", count=1840, total=5760, time_left="6 min")
    assert 'value="1840" max="5760"' in html
    assert "<strong>1,840</strong> of 5,760" in html
    assert "6 min left" in html
