"""What a researcher sets up before people begin to label."""

from dataclasses import dataclass

from django.db.models import Count, Q

from annotation.handing import workers
from annotation.models import LabelProject


@dataclass(frozen=True, slots=True)
class Step:
    """`state` says how it is now, `page` names the page that changes it; `lacking`: as it is, nobody can label."""

    title: str
    state: str
    page: str
    lacking: bool = False


def next_steps(label_project: LabelProject) -> list[Step]:
    """In the order in which they are best done; a few counts."""
    return [_guidelines(label_project), _known(label_project), _people(label_project), _opening(label_project)]


def _guidelines(label_project: LabelProject) -> Step:
    latest = label_project.current_guidelines
    state = "None: people see only the questions."
    if latest:
        state = f"Version {latest.version}; examples: {len(latest.examples)}."
    return Step("Guidelines and examples", state, "label_guidelines_versions")


def _known(label_project: LabelProject) -> Step:
    counts = label_project.known_answers.aggregate(
        training=Count("pk", filter=Q(purpose="training")), checks=Count("pk", filter=~Q(purpose="training"))
    )
    state = "None: nobody is trained or checked."
    if any(counts.values()):
        state = f"{counts['training']:,} for training, {counts['checks']:,} for checks while people label."
    return Step("Training and checks", state, "label_known")


def _people(label_project: LabelProject) -> Step:
    able = workers(label_project)
    named = able.filter(label_members__label_project=label_project).count()
    if label_project.members_only:
        state = f"Only people who are named may label; named: {named:,}."
        return Step("People", state, "label_members", lacking=not named)
    state = f"Everybody in the project who may label can begin: {able.count():,}."
    return Step("People", state, "label_members")


def _opening(label_project: LabelProject) -> Step:
    if label_project.is_open:
        return Step("Opening", "Open: people can begin at once. Close it above to prepare in peace.", "label_project")
    return Step("Opening", "Closed: nobody gets an item until you open it above.", "label_project", lacking=True)
