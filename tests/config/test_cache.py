"""What is cached can be counted anew, so a cache that is away stops nobody's work."""

from pathlib import Path

import pytest
from redis.exceptions import ConnectionError as NoConnectionError

from config.cache import ForgivingRedisCache
from config.embedded import start_valkey


def test_a_cache_that_is_away_holds_and_takes_nothing(tmp_path: Path) -> None:
    valkey = start_valkey(tmp_path / "valkey.log")
    away = ForgivingRedisCache(valkey.url, {})
    away.set("done", 3)
    assert (away.get("done"), away.add("done", 4), away.add("asked", True), away.delete("asked")) == (
        3,
        False,
        True,
        True,
    )
    valkey.stop()
    away.set("done", 5)
    assert (away.get("done", "none"), away.add("new", True), away.delete("done")) == ("none", False, False)
    with pytest.raises(NoConnectionError):
        away.incr("done")  # nobody may take a number for counted that is not
