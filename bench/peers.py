"""The options that name other tools to compare with, each in an environment of its own."""

import argparse
from collections.abc import Mapping
from pathlib import Path


def add_options(parser: argparse.ArgumentParser, names: Mapping[str, str]) -> None:
    """`names` has what pip installs for each."""
    parser.add_argument("--peer", action="append", choices=names, default=[], help="compare; may be repeated")
    parser.add_argument(
        "--peer-python", action="append", default=[], metavar="PATH", help="a Python that has it: one for each --peer"
    )


def chosen(
    parser: argparse.ArgumentParser, options: argparse.Namespace, names: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Name and Python of each peer; ends the program unless there is one Python for each."""
    if len(options.peer_python) != len(options.peer):
        packages = " and ".join(names[peer] for peer in options.peer) or "it"
        parser.error(
            "give one --peer-python for each --peer: the Python of an environment of its own "
            f"(python -m venv DIR) with {packages} (DIR/bin/pip install)"
        )
    return list(zip(options.peer, options.peer_python, strict=True))


def programs(
    parser: argparse.ArgumentParser, options: argparse.Namespace, names: Mapping[str, str]
) -> list[tuple[str, Path]]:
    """Name and program of each peer, which stands beside its Python; ends the program where it is missing."""
    found = []
    for peer, interpreter in chosen(parser, options, names):
        program = Path(interpreter).absolute().with_name(peer)
        if not program.exists():
            parser.error(f"there is no {program}: install it with {interpreter} -m pip install {names[peer]}")
        found.append((peer, program))
    return found
