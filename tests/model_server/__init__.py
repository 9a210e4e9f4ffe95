"""A model server for tests: real HTTP on loopback, answers that follow from the request, faults by script.

In a test: `with ScriptedModelServer(Script(behaviours=["error_500"])) as server: server.base_url`. It runs in a
thread of its own, so that worker processes reach it too. `Script(dialect="ollama")` makes it behave as that kind of
server does. It has the Batch API too, answered by the same script. By hand:
`python -m tests.model_server --port 8081 --latency 0.2`.
"""

from tests.model_server.answers import value_for
from tests.model_server.dialects import DIALECTS
from tests.model_server.script import BEHAVIOURS, MODEL, Script
from tests.model_server.server import ScriptedModelServer

__all__ = ["BEHAVIOURS", "DIALECTS", "MODEL", "Script", "ScriptedModelServer", "value_for"]
