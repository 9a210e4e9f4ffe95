"""Potato, as `potato start` serves it: answers in files, Flask's own server."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import httpx2

from bench.annotate_parts import ANSWERS, QUESTIONS, YES_NO

SHOWN = re.compile(r'id="instance_id"[^>]*value="([^"]+)"')


class Potato:
    """Its page saves the answers, asks for the next item, and is loaded again."""

    def __init__(self, http: httpx2.Client) -> None:
        self._http = http

    @staticmethod
    def arguments(folder: Path, port: int, texts: Sequence[str]) -> Sequence[object]:
        items = (json.dumps({"id": f"{number}", "text": text}) for number, text in enumerate(texts))
        (folder / "items.jsonl").write_text("\n".join(items))
        config = {
            "annotation_task_name": "Benchmark",
            "task_dir": ".",
            "output_annotation_dir": "answers",
            "data_files": ["items.jsonl"],
            "item_properties": {"id_key": "id", "text_key": "text"},
            "require_password": False,
            "annotation_schemes": [_scheme(**question) for question in QUESTIONS],
        }
        (folder / "config.yaml").write_text(json.dumps(config))  # which is YAML too
        return "start", "config.yaml", "--host", "127.0.0.1", "-p", port

    def first(self, texts: Sequence[str]) -> str:
        self._http.post("/auth", data={"action": "login", "email": "person"})
        return self._shown()

    def answer(self, item: str) -> str:
        annotations = {f"{code}:{value}": value for code, value in ANSWERS.items()}
        saved = {"instance_id": item, "annotations": annotations, "cleared_schemas": [], "span_annotations": []}
        self._http.post("/updateinstance", json=saved)
        self._http.post("/annotate", json={"action": "next_instance", "instance_id": item})
        return self._shown()

    def _shown(self) -> str:
        found = SHOWN.search(self._http.get("/annotate").text)
        return found[1] if found else ""


def _scheme(*, kind: str, code: str, text: str, **_: object) -> dict[str, object]:
    if kind == "text":
        return {"annotation_type": "text", "name": code, "description": text}
    labels = [option["code"] for option in YES_NO]
    return {"annotation_type": "radio", "name": code, "description": text, "labels": labels}
