from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from pydantic import ValidationError

from responses.output import print_lines, whole_file
from studies.design import DesignError
from studies.models import Study
from studies.pact_layout import PactFields
from studies.services.exports import EXPORTS, StudyExportError, export_study

WHAT = list(dict.fromkeys(name.partition(".")[0] for name in EXPORTS))


class Command(BaseCommand):
    help = (
        "Write a file of a study: tidy (one row an answer), wide (one row a person), sessions, paradata, the layout of "
        "the PACT study, or its codebook (as the file's name ends: .html, .md or .csv). Cells that a spreadsheet would "
        "run as a formula begin with an apostrophe."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's key, or its slug for the newest version")
        parser.add_argument("--what", choices=WHAT, required=True)
        parser.add_argument("--out", type=Path, help="a file, written whole or not at all; default: standard output")
        parser.add_argument("--ids", action="store_true", help="sessions with platform ids, which the audit log notes")
        parser.add_argument("--simulated", action="store_true", help="pact: simulated people instead of people")
        parser.add_argument(
            "--field",
            action="append",
            default=[],
            metavar="NAME=CODE",
            help=f"pact: what of the study holds a part of the layout ({', '.join(PactFields.model_fields)})",
        )
        parser.add_argument("--bom", action="store_true", help="begin CSV with a byte order mark, for Excel")

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.find(options["study"])
        if study is None:
            raise CommandError(
                f"No study, or more than one project, has the key or slug {options['study']}; give the study's key."
            )
        out = options["out"]
        try:
            lines = export_study(
                study=study,
                name=_name(options["what"], out),
                by=None,
                with_ids=options["ids"],
                simulated=options["simulated"],
                fields=_fields(options["field"]),
                bom=options["bom"],
            )
            if out is None:
                print_lines(self.stdout, lines)
                return
            with whole_file(out) as file:
                file.writelines(line.encode() for line in lines)
        except (StudyExportError, DesignError) as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{out} cannot be written: {error.strerror}.") from error


def _name(what: str, out: Path | None) -> str:
    """The export's name: as the file's name ends, the first of its kind for standard output."""
    names = [name for name in EXPORTS if name.partition(".")[0] == what]
    if out is None:
        return names[0]
    if (name := what + out.suffix) not in names:
        raise CommandError(
            f"{what} is not written as {out.name}; end the name with {' or '.join(map(_suffix, names))}."
        )
    return name


def _suffix(name: str) -> str:
    return Path(name).suffix


def _fields(given: list[str]) -> PactFields:
    pairs = [text.partition("=")[::2] for text in given]
    try:
        return PactFields(**dict(pairs))
    except ValidationError as error:
        known = ", ".join(PactFields.model_fields)
        raise CommandError(f"--field takes NAME=CODE with one of the names {known}.") from error
