"""What the commands have in common that write answers."""

from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import QuerySet

from projects.models import Project
from responses.choices import SHAPES
from responses.export import FORMATS, codebook_lines, export_responses, table_lines, write_table
from responses.export_table import Choices, ExportError, Table
from responses.models import Response
from responses.output import print_lines, whole_file


class ExportCommand(BaseCommand):
    """Writes the answers that `answers` gives, with the choices of the page's download panel."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, help="the project's slug")
        parser.add_argument("--format", choices=list(FORMATS), default="csv")
        parser.add_argument(
            "--shape",
            choices=[code for code, _ in SHAPES],
            default="tidy",
            help="tidy: one row an answer; wide: one row an item and respondent, one column a question",
        )
        parser.add_argument(
            "--item-field",
            action="append",
            default=[],
            metavar="FIELD",
            help="with this field of the items, as imported; may be given several times",
        )
        parser.add_argument("--superseded", action="store_true", help="with answers that were replaced or taken back")
        parser.add_argument("--durations", action="store_true", help="with the seconds that answers took")
        parser.add_argument("--known", action="store_true", help="with answers to items whose right answers are known")
        parser.add_argument("--bom", action="store_true", help="begin CSV with a byte order mark, for Excel")
        parser.add_argument("--codebook", choices=["csv", "json"], help="write what the columns hold instead")
        parser.add_argument("--output", type=Path, help="a file, written whole or not at all; default: standard output")

    def answers(self, project: Project, options: Mapping[str, Any]) -> tuple[QuerySet[Response], str]:
        """Those to write, superseded ones among them, and which they are as a query string for the audit log."""
        raise NotImplementedError

    def handle(self, *args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']}; give the slug from its address, /p/<slug>/.")
        answers, which = self.answers(project, options)
        choices = Choices(
            shape=options["shape"],
            item_fields=tuple(options["item_field"]),
            superseded=options["superseded"],
            durations=options["durations"],
            known=options["known"],
        )
        try:
            if options["codebook"]:
                lines = codebook_lines(Table(project, answers, choices).columns, options["codebook"])
                self._write(options["output"], lines)
                return
            format, bom = options["format"], options["bom"]
            if options["output"] is None and not FORMATS[format].is_text:
                raise CommandError(f"{FORMATS[format].title} is not written to a terminal; name a file with --output.")
            table = export_responses(
                project=project, answers=answers, format=format, filters=which, by=None, choices=choices
            )
            if FORMATS[format].is_text:
                self._write(options["output"], table_lines(table, format, bom=bom))
            else:
                with whole_file(options["output"]) as file:
                    write_table(file, table, format)
        except ExportError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{options['output']} cannot be written: {error.strerror}.") from error

    def _write(self, output: Path | None, lines: Iterable[str]) -> None:
        if output is None:
            print_lines(self.stdout, lines)
            return
        with whole_file(output) as file:
            file.writelines(line.encode() for line in lines)
