"""`manage.py serve` started for real, in a folder whose name has a space."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

import pytest
from celery import Celery

from config.embedded import free_port
from config.preflight import check_folder, check_port, hold_lock
from config.processes import ROOT, StartError, wait_until
from config.serve import main

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc, which only Linux has")


@pytest.fixture(scope="module")
def var(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("a folder") / "var of tests"


@pytest.fixture
def serve(var: Path) -> Iterator[Callable[..., "Served"]]:
    started: list[Served] = []

    def run(*arguments: str, settings: str = "config.settings.dev") -> Served:
        started.append(Served(var, arguments, settings))
        return started[-1]

    yield run
    for served in started:
        served.process.kill()
        served.process.wait()


class Served:
    """A running `manage.py serve`; `output()` is what it has printed."""

    def __init__(self, var: Path, arguments: tuple[str, ...], settings: str) -> None:
        self.var, self.port = var, free_port()
        var.mkdir(parents=True, exist_ok=True)
        self.printed = var / "printed.txt"
        env = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
        env |= {"CONCORD_VAR": str(var), "DJANGO_SETTINGS_MODULE": settings}
        command = [sys.executable, ROOT / "manage.py", "serve", "--port", str(self.port), *arguments]
        self.begun = time.monotonic()
        with self.printed.open("w") as output:
            self.process = subprocess.Popen(command, env=env, stdout=output, stderr=subprocess.STDOUT)

    def output(self) -> str:
        return self.printed.read_text()

    def wait_until_ready(self) -> float:
        """Seconds from the start to the line that says so."""
        ready = wait_until(lambda: "Concord is ready" in self.output() or self.process.poll() is not None, 240)
        assert ready, self.output()
        assert self.process.poll() is None, self.output()
        return time.monotonic() - self.begun

    def descendants(self) -> set[int]:
        """Everything that this process started, and what that started."""
        parents = {pid: int(fields[1]) for pid, fields in _processes().items()}
        found = {self.process.pid}
        while more := {pid for pid, parent in parents.items() if parent in found} - found:
            found |= more
        return found - {self.process.pid}


def _processes() -> dict[int, list[str]]:
    """By pid: state, parent's pid and the other fields of /proc/PID/stat after the name; without zombies."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            found[int(folder.name)] = (folder / "stat").read_text().rsplit(")", 1)[1].split()
    return {pid: fields for pid, fields in found.items() if fields[0] != "Z"}


def _gone(pids: set[int], seconds: float) -> bool:
    return wait_until(lambda: not pids & set(_processes()), seconds)


@LINUX
def test_it_serves_pages_and_ends_everything_on_ctrl_c(serve: Callable[..., Served]) -> None:
    served = serve()
    served.wait_until_ready()
    started = served.descendants()
    assert len(started) >= 10  # PostgreSQL and its helpers, Valkey, gunicorn and its workers, Celery
    with urlopen(f"http://127.0.0.1:{served.port}/readyz") as answer:
        assert answer.status == 200
    page = urlopen(f"http://127.0.0.1:{served.port}/login/?PROLIFIC_PID=5f0000").read().decode()
    assert "/static/css/" in page
    logs = [served.var / "log" / f"{name}.log" for name in ("worker", "model-worker")]
    assert wait_until(lambda: all(" ready." in log.read_text() for log in logs), 60)
    with Celery(broker=_redis_url(served), set_as_current=False) as asker:
        queues = asker.control.inspect(timeout=20, limit=2).active_queues()
    # A job that waits for its server keeps nothing else waiting.
    assert sorted([queue["name"] for queue in one] for one in queues.values()) == [["celery"], ["models"]]
    check = [sys.executable, ROOT / "manage.py", "check", "--database", "default"]  # finds the services by itself
    env = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
    env |= {"CONCORD_VAR": str(served.var), "DJANGO_SETTINGS_MODULE": "config.settings.dev"}
    assert subprocess.run(check, env=env, capture_output=True, check=False).returncode == 0
    second = subprocess.run(
        [sys.executable, ROOT / "manage.py", "serve"], env=env, capture_output=True, text=True, check=False
    )
    assert second.returncode == 1
    assert f"already runs on {served.var} (process {served.process.pid})" in second.stderr

    asked = time.monotonic()
    served.process.send_signal(signal.SIGINT)
    assert served.process.wait(40) == 0, served.output()
    assert time.monotonic() - asked < 30  # on a quiet machine about two seconds
    assert served.output().endswith("Stopped.\n")
    assert _gone(started, 3)
    assert not (served.var / "run" / "services.env").exists()
    for log in (served.var / "log").iterdir():
        assert "5f0000" not in log.read_text(), log


@LINUX
def test_a_kill_9_at_rest_and_at_work_and_the_death_of_one_child_leave_nothing_behind(
    serve: Callable[..., Served],
) -> None:
    at_rest = serve()
    at_rest.wait_until_ready()
    _kill_and_see_all_end(at_rest, seconds=30)

    at_work = serve(settings="tests.config.busy")
    assert at_work.wait_until_ready() < 120  # on a quiet machine about five seconds
    with Celery(broker=_redis_url(at_work), set_as_current=False) as sender:
        for _ in range(6):  # more than the worker has processes: some wait inside it
            sender.send_task("tests.config.busy.stay")
    log = at_work.var / "log" / "worker.log"
    assert wait_until(lambda: log.read_text().count("I stay") >= 2, 60), log.read_text()
    _kill_and_see_all_end(at_work, seconds=15)

    last = serve()
    last.wait_until_ready()
    started = last.descendants()
    os.kill(int((last.var / "postgres" / "postmaster.pid").read_text().split("\n")[0]), signal.SIGKILL)
    assert last.process.wait(40) == 1
    assert "serve: PostgreSQL was ended by SIGKILL (log: " in last.output()
    assert _gone(started, 3)


def _redis_url(served: Served) -> str:
    lines = (served.var / "run" / "services.env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)["REDIS_URL"]


def _kill_and_see_all_end(served: Served, *, seconds: float) -> None:
    started = served.descendants()
    served.process.kill()
    served.process.wait()
    assert _gone(started, seconds), _commands(started)


def _commands(pids: set[int]) -> list[str]:
    """What still runs of these, for the message of a failed test."""
    return [Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ") for pid in pids & set(_processes())]


def test_a_busy_port_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CONCORD_VAR", str(tmp_path / "var"))
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert main(["--port", str(port)]) == 1
    for number, handler in handlers.items():
        signal.signal(number, handler)
    assert capsys.readouterr().err == (
        f"serve: Port {port} on 127.0.0.1 is in use; stop the program that uses it or choose another port, "
        f"for example `make demo PORT={port + 1}`.\n"
    )


def test_an_address_of_another_machine_is_a_sentence() -> None:
    with pytest.raises(StartError, match=r"Cannot listen on 192\.0\.2\.1, port \d+: "):
        check_port("192.0.2.1", free_port())


def test_a_full_disk_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StartError, match=r"Only \d+ MB are free on the disk of .*; free at least 1000000000 MB"):
        check_folder(tmp_path, needed_megabytes=1_000_000_000)


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StartError, match=r"Cannot write to .*: Not a directory; set CONCORD_VAR to another folder\."):
        check_folder(tmp_path / "file" / "var")


def test_a_lock_is_free_again_when_its_holder_is_gone(tmp_path: Path) -> None:
    check_folder(tmp_path, 0)
    with hold_lock(tmp_path), pytest.raises(StartError, match=f"process {os.getpid()}"):
        hold_lock(tmp_path)
    hold_lock(tmp_path).close()
