"""Files of a study. Who took what is in the audit log."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from django.template.loader import render_to_string

from projects.crypto import DecryptionError, decrypt
from projects.models import User
from projects.services import audit
from responses.export import Tabular, table_lines
from responses.export_table import Choices, Table, fields_of
from responses.models import Response
from studies.codebook import Part, as_markdown, as_table, codebook
from studies.export_tables import paradata_table, session_table, wide_table
from studies.models import Study
from studies.pact_layout import PactFields, pact_problems, pact_table

# By name of the file, what it holds.
EXPORTS = {
    "tidy.csv": "One row an answer",
    "wide.csv": "One row a person, with all answers",
    "sessions.csv": "One row a session: how it went and ended",
    "paradata.csv": "One row a page: when it was shown and answered, and what the browser counted",
    "pact.csv": "One row a scenario and person, in the layout of the PACT study",
    "codebook.html": "What was asked of whom, to read",
    "codebook.md": "The same as Markdown",
    "codebook.csv": "The same as a table",
}
WITH_IDS = "sessions.csv"
PACT = "pact.csv"


class StudyExportError(ValueError):
    """A file that cannot be made. `problems` holds one sentence for each reason."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = list(problems)


def export_study(
    *,
    study: Study,
    name: str,
    by: User | None,
    with_ids: bool = False,
    simulated: bool = False,
    fields: PactFields | None = None,
    bom: bool = False,
) -> Iterator[str]:
    """The file of this name (one of EXPORTS) piece by piece.

    `with_ids` adds platform ids to the sessions; who may have them is for the caller to know. `simulated` and `fields`
    (None: the usual ones) are for the layout of PACT, `bom` begins CSV with a byte order mark. Raises StudyExportError
    for a layout that the study does not fit and ids that cannot be read, DesignError for filters that cannot be used.
    """
    fields = fields or PactFields()
    if name == PACT and (problems := list(pact_problems(study, fields))):
        raise StudyExportError(problems)
    if with_ids and name != WITH_IDS:
        raise StudyExportError([f"Platform ids are in {WITH_IDS} only; other files name people by session."])
    if with_ids:
        _check_ids(study)
    lines = _lines(study, name, with_ids=with_ids, simulated=simulated, fields=fields, bom=bom)
    audit(project=study.project, user=by, action="study exported", study=study.pk, file=name, platform_ids=with_ids)
    return lines


def _check_ids(study: Study) -> None:
    """Raises StudyExportError where the server lacks the key of the ids, which would end the file in its middle."""
    identity = study.identities.order_by("pk").first()
    try:
        if identity:
            decrypt(identity.participant_encrypted)
    except DecryptionError as error:
        raise StudyExportError([str(error)]) from error


def study_codebook(study: Study) -> list[Part]:
    """Raises DesignError for a study whose filters cannot be used."""
    tables = {"Columns of sessions": session_table(study).columns, "Columns of paradata": paradata_table(study).columns}
    return codebook(study, tables)


def _lines(study: Study, name: str, *, with_ids: bool, simulated: bool, fields: PactFields, bom: bool) -> Iterator[str]:
    match name:
        case "codebook.html":
            return iter([render_to_string("studies/codebook.html", {"study": study, "parts": study_codebook(study)})])
        case "codebook.md":
            return iter([as_markdown(str(study), study_codebook(study))])
    tables: Mapping[str, Callable[[], Tabular]] = {
        "tidy.csv": lambda: _answers(study),
        "wide.csv": lambda: wide_table(study),
        "sessions.csv": lambda: session_table(study, with_ids=with_ids),
        "paradata.csv": lambda: paradata_table(study),
        "pact.csv": lambda: pact_table(study, fields, simulated=simulated),
        "codebook.csv": lambda: as_table(study_codebook(study)),
    }
    return table_lines(tables[name](), "csv", bom=bom)


def _answers(study: Study) -> Table:
    """With the fields of items that the design balances or relates to people."""
    answers = Response.objects.filter(project=study.project, respondent__session__study=study)
    design = study.parsed_design
    named = [*design.balance_fields, *([design.relation.field] if design.relation else [])]
    there = fields_of(study.project, answers)
    item_fields = tuple(name for name in dict.fromkeys(named) if name in there)
    return Table(study.project, answers, Choices(item_fields=item_fields, durations=True))
