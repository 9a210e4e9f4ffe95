import pytest

from llm.rendering import MAX_PROMPT_CHARACTERS, PromptError, check_template, render_messages, template_variables

VARIABLES = {"item": {"act": "tipping", "tags": ["x", "y"]}, "persona": {}}


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
        ("{{ item.text }}", 'User prompt, line 1: there is no "text" in the value'),
        ("{% if country %}x{% endif %}", '"country" has no value here; the names with a value are item, persona.'),
        ("{% for %}", "User prompt: line 1: Expected an expression"),
        ("{{ item.act | shout }}", "User prompt: line 1: No filter named 'shout'."),
        ("{{ item.act + 1 }}", "User prompt, line 1: can only concatenate str"),
        ("  \n ", "The user prompt is empty"),
    ],
)
def test_faults_are_one_sentence_with_the_place(source, words):
    with pytest.raises(PromptError) as error:
        user_text(source)
    assert words in str(error.value)
    assert str(error.value).endswith(".")
    assert "\n" not in str(error.value)


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
    ],
)
def test_the_sandbox_reaches_nothing_draws_nothing_and_grows_nothing(source):
    with pytest.raises(PromptError):
        user_text(source)
    assert VARIABLES["item"]["tags"] == ["x", "y"]


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
