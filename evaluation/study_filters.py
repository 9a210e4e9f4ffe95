"""Which sessions pass the quality filters of their studies, for reports that use only those. Without pandas, as
`evaluation.answers`."""

from collections.abc import Iterator

from django.db.models import Q, QuerySet

from evaluation.parameters import ComparedParameters
from evaluation.selection import Selection
from responses.models import Response, SourceKind
from studies.models import Study
from studies.quality import Filtered, filter_sessions


def filtered(selection: Selection[ComparedParameters]) -> Iterator[tuple[Study, bool, Filtered]]:
    """By study that was opened with the report's items and instrument, and by whether people are simulated: what its
    filters make of them. Two or three queries a study.
    """
    studies = Study.objects.filter(
        project=selection.project,
        dataset=selection.dataset,
        instrument__in=selection.instruments,
        opened_at__isnull=False,
    )
    wanted = {"all": (False, True), "real": (False,), "simulated": (True,)}[selection.parameters.people]
    for study in studies.select_related("instrument").order_by("slug", "version"):
        for simulated, found in filter_sessions(study).items():
            if simulated in wanted:
                yield study, simulated, found


def of_passing_sessions(answers: QuerySet[Response], selection: Selection[ComparedParameters]) -> QuerySet[Response]:
    """Without answers of sessions that their study's filters stop; who had no session stays."""
    passed = [session for _, _, found in filtered(selection) for session in found.passed]
    return answers.filter(~Q(source_kind=SourceKind.SESSION) | Q(source_id__in=passed))
