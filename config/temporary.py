"""Folders under the system's temporary folder that do not pile up."""

import atexit
import os
import re
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path


def temporary_folder(kind: str, owner: int | None = None) -> Path:
    """A new folder `concord-KIND-PID-xxxxxxxx` that only its owner may enter; it is removed when this process ends.

    Those that killed processes of this user left behind are removed here. The path is short: sockets allow about 100
    bytes. `owner` is the user id it is given to, by root only.
    """
    top = Path("/tmp") if Path("/tmp").is_dir() else Path(tempfile.gettempdir())
    _remove_stale(top, kind, {os.geteuid(), owner})
    folder = Path(tempfile.mkdtemp(prefix=f"concord-{kind}-{os.getpid()}-", dir=top))
    if owner is not None:
        os.chown(folder, owner, owner)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _remove_stale(top: Path, kind: str, owners: set[int | None]) -> None:
    pattern = re.compile(rf"concord-{kind}-(\d{{1,9}})-[a-z0-9_]{{8}}")
    for folder in top.glob(f"concord-{kind}-*"):
        match = pattern.fullmatch(folder.name)
        with suppress(OSError):  # someone else removed it meanwhile
            found = folder.lstat()
            mine = stat.S_ISDIR(found.st_mode) and found.st_uid in owners
            if match and mine and not _runs(int(match[1])):
                shutil.rmtree(folder, ignore_errors=True)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
