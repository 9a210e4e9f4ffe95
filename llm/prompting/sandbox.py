"""The Jinja2 sandbox that prompts are rendered in: nothing leads out of it, is drawn, or grows beyond a bound.

Pure code. Limits on a text do not help when the text is made before it is measured, so what can multiply is either
absent or measured before. What remains makes values about as long as those it is given; these are added up, and a
rendering that has made too much ends. So are the steps: each turn of a loop pays for what stands in its body, and each
filter, test, method and comparison for what it reads, so that no template keeps a process for more than a second or
two. What there is stands in lists of what is allowed, because such lists fail on the safe side when Jinja2 grows.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from jinja2 import Environment, StrictUndefined, TemplateSyntaxError, Undefined, nodes, pass_environment
from jinja2.defaults import DEFAULT_FILTERS
from jinja2.exceptions import SecurityError
from jinja2.filters import make_attrgetter
from jinja2.runtime import LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing
from jinja2.visitor import NodeTransformer

MAX_VALUE = 400_000  # characters of one value, with an entry of a list as ENTRY
MAX_MADE = 2_000_000  # of all values of one rendering together
ENTRY = 16  # an entry costs Python about as much as so many characters
MAX_STEPS = 1_000_000  # of one rendering; a step is what Python does in about 0.3 microseconds
_READ_A_STEP = 100  # characters
_NEEDLE = 8  # characters of a text that is looked for in another one without costing more
_MAX_BITS = 1024  # of a whole number: more than any float
_MAX_INDENT = 40
_MAX_DIGITS = 15
_NAMES = 300  # characters of the names that are told instead of one that is not there
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # in PostgreSQL: NUL and halves of surrogate pairs

# Not there: what pads or multiplies without a bound (center, format, wordwrap, batch, slice, filesizeformat, pprint,
# urlize, xmlattr, groupby), and random.
_FILTERS = (
    "abs", "attr", "capitalize", "count", "d", "default", "dictsort", "e", "escape", "first", "float", "forceescape",
    "int", "items", "last", "length", "list", "lower", "map", "max", "min", "reject", "rejectattr", "reverse", "safe",
    "select", "selectattr", "sort", "string", "striptags", "sum", "title", "trim", "truncate", "unique", "upper",
    "urlencode", "wordcount",
)  # fmt: skip
# These look at one entry or none, however long the value is.
_AT_ONCE = frozenset({"attr", "count", "d", "default", "first", "last", "length"})
_METHODS_AT_ONCE = frozenset({"get", "items", "keys", "values", "startswith", "endswith"})
# Python's "%" formats when its left side is a text.
_TESTS_OF_NUMBERS = ("divisibleby", "even", "odd")
_METHODS: Mapping[type, frozenset[str]] = {
    str: frozenset(
        {
            "capitalize", "casefold", "count", "endswith", "find", "index", "isalnum", "isalpha", "isascii",
            "isdecimal", "isdigit", "islower", "isnumeric", "isspace", "istitle", "isupper", "lower", "lstrip",
            "partition", "removeprefix", "removesuffix", "rfind", "rindex", "rpartition", "rsplit", "rstrip", "split",
            "splitlines", "startswith", "strip", "swapcase", "title", "upper",
        }
    ),
    dict: frozenset({"get", "items", "keys", "values"}),
    list: frozenset({"count", "index"}),
    tuple: frozenset({"count", "index"}),
    LoopContext: frozenset(
        {
            "changed", "cycle", "depth", "depth0", "first", "index", "index0", "last", "length", "nextitem", "previtem",
            "revindex", "revindex0",
        }
    ),
}  # fmt: skip
# Not there: whatever collects what its body writes before anybody can measure it (macro, call, filter, block, set with
# a body, recursive loops), other templates, and a change of escaping.
_NODES = frozenset(
    {
        nodes.Template, nodes.Output, nodes.TemplateData, nodes.For, nodes.If, nodes.Assign, nodes.With, nodes.Name,
        nodes.Const, nodes.Tuple, nodes.List, nodes.Dict, nodes.Pair, nodes.Keyword, nodes.CondExpr, nodes.Filter,
        nodes.Test, nodes.Call, nodes.Getitem, nodes.Getattr, nodes.Slice, nodes.Concat, nodes.Compare, nodes.Operand,
        nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.And, nodes.Or, nodes.Not,
        nodes.Neg, nodes.Pos,
    }
)  # fmt: skip
_COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "eq": eq, "ne": ne, "gt": gt, "gteq": ge, "lt": lt, "lteq": le,
    "in": lambda left, right: left in right, "notin": lambda left, right: left not in right,
}  # fmt: skip
NO_VALUE = "has no value here"
_WORDS = {"assignblock": "{% set %} with a body", "filterblock": "{% filter %}", "callblock": "{% call %}", "pow": "**"}


class _NamedUndefined(StrictUndefined):
    """Says which name has no value, in the words of the person who wrote the template."""

    @property
    def _undefined_message(self) -> str:
        if self._undefined_hint:
            return self._undefined_hint
        if self._undefined_obj is missing:
            return f'"{self._undefined_name}" {NO_VALUE}'
        within = self._undefined_obj
        names = " ".join(", ".join(map(str, within)).split()) if isinstance(within, Mapping) else ""
        there = f", which has {names[:_NAMES]}" if names else ""
        return f'there is no "{self._undefined_name}" in the value that is asked for it{there}'


class Budget:
    """How much one rendering may still make."""

    def __init__(self) -> None:
        self.left = MAX_MADE
        self.steps = MAX_STEPS

    def spend(self, amount: int) -> None:
        """Raise SecurityError when it is more than one value or what is left may be."""
        self.left -= amount
        if amount > MAX_VALUE:
            raise SecurityError(f"it makes a value of more than {MAX_VALUE:,} characters; shorten it")
        if self.left < 0:
            raise SecurityError("it makes too many long values on the way; make fewer or shorter ones")

    def work(self, steps: int) -> None:
        """Raise SecurityError when it is more than what is left."""
        self.steps -= steps
        if self.steps < 0:
            raise SecurityError(f"it takes more than {MAX_STEPS:,} steps; loop over less, or do less in a loop")


_budget: ContextVar[Budget] = ContextVar("budget")


@contextmanager
def bounded() -> Iterator[None]:
    """What is rendered within shares one budget; nothing can be computed outside, not even while compiling."""
    token = _budget.set(Budget())
    try:
        yield
    finally:
        _budget.reset(token)


class PromptSandbox(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset({"+", "*", "%"})

    def __init__(self) -> None:
        super().__init__(
            undefined=_NamedUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True, optimized=False
        )
        self.globals.clear()
        known: dict[str, Any] = dict(self.filters)
        self.filters = {name: _made(known[name] if name in _AT_ONCE else _reading(known[name])) for name in _FILTERS}
        own: dict[str, Any] = {
            "join": _join, "replace": _replace, "indent": _indent, "round": _round, "tojson": _made(_to_json),
            "striptags": _made(_striptags),
        }  # fmt: skip
        self.filters |= {name: _reading(function) for name, function in own.items()}
        self.filters |= {_LITERAL: _made(_same), _PART: _made(_part)}
        self.filters |= {_TURNS: _turns, _COMPARED: _reading(_compared)}
        tests: dict[str, Any] = self.tests | {name: _of_numbers(self.tests[name]) for name in _TESTS_OF_NUMBERS}
        self.tests = {name: _reading(test) for name, test in tests.items()}

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        template = super()._parse(source, name, filename)
        for node in template.find_all(nodes.Node):
            _check(node)
        return _Measured().visit(template)  # type: ignore[no-any-return]

    def call(self, context: Any, /, function: Any, *args: Any, **options: Any) -> Any:
        if getattr(function, "__name__", "") not in _METHODS_AT_ONCE:
            _read(getattr(function, "__self__", None), *args, *options.values())
        return _keep(super().call(context, function, *args, **options))

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if operator != "+" and not all(isinstance(side, int | float) for side in (left, right)):
            raise SecurityError(f'"{operator}" works on numbers only')
        return _keep(super().call_binop(context, operator, left, right))

    def wrap_str_format(self, value: Any) -> None:
        """Jinja2 would put a formatter of its own in the place of str.format before it asks whether that is safe."""

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        for kind, names in _METHODS.items():
            if isinstance(obj, kind):
                return attr in names
        return not callable(value) and super().is_safe_attribute(obj, attr, value)


class _Measured(NodeTransformer):
    """Puts filters in the place of syntax that Jinja2 compiles to plain Python, which nothing could measure."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802
        body = sum(1 for _ in node.find_all(nodes.Node))
        self.generic_visit(node)
        node.iter = _filter(node.iter, _TURNS, [nodes.Const(body, lineno=node.lineno)])
        return node

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        operators = nodes.Const(tuple(operand.op for operand in node.ops), lineno=node.lineno)
        return _filter(node.expr, _COMPARED, [operators, *(operand.expr for operand in node.ops)])

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        parts = nodes.List([self.visit(part) for part in node.nodes], lineno=node.lineno)
        return _filter(parts, "join")

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        if not isinstance(node.arg, nodes.Slice):
            return node
        bounds = [node.arg.start, node.arg.stop, node.arg.step]
        return _filter(node.node, _PART, [bound or nodes.Const(None, lineno=node.lineno) for bound in bounds])

    def visit_List(self, node: nodes.List) -> nodes.Node:  # noqa: N802
        return _filter(self.generic_visit(node), _LITERAL)

    def visit_Dict(self, node: nodes.Dict) -> nodes.Node:  # noqa: N802
        return _filter(self.generic_visit(node), _LITERAL)

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        return _filter(node, _LITERAL) if node.ctx == "load" else node


# Names that no template can write.
_LITERAL, _PART, _TURNS, _COMPARED = "a literal", "a part", "turns of a loop", "compared"


def _filter(node: Any, name: str, args: list[Any] | None = None) -> nodes.Filter:
    return nodes.Filter(node, name, args or [], [], None, None, lineno=node.lineno)


def _check(node: nodes.Node) -> None:
    kind, line = type(node), node.lineno or 1
    if kind is nodes.For and node.recursive:  # type: ignore[attr-defined]
        raise TemplateSyntaxError("a recursive loop is not available in prompts", line)
    if kind not in _NODES:
        word = kind.__name__.lower()
        raise TemplateSyntaxError(f"{_WORDS.get(word, f'{{% {word} %}}')} is not available in prompts", line)
    if any(isinstance(value, str) and UNSTORABLE.search(value) for _, value in node.iter_fields()):
        raise TemplateSyntaxError("it holds a character that cannot be stored (NUL or half a surrogate pair)", line)


def _made(function: Callable[..., Any]) -> Callable[..., Any]:
    """The filter, with what it makes measured."""

    @wraps(function)
    def measured(*args: Any, **options: Any) -> Any:
        return _keep(function(*args, **options))

    return measured


def _keep(value: Any) -> Any:
    """The value, paid for; iterators become lists, because they would make their entries unseen."""
    budget = _budget.get()
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        raise SecurityError("it makes a number with more than 300 digits")
    if isinstance(value, str):
        budget.spend(len(value))
    elif isinstance(value, Mapping):
        _refuse_when_large(value)
    elif hasattr(value, "__iter__") and not isinstance(value, Undefined | LoopContext):
        entries = value if isinstance(value, list | tuple) else list(_paid(value, budget))
        budget.spend(sum(ENTRY + (len(entry) if isinstance(entry, str) else 0) for entry in entries))
        _refuse_when_large(entries)
        return entries
    return value


def _paid(entries: Iterable[Any], budget: Budget) -> Iterator[Any]:
    for entry in entries:
        budget.spend(ENTRY)
        yield entry


def _refuse_when_large(value: Any, most: float = MAX_VALUE) -> None:
    """Values within values may be the same ones many times over: written out they are longer than they are large."""
    budget = _budget.get()
    size, steps, waiting = 0, 0, [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, str):
            size += len(found)
            steps += 1 + len(found) // _READ_A_STEP
        else:
            size += ENTRY
            steps += 1
            if isinstance(found, list | tuple):
                waiting += found
            elif isinstance(found, Mapping):
                waiting += [*found.keys(), *found.values()]
        if size > most:
            raise SecurityError(f"it makes a value of more than {MAX_VALUE:,} characters; shorten it")
        if steps > budget.steps:
            break
    budget.work(steps)


def _reading(function: Callable[..., Any]) -> Callable[..., Any]:
    """The filter or test, with what it reads paid for."""

    @wraps(function)
    def paid(*args: Any, **options: Any) -> Any:
        _read(*args, *options.values())
        return function(*args, **options)

    return paid


def _read(*values: Any) -> None:
    """Pay for looking through all of the values, and for looking for each text in the longest one."""
    lengths = sorted(len(value) for value in values if isinstance(value, str))
    if lengths:
        _budget.get().work(lengths[-1] * (1 + sum(lengths[:-1]) // _NEEDLE) // _READ_A_STEP)
    for value in values:
        if isinstance(value, list | tuple | Mapping):
            _refuse_when_large(value, math.inf)


def _turns(entries: Iterable[Any], body: int) -> Iterator[Any]:
    """The entries of a loop, each paid for with as many steps as its body has nodes."""
    budget = _budget.get()
    for entry in entries:
        budget.work(body)
        yield entry


def _compared(value: Any, operators: Sequence[str], *others: Any) -> bool:
    """Python's chain of comparisons."""
    chain = zip([value, *others], operators, others, strict=False)
    return all(_COMPARISONS[operator](left, right) for left, operator, right in chain)


@pass_environment
def _join(environment: Environment, value: Any, d: str = "", attribute: str | int | None = None) -> str:
    budget, separator, parts = _budget.get(), str(d), []
    for entry in value if attribute is None else map(make_attrgetter(environment, attribute), value):
        parts.append(str(entry))
        budget.spend(len(parts[-1]) + len(separator))
    if sum(map(len, parts)) + len(separator) * len(parts) > MAX_VALUE:
        budget.spend(MAX_VALUE + 1)
    return separator.join(parts)


def _replace(value: Any, old: Any, new: Any, count: int = -1) -> str:
    text, old, new = str(value), str(old), str(new)
    found = text.count(old)
    _budget.get().spend(len(text) + (found if count < 0 else min(found, count)) * len(new))
    return text.replace(old, new, count)


def _indent(value: Any, width: int = 4, first: bool = False, blank: bool = False) -> str:
    """Jinja2's filter with widths up to _MAX_INDENT."""
    if not isinstance(width, int) or not 0 <= width <= _MAX_INDENT:
        raise SecurityError(f"indent takes a width of 0 to {_MAX_INDENT}")
    text = str(value)
    lines = text.splitlines() + [""] * text.endswith("\n")
    _budget.get().spend(len(text) + width * len(lines))
    indented = [" " * width + line if line or blank else line for line in lines]
    return "\n".join(indented if first else [*lines[:1], *indented[1:]])


def _round(value: float, precision: int = 0, method: str = "common") -> float:
    if not isinstance(precision, int) or abs(precision) > _MAX_DIGITS:
        raise SecurityError(f"round takes a precision of at most {_MAX_DIGITS}")
    return DEFAULT_FILTERS["round"](value, precision, method)  # type: ignore[no-any-return]


def _to_json(value: Any) -> str:
    """JSON without indents, which would multiply with the depth."""
    return json.dumps(value, sort_keys=True)


def _striptags(value: Any) -> str:
    text = str(value)
    _budget.get().work(text.count("<") + 4 * text.count("&"))  # each is found, cut out or looked up on its own
    return DEFAULT_FILTERS["striptags"](text)  # type: ignore[no-any-return]


def _same(value: Any) -> Any:
    return value


def _part(value: Any, start: int | None, stop: int | None, step: int | None) -> Any:
    return value[start:stop:step]


def _of_numbers(test: Any) -> Callable[..., bool]:
    @wraps(test)
    def guarded(*values: Any) -> bool:
        if not all(isinstance(value, int | float) for value in values):
            raise SecurityError("it works on numbers only")
        return bool(test(*values))

    return guarded
