"""`python -m bench.smoke [--quick]`: what this machine does with the demo's data, and the target of record_many."""

import argparse
import os
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench import timing
from bench.services import private_services, web_server
from config.processes import Child

RECORD_MANY_TARGET = 3.0


@dataclass(frozen=True)
class Sizes:
    items: int
    people: int
    rounds: int


FULL = Sizes(items=20_000, people=120, rounds=5)
QUICK = Sizes(items=5_000, people=40, rounds=3)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.smoke", description="Measure the demo on this machine.")
    parser.add_argument("--quick", action="store_true", help="smaller numbers, under a minute")
    sizes = QUICK if parser.parse_args(arguments).quick else FULL
    started = time.perf_counter()
    with private_services() as database:
        _say("services", f"started and migrated in {time.perf_counter() - started:.1f} s")
        times = _measure(sizes, database)
    _say("all", f"{time.perf_counter() - started:.1f} s")
    print(timing.verdict("record_many / COPY", timing.ratio(times["record_many"], times["COPY"]), RECORD_MANY_TARGET))


def _measure(sizes: Sizes, database: Child) -> dict[str, list[float]]:
    """Everything in turn, each with its line; returns the seconds of record_many and COPY."""
    # Models can be imported once Django is set up, which private_services does.
    from bench.demo_survey import measure_survey
    from bench.importing import measure_import
    from bench.recording import measure_recording
    from bench.reporting import measure_report
    from materials.models import Item
    from projects.models import Project

    project = Project.objects.create(name="Benchmark", slug="bench")
    _say("import", timing.rate(sizes.items, measure_import(project, items=sizes.items, rounds=3), "items"))
    items = list(Item.objects.filter(dataset__slug="bench-0").order_by("position")[:48])
    rows, times = measure_recording(project, items, rounds=sizes.rounds)
    for name, seconds in times.items():
        _say(name, timing.rate(rows, seconds, "responses"))
    with web_server(Path(os.environ["CONCORD_VAR"])) as (url, web):
        _say("survey", str(measure_survey(url, web, database, people=sizes.people)))
    answers, seconds = measure_report(rounds=sizes.rounds)
    _say("report", f"{median(seconds):.2f} s (median of {len(seconds)}; {answers:,} answers)")
    return times


def _say(name: str, text: str) -> None:
    print(f"{name:12}{text}", flush=True)


if __name__ == "__main__":
    main()
