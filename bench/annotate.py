"""`python -m bench.annotate [--quick]`: annotators at work over HTTP, from the key that submits to the next item."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from bench.running import Parts, run
from config.processes import Child

PARTS = ("page", "cost", "race", "import", "export")


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    run(lambda postgres: _measure(options, postgres))


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """`quick` and `parts`; ends the program on bad ones."""
    parser = argparse.ArgumentParser(prog="python -m bench.annotate", description="Measure labelling on this machine.")
    parser.add_argument("--quick", action="store_true", help="smaller numbers, under 50 s on two free cores")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this one; may be repeated")
    options = parser.parse_args(arguments)
    options.parts = options.part or PARTS
    return options


def _measure(options: argparse.Namespace, postgres: Child) -> Parts:
    # Models can be imported once Django is set up, which private_services does.
    from bench import annotate_parts

    with annotate_parts.site(Path(os.environ["CONCORD_VAR"]), postgres) as site:
        yield from annotate_parts.measure(site, options.parts, quick=options.quick)


if __name__ == "__main__":
    main()
