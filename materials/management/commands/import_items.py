"""Import items from a file into a dataset: all or nothing, with row and column of every fault."""

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from pydantic import ValidationError

from materials.importing import ImportRefusedError, import_items
from materials.reading import ID_COLUMN_WORDS, read_items
from materials.reading_plan import Plan
from projects.models import Project


class Command(BaseCommand):
    help = (
        "Imports items from a CSV, TSV, JSON, JSON lines, Parquet or Excel (.xlsx) file into a dataset, which is made "
        "when it is missing. Text is UTF-8 unless a plan says otherwise. "
        "All or nothing: every fault is listed with its row and column. An item that is there with the same content "
        "stays as it is; one with other content is refused, because answers refer to what was asked."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--project", required=True, help="the project's slug")
        parser.add_argument("--dataset", required=True, help="the dataset's slug")
        parser.add_argument(
            "--id-column",
            default="",
            help=f"the column that holds the ID, or several separated by commas; default: {ID_COLUMN_WORDS}",
        )

        parser.add_argument(
            "--plan", type=Path, help="what was chosen on an import's page, downloaded there: encoding, columns, rules"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']}; give the slug from its address, /p/<slug>/.")
        path: Path = options["file"]
        plan = _plan(options["plan"], options["id_column"])
        started = time.monotonic()
        try:
            with path.open("rb") as file:
                result = import_items(
                    project=project,
                    dataset_slug=options["dataset"],
                    records=read_items(file, filename=path.name, plan=plan, id_option="with --id-column"),
                    source=path.name,
                    by=None,
                    plan=plan,
                )
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
        except ImportRefusedError as error:
            for fault in error.faults:
                self.stderr.write(str(fault))
            if error.total > len(error.faults):
                self.stderr.write(f"and {error.total - len(error.faults):,} more faults")
            raise CommandError(str(error)) from error
        if result.made_dataset:
            self.stdout.write(f"Made the dataset {options['dataset']}.")
        seconds = time.monotonic() - started
        skipped = f", {result.skipped:,} skipped" if result.skipped else ""
        self.stdout.write(f"{result.added:,} items added, {result.unchanged:,} unchanged{skipped}, in {seconds:.1f} s.")


def _plan(path: Path | None, id_column: str) -> Plan:
    """The plan of the file, with these id columns if any are given."""
    try:
        plan = Plan.model_validate_json(path.read_text(encoding="utf-8")) if path else Plan()
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise CommandError(f"{path} is not a plan as an import's page gives it: {_first(error)}.") from error
    columns = tuple(column.strip() for column in id_column.split(",") if column.strip())
    return plan.model_copy(update={"id_columns": columns, "id_from_content": False}) if columns else plan


def _first(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return "it is not UTF-8"
    found = error.errors()[0]
    return f"{'.'.join(map(str, found['loc']))}: {found['msg']}".removeprefix(": ")
