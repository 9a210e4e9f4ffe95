"""`manage.py serve`: one instance with everything it needs, until Ctrl-C.

It runs without Django, because Django's settings need the addresses of the services that it starts.
"""

import argparse
import errno
import json
import os
import sys
import time
from importlib.util import find_spec
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from config import embedded
from config.env import var_dir
from config.healthcheck import problem
from config.model_process import model_problem, start_model
from config.preflight import check_environment, check_folder, check_packages, check_port, hold_lock
from config.processes import ROOT, Child, StartError, StopRequested, python, stop_on_signals, wait_until
from config.supervisor import Supervisor
from config.watchdog import SERVE_PID

PREPARE_SECONDS = 600
READY_SECONDS = 300
# Listening everywhere is asked for by addresses that cannot be visited.
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def main(arguments: list[str]) -> int:
    """The exit code: 0 after Ctrl-C, 1 when something could not start or ended by itself."""
    options = _options(arguments)
    var = var_dir()
    supervisor = Supervisor()
    stop_on_signals()
    try:
        check_folder(var)
        with hold_lock(var):
            check_port(options.host, options.port)
            check_packages()
            check_environment()
            try:
                Instance(options, var, supervisor).run()
            finally:
                supervisor.stop()
                embedded.services_file().unlink(missing_ok=True)
    except StopRequested:
        print("Stopped.", flush=True)
        return 0
    except (StartError, ImproperlyConfigured) as error:
        print(f"serve: {error}", file=sys.stderr, flush=True)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        print(f"serve: The disk of {var} is full; free some space and start again.", file=sys.stderr, flush=True)
    return 1


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="manage.py serve", description="Start everything, until Ctrl-C.")
    parser.add_argument("--demo", action="store_true", help="load the demo project and fill it")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine only)")
    parser.add_argument("--port", type=_port, default=8000, help="1 to 65535 (default: 8000)")
    parser.add_argument("--workers", type=_positive, default=2, help="gunicorn processes, four threads each")
    return parser.parse_args(arguments)


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; give a whole number from 1 to 65535")
    return int(text)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes; give a whole number of at least 1")
    return int(text)


class Instance:
    """The steps from nothing to a usable page, each with a line that says how long it took."""

    def __init__(self, options: argparse.Namespace, var: Path, supervisor: Supervisor) -> None:
        self.options, self.var, self.supervisor = options, var, supervisor
        self.started = time.monotonic()
        self.has_model = False
        self.environment = os.environ | {"CONCORD_VAR": str(var), "PYTHONUNBUFFERED": "1"}
        self.environment[SERVE_PID] = str(os.getpid())
        if options.host not in EVERYWHERE:  # Django answers only to its own names
            self.environment.setdefault("ALLOWED_HOSTS", f"localhost,127.0.0.1,[::1],{options.host}")
        self.bind = _address(options.host, options.port)
        self.url = f"http://{_address(EVERYWHERE.get(options.host, options.host), options.port)}"

    def run(self) -> None:
        """Bring everything up, then watch it. Ends only by an exception."""
        # The slow starts first, so that they overlap.
        bundle = self._start_bundle()
        wants_model = self.options.demo and not os.environ.get("CONCORD_MODEL_BASE_URL")
        model = self._start_model() if wants_model else None
        self._start_services()
        if bundle:
            self.supervisor.wait(bundle, PREPARE_SECONDS)
            self._say("bundle that draws figures")
        if model:
            self._use_model(*model)
        self._write_services()
        self._prepare()
        # The web server loads its pages while the demo project is loaded or found.
        demo = self._manage("Loading the demo project", "load_demo", "--skip-checks") if self.options.demo else None
        self._start_web()
        if demo:
            self.supervisor.wait(demo, PREPARE_SECONDS)
            self._say("demo project")
        self._start_workers()
        self._say_addresses()
        if self.options.demo:
            self.supervisor.background = self._manage("Filling the demo project", "fill_demo", "--base-url", self.url)
        self.supervisor.watch()

    def _start_bundle(self) -> Child | None:
        """Written into static/, where Django finds it, unless it is newer than the wheel it comes from."""
        bundle, source = ROOT / "static" / "vendor" / "vega.js", find_spec("vl_convert")
        newest = Path(source.origin).stat().st_mtime if source and source.origin else 0.0
        if bundle.exists() and bundle.stat().st_mtime >= newest:
            return None
        return self._run("Building the bundle that draws figures", "-m", "evaluation.vega_bundle", bundle, log="bundle")

    def _start_model(self) -> tuple[Child, dict[str, str]]:
        model, variables = start_model(self.environment, self._log("model"))
        self.supervisor.tasks.append(model)
        return model, variables

    def _use_model(self, model: Child, variables: dict[str, str]) -> None:
        """The other processes learn of the model only when it answers; without it the demo goes on."""
        if fault := model_problem(model, variables):
            model.stop()
            self._say(f"{fault} The demo goes on without the model's answers.")
            return
        self.supervisor.programs.append(model)  # from now on its end is the end of all
        self.environment |= variables
        self.has_model = True
        self._say("embedded model")

    def _start_services(self) -> None:
        if not os.environ.get("REDIS_URL"):
            valkey = embedded.start_valkey(self._log("valkey"))
            self.supervisor.services.append(valkey.child)
            self.environment["REDIS_URL"] = valkey.url
            self._say("Valkey")
        if not os.environ.get("DATABASE_URL"):
            postgres = embedded.start_postgres(self.var / "postgres", self._log("postgres"))
            self.supervisor.services.append(postgres.child)
            self.environment["DATABASE_URL"] = postgres.url
            self._say("PostgreSQL")

    def _write_services(self) -> None:
        """What other commands need to reach this instance's services, the embedded model among them."""
        names = ["DATABASE_URL", "REDIS_URL", *(embedded.MODEL_VARIABLES if self.has_model else ())]
        values = {name: self.environment[name] for name in names} | {"CONCORD_URL": self.url}
        _write_private(embedded.services_file(), "".join(f"{name}={value}\n" for name, value in values.items()))

    def _prepare(self) -> None:
        task = self._run("Preparing the database", "-m", "config.prepare", log="prepare")
        self.supervisor.wait(task, PREPARE_SECONDS)
        self._say("migrations and static files")

    def _start_web(self) -> None:
        arguments = [
            "-m",
            "gunicorn",
            "--config",
            ROOT / "config" / "gunicorn.py",
            "--bind",
            self.bind,
            "--graceful-timeout=3",
        ]
        web = self._run("The web server", *arguments, f"--workers={self.options.workers}", log="web")
        self.supervisor.programs.append(web)
        # 500 is a fault in the code, which waiting does not mend; 503 says that a service is not ready yet.
        wait_until(
            lambda: self.supervisor.checked(problem(f"{self.url}/readyz") in {"", "it answered 500"}), READY_SECONDS
        )
        if fault := problem(f"{self.url}/readyz"):
            raise StartError(f"The web server is not ready: {fault} (log: {web.log}).")
        self._say("web server")

    def _start_workers(self) -> None:
        celery = ("-m", "celery", "-A", "config.celery")
        worker = (*celery, "worker", "--concurrency=2", "--loglevel=INFO", "--without-mingle", "--without-gossip")
        of_jobs, of_the_rest = ("--queues=models", "--hostname=models@%h"), ("--exclude-queues=models",)
        # SIGQUIT: leave soon, what was not finished is claimed again.
        models = self._run("The worker for model jobs", *worker, *of_jobs, log="model-worker", stop="SIGQUIT")
        rest = self._run("The worker", *worker, *of_the_rest, log="worker", stop="SIGQUIT")
        schedule = self.var / "run" / "celerybeat-schedule"
        beat = self._run("Beat", *celery, "beat", "--schedule", schedule, "--pidfile=", log="beat")
        self.supervisor.programs += [models, rest, beat]
        self._say("workers and beat")

    def _say_addresses(self) -> None:
        print(f"\nConcord is ready: {self.url}/\nLogs: {self.var / 'log'}", flush=True)
        demo = self.var / "run" / "demo.json"
        if self.options.demo and demo.exists():
            lines = "\n".join(json.loads(demo.read_text(encoding="utf-8"))["lines"])
            print(lines.replace(" /s/", f" {self.url}/s/"), flush=True)
        print("Ctrl-C stops it.\n", flush=True)

    def _manage(self, name: str, command: str, *arguments: str) -> Child:
        return self._run(name, ROOT / "manage.py", command, *arguments, log=command)

    def _run(self, name: str, *arguments: object, log: str, stop: str = "SIGTERM") -> Child:
        child = python(name, *arguments, log=self._log(log), env=self.environment, stop=stop)
        self.supervisor.tasks.append(child)
        return child

    def _log(self, name: str) -> Path:
        return self.var / "log" / f"{name}.log"

    def _say(self, text: str) -> None:
        print(f"{time.monotonic() - self.started:5.1f} s  {text}", flush=True)


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _write_private(path: Path, text: str) -> None:
    """Only the owner may read it; it is replaced in one step."""
    unfinished = path.with_suffix(".part")
    unfinished.touch(mode=0o600)
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)
