"""gunicorn's settings: `python -m gunicorn --config config/gunicorn.py`. The command line comes after them."""

from typing import Any

from gunicorn.glogging import Logger

from config import env
from config.watchdog import end_with_serve

wsgi_app = "config.wsgi:application"
worker_class = "gthread"
workers = env.integer("WEB_CONCURRENCY", 2, minimum=1)
threads = 4
# The pages' libraries are loaded once and shared: a second process then costs 2 seconds and 200 MB less.
preload_app = True
timeout = 60
graceful_timeout = 20
keepalive = 5
# By default all instances of a user share one socket in ~/.gunicorn, and nothing here uses it.
control_socket_disable = True
# A page that nobody waits for any more must not keep the database busy. Commands and workers may take longer.
raw_env = [f"CONCORD_STATEMENT_SECONDS={env.integer('WEB_STATEMENT_SECONDS', 60)}"]
# No access log: Django's request log has every page, without query strings (config/logs.py).


class QuietLogger(Logger):
    """gunicorn's own log of a fault names the address: without its query, which may hold a participant's id."""

    def exception(self, msg: str, *args: Any, **kwargs: Any) -> None:
        super().exception(msg, *(arg.split("?")[0] if isinstance(arg, str) else arg for arg in args), **kwargs)


logger_class = QuietLogger


def on_starting(server: object) -> None:
    end_with_serve()
