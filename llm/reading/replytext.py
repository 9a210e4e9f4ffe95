"""Finding the answer inside a model's prose: thinking blocks, JSON objects, marked letters.

Pure code, which knows nothing of questions.
"""

import json
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

# So that no reply, however it was made, costs time:
MAX_OBJECT_STARTS = 50  # braces tried in one reply
MAX_PROSE = 4000  # characters searched for letters
MAX_END_MARK = 40  # characters of a special token at the end
MAX_SENTENCES = 1000  # answer sentences in one reply
MAX_NEIGHBOUR = 200  # characters looked at behind a sentence

_THINK_OPEN = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_THINK_CLOSE = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_ANSWER = r"\b(?:(?:final|my|the|best|correct)\s+)*(?:answer|choice|option|verdict|response|pick|choose|select)\b"
_MARK = re.compile(rf"^\W*{_ANSWER}(?:\s+is)?\s*[:=\-]?\s*(.+)$", re.IGNORECASE | re.DOTALL)
CHOOSING = (
    rf"(?:{_ANSWER}(?:\s+(?:is|would\s+be|will\s+be))?|"
    r"\b(?:go(?:ing)?\s+with|prefer|vote\s+for|choosing|picking|selecting|it\s+is|it['’]s|would\s+be)\b)"
)
_NEGATION = re.compile(r"\b(?:not|never|neither|nor|cannot|unsure|unclear|both|either)\b|n['’]t\b", re.IGNORECASE)
_CONDITION = re.compile(r"[\s)\]*]*\?|\W*\s(?:if|unless|when)\b", re.IGNORECASE)
_PHRASE = re.compile(
    r"\s+(?!(?:and|as|because|due|for|in|is|or|over|rather|seems|since|than|to|was|with|would)\b)[a-z]"
)
_JOINT = re.compile(r"(?:[\s,]*(?:\band\b|[/|&、或])|[\s,.]*\bor\b|\s*,)[\s\"'*(\[]*", re.IGNORECASE)
_PLAIN = str.maketrans({"。": ".", "、": ","} | dict.fromkeys("\"'`*“”‘’「」『』《》«»"))
_END_MARK = re.compile(r"(?:<\|[^|<>]*\|>|<｜[^｜<>]*｜>|</s>|<eos>|<end_of_turn>)$")
_OPENING, _CLOSING, _AFTER_A_LETTER = tuple("([*\"'`"), tuple(")]*\"'`"), tuple(".,;:)*")


class UnclearError(ValueError):
    """A reply that is not clearly one answer; the text says what is wrong, in one sentence."""


def split_think(text: str) -> tuple[str, str]:
    """The text after the thinking and the thinking: `<think>` closed, opened by the prompt only, or never closed.

    A block that is never closed is all thinking, except for a JSON object at its very end.

    >>> split_think("<think>Hm.</think> B")
    ('B', 'Hm.')
    >>> split_think('<think>So B. {"q": "B"}')
    ('{"q": "B"}', 'So B.')
    """
    closings = list(_THINK_CLOSE.finditer(text))
    if closings:
        thinking, answer = text[: closings[-1].start()], text[closings[-1].end() :]
        return answer.strip(), _THINK_OPEN.sub("", thinking, count=1).strip()
    opening = _THINK_OPEN.search(text)
    if opening is None:
        return text.strip(), ""
    before, thinking = text[: opening.start()].strip(), text[opening.end() :]
    thinking = thinking.strip().removesuffix("```").rstrip()
    if before or not thinking.endswith("}"):
        return before, thinking
    start = max(thinking.rfind("{"), 0)
    return thinking[start:], thinking[:start].strip()


def without_end_marks(text: str) -> str:
    """The text without the white space and the special tokens that end it.

    >>> without_end_marks("B. <|im_end|></s>")
    'B.'
    """
    stripped = text.rstrip()
    while mark := _END_MARK.search(stripped, max(0, len(stripped) - MAX_END_MARK)):
        stripped = stripped[: mark.start()].rstrip()
    return stripped


def json_objects(text: str) -> list[dict[str, Any]]:
    """Every complete JSON object in the text, outermost ones only, in order.

    Raises UnclearError when an object has the same key twice with different values: it would say two things.
    """
    return [value for _, value in placed_objects(text)]


def placed_objects(text: str) -> list[tuple[int, dict[str, Any]]]:
    """The same, each with the index of its opening brace."""
    objects: list[tuple[int, dict[str, Any]]] = []
    position = text.find("{")
    for _ in range(MAX_OBJECT_STARTS):
        if position < 0:
            break
        try:
            value, end = _DECODER.raw_decode(text, position)
            objects.append((position, value))
        except UnclearError:
            raise
        except (ValueError, RecursionError):
            end = position + 1
        position = text.find("{", end)
    return objects


def value_place(text: str, start: int, key: str) -> tuple[int, int]:
    """Where the value of a key begins and ends, in the complete JSON object at `start` that holds it."""
    position = _skip(text, start + 1)
    while True:
        name, end = _DECODER.raw_decode(text, position)
        value_start = _skip(text, _skip(text, end) + 1)
        _, value_end = _DECODER.raw_decode(text, value_start)
        if name == key:
            return value_start, value_end
        position = _skip(text, _skip(text, value_end) + 1)


def _skip(text: str, position: int) -> int:
    """The index of the next character that is not JSON's white space."""
    while text[position] in " \t\r\n":
        position += 1
    return position


def marked_answer(text: str) -> str:
    """What follows "Answer:", "The answer is" or the like at the start of the text; otherwise the text itself.

    >>> marked_answer("**Final answer:** 4")
    '** 4'
    """
    mark = _MARK.match(text)
    return mark.group(1) if mark else text


def marked_letters(text: str, letters: Sequence[str]) -> set[str]:
    """The option letters that the text puts forward as its answer; several, or none, when it is not clear.

    First those that follow words of choosing ("answer:", "go with"). Without any, a letter that begins the text, has a
    line to itself or is enclosed, provided that no other option's letter is mentioned and nothing is denied. A letter
    inside a word, and "A" as an article, is none. Of a long text only the end is read.

    >>> sorted(marked_letters("A person may, so (b)", "AB")), sorted(marked_letters("Answer: A or B", "AB"))
    (['B'], ['A', 'B'])
    """
    alone = rf"(?<![\w.-])(?<!\w['’])({'|'.join(sorted(letters, key=len, reverse=True))})(?![\w-]|['’]\w)"
    if len(text) > MAX_PROSE:
        text = f"… {text[-MAX_PROSE:]}"
    return _chosen(text, alone) or _standing_out(text, alone)


def _chosen(text: str, alone: str) -> set[str]:
    found: set[str] = set()
    for match in re.finditer(rf"{CHOOSING}[\s:=*_\"'`(\[]*{alone}", text, re.IGNORECASE):
        rest = text[match.end() :]
        denied = _NEGATION.search(text[max(0, match.start() - 20) : match.start()].rpartition(".")[2])
        if denied or _CONDITION.match(rest) or _is_article(match.group(1), rest):
            continue
        found.add(match.group(1).upper())
        other = re.match(rf"[\s)\]*\"']*(?:or|and|/|,|&|\|)[\s(\[*\"']*{alone}", rest, re.IGNORECASE)
        if other and not _is_article(other.group(1), rest[other.end() :]):
            found.add(other.group(1).upper())
    return found


def _standing_out(text: str, alone: str) -> set[str]:
    if _NEGATION.search(text):
        return set()
    candidates, mentions = set(), set()
    for match in re.finditer(alone, text, re.IGNORECASE):
        letter, before, rest = match.group(1), text[: match.start()], text[match.end() :]
        enclosed = before.endswith(_OPENING) and rest.startswith(_CLOSING)
        begins = not before.strip(" \n*_\"'`(") and rest.startswith(_AFTER_A_LETTER)
        own_line = not before.rpartition("\n")[2].strip() and not rest.partition("\n")[0].strip(" .")
        if enclosed or begins or own_line:
            candidates.add(letter.upper())
        if enclosed or (letter.isupper() and not _is_article(letter, rest)):
            mentions.add(letter)
    return candidates | {mention.upper() for mention in mentions} if candidates else set()


def _is_article(letter: str, rest: str) -> bool:
    """Whether the letter begins a phrase ("a fair one", "I think") instead of standing for an option ("A because")."""
    return letter.upper() in ("A", "I") and _PHRASE.match(rest) is not None


def sentences_in(text: str, before: str, fillings: Sequence[str], after: str) -> list[tuple[int, int]]:
    """Where the sentences `before + filling + after` stand in the text: (index of the filling, index in the text).

    A sentence counts where it is not part of a longer word, number or other sentence, and no other filling is offered
    beside it ("... is A or B").

    >>> sentences_in("Grade: B. Or downgrade: A. Grade: A/B, Grade: AB.", "Grade: ", ["A", "B"], "")
    [(1, 0)]
    """
    longest: dict[int, int] = {}
    for index in sorted(range(len(fillings)), key=lambda index: len(fillings[index])):
        sentence = f"{before}{fillings[index]}{after}"
        start = text.find(sentence)
        while start >= 0:
            longest[start] = index
            start = text.find(sentence, start + len(sentence))
            if len(longest) > MAX_SENTENCES:
                raise UnclearError(f"The reply repeats the answer sentence more than {MAX_SENTENCES} times.")
    found, covered = [], 0
    for start, index in sorted(longest.items()):
        end = start + len(f"{before}{fillings[index]}{after}")
        if start < covered:
            continue
        covered = end
        others = [filling for filling in fillings if filling != fillings[index]]
        if _stands_alone(text, start, end) and not _offers(text[end : end + MAX_NEIGHBOUR], before, others):
            found.append((index, start))
    return found


def plain_sentence(text: str) -> str:
    """The text for a lenient comparison: without case, quotes and emphasis, full-width forms as their plain ones.

    >>> plain_sentence("“最终 选择：Ａ”。 **Response  A**")
    '最终 选择:a. response a'
    """
    plain = unicodedata.normalize("NFKC", text).casefold().translate(_PLAIN)
    return re.sub(r"\s+", " ", plain)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether no word or number runs on over the borders of text[start:end]; Chinese has no spaces between words."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if _is_word(text[start]) and (_is_word(before[-1:]) or (before[-1:] == "-" and _is_word(before[:1]))):
        return False
    if _is_word(after[:1]):
        return False
    if not _is_word(text[end - 1]):
        return True
    joins = "-'’" if _is_word(after[1:]) else "-+"
    return not (after and (after[0] in joins or (after[0] in ".,:" and after[1:].isdigit())))


def _is_word(character: str) -> bool:
    return character == "_" or (character.isalnum() and character < "\u2e80")


def _offers(rest: str, before: str, fillings: Sequence[str]) -> bool:
    """Whether the text goes on with "or" and another filling, before which the sentence's last word may be repeated."""
    joint = _JOINT.match(rest)
    if joint is None:
        return False
    rest = rest[joint.end() :]
    last_word = "".join(before.split()[-1:])
    return any(
        candidate.startswith(filling[:MAX_NEIGHBOUR]) and not _is_word(candidate[len(filling) : len(filling) + 1])
        for candidate in (rest, rest.removeprefix(last_word).lstrip())
        for filling in fillings
        if filling
    )


def _without_contradiction(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for key, value in pairs:
        if key in document and document[key] != value:
            raise UnclearError(f'The JSON object has the key "{key}" twice with different values.')
        document[key] = value
    return document


_DECODER = json.JSONDecoder(object_pairs_hook=_without_contradiction)
