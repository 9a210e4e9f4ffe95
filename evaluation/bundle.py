"""The bundle of a report: what it was computed from and a script that computes it again without the platform."""

import json
import re
import zipfile
from io import BytesIO
from pathlib import Path

from evaluation.kinds import KINDS
from evaluation.models import Report
from evaluation.zips import zipped

_FILES = Path(__file__).resolve().parent / "bundled"


def bundle(report: Report) -> bytes:
    """A zip file, the same bytes for the same report: `README.md` says what is in it."""
    kind, data = KINDS[report.kind], report.data
    facts = {
        "title": report.title,
        "kind": kind.code,
        "project": report.project.slug,
        "finished_at": report.finished_at.isoformat() if report.finished_at else None,
        "data_fingerprint": report.data_fingerprint,
        "code_version": report.code_version,
        "parameters_class": f"{kind.parameters.__module__}.{kind.parameters.__qualname__}",
        "sections_function": kind.sections,
        "parameters": report.parameters,
    }
    libraries = [f"{name}=={version}" for name, version in sorted(data.versions.items()) if name != "python"]
    readme = (
        (_FILES / "README.md")
        .read_text()
        .format(
            title=report.title,
            code=report.code_version,
            python=data.versions["python"],
            commit=_commit(report.code_version),
        )
    )
    with zipfile.ZipFile(BytesIO(data.frames)) as frames:
        kept = {f"data/{name}": frames.read(name) for name in frames.namelist()}
    return zipped(
        {
            "README.md": readme,
            "recompute.py": (_FILES / "recompute.py").read_text(),
            "requirements.txt": "\n".join([*libraries, ""]),
            "report.json": _json(facts),
            "sections.json": _json(report.sections),
            **kept,
        }
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _commit(code_version: str) -> str:
    """The commit that `evaluation.code_version` names; the release where there was no git."""
    found = re.search(r"\((?:.*-g)?(\w+?)(-dirty)?\)", code_version)
    return found[1] if found else code_version
