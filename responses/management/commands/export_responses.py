"""Write a project's answers as CSV or JSON lines, one answer a row."""

import os
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from projects.models import Project
from responses.export import export_responses
from responses.models import Response


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
            self._print(lines)
            return
        try:
            _write_whole(options["output"], lines)
        except OSError as error:
            raise CommandError(f"{options['output']} cannot be written: {error.strerror}.") from error

    def _print(self, lines: Iterable[str]) -> None:
        try:
            for line in lines:
                self.stdout.write(line, ending="")
            self.stdout.flush()
        except BrokenPipeError:  # the reader (for example head) has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write_whole(path: Path, lines: Iterable[str]) -> None:
    """Through a neighbouring file that takes the name at the end, so that no half of an export is ever found."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.writelines(lines)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
