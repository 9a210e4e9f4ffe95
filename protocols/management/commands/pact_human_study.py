import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from materials.services import publish_instrument
from projects.models import Project
from protocols.pact.human_study import INSTRUMENT, PER_COUNTRY, QUESTIONS, HumanStudyError
from protocols.people_study import TITLE, study_data
from responses.output import whole_file


class Command(BaseCommand):
    help = (
        "Write PACT's study of people as a file for create_study, from a dataset of scenarios, and publish its "
        "questions. Its texts and completion codes are there to be looked at and changed before."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="where the study's file goes, whole or not at all")
        parser.add_argument("--project", required=True, help="the project's slug")
        parser.add_argument("--dataset", required=True, help="the slug of the scenarios")
        parser.add_argument("--contact", required=True, help="whom participants ask: an address, or words")
        parser.add_argument("--per-country", type=int, default=PER_COUNTRY, help="so many people from each country")
        parser.add_argument("--seed", type=int, default=1, help="every draw of the study follows from it")

    def handle(self, *args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']}; give the slug from its address, /p/<slug>/.")
        dataset = project.datasets.filter(slug=options["dataset"]).first()
        if dataset is None:
            slugs = ", ".join(project.datasets.order_by("slug").values_list("slug", flat=True))
            raise CommandError(f"The project has no dataset {options['dataset']}; it has {slugs or 'none'}.")
        try:
            data = study_data(
                dataset=dataset,
                contact=options["contact"],
                per_country=options["per_country"],
                seed=options["seed"],
            )
        except HumanStudyError as error:
            raise CommandError(str(error)) from error
        path = options["file"]
        try:
            with whole_file(path) as file:
                file.write(json.dumps(data, ensure_ascii=False, indent=2).encode() + b"\n")
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror}.") from error
        publish_instrument(project=project, name=INSTRUMENT, title=TITLE, questions=QUESTIONS)
        self.stdout.write(
            f"Wrote {path}. Look through its texts and codes, then: manage.py create_study --project "
            f"{project.slug} {path}"
        )
