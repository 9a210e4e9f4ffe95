import getpass
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from studies.models import Study
from studies.services import delete_person


class Command(BaseCommand):
    help = (
        "Delete everything of one participant of a study, on their request. The id is asked for, not given as an "
        "argument, so that it stays out of the shell's history."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's key, or its slug for the newest version")

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.find(options["study"])
        if study is None:
            raise CommandError(
                f"No study, or more than one project, has the key or slug {options['study']}; give the study's key."
            )
        participant_id = getpass.getpass("Platform id of the participant: ").strip()
        deleted = delete_person(study=study, participant_id=participant_id, by=None)
        if deleted is None:
            raise CommandError(f"Nobody with this platform id took part in {study}.")
        self.stdout.write(
            f"Deleted from {study}: session {deleted.session or 'none'}, {deleted.screens} screens, "
            f"{deleted.responses} responses and {deleted.platform_ids} platform ids."
        )
