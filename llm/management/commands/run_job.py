"""`manage.py run_job 12`: do a job's calls in the foreground, without a worker."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from llm.models import Job
from llm.querysets import job_progress
from llm.services import resume_job, start_job
from llm.tasks import run_shard


class Command(BaseCommand):
    help = "Start or resume a model job and do its calls here, without a worker."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("job", type=int, help="The job's number, as in the address of its page.")

    def handle(self, *args: Any, **options: Any) -> None:
        job = Job.objects.filter(pk=options["job"]).first()
        if job is None:
            raise CommandError(f"There is no job {options['job']}; its page's address ends in its number.")
        start_job(job=job)
        resume_job(job=job)
        while _may_go_on(job):
            run_shard(job.pk)
        progress = job_progress(job)
        counts = ", ".join(f"{count:,} {status.label.lower()}" for status, count in progress.by_status)
        self.stdout.write(f"{job.get_status_display()}: {counts or 'no calls'}. {job.status_reason}".strip())


def _may_go_on(job: Job) -> bool:
    job.refresh_from_db()
    return job.status == Job.Status.RUNNING and job.held_until is None
