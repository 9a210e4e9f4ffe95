"""How probable each option was, from the log probabilities of a reply's tokens or from several samples.

Pure code. Nothing is guessed: probability that cannot be given to one option is reported beside the options, and where
the answer cannot be found among the tokens there is no result but the reason.
"""

import math
import string
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from llm.reading.answer_formats import NO_CONTENT, AnswerMode, labelled_options
from llm.reading.answer_places import Place, find_place
from llm.reading.logprobs import Token
from llm.reading.parsing import Parsed, parse_reply
from llm.reading.replytext import UnclearError, split_think, without_end_marks
from materials.questions import option_codes

MINIMUM_MASS = 0.01  # below it, the options' shares of each other are noise of the least likely tokens
_ROUNDING = 1e-3  # servers round log probabilities
_SOUND = frozenset(string.ascii_letters + string.digits + string.punctuation)
_OPENING = "*_`'(["
_DIFFERENT = "The tokens do not say what the reply says."


@dataclass(frozen=True)
class OptionProbabilities:
    """What the alternatives at the place of the answer say, given everything before it in the reply.

    `shares`: probability by option code, every option, in [0, 1]. `other`: of texts that begin no option.
    `unresolved`: of texts that can still become several options. Together they are at most 1; what is missing to 1 is
    that of the alternatives the server did not list, and no share can be too low by more than that.
    """

    shares: dict[str, float]
    other: float
    unresolved: float


def option_probabilities(
    tokens: Sequence[Token],
    question: Any,
    order: Sequence[str] = (),
    *,
    content: Mapping[str, Any] = NO_CONTENT,
    mode: AnswerMode = "auto",
    sentence: str = "",
    text: str = "",
) -> tuple[OptionProbabilities | None, str]:
    """The options' probabilities where the reply answers a choice, pairwise or scale question; or None and why not.

    In a JSON reply that is the value of the question's key. `mode` and `sentence`: as the reply was asked for. `text`:
    the reply's own text, without reasoning; when given, the tokens have to say the same.

    At the token that holds the answer's first character, each alternative a with probability p(a) counts for the one
    option that it spells or begins. What the reply did write may leave several options open ("Yes" of "Yes, always" and
    "Yes, never"); then the next token is read in the same way, with p(a) times the probability of the tokens in
    between, until one option is left. With the tokens t_1, t_2, ... from the answer's first character on:

        share(o) = sum over k, and over all a at t_k that fit o alone, of p(t_1) ... p(t_(k-1)) p(a)

    Options are recognised in the spelling that the reply used: where it answered by letter, an alternative that begins
    an option's text is `other`.

    Undefined (None) when the reply is not read as an answer, its place is not unique, tokens and text differ, or no
    alternatives were sent. Raises ValueError when the mode or the order does not fit the question.

    >>> from materials.questions import parse_questions
    >>> options = [{"code": "y", "text": "Yes"}, {"code": "n", "text": "No"}]
    >>> (question,) = parse_questions([{"kind": "choice", "code": "q", "text": "?", "options": options}]).questions
    >>> top = [(' "B', 0.5), (' "A', 0.25), (' "', 0.15), (" 1", 0.05)]
    >>> token = Token(' "B', math.log(0.5), tuple((text, math.log(share)) for text, share in top))
    >>> found, _ = option_probabilities([Token('{"q":', 0.0), token, Token('"}', 0.0)], question)
    >>> found.shares, round(found.unresolved, 9), round(found.other, 9)
    ({'y': 0.25, 'n': 0.5}, 0.15, 0.05)
    """
    if question.kind not in ("choice", "pairwise", "scale"):
        return None, f"{question.code}: a {question.kind} question has no probabilities of single options."
    if not tokens:
        return None, "The server sent no log probabilities."
    # That it was asked is settled; alone it has no other question to depend on.
    alone = question.model_copy(update={"show_if": None})
    try:
        start, answer = _answer(tokens, text)
        parsed = parse_reply(answer, [alone], {alone.code: order}, content=content, mode=mode, sentence=sentence)
        if text.strip() not in ("", answer):
            said = parse_reply(text, [alone], {alone.code: order}, content=content, mode=mode, sentence=sentence)
            parsed = parsed if parsed == said else Parsed("unparsed", problem=_DIFFERENT)
        if alone.code not in parsed.values:
            return None, parsed.problem or f"{alone.code}: the question was left open."
        code = str(parsed.values[alone.code])
        options = labelled_options(question, order, content)
        place = find_place(answer, alone, options, code, read_as=parsed.mode, sentence=sentence)
        found, spelled = _walk(tokens, start + place.start, place, option_codes(question))
    except UnclearError as error:
        return None, str(error)
    if spelled != code:
        return None, f"{alone.code}: the tokens spell another answer than the one that was read."
    return found, ""


def normalised(shares: Mapping[str, float]) -> dict[str, float] | None:
    """The shares divided by their sum; None when that is below MINIMUM_MASS.

    Then the model was about to write something else almost for certain, and the remaining ratio of two tiny numbers
    would pass for an opinion.

    >>> normalised({"y": 0.25, "n": 0.5})
    {'y': 0.3333333333333333, 'n': 0.6666666666666666}
    >>> normalised({"y": 0.001, "n": 0.004}) is None
    True
    """
    total = math.fsum(shares.values())
    return {code: share / total for code, share in shares.items()} if total >= MINIMUM_MASS else None


def sampled_probabilities(values: Sequence[str | int]) -> dict[str, float]:
    """The relative frequency of each option among the answers of several samples; empty without any.

    Options that were never answered are absent: n samples cannot tell 0 from what is well below 1/n.

    >>> sampled_probabilities(["a", "b", "a", "a"])
    {'a': 0.75, 'b': 0.25}
    """
    return {code: count / len(values) for code, count in sorted(Counter(str(value) for value in values).items())}


def _answer(tokens: Sequence[Token], text: str) -> tuple[int, str]:
    """The answer within the tokens' text, and where it begins there: what ends it, as reasoning can only come before.

    Where characters were split between tokens and are broken, `text` is aligned by its ASCII characters.
    """
    joined = without_end_marks("".join(token.text for token in tokens))
    answer = text.strip() or split_think(joined)[0]
    if answer.endswith(joined):  # of a very long reply only the last tokens are kept
        answer = joined
    if not joined.endswith(answer):
        places = [index for index, character in enumerate(joined) if character in _SOUND]
        wanted = [character for character in answer if character in _SOUND]
        if not text or not wanted or [joined[index] for index in places[-len(wanted) :]] != wanted:
            raise UnclearError(_DIFFERENT)
        answer = joined[places[-len(wanted)] :]
    return len(joined) - len(answer), answer


def _walk(tokens: Sequence[Token], start: int, place: Place, codes: Sequence[str]) -> tuple[OptionProbabilities, str]:
    """Follow the reply from the answer's first character until what it wrote fits one option only."""
    ends = list(accumulate(len(token.text) for token in tokens))
    first = bisect_right(ends, start)
    lead = tokens[first].text[: start - ends[first] + len(tokens[first].text)]
    shares, other, unresolved = dict.fromkeys(codes, 0.0), 0.0, 0.0
    path, written = 1.0, ""
    for token in tokens[first:]:
        probability, alternatives = _alternatives(token)
        for text, mass in alternatives:
            rest = text if written else _after(text, lead)
            fitting = set() if rest is None else place.fitting(written + rest)
            if not fitting and rest and not written:
                fitting = place.fitting(rest.lstrip(_OPENING))  # quotes and emphasis before the answer are free
            if len(fitting) == 1:
                shares[fitting.pop()] += path * mass
            elif fitting:
                unresolved += path * mass
            else:
                other += path * mass
        path *= probability
        written = written + token.text if written else token.text[len(lead) :]
        fitting = place.fitting(written)
        if len(fitting) == 1:
            spelled = fitting.pop()
            shares[spelled] += path
            return OptionProbabilities(shares, other, unresolved), spelled
        if not fitting:
            raise UnclearError("The tokens at the place of the answer spell none of the options.")
    return OptionProbabilities(shares, other, unresolved + path), place.spelled(written)


def _alternatives(token: Token) -> tuple[float, list[tuple[str, float]]]:
    """The probability of the token that was written, and the other tokens with theirs."""
    if not token.top:
        raise UnclearError("No alternatives came with the tokens of the answer.")
    same = [entry for entry in token.top if entry[0] == token.text]
    written = min(same, key=lambda entry: abs(entry[1] - token.logprob), default=(token.text, token.logprob))
    others = list(token.top)
    if same:
        others.remove(written)
    masses = [(text, math.exp(logprob)) for text, logprob in others]
    if math.fsum([math.exp(written[1]), *(mass for _, mass in masses)]) > 1 + _ROUNDING:
        raise UnclearError("The probabilities of the alternatives add up to more than 1.")
    return math.exp(written[1]), masses


def _after(text: str, lead: str) -> str | None:
    """What an alternative writes from the answer's first character on; None if it does not lead there.

    White space before the answer is free: ` "A` leads where `"B` does.
    """
    position = 0
    for character in lead:
        if character.isspace():
            continue
        while text[position : position + 1].isspace():
            position += 1
        if position == len(text):
            return ""
        if text[position] != character:
            return None
        position += 1
    return text[position:].lstrip()
