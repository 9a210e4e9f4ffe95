"""What a job costs when the server fails, limits or the worker is killed: requests, tries and calls asked twice."""

import os
import signal
import time

from bench.llm_measure import check_answers, run, start, wait_until_done
from bench.llm_path import CONCURRENCY, PERSONAS, Site, model_server, worker
from bench.targets import Part, Target
from config.processes import Child, wait_until
from llm.models import Call

THROTTLED, FAILED = 0.10, 0.02
REQUESTS_TARGET = 1.03  # of those that faults make necessary
ALLOWED_RATE, LIMITED_ITEMS = 30, 600
LIMITED_SECONDS, LIMITED_TRIES = 25.0, 1.8
LEASE_SECONDS = 5  # the default is 20 s, which would only be waited for


def measure_faults(site: Site, celery: Child, *, calls: int) -> Part:
    """429 with Retry-After 1 s for a tenth of the requests, 500 for a fiftieth; every call must be answered."""
    script = ("--fault", f"rate_limited={THROTTLED}", "--fault", f"error_500={FAILED}")
    with model_server(site.folder, arguments=script) as server:
        done = run(site, celery, server, calls=calls)
    faulty = sum(number for behaviour, number in done.server["behaved"].items() if behaviour != "ok")
    share = done.server["requests"] / (calls + faulty)
    line = (
        f"all {calls:,} answered in {done.seconds:.1f} s ({done.rate:,.0f} calls/s); {done.server['requests']:,} "
        f"requests, {calls + faulty:,} necessary ({faulty:,} faulty answers)"
    )
    return Part(line, (Target("requests of the necessary", share, REQUESTS_TARGET),))


def measure_limited(site: Site, celery: Child) -> Part:
    """The server allows 30 requests a second and the endpoint's settings know nothing of it."""
    with model_server(site.folder, arguments=("--rate", ALLOWED_RATE)) as server:
        done = run(site, celery, server, calls=LIMITED_ITEMS)
    tries = done.server["requests"] / LIMITED_ITEMS
    line = (
        f"all {LIMITED_ITEMS} answered at {ALLOWED_RATE} a second in {done.seconds:.1f} s with {tries:.2f} tries each"
    )
    return Part(
        line, (Target("s when limited", done.seconds, LIMITED_SECONDS), Target("tries each", tries, LIMITED_TRIES))
    )


def measure_killed(site: Site, *, calls: int) -> Part:
    """`kill -9` of the worker and all its processes half-way; another carries on once the lease is over."""
    environment = {"CONCORD_MODEL_LEASE_SECONDS": str(LEASE_SECONDS)}
    with model_server(site.folder) as server:
        with worker(site.folder, **environment) as first:
            job = site.plan(server, items=calls // len(PERSONAS))
            start(job)
            wait_until(lambda: server.figures()["requests"] >= calls // 2, 60)
            in_flight = server.figures()["in_flight"]
            os.killpg(first.process.pid, signal.SIGKILL)
            first.process.wait()
        killed = time.perf_counter()
        settled, figures = Call.objects.filter(job=job, status=Call.Status.OK).count(), server.figures()
        asked, unsettled = figures["requests"], figures["answered"] + figures["in_flight"] - settled
        with worker(site.folder, **environment) as second:
            wait_until(lambda: server.figures()["requests"] > asked, 200)
            again = time.perf_counter() - killed
            wait_until_done(job, second, calls=calls)
        check_answers(job, calls)
        figures = server.figures()
    twice = figures["answered"] - figures["questions"]
    line = (
        f"killed after {settled:,} of {calls:,} with {in_flight} in flight and {max(0, unsettled - in_flight)} "
        f"answered but not stored; asked again after {again:.0f} s (lease {LEASE_SECONDS} s), all answered and stored "
        f"once, {twice} asked twice"
    )
    return Part(line, (Target("asked twice after kill -9", twice, CONCURRENCY),))
