import signal
import subprocess
import sys

import pytest

from config.processes import ROOT

WAIT = "from config.processes import *; stop_on_signals(); print('ready', flush=True); wait_until(lambda: False, 60)"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_who_waits_hears_that_someone_asks_to_stop(number: signal.Signals) -> None:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", WAIT], cwd=ROOT, **pipes) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        assert process.communicate(timeout=30)[1].strip().endswith("StopRequested")
