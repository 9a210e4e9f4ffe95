from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from protocols.pact import demo


class Command(BaseCommand):
    help = "Fill the demo project: simulated participants through the real survey, the model's job, the report."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--base-url", default="http://127.0.0.1:8000", help="where the web server answers")

    def handle(self, *args: Any, **options: Any) -> None:
        demo.fill(base_url=options["base_url"], say=self.stdout.write)
