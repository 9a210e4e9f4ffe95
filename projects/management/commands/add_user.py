import secrets
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from projects.models import Project, Role, User
from projects.services import set_member


class Command(BaseCommand):
    help = "Give somebody a login with a drawn password, and with --project and --role a place in a project."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--staff", action="store_true", help="may make projects of their own")
        parser.add_argument("--project", help="slug of a project to make them a member of")
        parser.add_argument("--role", choices=Role.values, default=Role.ANNOTATOR)

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        user, password = User(username=options["username"], is_staff=options["staff"]), secrets.token_urlsafe(12)
        user.set_password(password)
        try:
            user.full_clean()
        except ValidationError as error:
            raise CommandError(f"{options['username']}: {' '.join(error.messages)}") from error
        user.save()
        if options["project"]:
            project = Project.objects.filter(slug=options["project"]).first()
            if project is None:
                raise CommandError(f"There is no project {options['project']}; give the slug in its address.")
            set_member(project=project, user=user, role=Role(options["role"]), by=None)
        self.stdout.write(f"{user.username} can log in with the password {password} and change it there.")
