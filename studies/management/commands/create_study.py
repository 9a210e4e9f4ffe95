import json
from pathlib import Path
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.urls import reverse

from projects.models import Project
from studies.services import StudyNotReadyError, create_study_from_file, open_study


class Command(BaseCommand):
    help = (
        "Make a study from a JSON file, as docs/studies.md describes it: all or nothing, with a sentence for each "
        "fault. A slug that is in use gets its next version."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--project", required=True, help="the project's slug")
        parser.add_argument("--open", action="store_true", help="let people enter at once; nothing can be changed then")

    def handle(self, *args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']}; give the slug from its address, /p/<slug>/.")
        data = _read(options["file"])
        try:
            with transaction.atomic():
                study = create_study_from_file(project=project, data=data, by=None)
                if options["open"]:
                    study = open_study(study=study, by=None)
        except StudyNotReadyError as error:
            for problem in error.problems:
                self.stderr.write(problem)
            faults = len(error.problems)
            raise CommandError(f"Nothing was made: {faults} fault{'s' if faults > 1 else ''}.") from error
        page = reverse("study", kwargs={"slug": project.slug, "pk": study.pk})
        self.stdout.write(f"Made {study}: {page}")
        entry = reverse("participant_entry", kwargs={"key": study.key})
        self.stdout.write(f"It is open at {entry}" if options["open"] else "It is a draft; open it on its page.")


def _read(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{path} is not UTF-8; save it as UTF-8.") from error
    if "\\u0000" in text:
        raise CommandError(f"{path} holds \\u0000, which cannot be stored; take it out.")
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{path} is not JSON: {error}.") from error


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number in JSON")
