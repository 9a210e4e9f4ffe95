"""Write a project's answers as CSV, JSON lines, Parquet or an Excel workbook."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from projects.models import Project
from responses.export_command import ExportCommand
from responses.models import Response


class Command(ExportCommand):
    help = (
        "Writes the answers of a project, oldest first, or item by item where a row holds several. In CSV, cells that "
        "a spreadsheet would run as a formula begin with an apostrophe. Platform ids are never part of it."
    )

    def answers(self, project: Project, options: Mapping[str, Any]) -> tuple[QuerySet[Response], str]:
        return Response.objects.filter(project=project), "superseded=on" if options["superseded"] else ""
