"""The cache, which may be away: what it holds can be counted or asked anew."""

from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from django.utils.functional import cached_property
from redis import Redis
from redis.exceptions import RedisError


class KeptClient(RedisCacheClient):
    """Makes its client once: Django makes one for each call, which costs more than asking the server."""

    @cached_property
    def _kept(self) -> Redis:
        return super().get_client(write=True)

    def get_client(self, key: Any = None, *, write: bool = False) -> Redis:
        return self._kept


class ForgivingRedisCache(RedisCache):
    """While the server is away it holds nothing and takes nothing: `add` answers False, since nobody else would see it.

    Whoever must know whether the server is there asks it itself.
    """

    def __init__(self, server: Any, params: Any) -> None:
        super().__init__(server, params)
        self._class = KeptClient

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        try:
            return super().get(key, default, version)
        except RedisError:
            return default

    def set(self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        try:
            super().set(key, value, timeout, version)
        except RedisError:
            return

    def add(self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        try:
            return super().add(key, value, timeout, version)
        except RedisError:
            return False

    def delete(self, key: Any, version: int | None = None) -> bool:
        try:
            return super().delete(key, version)
        except RedisError:
            return False
