"""Starts the embedded model for the demo; `config/model_server.py` is what runs in the process."""

import secrets
from collections.abc import Mapping
from pathlib import Path

from config.embedded import free_port
from config.healthcheck import problem
from config.model_server import KEY_VARIABLE, MODEL_NAME, describe_exit
from config.processes import Child, python, wait_until

LOAD_SECONDS = 60


def start_model(environment: Mapping[str, str], log: Path) -> tuple[Child, dict[str, str]]:
    """The process, still loading, and the variables by which the others reach it."""
    port = _usual_port(Path(environment["CONCORD_VAR"]) / "run" / "model-port")
    variables = {
        "CONCORD_MODEL_BASE_URL": f"http://127.0.0.1:{port}/v1",
        "CONCORD_MODEL_NAME": MODEL_NAME,
        KEY_VARIABLE: secrets.token_urlsafe(24),
        "CONCORD_DEMO_MODEL": "1",
    }
    server = ("-m", "config.model_server", "--port", str(port))
    return python("The embedded model", *server, log=log, env={**environment, **variables}), variables


def model_problem(model: Child, variables: Mapping[str, str]) -> str:
    """Wait until the model answers: empty when it does, otherwise a sentence that says why it does not."""
    wait_until(lambda: not model.alive or not problem(f"{_root(variables)}/health"), LOAD_SECONDS)
    if model.alive:
        fault = problem(f"{_root(variables)}/health")
        return f"The embedded model does not answer: {fault}." if fault else ""
    return describe_exit(model.process.returncode)


def _usual_port(file: Path) -> int:
    """The port of the last start when it is free: endpoints keep their address, and equal requests their answers."""
    known = file.read_text(encoding="utf-8").strip() if file.exists() else ""
    port = free_port(int(known) if known.isdigit() and int(known) < 65_536 else 0)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{port}\n", encoding="utf-8")
    return port


def _root(variables: Mapping[str, str]) -> str:
    return variables["CONCORD_MODEL_BASE_URL"].removesuffix("/v1")
