"""`python -m bench.llm [--quick]`: jobs of models through the whole path, beside bare aiohttp and other libraries."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from bench import peers
from bench.running import Parts, run
from config.processes import Child

PARTS = ("main", "flat", "faults", "limited", "killed", "planning")
QUICK_PARTS = ("main", "faults", "planning")
PEERS = {"inspect": "inspect_ai openai", "edsl": "edsl openai"}  # what pip installs for each
CALLS, QUICK_CALLS = 10_000, 2_800


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    run(lambda postgres: _measure(options, postgres))


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """`calls`, `parts` and `peers` (name and Python of each) besides `quick`; ends the program on bad ones."""
    parser = argparse.ArgumentParser(prog="python -m bench.llm", description="Measure jobs of models on this machine.")
    parser.add_argument("--quick", action="store_true", help="smaller numbers and fewer parts, under a minute")
    parser.add_argument("--calls", type=_calls, help=f"of the main part, a multiple of 8 (default {CALLS:,})")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this one; may be repeated")
    peers.add_options(parser, PEERS)
    options = parser.parse_args(arguments)
    options.calls = options.calls or (QUICK_CALLS if options.quick else CALLS)
    options.parts = options.part or ([] if options.peer else QUICK_PARTS if options.quick else PARTS)
    options.peers = peers.chosen(parser, options, PEERS)
    return options


def _calls(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number < 8 or number % 8:
        raise argparse.ArgumentTypeError(f"{text} is no multiple of 8, the number of personas")
    return number


def _measure(options: argparse.Namespace, postgres: Child) -> Parts:
    # Models can be imported once Django is set up, which private_services does.
    from bench import llm_parts
    from bench.llm_path import beat, make_site

    folder = Path(os.environ["CONCORD_VAR"])
    site = make_site(folder, postgres, items=llm_parts.items_needed(options.calls))
    with beat(folder):
        yield from llm_parts.measure(site, options)


if __name__ == "__main__":
    main()
