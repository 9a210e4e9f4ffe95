"""Dialogues of people with assistants, as their sources have them, and as one text that people and models read."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

Role = Literal["system", "human", "assistant"]

ROLES: Mapping[str, Role] = {
    "system": "system",
    **dict.fromkeys(["human", "user"], "human"),
    **dict.fromkeys(["assistant", "gpt", "model", "bot"], "assistant"),
}
_MESSAGES = ("messages", "conversation", "conversations", "dialogue")
_ONE_TEXT = ("query", "prompt", "instruction", "text")
_IDS = ("id", "query_id", "external_id", "idx")


class DialogueError(ValueError):
    """A row that is no dialogue; the text says why."""


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Dialogue:
    """What was said before an answer is asked for. `source` is the row it was read from."""

    id: str
    messages: tuple[Message, ...]
    source: int

    @property
    def text(self) -> str:
        """All messages, each after its speaker's name.

        >>> Dialogue("1", (Message("human", "Hi."), Message("assistant", "Hello.")), 1).text
        'Human: Hi.\\n\\nAssistant: Hello.'
        """
        return "\n\n".join(f"{message.role.capitalize()}: {message.text}" for message in self.messages)

    @property
    def ends_with_assistant(self) -> bool:
        return self.messages[-1].role == "assistant"


def read_dialogue(row: Mapping[str, Any], number: int) -> Dialogue:
    """The dialogue of one row of a source: a list of messages, or one text of a person. Raises DialogueError.

    Messages have a role (`role` or `from`) and a text (`content`, `value` or `text`).

    >>> read_dialogue({"id": 7, "messages": [{"from": "user", "value": "Hi."}]}, 1).messages
    (Message(role='human', text='Hi.'),)
    """
    found = next((row[name] for name in _IDS if row.get(name) not in (None, "")), number)
    return Dialogue(str(found), tuple(_messages(row)), number)


def _messages(row: Mapping[str, Any]) -> list[Message]:
    given = next((row[name] for name in _MESSAGES if row.get(name)), None)
    if given is None:
        texts = [str(row[name]).strip() for name in _ONE_TEXT if row.get(name)][:1]
        texts += [str(row["input"]).strip()] if texts and row.get("input") else []
        if not texts:
            raise DialogueError(f"it has neither messages nor a text under {', '.join(_ONE_TEXT)}.")
        return [Message("human", "\n\n".join(texts))]
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise DialogueError("its messages are no list.")
    return [_message(message, place) for place, message in enumerate(given, start=1)]


def _message(message: Any, place: int) -> Message:
    if not isinstance(message, Mapping):
        raise DialogueError(f"message {place} has no role and text.")
    said = str(message.get("role", message.get("from", ""))).lower()
    text = next((message[name] for name in ("content", "value", "text") if name in message), None)
    if said not in ROLES:
        raise DialogueError(f"message {place} has the role {said!r}; known are {', '.join(ROLES)}.")
    if not isinstance(text, str) or not text.strip():
        raise DialogueError(f"message {place} has no text.")
    return Message(ROLES[said], text.strip())


def without_last_answer(dialogue: Dialogue) -> Dialogue | None:
    """The dialogue up to the last message that asks something; None where nobody asks anything."""
    asked = [place for place, message in enumerate(dialogue.messages, start=1) if message.role == "human"]
    return replace(dialogue, messages=dialogue.messages[: asked[-1]]) if asked else None


def normalised(text: str) -> str:
    """The text by which two dialogues are the same: without case, width, punctuation and spacing.

    >>> normalised("Hello,  World!") == normalised("hello world")
    True
    """
    return " ".join(re.sub(r"[^\w]+", " ", unicodedata.normalize("NFKC", text).casefold()).split())


def first_of_each(dialogues: Iterable[Dialogue]) -> tuple[list[Dialogue], int]:
    """The dialogues without those that say the same as an earlier one, and how many these were."""
    kept: dict[str, Dialogue] = {}
    n = 0
    for dialogue in dialogues:
        n += 1
        kept.setdefault(normalised(dialogue.text), dialogue)
    return list(kept.values()), n - len(kept)
