"""What leaves a report: tables, the whole as one file, the bundle that computes it again, the link for strangers."""

import io
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from django.conf import settings
from django.test import Client

from evaluation.building import build_report
from evaluation.bundle import bundle
from evaluation.fingerprint import data_fingerprint
from evaluation.kept_frames import pack, unpack
from evaluation.models import Report
from evaluation.reactions_report.parameters import ReactionsParameters
from evaluation.services import create_report, revoke_share, share_report
from projects.models import AuditEvent, User
from tests.evaluation.conftest import Paired


def made(paired: Paired, parameters: dict[str, Any]) -> Report:
    report = create_report(
        project=paired.project, title="People & tiny", kind="alignment", parameters=parameters, created_by=None
    )
    return build_report(report.pk)


def test_frames_come_back_as_they_were():
    frame = pd.DataFrame(
        {"text": ["", "NA", "'=1", "=1+1", 'é,\n"x"'], "n": range(5), "u": [0.1 + 0.2, None, 1e-17, 1, -1]}
    ).assign(truth=[True, False, True, True, False], number_as_text=["0", "0.7", "", "1", "01"])
    empty = frame.iloc[:0]
    packed = pack({"b": frame, "a": empty})
    again = unpack(packed)
    pd.testing.assert_frame_equal(again["b"], frame)
    assert list(again["a"].columns) == list(frame.columns)
    assert again["a"].empty
    assert pack(again) == packed


@pytest.mark.django_db
def test_a_bundle_computes_the_report_again_without_the_platform(
    answered: Paired, parameters: dict[str, Any], tmp_path: Path
):
    report = made(answered, parameters)
    answered.record([(answered.person("late"), 0, "norm", "culture")])  # later answers change nothing of it
    content = bundle(report)
    assert content == bundle(Report.objects.get(pk=report.pk))
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        file.extractall(tmp_path)
    assert json.loads((tmp_path / "sections.json").read_text()) == report.sections
    assert "numpy==" in (tmp_path / "requirements.txt").read_text()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("DJANGO", "DATABASE"))}

    def recomputed() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", _WITHOUT_DJANGO, str(tmp_path / "recompute.py")],
            env=environment | {"PYTHONPATH": str(settings.BASE_DIR)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    same = recomputed()
    assert re.search(r"^\d{3,} values agree, 0 differ\n$", same.stdout, re.MULTILINE), same.stderr
    assert same.returncode == 0
    people = tmp_path / "data" / "people.csv"
    people.write_text(people.read_text().replace(",1,1\n", ",1,0\n"))
    other = recomputed()
    assert other.returncode == 1
    assert "the fingerprint of the data" in other.stdout
    assert "differs: sections.1." in other.stdout


_WITHOUT_DJANGO = """
import runpy, sys
class Without:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("django", "celery", "psycopg", "redis"):
            raise ImportError(f"{name} is part of the platform")
sys.meta_path.insert(0, Without())
runpy.run_path(sys.argv[1], run_name="__main__")
"""


@pytest.mark.django_db
def test_the_same_answers_give_the_same_bytes_of_numbers(answered: Paired, parameters: dict[str, Any]):
    def numbers() -> tuple[bytes, bytes]:
        report = made(answered, parameters)
        with zipfile.ZipFile(io.BytesIO(bundle(report))) as file:
            return file.read("sections.json"), bytes(report.data.frames)

    assert numbers() == numbers()


@pytest.mark.django_db
def test_the_whole_report_is_one_file_that_needs_nothing_else(
    answered: Paired, parameters: dict[str, Any], client_as: Any, viewer: User
):
    report = made(answered, parameters)
    answer = client_as(viewer).get(f"/p/{report.project.slug}/reports/{report.pk}/report.html")
    text = answer.content.decode()
    assert "attachment" in answer.headers["Content-Disposition"]
    assert "People &amp; tiny" in text
    assert "simulated" in text
    assert text.count('src="data:image/svg+xml;base64,') == sum(len(found["figures"]) for found in report.sections)
    assert not re.search(r"<script|<link rel=\"stylesheet|href=\"/|src=\"/|url\(", text)


@pytest.mark.django_db
def test_a_link_shows_strangers_the_masked_report_until_it_is_revoked(
    answered: Paired, parameters: dict[str, Any], client: Client, researcher: User
):
    for name in ("d", "e", "f"):
        chile = answered.person(name, country="Chile")
        answered.record([(chile, item, code, "culture") for item in (0, 1) for code in ("personal", "norm")])
    report = made(answered, parameters | {"min_n": 2})  # Chile has three people, Brazil two, India one
    share = share_report(report=report, by=researcher)
    assert share_report(report=report, by=researcher) == share
    assert len(share.key) == 22
    page = client.get(f"/shared/{share.key}/")
    text = page.content.decode()
    assert "People &amp; tiny" in text
    assert "rests on fewer than 2" in text
    assert "no-store" in page.headers["Cache-Control"]
    assert f"/p/{report.project.slug}" not in text
    rates = client.get(f"/shared/{share.key}/tables/by_country.csv").content.decode().splitlines()
    assert [line for line in rates if ",India,People," in line or ",Brazil,People," in line] == []
    assert all(line.split(",")[5] for line in rates if ",Chile,People," in line)
    figure = client.get(f"/shared/{share.key}/figures/by_country_norm.csv").content.decode()
    assert "Chile,People" in figure
    assert "India,People" not in figure
    assert client.get(f"/shared/{share.key}/report.html").status_code == 200
    assert client.get(f"/shared/{share.key}/bundle.zip").status_code == 404
    assert client.get("/shared/%00/").status_code == 404
    assert revoke_share(report=report, by=researcher)
    assert client.get(f"/shared/{share.key}/").status_code == 404
    assert client.get(f"/shared/{share.key}/tables/by_country.csv").status_code == 404
    actions = list(AuditEvent.objects.order_by("at").values_list("action", flat=True))
    assert actions[-4:] == ["report shared", "shared report read", "shared report read", "report no longer shared"]


def test_the_order_of_names_in_parameters_changes_no_fingerprint():
    frames = {"people": pd.DataFrame({"n": [1]})}
    asked = {"dataset": "d", "instrument": "i", "people": "real", "tone": "t", "attitude": "t"}
    one, other = (
        ReactionsParameters.model_validate(asked | {"attitudes": attitudes})
        for attitudes in ({"negative": -1, "positive": 1}, {"positive": 1, "negative": -1})
    )
    assert data_fingerprint(frames, one) == data_fingerprint(frames, other)
