"""Processor time of process trees, read from Linux's /proc."""

import os
from pathlib import Path

PROC = Path("/proc")


def tree_seconds(pid: int) -> float:
    """Processor seconds (user and system) of this process and all below it, ended children included.

    NaN where there is no /proc, because `ps` elsewhere counts too coarsely.
    """
    if not (PROC / "self" / "stat").exists():
        return float("nan")
    return sum(own_ticks(process) for process in tree(pid)) / os.sysconf("SC_CLK_TCK")


def tree(pid: int) -> list[int]:
    """This process and all below it; empty where there is no /proc."""
    return [pid, *_below(pid)] if PROC.exists() else []


def own_ticks(pid: int) -> int:
    """utime + stime + cutime + cstime of proc(5); 0 for a process that is gone, whose parent has counted it."""
    fields = _stat(pid)
    return sum(int(field) for field in fields[11:15]) if fields else 0


def _below(pid: int) -> list[int]:
    parents = {int(path.name): _stat(int(path.name)) for path in PROC.iterdir() if path.name.isdigit()}
    found: list[int] = []
    wanted = [pid]
    while wanted:
        parent = wanted.pop()
        children = [child for child, fields in parents.items() if fields and int(fields[1]) == parent]
        found += children
        wanted += children
    return found


def _stat(pid: int) -> list[str]:
    """The fields behind the program's name, which may hold spaces: state, ppid, ..."""
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []
