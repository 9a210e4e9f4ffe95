"""Write a project's answers as CSV or JSON lines, one answer a row."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from projects.models import Project
from responses.export import export_responses
from responses.models import Response
from responses.output import print_lines, whole_file


class Command(BaseCommand):
    help = (
        "Writes the answers of a project, one a row, oldest first. In CSV, cells that a spreadsheet would run as a "
        "formula begin with an apostrophe. Platform ids are never part of it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, help="the project's slug")
        parser.add_argument("--format", choices=["csv", "jsonl"], default="csv")
        parser.add_argument("--superseded", action="store_true", help="with answers that later ones replaced")
        parser.add_argument("--output", type=Path, help="a file, written whole or not at all; default: standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']}; give the slug from its address, /p/<slug>/.")
        answers = Response.objects.filter(project=project)
        if not options["superseded"]:
            answers = answers.filter(superseded_by=None)
        lines = export_responses(
            project=project,
            answers=answers,
            format=options["format"],
            filters="superseded=on" if options["superseded"] else "",
            by=None,
        )
        if options["output"] is None:
            print_lines(self.stdout, lines)
            return
        try:
            with whole_file(options["output"]) as file:
                file.writelines(line.encode() for line in lines)
        except OSError as error:
            raise CommandError(f"{options['output']} cannot be written: {error.strerror}.") from error
