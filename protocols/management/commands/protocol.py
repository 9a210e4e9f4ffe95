import os
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from llm.models import Job
from llm.running.foreground import Display, work
from projects.models import Project
from protocols.catalogue import PROTOCOLS
from protocols.models import ProtocolRun, StageRun
from protocols.outputs import is_over
from protocols.presentation import funnel
from protocols.services import collect_stage, give_file, run_stage, set_settings, start_protocol, use_shipped_files
from protocols.stages import StageError
from protocols.states import stage_states
from protocols.trial import Trial, begin_trial

CHUNK_BYTES = 1 << 20


class Command(BaseCommand):
    help = (
        "Go one stage further in a protocol, as its page does; without a stage, print the funnel so far. "
        "The project's newest run of the protocol goes on, and the first use starts one."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", choices=list(PROTOCOLS), help="the protocol")
        parser.add_argument("stage", nargs="?", help="the code of a stage")
        parser.add_argument("--project", help="the project's slug; needed where there are several")
        parser.add_argument("--new", action="store_true", help="start another run of the protocol")
        parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the stage")
        parser.add_argument("--file", action="append", default=[], metavar="SOURCE=PATH", help="a source file")
        parser.add_argument(
            "--shipped", action="store_true", help="remove files given earlier; use the set that comes along"
        )
        parser.add_argument("--wait", action="store_true", help="do all of it here, with the calls of its model jobs")
        parser.add_argument(
            "--partial", action="store_true", help="go on with what people and models have given so far"
        )
        parser.add_argument(
            "--trial", action="store_true", help="do all stages in small, here, with bots in the place of people"
        )
        parser.add_argument(
            "--base-url", default=os.environ.get("CONCORD_URL", "http://127.0.0.1:8000"),
            help="where bots find the pages of a trial's study",
        )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._go(options)
        except StageError as error:
            raise CommandError(str(error)) from error

    def _go(self, options: dict[str, Any]) -> None:
        project = _project(options["project"])
        if options["trial"]:
            self._try(project, options)
            return
        run = None if options["new"] else project.protocol_runs.filter(name=options["name"]).first()
        run = run or start_protocol(project=project, name=options["name"], by=None)
        if options["shipped"]:
            use_shipped_files(run=run, by=None)
        for source, path in _pairs(options["file"]):
            self._give(run, source, Path(path))
        code = options["stage"]
        if code is None:
            self._print_funnel(run)
            return
        values = dict(_pairs(options["set"]))
        if values:
            set_settings(run=run, code=code, values=_typed(run, code, values), by=None)
        stage_run = run.stage_runs.filter(code=code, status=StageRun.Status.UNDER_WAY).first()
        if options["partial"] and not stage_run:
            _refuse_to_begin_again(run, code)
        stage_run = stage_run or run_stage(run=run, code=code, by=None, here=options["wait"])
        if options["wait"]:
            self._ask(run, stage_run)
        if options["partial"] or is_over(run.project, stage_run.outputs):
            stage_run = self._collect(run, stage_run, partial=options["partial"])
        self._report(stage_run)

    def _try(self, project: Project, options: dict[str, Any]) -> None:
        if options["stage"] or options["set"] or options["partial"]:
            raise CommandError(
                "A trial does all stages with settings of its own: leave out stage, --set and --partial."
            )
        run = begin_trial(project=project, name=options["name"], new=options["new"])
        for source, path in _pairs(options["file"]):
            self._give(run, source, Path(path))
        endpoints = project.endpoints.order_by("name").values_list("name", flat=True)
        self.stdout.write(f"{run} in {project.slug}, with {', '.join([*endpoints, 'bots in the place of people'])}.")
        try:
            Trial(run, options["base_url"], self.stdout.write).go()
        finally:
            self._print_funnel(run, timed=True)

    def _give(self, run: ProtocolRun, source: str, path: Path) -> None:
        try:
            with path.open("rb") as file:
                chunks = iter(lambda: file.read(CHUNK_BYTES), b"")
                give_file(run=run, source=source, file_name=path.name, chunks=chunks, by=None)
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from error

    def _ask(self, run: ProtocolRun, stage_run: StageRun) -> None:
        """Ask the calls of the jobs that were started."""
        pks = stage_run.outputs.get("job", [])
        for job in Job.objects.filter(project=run.project, pk__in=pks if isinstance(pks, list) else [pks]):
            work(job, display=Display())

    def _collect(self, run: ProtocolRun, stage_run: StageRun, *, partial: bool) -> StageRun:
        if stage_run.status != StageRun.Status.UNDER_WAY:
            return stage_run
        return collect_stage(run=run, code=stage_run.code, by=None, partial=partial)

    def _report(self, stage_run: StageRun) -> None:
        if stage_run.status == StageRun.Status.FAILED:
            raise CommandError(stage_run.problem)
        self.stdout.write(f"{stage_run.stage.title}: {stage_run.get_status_display().lower()}.")
        if stage_run.status == StageRun.Status.DONE:
            reasons = "".join(f", {n:,} {reason}" for reason, n in stage_run.why.items())
            self.stdout.write(f"{stage_run.came:,} in, {stage_run.out:,} out{reasons}.")
        for note in stage_run.outputs.get("note", []):
            self.stdout.write(note)
        for name, value in stage_run.outputs.items():
            if name != "note":
                self.stdout.write(f"{name}: {value}")

    def _print_funnel(self, run: ProtocolRun, *, timed: bool = False) -> None:
        """`timed`: with the seconds of each stage and of all."""
        rows = funnel(run, uncounted=timed)
        if not rows:
            codes = ", ".join(stage.code for stage in run.protocol.stages)
            self.stdout.write(f"{run}: no stage is done yet. The stages are {codes}.")
            return
        width = max(len(row["title"]) for row in rows)
        seconds = f"{'Seconds':>9}  " if timed else ""
        self.stdout.write(f"{'Stage':{width}}  {'In':>9}  {'Out':>9}  {seconds}Left out, and why")
        for row in rows:
            reasons = "; ".join(f"{n:,} {reason}" for reason, n in row["why"].items())
            seconds = f"{row['seconds']:>9,.1f}  " if timed else ""
            counts = f"{row['came']:>9,}  {row['out']:>9,}  {seconds}"
            self.stdout.write(f"{row['title']:{width}}  {counts}{reasons}".rstrip())
        if timed:
            self.stdout.write(f"{'Together':{width}}  {'':9}  {'':9}  {sum(row['seconds'] for row in rows):>9,.1f}")


def _refuse_to_begin_again(run: ProtocolRun, code: str) -> None:
    """A run begun now and collected at once would stand, with nothing in it, for the one that is done."""
    run.protocol.stage(code)
    state = stage_states(run)[code]
    if state.done and not state.stale:
        raise StageError(f'"{state.stage.title}" is done already; run it again without --partial.')


def _project(slug: str | None) -> Project:
    projects = Project.objects.filter(slug=slug) if slug else Project.objects.all()
    found = list(projects[:2])
    if len(found) != 1:
        slugs = ", ".join(Project.objects.order_by("slug").values_list("slug", flat=True)) or "none"
        what = f"There is no project {slug}" if slug else "Name the project with --project"
        raise CommandError(f"{what}; there are {slugs}.")
    return found[0]


def _pairs(given: list[str]) -> list[tuple[str, str]]:
    pairs = [entry.partition("=") for entry in given]
    for name, sign, _ in pairs:
        if not name or not sign:
            raise CommandError(f"{name} is no NAME=VALUE.")
    return [(name, value) for name, _, value in pairs]


def _typed(run: ProtocolRun, code: str, values: dict[str, str]) -> dict[str, Any]:
    """Several values of one setting stand separated by commas."""
    fields = run.protocol.stage(code).settings.model_fields
    several = {name for name, info in fields.items() if isinstance(info.default, tuple)}
    return {
        name: [part.strip() for part in value.split(",") if part.strip()] if name in several else value
        for name, value in values.items()
    }
