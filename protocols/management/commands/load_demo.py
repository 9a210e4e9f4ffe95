import json
import secrets
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from protocols.pact import demo
from studies.models import Study


class Command(BaseCommand):
    help = "Make the demo project where it does not exist yet, and write its logins to var/run/demo.json."

    def handle(self, *args: Any, **options: Any) -> None:
        notes = settings.VAR_DIR / "run" / "demo.json"
        notes.parent.mkdir(parents=True, exist_ok=True)
        password = _known_password(notes)
        project = demo.load(password=password)
        study = Study.objects.get(project=project, slug=demo.STUDY_SLUG, version=1)
        query = "PROLIFIC_PID=YOU&STUDY_ID=demo&SESSION_ID=1"
        lines = [
            f"Log in as {', '.join(demo.LOGINS)}; the password of each is {password}",
            f"Take part in the survey at /s/{study.key}/?{query}",
        ]
        # Other users of this machine must not read the password.
        notes.touch(mode=0o600)
        notes.write_text(json.dumps({"password": password, "lines": lines}), encoding="utf-8")
        self.stdout.write(f"The demo project is there; its logins are in {notes}.")


def _known_password(notes: Any) -> str:
    """The password of this installation: drawn once, so that no two installations share one."""
    if notes.exists():
        return str(json.loads(notes.read_text(encoding="utf-8"))["password"])
    return f"demo-{secrets.token_hex(4)}"
