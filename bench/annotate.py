"""`python -m bench.annotate [--quick]`: annotators at work over HTTP, from the key that submits to the next item."""

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.llm_targets import Target, verdict
from bench.services import private_services
from config.processes import Child, StartError, StopRequested, stop_on_signals

PARTS = ("page", "cost", "race", "import", "export")


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    stop_on_signals()
    started = time.perf_counter()
    try:
        with private_services() as postgres:
            targets = list(_measure(options, postgres, started))
    except StopRequested:
        print("Stopped.")
    except StartError as error:
        print(f"The benchmark could not go on: {error}")
    else:
        _say("all", f"{time.perf_counter() - started:.1f} s")
        print("\n".join(verdict(targets)))


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """`quick` and `parts`; ends the program on bad ones."""
    parser = argparse.ArgumentParser(prog="python -m bench.annotate", description="Measure labelling on this machine.")
    parser.add_argument("--quick", action="store_true", help="smaller numbers, under 50 s on two free cores")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this one; may be repeated")
    options = parser.parse_args(arguments)
    options.parts = options.part or PARTS
    return options


def _measure(options: argparse.Namespace, postgres: Child, started: float) -> Iterator[Target]:
    """The parts in turn, each with its lines; yields what was measured against the targets, and nothing else."""
    # Models can be imported once Django is set up, which private_services does.
    from bench import annotate_parts

    with annotate_parts.site(Path(os.environ["CONCORD_VAR"]), postgres) as site:
        _say("services", f"started and migrated in {time.perf_counter() - started:.1f} s")
        for name, part in annotate_parts.measure(site, options.parts, quick=options.quick):
            _say(name, part.line)
            yield from part.targets


def _say(name: str, text: str) -> None:
    print(f"{name:12}{text}", flush=True)


if __name__ == "__main__":
    main()
