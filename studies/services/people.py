"""The right to be forgotten: everything of one person in a study, deleted on request."""

from dataclasses import dataclass

from django.db import transaction

from projects.models import User
from projects.services import audit
from studies.models import Session, Study
from studies.services.entry import person_digest


@dataclass(frozen=True)
class Deleted:
    """The receipt: how much was deleted of whom (by session number, which tells nobody who it was)."""

    session_number: int
    screens: int
    responses: int


@transaction.atomic
def delete_person(*, study: Study, participant_id: str, by: User | None) -> Deleted | None:
    """Delete the person's session, screens, platform ids, respondent and responses; None when there is nobody.

    The audit log keeps that a person was deleted, not who. Finished reports keep their aggregated numbers.
    """
    digest = person_digest(study, participant_id, simulated=False)
    session = Session.objects.select_for_update(of=("self",)).filter(study=study, person_digest=digest).first()
    if session is None:
        return None
    respondent = session.respondent
    receipt = Deleted(
        session_number=session.number,
        screens=session.screens.count(),
        responses=respondent.responses.count() if respondent else 0,
    )
    session.delete()
    if respondent:
        respondent.delete()
    audit(
        project=study.project,
        user=by,
        action="participant deleted",
        study=study.pk,
        screens=receipt.screens,
        responses=receipt.responses,
    )
    return receipt
