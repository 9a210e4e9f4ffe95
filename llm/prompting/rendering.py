"""Prompts are Jinja2 templates, rendered in a sandbox in which a name without a value is an error.

Pure code: the same template and variables always give the same text. What could make a prompt depend on anything else
(random choice, lipsum) or grow without bound does not exist in the sandbox (llm.prompting.sandbox).
"""

import traceback
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from jinja2 import Template, TemplateError, TemplateSyntaxError, UndefinedError, meta, nodes

from llm.prompting.sandbox import NO_VALUE, UNSTORABLE, PromptSandbox, bounded

MAX_TEMPLATE_CHARACTERS = 100_000
MAX_PROMPT_CHARACTERS = 400_000  # about 100,000 tokens: more than most models read

_FAULTS = (
    TemplateError,
    TypeError,
    ValueError,
    ArithmeticError,
    LookupError,
    AttributeError,
    RecursionError,
    MemoryError,
)

# Python refuses to read numbers of thousands of digits and loops nested more than twenty deep.
_UNREADABLE = (TemplateError, RecursionError, ValueError, SyntaxError, MemoryError)


class PromptError(ValueError):
    """A prompt that cannot be used; the text is one sentence that says where and what to do.

    `line` is the line of the template, from 1, where one is known.
    """

    def __init__(self, sentence: str, line: int | None = None) -> None:
        super().__init__(sentence)
        self.line = line


_SANDBOX = PromptSandbox()


def render_messages(system: str, user: str, variables: Mapping[str, Any]) -> list[dict[str, str]]:
    """The chat messages of one call: `[{"role": "system"|"user", "content": text}, ...]`.

    There is no system message when its text is empty. Raises PromptError when a name has no value, when the user's
    message is empty or when the text is longer than MAX_PROMPT_CHARACTERS.

    >>> render_messages("", "Is {{ item.act }} fine?", {"item": {"act": "tipping"}})
    [{'role': 'user', 'content': 'Is tipping fine?'}]
    """
    texts = {"system": _render(system, variables, "system"), "user": _render(user, variables, "user")}
    if not texts["user"]:
        raise PromptError("The user prompt is empty: write what the model is asked.")
    return [{"role": role, "content": text} for role, text in texts.items() if text]


def template_variables(source: str) -> set[str]:
    """The top-level names that a template uses and does not set itself; raises PromptError when it is malformed.

    >>> sorted(template_variables("{{ item.text }} {% for q in questions %}{{ q }}{% endfor %}"))
    ['item', 'questions']
    """
    check_template(source)
    return meta.find_undeclared_variables(_SANDBOX.parse(source))


def template_paths(source: str) -> list[tuple[str, ...]]:
    """What a template reads of each top-level name that it does not set itself, sorted; a path of one name is the
    whole value. Raises PromptError when it is malformed.

    >>> template_paths("{{ item.text | upper }} {% for q in questions %}{{ q.text }}{% endfor %}{{ persona['age'] }}")
    [('item', 'text'), ('persona', 'age'), ('questions',)]
    """
    free = template_variables(source)
    return sorted({path for path in _paths(_SANDBOX.parse(source)) if path[0] in free})


def _paths(node: nodes.Node) -> Iterator[tuple[str, ...]]:
    if path := _path(node):
        yield path
        return
    called = node.node if isinstance(node, nodes.Call) else None
    if isinstance(called, nodes.Getattr):  # a method: what is read is the value that has it
        node = nodes.List([called.node, *node.args, *(option.value for option in node.kwargs)])  # type: ignore[attr-defined]
    for child in node.iter_child_nodes():
        yield from _paths(child)


def _path(node: nodes.Node) -> tuple[str, ...]:
    """The names from the top-level one to the node's own; () when it is something else than a name in a name."""
    if isinstance(node, nodes.Name):
        return (node.name,)
    if isinstance(node, nodes.Getattr) and (path := _path(node.node)):
        return (*path, node.attr)
    if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const) and isinstance(node.arg.value, str):
        return (*path, node.arg.value) if (path := _path(node.node)) else ()
    return ()


def check_template(source: str) -> None:
    """Raise PromptError with one sentence (line and what) when the template is malformed; return nothing otherwise."""
    if len(source) > MAX_TEMPLATE_CHARACTERS:
        raise PromptError(f"The prompt has {len(source):,} characters; use at most {MAX_TEMPLATE_CHARACTERS:,}.")
    try:
        _compiled(source)
    except TemplateSyntaxError as error:
        raise PromptError(f"Line {error.lineno}: {_as_sentence(error.message)}", error.lineno) from error
    except _UNREADABLE as error:
        raise PromptError(f"The prompt cannot be read: {_as_sentence(str(error))}") from error


@lru_cache(maxsize=256)  # a job renders one template for thousands of items
def _compiled(source: str) -> Template:
    return _SANDBOX.from_string(source)


def _render(source: str, variables: Mapping[str, Any], role: str) -> str:
    try:
        check_template(source)
    except PromptError as error:
        text = str(error)
        raise PromptError(f"{role.capitalize()} prompt: {text[0].lower()}{text[1:]}", error.line) from error
    parts, length = [], 0
    try:
        with bounded():
            for part in _compiled(source).generate(variables):
                length += len(part)
                if length > MAX_PROMPT_CHARACTERS:
                    raise PromptError(f"The {role} prompt grows past {MAX_PROMPT_CHARACTERS:,} characters; shorten it.")
                parts.append(part)
    except PromptError:
        raise
    except _FAULTS as error:
        raise PromptError(f"{_place(error, role)}: {_as_sentence(_what(error, variables))}") from error
    text = "".join(parts).strip()
    if UNSTORABLE.search(text):
        raise PromptError(f"The {role} prompt holds a character that cannot be stored (NUL or half a surrogate pair).")
    return text


def _place(error: BaseException, role: str) -> str:
    """Where in the template an error arose: Jinja2 puts the template's own lines into the traceback."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "<template>"]
    return f"{role.capitalize()} prompt, line {lines[-1]}" if lines else f"{role.capitalize()} prompt"


def _what(error: BaseException, variables: Mapping[str, Any]) -> str:
    if isinstance(error, UndefinedError) and (error.message or "").endswith(NO_VALUE):
        return f"{error.message}; the names with a value are {', '.join(sorted(variables)) or 'none'}"
    return str(error) or type(error).__name__


def _as_sentence(text: str | None) -> str:
    return (text or "it is malformed").strip().rstrip(".") + "."
