"""Every write to labelling projects and assignments."""

from annotation.refusals import LabelProjectError, RefusedError
from annotation.services.adjudicating import DecidedMeanwhileError, DecisionError, decide
from annotation.services.answering import (
    AlreadyAnsweredError,
    KeyReusedError,
    NoLongerYoursError,
    NotValidError,
    add_flag,
    save_draft,
    skip,
    submit,
)
from annotation.services.bots import BotsSummary, label_with_bots, settle_splits
from annotation.services.bulk import hand_over, invalidate, release_leases, reopen_skipped
from annotation.services.claiming import claim_next, orders_for, own_place, set_shown
from annotation.services.guidelines import GuidelinesError, publish_guidelines, read_guidelines
from annotation.services.known_answers import (
    Judged,
    NewKnown,
    add_known_answers,
    judge,
    lacking_field,
    next_known,
    remove_known_answer,
    settle_training,
)
from annotation.services.members import (
    MembershipRefusedError,
    cap_of,
    change_member,
    let_on,
    member_for,
    name_members,
    set_member_status,
)
from annotation.services.places import add_items, items_without_places, raise_overlap
from annotation.services.setup import UnknownFieldError, change_settings, create_label_project, set_status

__all__ = [
    "AlreadyAnsweredError",
    "BotsSummary",
    "DecidedMeanwhileError",
    "DecisionError",
    "GuidelinesError",
    "Judged",
    "KeyReusedError",
    "LabelProjectError",
    "MembershipRefusedError",
    "NewKnown",
    "NoLongerYoursError",
    "NotValidError",
    "RefusedError",
    "UnknownFieldError",
    "add_flag",
    "add_items",
    "add_known_answers",
    "cap_of",
    "change_member",
    "change_settings",
    "claim_next",
    "create_label_project",
    "decide",
    "hand_over",
    "invalidate",
    "items_without_places",
    "judge",
    "label_with_bots",
    "lacking_field",
    "let_on",
    "member_for",
    "name_members",
    "next_known",
    "orders_for",
    "own_place",
    "publish_guidelines",
    "raise_overlap",
    "read_guidelines",
    "release_leases",
    "remove_known_answer",
    "reopen_skipped",
    "save_draft",
    "set_member_status",
    "set_shown",
    "set_status",
    "settle_splits",
    "settle_training",
    "skip",
    "submit",
]
