"""Where the platform and Concord tell different things of one person, in words.

Pure code.
"""

OPEN = ("RESERVED", "ACTIVE")
PAID = ("APPROVED", "PARTIALLY APPROVED")
SENT_IN = ("AWAITING REVIEW", *PAID)
GONE = ("RETURNED", "TIMED-OUT", "REJECTED")


def difference(*, here: str, there: str, code: str, right_code: str) -> str:
    """What does not fit, in a sentence; "" when all does.

    `here`: the session's status, "" when the person never came. `there`: the platform's status, "" when it has not
    said. `code`: what the person entered there, "" when unknown; `right_code`: the one of how their session ended.

    >>> difference(here="completed", there="TIMED-OUT", code="", right_code="DONE")
    'Completed here, timed out there: look whether to pay it.'
    """
    if not there:
        return "Nothing heard from the platform yet."
    if not here:
        return "Sent in there, but never came here." if there in SENT_IN else ""
    if there in SENT_IN and here == "started":
        return "Sent in there, not finished here."
    if there in SENT_IN and code and code != right_code:
        return "Sent in there with a code that does not belong to how the session ended here."
    if here == "completed":
        return _completed(there)
    if here == "started":
        return ""
    if there in OPEN:
        return "Ended here, still open there: the place is not free until it is returned or sent in."
    return "Approved there, not completed here." if there in PAID else ""


def _completed(there: str) -> str:
    if there in OPEN:
        return "Completed here, still open there: the code was not entered yet."
    if there == "SCREENED OUT":
        return "Completed here, screened out there."
    words = {"RETURNED": "returned", "TIMED-OUT": "timed out", "REJECTED": "rejected"}
    return f"Completed here, {words[there]} there: look whether to pay it." if there in words else ""
