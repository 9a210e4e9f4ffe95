"""`python -m bench.annotate [--quick]`: annotators at work over HTTP, beside those of other tools."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from bench import peers
from bench.running import Parts, run
from config.processes import Child

PARTS = ("page", "cost", "race", "import", "export")
PEERS = {"label-studio": "label-studio", "potato": "potato-annotation"}  # each by its program; what pip installs


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    run(lambda postgres: _measure(options, postgres))


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """`parts` and `peers` (name and program of each) besides `quick`; ends the program on bad ones."""
    parser = argparse.ArgumentParser(prog="python -m bench.annotate", description="Measure labelling on this machine.")
    parser.add_argument("--quick", action="store_true", help="smaller numbers, under 50 s on two free cores")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this one; may be repeated")
    peers.add_options(parser, PEERS)
    options = parser.parse_args(arguments)
    options.parts = options.part or ([] if options.peer else PARTS)
    options.peers = peers.programs(parser, options, PEERS)
    return options


def _measure(options: argparse.Namespace, postgres: Child) -> Parts:
    # Models can be imported once Django is set up, which private_services does.
    from bench import annotate_parts, annotate_peers

    rounds = annotate_parts.QUICK_ROUNDS if options.quick else annotate_parts.ROUNDS
    with annotate_parts.site(Path(os.environ["CONCORD_VAR"]), postgres) as site:
        yield from annotate_parts.measure(site, options.parts, quick=options.quick)
        for peer, program in options.peers:
            yield peer, annotate_peers.measure_peer(site, peer=peer, program=program, rounds=rounds)


if __name__ == "__main__":
    main()
