"""Label Studio, as `label-studio start` serves it: SQLite, Django's own server."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx2

from bench.annotate_parts import ANSWERS, QUESTIONS, YES_NO

PROJECT = 1  # the only one
EMAIL, PASSWORD = "person@example.org", "benchmark"
ALL_TASKS = {
    "ordering": [],
    "selectedItems": {"all": False, "included": []},
    "filters": {"conjunction": "and", "items": []},
    "project": f"{PROJECT}",
}


class LabelStudio:
    """Its page stores the annotation and asks for the next task."""

    def __init__(self, http: httpx2.Client) -> None:
        self._http = http
        self._tab = 0

    @staticmethod
    def arguments(folder: Path, port: int, texts: Sequence[str]) -> Sequence[object]:
        (folder / "form.xml").write_text(_form())
        who = ("--username", EMAIL, "--password", PASSWORD)
        where = ("--data-dir", folder / "data", "--internal-host", "127.0.0.1", "--port", port, "--no-browser")
        return "start", "bench", "--init", "--label-config", "form.xml", *who, *where

    def first(self, texts: Sequence[str]) -> str:
        self._http.get("/user/login/")  # sets the cookie whose token the form repeats
        form = {"email": EMAIL, "password": PASSWORD, "csrfmiddlewaretoken": self._http.cookies["csrftoken"]}
        self._http.post("/user/login/", data=form)
        self._post(f"/api/projects/{PROJECT}/import", [{"text": text} for text in texts])
        view = {"data": {"title": "Default", "type": "list", "target": "tasks"}, "project": PROJECT}
        self._tab = self._post(f"/api/dm/views?project={PROJECT}", view)["id"]
        return self._next()

    def answer(self, item: str) -> str:
        result = [
            {
                "id": code,
                "from_name": code,
                "to_name": "text",
                "type": "choices",
                "origin": "manual",
                "value": {"choices": [value]},
            }
            for code, value in ANSWERS.items()
        ]
        self._post(f"/api/tasks/{item}/annotations?project={PROJECT}", {"lead_time": 1.5, "result": result})
        return self._next()

    def _next(self) -> str:
        return f"{self._post(f'/api/dm/actions?id=next_task&tabID={self._tab}&project={PROJECT}', ALL_TASKS)['id']}"

    def _post(self, path: str, content: object) -> Any:
        headers = {"X-CSRFToken": self._http.cookies["csrftoken"]}
        return self._http.post(path, json=content, headers=headers).json()


def _form() -> str:
    """Its markup for the questions."""
    choices = "".join(f'<Choice value="{option["code"]}"/>' for option in YES_NO)
    fields = (
        f'<Header value="{question["text"]}"/>'
        + (
            f'<TextArea name="{question["code"]}" toName="text"/>'
            if question["kind"] == "text"
            else f'<Choices name="{question["code"]}" toName="text" required="true">{choices}</Choices>'
        )
        for question in QUESTIONS
    )
    return f'<View><Text name="text" value="$text"/>{"".join(fields)}</View>'
