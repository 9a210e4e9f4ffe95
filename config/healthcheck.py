"""`python -m config.healthcheck [URL]`: exit code 0 when a running instance answers well; for Docker and `serve`."""

import os
import sys
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen


def problem(url: str, timeout: float = 5.0) -> str:
    """Empty when the address answers 200; otherwise what went wrong."""
    # Django answers only to its own names, whichever address the check uses.
    allowed = os.environ.get("ALLOWED_HOSTS", "").split(",")[0].strip().lstrip(".")
    headers = {"Host": allowed} if allowed not in {"", "*"} else {}
    try:
        with urlopen(Request(url, headers=headers), timeout=timeout) as answer:
            return "" if answer.status == 200 else f"it answered {answer.status}"
    except HTTPError as error:
        return f"it answered {error.code}"
    except (URLError, OSError, ValueError) as error:
        return str(error)


if __name__ == "__main__":
    fault = problem(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000/healthz")
    print(fault or "healthy")
    sys.exit(bool(fault))
