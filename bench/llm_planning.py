"""A job as large as the protocol's largest: counted, priced and started."""

import time
import tracemalloc
from collections.abc import Callable

from bench.llm_path import Site, model_server
from bench.targets import Part, Target
from config.processes import StartError, wait_until
from llm.planning.costs import make_plan
from llm.services import start_job, stop_job

ITEMS, CELLS = 6_640, 6
PERSONAS = [
    {"country": country, "age_group": age, "gender": gender}
    for country in ("Brazil", "India", "Kenya", "Poland", "South Africa", "United States")
    for age in ("younger", "older")
    for gender in ("female", "male", "other", "undisclosed")
]
CALLS = ITEMS * len(PERSONAS) * CELLS  # 1,912,320
PLAN_SECONDS, FIRST_SECONDS = 5.0, 10.0
HELD_MIB = 64.0  # a list of the calls alone would take several times as much
WAIT_SECONDS = 300.0


def measure_planning(site: Site) -> Part:
    """Seconds until counts and price are there, and from "run" until the server sees a request; then it is stopped.

    A worker must be running.
    """
    factors = [{"name": "config", "levels": [{"name": f"C{n}", "value": f"C{n}"} for n in range(CELLS)]}]
    with model_server(site.folder) as server:
        started = time.perf_counter()
        job = site.plan(server, items=ITEMS, personas=PERSONAS, factors=factors)
        plan = make_plan(job)
        planned = time.perf_counter() - started
        if plan.calls != CALLS or not plan.price:
            raise StartError(f"The plan counts {plan.calls:,} calls instead of {CALLS:,}, at the price {plan.price}.")
        held = traced_mib(lambda: make_plan(job))
        started_at = time.time()
        start_job(job=job)
        wait_until(lambda: server.figures()["first_at"] is not None, WAIT_SECONDS)
        first_at = server.figures()["first_at"]
        stop_job(job=job, reason="The benchmark has seen the first calls.")
    first = first_at - started_at if first_at else float("nan")
    line = (
        f"{plan.calls:,} calls counted and priced ({plan.price:,.2f}) in {planned:.2f} s, first request {first:.1f} s "
        f"after run; planning held {held:.1f} MiB"
    )
    targets = (
        Target("s to plan", planned, PLAN_SECONDS),
        Target("s to the first request", first, FIRST_SECONDS),
        Target("MiB held by planning", held, HELD_MIB),
    )
    return Part(line, targets)


def traced_mib(step: Callable[[], object]) -> float:
    """The most that the step held at once, in MiB. It is traced apart from its timing: tracing takes several times as
    long, and the process's size would hide what fits into memory that was used before."""
    tracemalloc.start()
    try:
        step()
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()
