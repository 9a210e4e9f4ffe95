"""`python -m bench.metrics [--quick]`: what the metrics library takes on data of the papers' size."""

import argparse
import os
import time
from collections.abc import Sequence

from bench.running import tell

PARTS = ("subsets", "deviance", "bootstrap")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.metrics", description="Measure the metrics on this machine.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, under 50 s on two free cores")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this one; may be repeated")
    options = parser.parse_args(arguments)
    started = time.perf_counter()
    # The matrices are small: a second thread costs more than it brings, ten times as much beside other work. NumPy
    # reads this when it is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from bench.metrics_parts import measure

    tell(measure(options.part or PARTS, rounds=3 if options.quick else 9), started=started)


if __name__ == "__main__":
    main()
