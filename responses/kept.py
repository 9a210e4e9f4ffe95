"""Primary keys that a process keeps: of rows that are never changed, and stay as long as their project."""

from collections.abc import Callable, Hashable

from django.db import transaction

MOST = 10_000  # keys; then all are found anew
_ids: dict[Hashable, int] = {}


def kept_id(key: Hashable, find: Callable[[], int]) -> int:
    """What `find` gave for this key, which names the project.

    It is kept once the transaction is committed: what was rolled back is no row, and would stay wrong for ever.
    """
    known = _ids.get(key)
    if known is None:
        known = found = find()
        transaction.on_commit(lambda: _keep(key, found))
    return known


def _keep(key: Hashable, found: int) -> None:
    if len(_ids) >= MOST:
        _ids.clear()
    _ids[key] = found
