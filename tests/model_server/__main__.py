"""The scripted server by hand."""

import argparse
import asyncio

from tests.model_server import BEHAVIOURS, DIALECTS, MODEL, Script, ScriptedModelServer


def main() -> None:
    parser = argparse.ArgumentParser(description="A model server for tests.")
    parser.add_argument("--port", type=int, default=8081)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rate", type=float, help="requests a second beyond which it answers 429")
    parser.add_argument("--dialect", choices=list(DIALECTS), default="", help="behave as this kind of server does")
    parser.add_argument("--batch-seconds", type=float, help="how long a batch takes")
    parser.add_argument("--fault", action="append", default=[], metavar="NAME=PROBABILITY", help=", ".join(BEHAVIOURS))
    options = parser.parse_args()
    faults = {name: float(share) for name, _, share in (fault.partition("=") for fault in options.fault)}
    script = Script(
        probabilities=faults,
        seed=options.seed,
        latency_seconds=options.latency,
        requests_per_second=options.rate,
        dialect=options.dialect,
        batch_seconds=options.batch_seconds,
    )
    server = ScriptedModelServer(script, port=options.port, keep_bodies=False)
    try:
        asyncio.run(server.serve(lambda: print(f"{server.base_url} serves {MODEL}; Ctrl-C ends it.", flush=True)))
    except KeyboardInterrupt:
        print("Stopped.")


if __name__ == "__main__":
    main()
