import tracemalloc

import pytest

from llm.prompting.rendering import (
    MAX_PROMPT_CHARACTERS,
    PromptError,
    check_template,
    render_messages,
    template_variables,
)

VARIABLES = {"item": {"act": "tipping", "tags": ["x", "y"]}, "persona": {}}
LONG = {"long": "x" * 300_000, "many": list(range(2000))}


def user_text(source: str) -> str:
    return render_messages("", source, VARIABLES)[-1]["content"]


def test_both_messages_are_rendered_and_an_empty_system_message_is_left_out():
    assert render_messages("Be {{ item.act }}.", "Is {{ item.act }} fine?", VARIABLES) == [
        {"role": "system", "content": "Be tipping."},
        {"role": "user", "content": "Is tipping fine?"},
    ]
    assert [message["role"] for message in render_messages("{% if persona %}You.{% endif %}", "Q", VARIABLES)] == [
        "user"
    ]


def test_nothing_is_escaped_and_block_lines_leave_no_gaps():
    assert render_messages("", "{{ text }}", {"text": "<b> & 'x'"})[0]["content"] == "<b> & 'x'"
    assert user_text("{% for tag in item.tags %}\n{{ loop.index }}. {{ tag }}\n{% endfor %}") == "1. x\n2. y"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("Is it?\n{{ country }}", 'User prompt, line 2: "country" has no value here'),
        ("{{ item.text }}", 'line 1: there is no "text" in the value that is asked for it, which has act, tags.'),
        ("{% if country %}x{% endif %}", '"country" has no value here; the names with a value are item, persona.'),
        ("{% for %}", "User prompt: line 1: Expected an expression"),
        ("{{ item.act | shout }}", "User prompt: line 1: No filter named 'shout'."),
        ("{{ item.act + 1 }}", "User prompt, line 1: can only concatenate str"),
        ("  \n ", "The user prompt is empty"),
        ("\n{{ item['\\x00'] }}", "line 2: it holds a character that cannot be stored"),
    ],
)
def test_faults_are_one_sentence_with_the_place(source, words):
    with pytest.raises(PromptError) as error:
        user_text(source)
    assert words in str(error.value)
    assert str(error.value).endswith(".")
    assert "\n" not in str(error.value)


def test_a_text_that_the_database_cannot_store_is_refused():
    with pytest.raises(PromptError, match="The user prompt holds a character that cannot be stored"):
        render_messages("", "{{ half }}", {"half": "\ud83d"})


def test_the_fault_names_the_message_it_is_in():
    with pytest.raises(PromptError, match=r"^System prompt, line 1: \"x\" has no value"):
        render_messages("{{ x }}", "Q", VARIABLES)


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ item.tags.append('z') }}",
        "{{ 'x' * 1000000000 }}",
        "{{ [1] * 1000000000 }}",
        "{{ 9 ** 9 ** 9 }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ 'x'.ljust(1000000000) }}",
        "{{ '{:>1000000000}'.format(1) }}",
        "{{ 'x' | center(1000000000) }}",
        "{{ range(1000000) | list }}",
        "{{ lipsum() }}",
        "{{ [1, 2] | random }}",
        "{% include '/etc/passwd' %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{{ '{:>999999999}'.format(1) }}",
        "{{ '{:>999999999}'['format'](1) }}",
        "{{ ('{:>999999999}' | attr('format'))(1) }}",
        "{{ '{a:>999999999}'.format_map({'a': 1}) }}",
        "{{ ['{:>999999999}'] | map(attribute='format') | map('upper') | list }}",
        "{{ '%999999999d' | format(1) }}",
        "{{ '%999999999d' is divisibleby(1) }}",
        "{{ '%999999999d' is odd }}",
        "{{ ['%999999999d'] | select('even') | list }}",
        "{{ 'x\ny' | indent(300000000) }}",
        "{{ 'x\ny' | indent('z' * 300000000) }}",
        "{{ 'x' | wordwrap(1, wrapstring=item.act) }}",
        "{{ [1] | batch(999999999, 0) | list }}",
        "{{ [1] | slice(999999999, 0) | list }}",
        "{{ [[1]] | tojson(indent=999999999) }}",
        "{{ 1.5 | round(999999999, 'ceil') }}",
        "{{ (1).to_bytes(999999999, 'big') }}",
        "{{ 'aaaa'.translate({97: 'x'}) }}",
        "{{ 'a'.encode('utf-8') }}",
        "{{ ','.join(item.tags) }}",
        "{% set a = 'x' %}" + "{% set a = a ~ a %}" * 32 + "{{ a | length }}",
        "{% set a = 'x' %}" + "{% set a = a + a %}" * 32 + "{{ a | length }}",
        "{% set a = [1] %}" + "{% set a = a + a %}" * 32 + "{{ a | length }}",
        "{% set a = [1] %}" + "{% set a = [a, a] %}" * 32 + "{{ a }}",
        "{% set a = (1,) %}" + "{% set a = (a, a) %}" * 32 + "{{ a | tojson }}",
        "{% set a = {'k': 1} %}" + "{% set a = {'k': a, 'l': a} %}" * 32 + "{{ a }}",
        "{% set a = 'x' %}" + "{% set a %}{{ a }}{{ a }}{% endset %}" * 32 + "{{ a | length }}",
        "{% set a = 'x' %}" + "{% set a = a | replace('x', 'xxxxxxxx') %}" * 12 + "{{ a | length }}",
        "{% set a = 'xx' %}" + "{% set a = a | list | join(a ~ 'yy') %}" * 32 + "{{ a | length }}",
        "{% set a = 9 %}" + "{% set a = a * a %}" * 32 + "{{ a }}",
        "{% set a = item.long %}" + "{% set a = a[0:] ~ '' %}" * 400,
        "{{ [item.long] | map('list') | list }}",
        "{{ (item.long | list) | map('replace', 'x', item.long) | list }}",
        "{{ (item.many | map(attribute='no', default=item.long) | list) | string | length }}",
        "{{ item.many | map(attribute='no', default=[item.long]) | list | string | length }}",
        "{{ item.many | join(item.long) | length }}",
        "{% for x in item.many recursive %}{{ loop(item.many) }}{% endfor %}",
        "{% block b %}{{ self.b() }}{% endblock %}",
        "{% filter upper %}x{% endfilter %}",
        "{% autoescape true %}x{% endautoescape %}",
        "{{ " + "9" * 5000 + " }}",
        "{% for a in item.tags %}" * 25 + "x" + "{% endfor %}" * 25,
    ],
)
def test_the_sandbox_reaches_nothing_draws_nothing_and_grows_nothing(source):
    user_text("{{ item }}")  # what Python imports once is not the template's
    tracemalloc.start()
    try:
        with pytest.raises(PromptError) as error:
            render_messages("", source, {"item": VARIABLES["item"] | LONG, "persona": {}})
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50e6
    assert str(error.value).endswith(".")
    assert VARIABLES["item"]["tags"] == ["x", "y"]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{{ '' }}",
        "{% if item.long | wordcount %}{% endif %}",
        "{% if item.long.rfind(item.long[:100000]) %}{% endif %}",
        "{% if 'yxxxxxxx' in item.long %}{% endif %}",
        "{% if item.long == item.long ~ '' %}{% endif %}",
        "{% if item.long | trim(item.long) %}{% endif %}",
        "{% if item.long is in item.long %}{% endif %}",
        "{% if item.many | min %}{% endif %}",
        "{% if 'none' in item.many %}{% endif %}",
        "{% if item.many.index(1999) %}{% endif %}",
        "{% if item.tagged | striptags %}{% endif %}",
        "{% if item.get('many') %}{% endif %}",
        "{% for x in item.many if x > 3000 %}{% endfor %}",
        "{{ loop.changed(item.many) or '' }}",
    ],
)
def test_no_loop_keeps_a_process_busy(body):
    """Unbounded, these loops would run for minutes to centuries."""
    rows = "{% for a in item.many %}" * 6 + body + "{% endfor %}" * 6
    item = LONG | {"tagged": "<!---->" * 40_000}
    with pytest.raises(PromptError, match=r"^User prompt, line 1: it (takes more than 1,000,000 steps|makes too many)"):
        render_messages("", rows + "x", {"item": item})


def test_a_long_prompt_of_examples_and_questions_is_within_the_steps():
    examples = [{"text": "word " * 60, "label": "usual", "votes": {"yes": 3, "no": 1}} for _ in range(1000)]
    source = (
        "{% for one in examples %}{% if one.label != 'none' and 'wor' in one.text %}"
        "{{ loop.index }}. {{ one.text | trim | truncate(80) }}: {{ one.label | upper }}"
        "{% for name, n in one.votes | dictsort %} {{ name }}={{ n }}{% endfor %}\n{% endif %}{% endfor %}"
    )
    assert "1000. word word" in render_messages("", source, {"examples": examples})[0]["content"]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 2 in [1, 2] }} {{ 'x' not in 'axe' }} {{ 1 == 1.0 != 2 }} {{ 2 <= 1 }}",
         "True False True False True False"),
        ("{{ item.act ~ '!' ~ 3 }} {{ item.act[:3] }} {{ item.act[::-1] }} {{ item.tags[1:] }}",
         "tipping!3 tip gnippit ['y']"),
        ("{{ {'b': [1, (2, none)], 'a': 'é'} | tojson }}", '{"a": "\\u00e9", "b": [1, [2, null]]}'),
        ("{% for k, v in item.items() %}{{ loop.index }}{{ k }}{{ loop.last }} {% endfor %}", "1actFalse 2tagsTrue"),
        ("{% for a, b in [(1, 2)] %}{{ a + b }}{% endfor %}{% set x, y = 1, 2 %}{{ x - y }}", "3-1"),
        ("{{ 'a\n\nb' | indent(2) }}", "a\n\n  b"),
        ("{{ 'a\n\nb\n' | indent(1, true, true) }}.", "a\n \n b\n ."),
        ("{{ 'abab' | replace('a', 'c', 1) }} {{ 2.345 | round(1) }} {{ 7 is odd }} {{ 'a,b'.split(',') | last }}",
         "cbab 2.3 True b"),
        ("{{ item.tags | map('upper') | join(', ') }} {{ [{'n': 1}] | join(attribute='n') }}", "X, Y 1"),
        ("{{ item.tags | reverse | first }} {{ persona | default('x', true) }} {{ [3, 1] | sort | string }}",
         "y x [1, 3]"),
    ],
)  # fmt: skip
def test_what_prompts_need_works(source, text):
    assert user_text(source) == text


def test_the_output_is_bounded():
    many = {"rows": ["x" * 1000] * 1000}
    with pytest.raises(PromptError, match=f"grows past {MAX_PROMPT_CHARACTERS:,} characters"):
        render_messages("", "{% for row in rows %}{{ row }}{% endfor %}", many)


def test_arithmetic_on_numbers_works():
    assert user_text("{{ 2 * 3 + 7 % 4 }}") == "9"


def test_the_variables_of_a_template_are_its_free_top_level_names():
    source = (
        "{{ item.act }}{% set n = 1 %}{{ n }}{% for q in questions %}{{ q.text }}{{ loop.index }}{% endfor %}{{ a[b] }}"
    )
    assert template_variables(source) == {"item", "questions", "a", "b"}


def test_a_template_is_checked_without_rendering_it():
    check_template("{{ anything.at.all }}")
    with pytest.raises(PromptError, match=r"^Line 2: "):
        check_template("fine\n{% if %}")
    with pytest.raises(PromptError, match="use at most 100,000"):
        check_template("x" * 100_001)
