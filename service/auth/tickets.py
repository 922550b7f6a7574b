"""Tickets: what opens one stream for who can't send a header, as a browser's EventSource and WebSocket can't.

A ticket travels in a URL, where proxies, histories and logs find it. So it is good once and for half a minute, for the
one path that it was asked for, and stands for no more than the token that asked: what that may see at that path, and as
long as it may. Under another path there is no such ticket, so whoever carries it elsewhere finds nothing, and spends
nothing either.

    ticket:<SHA-256 of a path and a ticket>   by which hash its token is found; expires after half a minute
"""

import hashlib
import secrets
from collections.abc import Callable
from typing import Final, NamedTuple, cast

from redis.asyncio import Redis

from service.auth.tokens import Identity, Tokens
from service.clock import utc_ms
from service.errors import Unauthenticated
from service.store import answered

LIFE_MS: Final = 30_000

UNKNOWN: Final = "The ticket is unknown here, spent or expired, or its token has ended; POST /v1/tickets gives another."

_PREFIX: Final = "evt_"


class Ticket(NamedTuple):
    """A ticket, which nobody will be told again, and when it expires (UTC ms)."""

    secret: str
    expires_at: int


class Tickets:
    """The tickets kept in the store; each of its methods may raise StoreDown."""

    def __init__(self, redis: Redis, tokens: Tokens, clock: Callable[[], int] = utc_ms) -> None:
        """Keep tickets of these tokens in this store; `clock` is UTC (ms)."""
        self._redis = redis
        self._tokens = tokens
        self._clock = clock

    async def issue(self, who: Identity, path: str) -> Ticket:
        """Make a ticket for a path, to be used by whom a token speaks for."""
        secret = _PREFIX + secrets.token_urlsafe(32)
        expires_at = self._clock() + LIFE_MS
        with answered():
            await self._redis.set(_key(path, secret), who.found_by, px=LIFE_MS)
        return Ticket(secret, expires_at)

    async def redeem(self, secret: str, path: str) -> Identity:
        """Spend a ticket at a path, and return whom it speaks for.

        Raise Unauthenticated if there is no such ticket for the path, or none any more, or its token has ended.
        """
        with answered():
            found_by = cast("bytes | None", await self._redis.getdel(_key(path, secret)))
        if found_by is None:
            raise Unauthenticated(UNKNOWN)
        who = await self._tokens.found(found_by.decode())
        if who is None:
            raise Unauthenticated(UNKNOWN)
        return who


def _key(path: str, secret: str) -> str:
    return f"ticket:{hashlib.sha256(f'{path} {secret}'.encode()).hexdigest()}"
