"""Publish the questions in a JSON file as a version of an instrument."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from materials import services
from materials.question_file import read_questions
from materials.questions import QuestionError
from projects.models import Project


class Command(BaseCommand):
    help = (
        "Publishes the questions in a JSON file (a list, UTF-8) as the next version of an instrument, which is made "
        "when it is missing. A published version never changes; without a change there is no new version."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--project", required=True, help="the project's slug")
        parser.add_argument("--name", required=True, help="the instrument's short name")
        parser.add_argument("--title", required=True, help="what people see in lists and headings")

    def handle(self, *args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']}; give the slug from its address, /p/<slug>/.")
        path: Path = options["file"]
        try:
            made = services.publish_instrument(
                project=project,
                name=options["name"],
                title=options["title"],
                questions=read_questions(path.read_text(encoding="utf-8-sig")),
            )
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
        except UnicodeDecodeError as error:
            raise CommandError(f"{path} is not UTF-8 at byte {error.start + 1}; save it as UTF-8.") from error
        except QuestionError as error:
            raise CommandError(f"{path}: {error}") from error
        self.stdout.write(f"Version {made.version} of {made.name} has {len(made.questions)} questions.")
