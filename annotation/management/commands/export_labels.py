"""Write the answers of one labelling project as CSV, JSON lines, Parquet or an Excel workbook."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError
from django.db.models import QuerySet

from annotation.exports import answers_of
from projects.models import Project
from responses.export_command import ExportCommand
from responses.models import Response


class Command(ExportCommand):
    help = "As export_responses, the answers of one labelling project only."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--labels", required=True, help="the labelling project's slug")

    def answers(self, project: Project, options: Mapping[str, Any]) -> tuple[QuerySet[Response], str]:
        slugs = {found.slug: found for found in project.label_projects.all()}
        if options["labels"] not in slugs:
            known = ", ".join(slugs) or "none"
            raise CommandError(f"{project.slug} has no labelling project {options['labels']}; it has: {known}.")
        return answers_of(slugs[options["labels"]]), f"label_project={options['labels']}"
