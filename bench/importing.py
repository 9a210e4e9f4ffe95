"""Items imported a second: JSON lines made from the protocol's scenarios, through the importer everybody uses."""

import io
import json
from itertools import cycle, islice

from bench.timing import interleaved
from materials.importing import import_items
from materials.reading import read_items
from projects.models import Project
from protocols.pact.scenarios import all_scenarios

FILENAME = "scenarios.jsonl"


def scenario_lines(count: int) -> bytes:
    """`count` items as JSON lines: the scenarios over and over, each with an id of its own."""
    contents = islice(cycle(all_scenarios()), count)
    lines = (json.dumps({**content, "external_id": f"{n}"}, ensure_ascii=False) for n, content in enumerate(contents))
    return "\n".join(lines).encode()


def measure_import(project: Project, *, items: int, rounds: int) -> list[float]:
    """Seconds to import this many items into a new dataset, `rounds` times."""
    lines = scenario_lines(items)

    def step(number: int) -> None:
        import_items(
            project=project,
            dataset_slug=f"bench-{number}",
            records=read_items(io.BytesIO(lines), filename=FILENAME),
            source=FILENAME,
            by=None,
        )

    return interleaved({"import": step}, rounds=rounds)["import"]
