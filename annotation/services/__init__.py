"""Every write to labelling projects and assignments."""

from annotation.services.answering import (
    AlreadyAnsweredError,
    NoLongerYoursError,
    NotValidError,
    RefusedError,
    add_flag,
    save_draft,
    skip,
    submit,
)
from annotation.services.claiming import claim_next, orders_for
from annotation.services.setup import LabelProjectError, UnknownFieldError, create_label_project, set_status

__all__ = [
    "AlreadyAnsweredError",
    "LabelProjectError",
    "NoLongerYoursError",
    "NotValidError",
    "RefusedError",
    "UnknownFieldError",
    "add_flag",
    "claim_next",
    "create_label_project",
    "orders_for",
    "save_draft",
    "set_status",
    "skip",
    "submit",
]
