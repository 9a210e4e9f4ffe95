"""`manage.py job plan|run|status|...`: model jobs from the shell. docs/jobs.md shows it in use."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError

from llm import services
from llm.files.bundle import write_bundle
from llm.files.bundle_import import BundleError, import_bundle
from llm.files.exports import EXPORTS, REQUESTS, LedgerError, export_job
from llm.files.jobfile import JobFile, JobFileError, read_job_file
from llm.files.jobfile_plan import jobs_of_file, make_endpoints, plan_from_file
from llm.files.results_import import ResultsRefusedError, import_results, write_requests
from llm.models import Job
from llm.planning.costs import make_plan
from llm.prompting.rendering import PromptError
from llm.querysets import job_progress
from llm.running.foreground import Display, work
from llm.running.generating import NoAnswersError, dataset_from_answers
from llm.shell import counts, list_lines, plan_lines, status_json, status_lines
from materials.importing import ImportRefusedError
from projects.crypto import DecryptionError
from projects.models import Project
from responses.output import print_lines, whole_file

INCOMPLETE, BAD_INPUT = 1, 2  # exit codes
JOB = "the job's TOML file, or its number, as in the address of its page"
RELATED = ("endpoint", "project", "dataset", "instrument")


class Command(BaseCommand):
    help = (
        "Plans, runs and watches model jobs. A job is described in a TOML file (docs/jobs.md); one that is planned has "
        "a number too. Exit codes: 0 done, 1 calls without an answer or paused, 2 a file or a number that is wrong."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

        def action(name: str, what: str, *, job: bool = True) -> ArgumentParser:
            added: ArgumentParser = actions.add_parser(name, help=what, description=what)
            if job:
                added.add_argument("job", help=JOB)
            return added

        plan = action("plan", "plan the job and say what it will ask and cost", job=False)
        plan.add_argument("file", type=Path, help="the job's TOML file")
        plan.add_argument("--examples", type=int, default=1, metavar="N", help="example prompts to show (default: 1)")
        plan.add_argument("--test", action="store_true", help="test the endpoint first")
        run = action("run", "start the job, or go on with it, and do it here")
        run.add_argument("--pilot", type=int, metavar="N", help="ask only N calls, spread over items and conditions")
        resume = action("resume", "go on with a paused or stopped job")
        retry = action("retry", "ask the calls without an answer again")
        for working in (run, resume, retry):
            working.add_argument("--worker", action="store_true", help="leave the asking to the workers and watch")
        status = action("status", "say how the job goes")
        status.add_argument("--json", action="store_true", help="for machines")
        action("pause", "let calls in flight finish and start no more")
        action("stop", "end the job with what it has")
        export = action("export", "write what the job asked and got to the standard output")
        export.add_argument("--format", choices=list(EXPORTS), default="calls", help="what to write (default: calls)")
        results = action("import-results", "settle calls with results that were made elsewhere")
        results.add_argument("file", type=Path, help="a file in the format of the Batch API's output")
        dataset = action("dataset", "make the answers the items of a dataset")
        dataset.add_argument("dataset", help="the short name of the dataset, which is made when it is missing")
        bundle = action("bundle", "write everything that is needed to run the job elsewhere")
        bundle.add_argument("file", type=Path, help="the .zip file to write")
        bundle.add_argument("--calls", action="store_true", help="with every call, for reading")
        taken = action("import-bundle", "plan the job of a bundle", job=False)
        taken.add_argument("file", type=Path, help="the bundle")
        taken.add_argument("--project", required=True, help="the slug of the project it goes into")
        listed = action("list", "list jobs, the newest first", job=False)
        listed.add_argument("--project", help="only of the project with this slug")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            getattr(self, f"_{options['action'].replace('-', '_')}")(**options)
        except JobFileError as error:
            for problem in error.problems:
                self.stderr.write(problem)
            n = len(error.problems)
            _refuse(f"Nothing was done: {n:,} fault{'' if n == 1 else 's'}.")
        except ResultsRefusedError as error:
            for fault in error.faults:
                self.stderr.write(str(fault))
            _refuse(str(error))
        except (BundleError, LedgerError) as error:
            _refuse(str(error))
        except PromptError as error:
            _refuse(f"The prompt does not fit the items. {error}")
        except OSError as error:
            _refuse(f"{error.filename or 'The file'} cannot be used: {error.strerror or error}.")

    def _plan(self, *, file: Path, examples: int, test: bool, **_: Any) -> None:
        described = read_job_file(file)
        if test:
            self._test(described)
        for job in self._planned(file, described):
            for line in plan_lines(job, make_plan(job), examples=examples):
                self.stdout.write(line)

    def _run(self, *, job: str, pilot: int | None, worker: bool, **_: Any) -> None:
        jobs = self._jobs(job, plan=True)
        wanted = pilot or (0 if job.isdecimal() else read_job_file(Path(job)).pilot or 0)
        for found in jobs:
            if not services.start_job(job=found, pilot=wanted):
                if pilot and not (found.pilot and found.status == Job.Status.RUNNING):
                    _refuse(f"Job {found.pk} was started before; run it without --pilot to ask the rest.")
                services.resume_job(job=found)
        self._work(jobs, worker)

    def _resume(self, *, job: str, worker: bool, **_: Any) -> None:
        jobs = self._jobs(job)
        for found in jobs:
            if found.status == Job.Status.PLANNED:
                _refuse(f"Job {found.pk} was not started yet; start it with job run.")
            services.resume_job(job=found)
        self._work(jobs, worker)

    def _retry(self, *, job: str, worker: bool, **_: Any) -> None:
        jobs = self._jobs(job)
        for found in jobs:
            again = services.retry_failed(job=found)
            self.stdout.write(f"Job {found.pk}: {again:,} call{'' if again == 1 else 's'} will be asked again.")
        self._work(jobs, worker)

    def _status(self, *, job: str, json: bool, **_: Any) -> None:
        states = [(found, job_progress(found)) for found in self._jobs(job)]
        if json:
            self.stdout.write(_as_json([status_json(*state) for state in states]))
            return
        for state in states:
            for line in status_lines(*state):
                self.stdout.write(line)

    def _pause(self, *, job: str, **_: Any) -> None:
        for found in self._jobs(job):
            paused = services.pause_job(job=found, reason="Paused from the shell.")
            state = "is paused" if paused else f"does not run: it is {found.get_status_display().lower()}"
            self.stdout.write(f"Job {found.pk} {state}.")

    def _stop(self, *, job: str, **_: Any) -> None:
        for found in self._jobs(job):
            stopped = services.stop_job(job=found, reason="Stopped from the shell.")
            self.stdout.write(f"Job {found.pk} {'is stopped' if stopped else 'was not under way'}.")

    def _list(self, *, project: str | None, **_: Any) -> None:
        jobs = Job.objects.select_related("project").order_by("-pk")
        for line in list_lines(jobs.filter(project__slug=project) if project else jobs):
            self.stdout.write(line)

    def _export(self, *, job: str, format: str, **_: Any) -> None:
        for found in self._jobs(job):
            if format in REQUESTS and not found.expanded:
                write_requests(job=found)
                if found.expanded:
                    self.stderr.write(f"The requests of job {found.pk} are written. {found.status_reason}".strip())
            print_lines(self.stdout, export_job(job=found, what=format))

    def _import_results(self, *, job: str, file: Path, **_: Any) -> None:
        (found, *others) = self._jobs(job)
        if others:
            _refuse("The file describes several jobs; give the number of the one that the results are of.")
        with file.open("rb") as results:
            imported = import_results(job=found, file=results)
        for fault in imported.unknown:
            self.stderr.write(str(fault))
        self.stdout.write(f"Job {found.pk}: {imported.words}")

    def _dataset(self, *, job: str, dataset: str, **_: Any) -> None:
        try:
            made = dataset_from_answers(job=self._jobs(job)[0], slug=dataset, by=None)
        except NoAnswersError as error:
            _refuse(str(error))
        except ImportRefusedError as error:
            _refuse(f"No dataset was made: {error.faults[0]}")
        self.stdout.write(f"{made.dataset}: {made.added:,} added, {made.unchanged:,} there already.")

    def _bundle(self, *, job: str, file: Path, calls: bool, **_: Any) -> None:
        (found, *others) = self._jobs(job)
        if others:
            _refuse("The file describes several jobs; give the number of the one to bundle.")
        with whole_file(file) as target:
            write_bundle(job=found, file=target, calls=calls)
        self.stdout.write(f"Wrote {file}.")

    def _import_bundle(self, *, file: Path, project: str, **_: Any) -> None:
        found = Project.objects.filter(slug=project).first()
        if found is None:
            _refuse(f"There is no project {project}; give the slug from its address, /p/<slug>/.")
        with file.open("rb") as bundle:
            job = import_bundle(project=found, file=bundle)
        self.stdout.write(f"Planned as job {job.pk}, {job}, at {job.endpoint}. Keys do not come along.")

    def _jobs(self, text: str, *, plan: bool = False) -> list[Job]:
        """The jobs that a number or a file names; `plan`: a file's jobs are planned when they are not."""
        if text.isdecimal():
            found = list(Job.objects.select_related(*RELATED).filter(pk=int(text))) if len(text) < 19 else []
            if not found:
                _refuse(f"There is no job {text}; job list shows those that are there.")
            return found
        file = read_job_file(Path(text))
        return self._planned(Path(text), file) if plan else jobs_of_file(file)

    def _planned(self, path: Path, file: JobFile) -> list[Job]:
        planned = plan_from_file(file, folder=path.parent)
        for sentence in planned.said:
            self.stdout.write(sentence)
        numbers = ", ".join(str(job.pk) for job in planned.jobs)
        self.stdout.write(f"{'Planned as' if planned.made else 'This is'} job {numbers}.")
        return planned.jobs

    def _test(self, file: JobFile) -> None:
        for endpoint in make_endpoints(file):
            try:
                found = services.probe_endpoint(endpoint=endpoint)
            except (services.EndpointError, DecryptionError) as error:
                raise CommandError(str(error), returncode=INCOMPLETE) from error
            self.stdout.write(f"{endpoint.name}: {' '.join(found['sentences'])}")
            if not found["ok"]:
                raise CommandError(f"{endpoint.name} does not answer.", returncode=INCOMPLETE)

    def _work(self, jobs: list[Job], worker: bool) -> None:
        """Do the jobs one after the other, or watch them, and say how each ended."""
        incomplete = False
        for job in jobs:
            ended = work(job, display=Display(), workers=worker)
            self.stdout.write(
                f"{ended.get_status_display()}: {counts(job_progress(ended))}. {ended.status_reason}".strip()
            )
            if ended.status != Job.Status.DONE:
                self.stdout.write(f"To go on: manage.py job run {ended.pk}")
            done = ended.status == Job.Status.DONE or (ended.pilot and not ended.failed)
            incomplete |= ended.failed > 0 or not done
        if incomplete:
            raise CommandError("Not every call has an answer.", returncode=INCOMPLETE)


def _refuse(sentence: str) -> NoReturn:
    raise CommandError(sentence, returncode=BAD_INPUT)


def _as_json(states: list[dict[str, Any]]) -> str:
    return json.dumps(states[0] if len(states) == 1 else states, ensure_ascii=False, indent=2)
