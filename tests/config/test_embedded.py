"""The embedded services, started and stopped for real."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psycopg
import pytest
import redis
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured

from config import embedded
from config.embedded import Service, load_running_services, local_secret, start_postgres, start_valkey
from config.processes import StartError, wait_until


def _query(service: Service, sql: str) -> object:
    with psycopg.connect(service.url, autocommit=True) as connection:
        cursor = connection.execute(sql.encode())
        return cursor.fetchall() if cursor.description else None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A path with a space, too long for a socket."""
    path = tmp_path_factory.mktemp("a folder") / ("long " * 20)
    path.mkdir()
    return path


@pytest.fixture(scope="module", autouse=True)
def _initialised(folder: Path) -> None:
    start_postgres(folder / "pg", folder / "pg.log", durable=False).stop()


def test_postgres_keeps_its_data_between_runs(folder: Path) -> None:
    first = start_postgres(folder / "pg", folder / "pg.log", durable=False)
    _query(first, "CREATE TABLE kept AS SELECT 42 AS answer")
    first.stop()
    assert not first.child.alive
    second = start_postgres(folder / "pg", folder / "pg.log", durable=False)
    assert _query(second, "SELECT answer FROM kept") == [(42,)]
    second.stop()


def test_postgres_left_over_by_a_killed_run_is_replaced(folder: Path) -> None:
    leftover = start_postgres(folder / "pg", folder / "pg.log", durable=False)
    second = start_postgres(folder / "pg", folder / "pg.log", durable=False)
    assert leftover.child.process.wait(10) == 0
    assert _query(second, "SELECT 1") == [(1,)]
    second.stop()


def test_pid_file_that_names_someone_elses_process_is_forgotten(folder: Path) -> None:
    killed = start_postgres(folder / "pg", folder / "pg.log", durable=False)
    os.kill(killed.child.process.pid, signal.SIGKILL)
    killed.child.process.wait()
    bystander = subprocess.Popen(["sleep", "60"])
    pid_file = folder / "pg" / "postmaster.pid"
    pid_file.write_text(pid_file.read_text().replace(str(killed.child.process.pid), str(bystander.pid), 1))
    again = start_postgres(folder / "pg", folder / "pg.log", durable=False)
    assert _query(again, "SELECT 1") == [(1,)]
    assert bystander.poll() is None
    again.stop()
    bystander.kill()
    bystander.wait()


def test_postgres_that_cannot_start_says_why(folder: Path) -> None:
    (folder / "broken").mkdir()
    (folder / "broken" / "PG_VERSION").write_text("9.6\n")
    with pytest.raises(StartError, match=r"PostgreSQL did not start: .+ \(log: .+broken.log\)\."):
        start_postgres(folder / "broken", folder / "broken.log", durable=False)


def test_valkey_asks_for_its_password(tmp_path: Path) -> None:
    service = start_valkey(tmp_path / "valkey.log")
    with redis.Redis.from_url(service.url) as client:
        assert client.set("a", "1")
    stranger = service.url.split("@")[-1]
    with pytest.raises(redis.AuthenticationError), redis.Redis.from_url(f"redis://{stranger}") as client:
        client.get("a")
    service.stop()
    assert not service.child.alive


def test_children_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux tells children that their parent died")
    code = (
        "import pathlib, time; from config.embedded import start_valkey;"
        f"print(start_valkey(pathlib.Path({str(tmp_path / 'v.log')!r})).child.process.pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout
    pid = int(parent.stdout.readline())
    assert Path(f"/proc/{pid}").exists()
    parent.kill()
    parent.wait()
    assert wait_until(lambda: not _runs(pid), 10)


def _runs(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def test_missing_wheel_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(embedded, "find_spec", lambda name: None)
    with pytest.raises(StartError, match=r"no Valkey wheel for this platform.*set REDIS_URL"):
        start_valkey(tmp_path / "valkey.log")


def test_running_services_are_found_or_missed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    urls = {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL")}
    monkeypatch.setenv("CONCORD_VAR", str(tmp_path))
    load_running_services()  # both are set: nothing to do
    for name in urls:
        monkeypatch.delenv(name)
    with pytest.raises(ImproperlyConfigured, match=r"DATABASE_URL and REDIS_URL must be set, or .*make demo"):
        load_running_services()
    (tmp_path / "run").mkdir()
    embedded.services_file().write_text("".join(f"{name}={url}\n" for name, url in urls.items()))
    load_running_services()
    assert {name: os.environ[name] for name in urls} == urls
    for name in urls:
        monkeypatch.delenv(name)
    beside = dict.fromkeys((*embedded.MODEL_VARIABLES, "CONCORD_URL"), "1")
    for name in beside:
        monkeypatch.setenv(name, "")  # so that it is put back
        monkeypatch.delenv(name)
    embedded.services_file().write_text("".join(f"{name}={value}\n" for name, value in (urls | beside).items()))
    load_running_services()
    assert {name: os.environ[name] for name in beside} == beside  # so that a command can ask the embedded model
    monkeypatch.delenv("REDIS_URL")
    embedded.services_file().write_text("REDIS_URL=redis://127.0.0.1:1/0\n")
    with pytest.raises(ImproperlyConfigured, match="REDIS_URL must be set"):
        load_running_services()


def test_secret_is_made_once_even_by_many_at_once(tmp_path: Path) -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(local_secret(tmp_path, "secret_key"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
    assert len(found[0]) > 50
    assert (tmp_path / "secrets" / "secret_key").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in (tmp_path / "secrets").iterdir()] == ["secret_key"]


def test_field_key_is_a_fernet_key(tmp_path: Path) -> None:
    Fernet(local_secret(tmp_path, "field_key"))
