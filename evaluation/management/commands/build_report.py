from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from evaluation.building import build_report
from evaluation.models import Report
from evaluation.parameters import ReportError
from evaluation.services import create_report
from projects.models import Project


class Command(BaseCommand):
    help = "Compute an alignment report now, without a worker, and print its numbers and the path of its page."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, help="slug of the project")
        parser.add_argument("--title", required=True)
        parser.add_argument("--dataset", required=True, help="slug of the dataset")
        parser.add_argument("--instrument", required=True, help="name of the instrument")
        parser.add_argument("--questions", required=True, help="question codes, separated by commas")
        parser.add_argument("--people", required=True, choices=["all", "real", "simulated"])
        parser.add_argument(
            "--sessions",
            default="completed",
            choices=["completed", "all"],
            help="all: also people who did not finish or failed the attention check (default: completed)",
        )
        parser.add_argument("--models", default="", help="names of models, separated by commas; all when left out")
        parser.add_argument("--option", default="culture", help="option code that is counted (default: culture)")
        parser.add_argument("--resamples", type=int, default=2000)
        parser.add_argument("--seed", type=int, default=1)

    def handle(self, *args: Any, project: str, title: str, **options: Any) -> None:
        names = ("dataset", "instrument", "people", "sessions", "option", "resamples", "seed")
        parameters = {name: options[name] for name in names}
        parameters |= {name: [code for code in options[name].split(",") if code] for name in ("questions", "models")}
        report = _built(_project(project), title, parameters)
        for line in summary_lines(report):
            self.stdout.write(line)
        self.stdout.write(reverse("report", kwargs={"slug": project, "pk": report.pk}))


def summary_lines(report: Report) -> list[str]:
    """One line for each row of the alignment tables: who, n, and each number with its interval."""
    tables = [table for section in report.sections if section["code"] == "alignment" for table in section["tables"]]
    lines = []
    for table in tables:
        lines.append(table["title"])
        estimates = [column for column in table["columns"] if column["kind"] == "estimate"]
        for row in table["rows"]:
            cells = row["cells"]
            numbers = ", ".join(f"{column['label']} {_words(cells[column['key']])}" for column in estimates)
            marks = f" [{', '.join(row['marks'])}]"
            lines.append(f"  {cells['model']}, {cells['setting']} (n = {cells['items']}){marks}: {numbers}")
    return lines


def _words(cell: dict[str, Any]) -> str:
    if cell["value"] is None:
        return f"n/a ({cell['reason']})"
    interval = "" if cell["low"] is None else f" [{cell['low']:z.2f}, {cell['high']:z.2f}]"
    return f"{cell['value']:z.2f}{interval}"


def _project(slug: str) -> Project:
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise CommandError(f"There is no project {slug}.")
    return project


def _built(project: Project, title: str, parameters: dict[str, Any]) -> Report:
    try:
        report = create_report(project=project, title=title, kind="alignment", parameters=parameters, created_by=None)
    except ReportError as error:
        raise CommandError(str(error)) from error
    report = build_report(report.pk)
    if report.status == Report.Status.FAILED:
        raise CommandError(report.problem)
    return report
