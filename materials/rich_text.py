"""Texts of items as safe HTML: Markdown with tables, code and LaTeX, which becomes MathML on the server.

LaTeX stands between `$ $` or `\\( \\)` within a line, and between `$$ $$` or `\\[ \\]` on lines of its own. As in
Pandoc, a dollar sign opens nothing before white space or behind a letter or digit, and closes nothing behind white
space or before a digit: "$5 and $6" stays a text. What is not LaTeX is shown as it was written.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from math_core import LatexError, LatexToMathML

from projects.markdown import ATTRIBUTES, TAGS

LONGEST_TEXT = 20_000  # characters; a longer text is shown as it is

_BLOCKS = {"table", "thead", "tbody", "tr", "th", "td", "h5", "h6"}
# fmt: off
_MATH = {
    "math", "menclose", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded", "mphantom", "mprescripts",
    "mroot", "mrow", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder",
    "munderover",
}
_MATH_ATTRIBUTES = {
    "accent", "accentunder", "columnspan", "display", "displaystyle", "fence", "form", "height", "largeop",
    "linethickness", "lspace", "mathvariant", "maxsize", "minsize", "movablelimits", "notation", "rspace",
    "scriptlevel", "separator", "stretchy", "symmetric", "width",
}
# fmt: on
_WITHIN = re.compile(
    r"\$\$(?P<double>.{1,2000}?)\$\$|\\\[(?P<square>.{1,2000}?)\\\]|\\\((?P<round>.{1,2000}?)\\\)"
    r"|(?<!\w)\$(?![\s$])(?P<single>(?:\\.|[^\\$]){1,2000}?)(?<!\s)\$(?!\d)",
    re.DOTALL,
)
_APART = re.compile(
    r"(?:\$\$(?P<double>.{1,2000}?)\$\$|\\\[(?P<square>.{1,2000}?)\\\])[ \t]*$", re.DOTALL | re.MULTILINE
)
_LATEX = LatexToMathML(fancy_error=False, max_expansions=100)


@lru_cache(maxsize=1024)
def render_rich_text(text: str) -> SafeString:
    """HTML of a Markdown text with LaTeX; "" of one that is too long to be drawn for each reader."""
    if len(text) > LONGEST_TEXT:
        return mark_safe("")
    attributes = ATTRIBUTES | dict.fromkeys(_MATH, _MATH_ATTRIBUTES)
    return mark_safe(nh3.clean(_PARSER.render(text), tags=TAGS | _BLOCKS | _MATH, attributes=attributes))


def _formula(state: StateInline, silent: bool) -> bool:
    match = _WITHIN.match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        _push(state, match, block=match.lastgroup in ("double", "square"))
    state.pos = match.end()
    return True


def _formula_apart(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    match = _APART.match(state.src, state.bMarks[start] + state.tShift[start])
    if match is None or state.is_code_block(start) or state.parentType == "blockquote":
        return False
    following = start + match.group().count("\n") + 1
    if following > end:
        return False
    if not silent:
        _push(state, match, block=True)
        state.line = following
    return True


def _push(state: StateInline | StateBlock, match: re.Match[str], *, block: bool) -> None:
    token = state.push("formula", "math", 0)
    token.content, token.info, token.block = match[match.lastgroup or 0], match.group(), block


def _lower_headings(state: StateCore) -> None:
    """The page's own headings are above those of a text."""
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"


def _draw(renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    token = tokens[index]
    try:
        return _LATEX.convert_with_local_state(token.content, displaystyle=token.block)
    except LatexError:
        return f"<code>{escape(token.info)}</code>"


_PARSER = MarkdownIt("commonmark", {"html": False}).enable("table")
_PARSER.inline.ruler.before("escape", "formula", _formula)
_PARSER.block.ruler.after("fence", "formula", _formula_apart, {"alt": ["paragraph", "reference", "list"]})
_PARSER.core.ruler.push("lower_headings", _lower_headings)
_PARSER.add_render_rule("formula", _draw)
