"""Limits: how many requests an account may send, and how many accounts an address may open.

Requests are counted in each process, without asking the store: an account that spreads them over n workers gets n times
as many. They are let in by a bucket of tokens, kept as the one moment at which it would be full again (GCRA). Sign-ups
are rare, so they are counted in the store for all workers together, by the minute.

    accounts:sign_ups:<address>:<minute>   how many accounts an address opened in a minute; expires

The address is hashed with the service's secret, so that a copy of the store names nobody's; of an IPv6 address the
first 64 bits count, which one customer commonly has whole.
"""

import hmac
import ipaddress
import math
import time
from collections.abc import Callable
from typing import Final

from redis.asyncio import Redis

from service.clock import utc_ms
from service.errors import TooMany
from service.store import answered

BURST_S: Final = 2
"""For how many seconds' worth of requests an account that was silent may send at once."""

MINUTE_MS: Final = 60_000

_SECOND_NS: Final = 1_000_000_000
_REMEMBERED: Final = 10_000


class Rates:
    """How fast the accounts of this process send requests: `limit` a second each, 0 for no limit."""

    def __init__(self, limit: int, monotonic: Callable[[], int] = time.monotonic_ns) -> None:
        """Let in so many a second, by this clock (ns: what is whole adds up without an error)."""
        self._limit = limit
        self._monotonic = monotonic
        self._interval = _SECOND_NS // limit if limit else 0
        self._ahead = BURST_S * _SECOND_NS - self._interval  # A request further ahead of its time comes too early.
        self._full_at: dict[str, int] = {}
        self._room = _REMEMBERED

    def take(self, account: str) -> None:
        """Count a request of an account; raise TooMany if it comes too early, and then it does not count."""
        if not self._limit:
            return
        now = self._monotonic()
        full_at = self._full_at.get(account, now)
        if full_at - now > self._ahead:
            raise self._too_many(full_at - now - self._ahead)
        self._full_at[account] = max(full_at, now) + self._interval
        if len(self._full_at) > self._room:
            self._forget(now)

    def _too_many(self, early_ns: int) -> TooMany:
        message = f"An account may send {self._limit} requests a second."
        return TooMany(message, "requests", self._limit, 1, math.ceil(early_ns / _SECOND_NS))

    def _forget(self, now: int) -> None:
        """Forget accounts whose bucket is full again, and look for them less often the more are left."""
        self._full_at = {account: full_at for account, full_at in self._full_at.items() if full_at > now}
        self._room = max(_REMEMBERED, 2 * len(self._full_at))


class SignUps:
    """How many accounts each address opens: `limit` a minute, 0 for no limit."""

    def __init__(self, redis: Redis, limit: int, secret: bytes, clock: Callable[[], int] = utc_ms) -> None:
        """Count in this store, by this clock (UTC ms)."""
        self._redis = redis
        self._limit = limit
        self._secret = secret
        self._clock = clock

    async def take(self, address: str) -> None:
        """Count a new account of an address; raise TooMany if it had enough in this minute, or StoreDown."""
        if not self._limit:
            return
        minute, gone_ms = divmod(self._clock(), MINUTE_MS)
        key = f"accounts:sign_ups:{self._hidden(address)}:{minute}"
        async with self._redis.pipeline() as pipe:
            pipe.incr(key)
            pipe.pexpire(key, 2 * MINUTE_MS)  # Clocks of other machines may be in this minute for a while yet.
            with answered():
                opened, _ = await pipe.execute()
        if opened > self._limit:
            message = f"From one address {self._limit} accounts may be opened in a minute."
            left_s = math.ceil((MINUTE_MS - gone_ms) / 1_000)
            raise TooMany(message, "sign-ups", self._limit, MINUTE_MS // 1_000, left_s)

    def _hidden(self, address: str) -> str:
        return hmac.digest(self._secret, b"evenfold/address/1\0" + _network(address).encode(), "sha256")[:16].hex()


def _network(address: str) -> str:
    """Return what of an address names one customer; what is no address stands for itself."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))
