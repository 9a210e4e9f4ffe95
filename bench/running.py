"""How a benchmark with parts runs: with services of its own if it needs any, a line a part, and its verdict last."""

import time
from collections.abc import Callable, Iterator

from bench.services import private_services
from bench.targets import Part, Target, verdict
from config.processes import Child, StartError, StopRequested, stop_on_signals

Parts = Iterator[tuple[str, Part]]


def run(measure: Callable[[Child], Parts]) -> None:
    """`measure` gets the process of PostgreSQL and yields each part with its name."""
    stop_on_signals()
    started = time.perf_counter()
    try:
        with private_services() as postgres:
            tell(measure(postgres), started=started)
    except StopRequested:
        print("Stopped.")
    except StartError as error:
        print(f"The benchmark could not go on: {error}")


def tell(parts: Parts, *, started: float) -> None:
    """Print each part when it is done, then how long all took since `started`, and the verdict last."""
    targets: list[Target] = []
    for name, part in parts:
        _say(name, part.line)
        targets += part.targets
    _say("all", f"{time.perf_counter() - started:.1f} s")
    for line in verdict(targets):
        print(line)


def _say(name: str, text: str) -> None:
    print(f"{name:13}{text}", flush=True)
