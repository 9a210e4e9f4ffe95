"""Which part measures what, and with how many calls in a quick run."""

import argparse
import json
import sys
from collections.abc import Iterator

from bench.llm_faults import measure_faults, measure_killed, measure_limited
from bench.llm_measure import Run, run
from bench.llm_path import CEILING, CONCURRENCY, PERSONAS, ModelServer, Site, model_server, run_script, worker
from bench.llm_peers import measure_peer
from bench.llm_planning import ITEMS, measure_planning
from bench.targets import Part, Target, spread
from config.processes import Child

SMALL_CALLS, LARGE_CALLS = 2_000, 20_000
FAULTS_CALLS, QUICK_FAULTS_CALLS = 2_000, 320
KILLED_CALLS = 2_000
PEER_CALLS, QUICK_PEER_CALLS = 2_000, 400

SHARE_TARGET = 0.85  # of the ceiling
PROCESSOR_TARGET = 6.0  # seconds per 1,000 calls
MEMORY_TARGET = 250.0  # MiB of a worker with all its processes
FLAT_TARGET = 1.1  # time and memory of a call in the large job, as a multiple of the small one's


def items_needed(calls: int) -> int:
    return max(ITEMS, calls // len(PERSONAS), LARGE_CALLS // len(PERSONAS))


def measure(site: Site, options: argparse.Namespace) -> Iterator[tuple[str, Part]]:
    """The parts that are asked for, each with its name; those whose memory is measured have a worker of their own."""
    main: Run | None = None
    if "main" in options.parts:
        main, parts = _measure_main(site, options.calls)
        yield from parts
    if "flat" in options.parts:
        yield "flat", _measure_flat(site, main, calls=max(LARGE_CALLS, options.calls))
    if options.peers or {"faults", "limited", "planning"} & set(options.parts):
        with worker(site.folder) as celery:
            yield from _measure_with_one_worker(site, celery, options)
    if "killed" in options.parts:
        yield "killed", measure_killed(site, calls=KILLED_CALLS)


def _measure_with_one_worker(site: Site, celery: Child, options: argparse.Namespace) -> Iterator[tuple[str, Part]]:
    if "faults" in options.parts:
        calls = QUICK_FAULTS_CALLS if options.quick else FAULTS_CALLS
        yield "faults", measure_faults(site, celery, calls=calls)
    if "limited" in options.parts:
        yield "limited", measure_limited(site, celery)
    for name, interpreter in options.peers:
        with model_server(site.folder) as server:
            own = run(site, celery, server, calls=QUICK_PEER_CALLS if options.quick else PEER_CALLS)
            yield name, measure_peer(site, server, own, peer=name, interpreter=interpreter)
    if "planning" in options.parts:
        yield "planning", measure_planning(site)


def _measure_main(site: Site, calls: int) -> tuple[Run, list[tuple[str, Part]]]:
    with model_server(site.folder) as server:
        with worker(site.folder) as celery:
            done = run(site, celery, server, calls=calls)
        floor = _measure_floor(site, server, done)
    targets = (
        Target("share of the ceiling", done.rate / CEILING, SHARE_TARGET, at_least=True),
        Target("processor s per 1,000 calls", done.per_thousand, PROCESSOR_TARGET),
        Target("MiB of the worker", done.memory, MEMORY_TARGET),
    )
    return done, [("main", Part(str(done), targets)), ("floor", floor)]


def _measure_floor(site: Site, server: ModelServer, done: Run) -> Part:
    """The same calls by bare aiohttp, straight afterwards."""
    body = json.dumps(done.server["body"]).encode()
    command = (sys.executable, "-m", "bench.llm_floor", server.url, done.calls, CONCURRENCY)
    found = run_script("floor", command, folder=site.folder, seconds=60 + 10 * done.calls / CEILING, stdin=body)
    rate, processor = done.calls / found["seconds"], 1000 * found["processor"] / done.calls
    return Part(
        f"bare aiohttp {rate:,.0f} calls/s ({rate / CEILING:.0%} of the ceiling), processor s per 1,000 calls "
        f"{processor:.2f}; Concord: {done.rate / rate:.2f} times the rate, {done.per_thousand / processor:.1f} times "
        "the processor time"
    )


def _measure_flat(site: Site, main: Run | None, *, calls: int) -> Part:
    """A small job and a large one, each with a worker and a server of its own; a large main part is not repeated."""
    small = _alone(site, SMALL_CALLS)
    large = main if main and main.calls >= LARGE_CALLS else _alone(site, calls)
    line = f"{small.calls:,} calls: {small.rate:,.0f}/s, {small.per_thousand:.2f} processor s per 1,000, "
    line += f"{small.memory:,.0f} MiB; {large.calls:,}: {large.rate:,.0f}/s, {large.per_thousand:.2f}, "
    line += f"{large.memory:,.0f} MiB"
    targets = (
        Target("time a call, large / small", spread(1 / small.rate, 1 / large.rate), FLAT_TARGET),
        Target("processor, large / small", spread(small.per_thousand, large.per_thousand), FLAT_TARGET),
        Target("memory, large / small", spread(small.memory, large.memory), FLAT_TARGET),
    )
    return Part(line, targets)


def _alone(site: Site, calls: int) -> Run:
    with model_server(site.folder) as server, worker(site.folder) as celery:
        return run(site, celery, server, calls=calls)
