"""Which comments are a community's reactions to the news: the most up-voted ones that people wrote to the post."""

import re
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

import pandas as pd

from protocols.care.published import MOST_REACTIONS
from protocols.care.reading import Comment
from protocols.care.sampling import top_reactions

REPLY = "a reply to another comment"
DELETED = "deleted or removed"
BOT = "by a bot"
STICKIED = "stickied by moderators"
LOWER = "not among the post’s most up-voted"
_BOT_TEXT = re.compile(r"\bI(?: a|')m a bot\b", re.IGNORECASE)


class Chosen(NamedTuple):
    """`ranks`: by comment its place among the reactions to its post, from 1. `why`: left out for what, counted."""

    ranks: dict[str, int]
    why: dict[str, int]


class _Kept(NamedTuple):
    post: str
    comment: str
    upvotes: int
    created_at: datetime


def why_no_reaction(comment: Comment) -> str:
    """Why the comment cannot be a reaction, in one of the phrases above; "" where it can.

    Source: CARE, section 3.1; PIPELINES 1.4.
    """
    if comment.parent is not None:
        return REPLY
    if comment.text.strip() in ("[deleted]", "[removed]", ""):
        return DELETED
    if comment.bot or _BOT_TEXT.search(comment.text):
        return BOT
    return STICKIED if comment.stickied else ""


def choose_reactions(comments: Iterable[Comment], *, most: int = MOST_REACTIONS) -> Chosen:
    """At most so many reactions of each post, the most up-voted; equal ones by time, then by id.

    Memory grows with the number of comments that could be reactions, not with their texts.
    """
    why: Counter[str] = Counter()
    kept: list[_Kept] = []
    for comment in comments:
        if reason := why_no_reaction(comment):
            why[reason] += 1
        else:
            kept.append(_Kept(comment.post, comment.id, comment.score, comment.created_at))
    frame = pd.DataFrame(kept, columns=_Kept._fields).assign(parent=None)
    chosen = top_reactions(frame.sort_values(["created_at", "comment"]), most=most)
    ranks = chosen.groupby("post").cumcount() + 1
    if lower := len(kept) - len(chosen):
        why[LOWER] += lower
    return Chosen(dict(zip(chosen["comment"], ranks.tolist(), strict=True)), dict(why))
