"""Every write to studies: publishing them, a participant's way through one, and the deletion of a person.

How a session ended goes with its answers wherever they are read: the respondent's attributes hold, besides what the
person said about themselves, `outcome`. It is "unfinished" from the first answer about an item on and becomes
"completed" or "failed_attention" in the transaction that ends the session. Who answers about no item is no respondent.
"""

from studies.services.answering import AnswersRefusedError, Submission, save_draft, show_screen, submit_screen
from studies.services.drafting import (
    DraftChangedError,
    NotADraftError,
    begin_study,
    change_draft,
    copy_study,
    draft_digest,
)
from studies.services.entry import (
    Entered,
    StudyNotOpenError,
    enter,
    enter_pilot,
    enter_without_platform,
    set_language,
)
from studies.services.files import create_study_from_file, file_of
from studies.services.laying_out import preview_screens
from studies.services.people import Deleted, delete_person
from studies.services.places import deal_place, give_back, give_back_timed_out
from studies.services.preregistering import is_as_registered, preregister
from studies.services.publishing import StudyNotReadyError, close_study, create_study, open_study

__all__ = [
    "AnswersRefusedError",
    "Deleted",
    "DraftChangedError",
    "Entered",
    "NotADraftError",
    "StudyNotOpenError",
    "StudyNotReadyError",
    "Submission",
    "begin_study",
    "change_draft",
    "close_study",
    "copy_study",
    "create_study",
    "create_study_from_file",
    "deal_place",
    "delete_person",
    "draft_digest",
    "enter",
    "enter_pilot",
    "enter_without_platform",
    "file_of",
    "give_back",
    "give_back_timed_out",
    "is_as_registered",
    "open_study",
    "preregister",
    "preview_screens",
    "save_draft",
    "set_language",
    "show_screen",
    "submit_screen",
]
