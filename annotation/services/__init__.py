"""Every write to labelling projects and assignments."""

from annotation.refusals import RefusedError
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
from annotation.services.claiming import claim_next, orders_for
from annotation.services.guidelines import GuidelinesError, publish_guidelines
from annotation.services.known_answers import Judged, judge, next_known, settle_training
from annotation.services.members import (
    MembershipRefusedError,
    cap_of,
    change_member,
    let_on,
    member_for,
    name_members,
    set_member_status,
)
from annotation.services.setup import LabelProjectError, UnknownFieldError, create_label_project, set_status

__all__ = [
    "AlreadyAnsweredError",
    "GuidelinesError",
    "Judged",
    "KeyReusedError",
    "LabelProjectError",
    "MembershipRefusedError",
    "NoLongerYoursError",
    "NotValidError",
    "RefusedError",
    "UnknownFieldError",
    "add_flag",
    "cap_of",
    "change_member",
    "claim_next",
    "create_label_project",
    "judge",
    "let_on",
    "member_for",
    "name_members",
    "next_known",
    "orders_for",
    "publish_guidelines",
    "save_draft",
    "set_member_status",
    "set_status",
    "settle_training",
    "skip",
    "submit",
]
