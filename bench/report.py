"""`python -m bench.report [--quick]`: a report on models' behaviour over as many answers as PACT's benchmark has."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from bench.running import Parts, run
from config.processes import Child

PARTS = ("growth", "behaviour")


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    run(lambda postgres: _measure(options, postgres))


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """`parts` besides `quick`; ends the program on bad ones."""
    parser = argparse.ArgumentParser(prog="python -m bench.report", description="Measure reports on this machine.")
    parser.add_argument("--quick", action="store_true", help="fewer items, under 50 s on two free cores")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this one; may be repeated")
    options = parser.parse_args(arguments)
    options.parts = options.part or PARTS
    return options


def _measure(options: argparse.Namespace, postgres: Child) -> Parts:
    # Models can be imported once Django is set up, which private_services does.
    from bench import report_parts

    yield from report_parts.measure(options.parts, Path(os.environ["CONCORD_VAR"]), postgres, quick=options.quick)


if __name__ == "__main__":
    main()
