"""Every write to studies: publishing them, a participant's way through one, and the deletion of a person.

How a session ended goes with its answers wherever they are read: the respondent's attributes hold, besides what the
person said about themselves, `outcome`. It is "unfinished" from the first answer on and becomes "completed" or
"failed_attention" in the transaction that ends the session. Who gives no consent is no respondent.
"""

from studies.services.answering import AnswersRefusedError, Submission, current_screen, planned_screens, submit_screen
from studies.services.entry import Entered, StudyNotOpenError, enter, enter_without_platform
from studies.services.files import create_study_from_file
from studies.services.people import Deleted, delete_person
from studies.services.publishing import StudyNotReadyError, close_study, create_study, open_study

__all__ = [
    "AnswersRefusedError",
    "Deleted",
    "Entered",
    "StudyNotOpenError",
    "StudyNotReadyError",
    "Submission",
    "close_study",
    "create_study",
    "create_study_from_file",
    "current_screen",
    "delete_person",
    "enter",
    "enter_without_platform",
    "open_study",
    "planned_screens",
    "submit_screen",
]
