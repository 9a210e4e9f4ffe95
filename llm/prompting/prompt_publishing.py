"""Writes to prompts: versions that are only ever added."""

from django.db import connection, transaction

from llm.models import Prompt
from llm.prompting.rendering import check_template
from projects.models import Project


class NewerPromptError(ValueError):
    """The author does not know `newest`."""

    def __init__(self, newest: Prompt) -> None:
        super().__init__(f"There is a newer version: {newest}.")
        self.newest = newest


@transaction.atomic
def publish_prompt(*, project: Project, name: str, system: str, user: str, base: int | None = None) -> Prompt:
    """A new version of the prompt; the newest one again when nothing changed. Raises PromptError when malformed.

    `base` is the number of the version that the text was made from, 0 for none: raises NewerPromptError when there is
    a newer one. None adds to whatever is the newest.
    """
    check_template(system)
    check_template(user)
    with connection.cursor() as cursor:  # two publishers at once would draw the same version number
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s), %s)", [f"prompt {name}", project.pk])
    newest = Prompt.objects.filter(project=project, name=name).order_by("-version").first()
    number = newest.version if newest else 0
    if newest and base is not None and number > base:
        raise NewerPromptError(newest)
    if newest and (newest.system, newest.user) == (system, user):
        return newest
    return Prompt.objects.create(project=project, name=name, version=number + 1, system=system, user=user)
