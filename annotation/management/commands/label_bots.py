from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.models import LabelProject
from annotation.refusals import LabelProjectError
from annotation.services import label_with_bots


class Command(BaseCommand):
    help = "Have bots label in the place of people, to try a labelling project out; they are marked as simulated."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("label_project", help="the labelling project's slug")
        parser.add_argument("--project", help="the project's slug; needed where several have such a labelling project")
        parser.add_argument("--annotators", type=int, help="how many bots; as many as an item has places if not given")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--beside-people", action="store_true", help="also where people have begun to label")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            summary = label_with_bots(
                label_project=_label_project(options["label_project"], options["project"]),
                annotators=options["annotators"],
                seed=options["seed"],
                beside_people=options["beside_people"],
            )
        except LabelProjectError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(str(summary))


def _label_project(slug: str, project: str | None) -> LabelProject:
    found = LabelProject.objects.filter(slug=slug).select_related("project", "instrument", "dataset")
    if project:
        found = found.filter(project__slug=project)
    match list(found[:2]):
        case [label_project]:
            return label_project
        case []:
            raise CommandError(f"There is no labelling project {slug}{f' in {project}' if project else ''}.")
    raise CommandError(f"Several projects have a labelling project {slug}; name one with --project.")
