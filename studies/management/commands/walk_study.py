from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from studies.walk import WalkError, walk


class Command(BaseCommand):
    help = "Send simulated participants through a study's real pages; they are marked as simulated everywhere."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's key, or its slug for the newest version")
        parser.add_argument("--people", type=int, default=20)
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--drop-out", type=float, default=0.0, help="share who leave before the end, 0 to 1")
        parser.add_argument("--refuse", type=float, default=0.02, help="share who give no consent")
        parser.add_argument("--inattentive", type=float, default=0.04, help="share who fail the attention check")
        parser.add_argument("--countries", nargs="+", default=[], help="only from these of the study's countries")
        parser.add_argument("--concurrency", type=int, default=8, help="how many answer at a time")
        parser.add_argument("--base-url", default="http://127.0.0.1:8000")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            summary = walk(
                options["base_url"],
                options["study"],
                options["people"],
                options["seed"],
                drop_out=options["drop_out"],
                refuse=options["refuse"],
                inattentive=options["inattentive"],
                countries=options["countries"],
                concurrency=options["concurrency"],
            )
        except WalkError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(str(summary))
