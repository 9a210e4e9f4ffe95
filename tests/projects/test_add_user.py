"""`manage.py add_user`: a login for a new person, and at once a place in a project."""

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from projects.models import Membership, Project, User


def test_the_printed_password_logs_in_and_the_role_holds(project: Project, capsys):
    call_command("add_user", "mira", "--project", project.slug, "--role", "researcher")
    password = capsys.readouterr().out.split("password ")[1].split(" ")[0]
    assert Client().login(username="mira", password=password)
    assert Membership.objects.get(user__username="mira").role == "researcher"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["mira", "--project", "nowhere"], "no project nowhere"), (["two words"], "valid username")],
)
def test_a_mistake_is_one_sentence_and_leaves_nobody_behind(db, arguments, words):
    with pytest.raises(CommandError, match=words):
        call_command("add_user", *arguments)
    assert not User.objects.exists()


def test_a_taken_name_is_refused(project: Project, viewer: User):
    with pytest.raises(CommandError, match="already exists"):
        call_command("add_user", viewer.username)
