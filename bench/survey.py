"""`python -m bench.survey [--quick]`: participants at a study over HTTP, beside those of oTree."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from bench import peers
from bench.running import Parts, run
from config.processes import Child

PARTS = ("thinking", "burst", "crowd")
PEERS = {"otree": "otree"}  # what pip installs


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    run(lambda postgres: _measure(options, postgres))


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """`parts` and `peers` (name and program of each) besides `quick`; ends the program on bad ones."""
    parser = argparse.ArgumentParser(prog="python -m bench.survey", description="Measure participants on this machine.")
    parser.add_argument(
        "--quick", action="store_true", help="fewer people who think less, under 50 s on two free cores"
    )
    parser.add_argument("--part", action="append", choices=PARTS, help="only this one; may be repeated")
    peers.add_options(parser, PEERS)
    options = parser.parse_args(arguments)
    options.parts = options.part or PARTS
    options.peers = peers.programs(parser, options, PEERS)
    return options


def _measure(options: argparse.Namespace, postgres: Child) -> Parts:
    # Models can be imported once Django is set up, which private_services does.
    from bench import survey_otree, survey_parts

    loads = survey_parts.QUICK_LOADS if options.quick else survey_parts.LOADS
    with survey_parts.site(Path(os.environ["CONCORD_VAR"]), postgres) as site:
        for name in options.parts:
            own = survey_parts.measure(site, loads[name])
            yield name, own.part(name)
            for peer, program in options.peers:
                yield peer, survey_otree.measure(program, loads[name], own=own)


if __name__ == "__main__":
    main()
