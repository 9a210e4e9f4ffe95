"""Other libraries on the same questions against the same server in the same run, where a Python has them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.llm_measure import Run
from bench.llm_path import CONCURRENCY, ModelServer, Site, run_script
from bench.targets import Part, Target
from llm.models import Call
from tests.model_server import MODEL

FASTER_TARGET = 4.0
LONGEST_SECONDS = 600.0
SCRIPTS = Path(__file__).parent


@dataclass(frozen=True)
class Cost:
    """`seconds` and processor seconds of so many calls, without starting the program."""

    calls: int
    seconds: float
    processor: float

    def __str__(self) -> str:
        rate, processor = self.calls / self.seconds, 1000 * self.processor / self.calls
        return f"{rate:,.0f} calls/s, processor s per 1,000 calls {processor:.1f}"


def questions_of(run: Run) -> bytes:
    """What the run asked, as the peers' scripts read it: JSON list of [system, user]."""
    asked = Call.objects.filter(job_id=run.job).order_by("id").values_list("messages", flat=True)
    return json.dumps([[message["content"] for message in messages] for messages in asked]).encode()


def measure_peer(site: Site, server: ModelServer, own: Run, *, peer: str, interpreter: str) -> Part:
    """The peer on the questions of Concord's `own` run. Raises StartError when it fails or leaves some unanswered."""
    folder = site.folder / peer
    folder.mkdir()
    command: Sequence[object] = (interpreter, SCRIPTS / f"llm_peer_{peer}.py", server.url, MODEL, CONCURRENCY, folder)
    found = run_script(peer, command, folder=site.folder, seconds=LONGEST_SECONDS, stdin=questions_of(own))
    cost = Cost(found["answered"], found["seconds"], found["processor"])
    faster = own.rate / (cost.calls / cost.seconds)
    line = f"{cost} ({cost.calls:,} of {own.calls:,} answered); Concord {own.rate:,.0f} calls/s, {own.per_thousand:.1f}"
    return Part(line, (Target(f"times as fast as {peer}", faster, FASTER_TARGET, at_least=True),))
