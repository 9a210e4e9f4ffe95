import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from llm.servers.client import Reply, ask, open_client
from llm.servers.endpoint_config import EndpointConfig, Parameters
from materials.models import Dataset, Instrument
from projects.models import Project
from tests.llm.jobs import JobMaker
from tests.model_server import MODEL, ScriptedModelServer

MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "A or B?"}]
SCHEMA = {
    "type": "object",
    "properties": {"norm": {"type": "string", "enum": ["A", "B"]}},
    "required": ["norm"],
    "additionalProperties": False,
}


def endpoint_of(server: ScriptedModelServer, **changes: Any) -> EndpointConfig:
    return EndpointConfig(
        **{"base_url": server.base_url, "api_key": "sk-scripted", "model": MODEL, "timeout_seconds": 5, **changes}
    )


@pytest.fixture
def ask_once() -> Callable[..., Reply]:
    """Ask an endpoint one question in an event loop of its own."""

    def run(endpoint: EndpointConfig, *, schema: Any = SCHEMA, messages: Any = MESSAGES, **parameters: Any) -> Reply:
        async def call() -> Reply:
            async with open_client(endpoint) as client:
                return await ask(client, endpoint, messages, Parameters(**parameters), schema=schema)

        return asyncio.run(call())

    return run


@pytest.fixture
def jobs(
    project: Project, make_dataset: Callable[..., Dataset], make_instrument: Callable[..., Instrument]
) -> JobMaker:
    return JobMaker(project, make_dataset, make_instrument)
