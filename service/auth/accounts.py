"""Accounts and their tokens: who may ask for something.

Names and tokens live beside the log, so that they can be erased; the log holds opaque ids alone. A token is shown once
and stored as its SHA-256.
"""

import hashlib
import secrets
import time
import unicodedata
from collections.abc import Callable, Iterable
from typing import Literal, cast, get_args

from msgspec import Struct
from redis.asyncio import Redis

from service.clock import utc_ms
from service.errors import Malformed, NotFound, Unauthenticated, Unreadable
from service.ids import is_id, new_id
from service.store import answered

Scope = Literal["play", "host", "bot", "arbiter", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
SIGN_UP: tuple[Scope, ...] = ("play", "host")

MAX_NAME = 64
_INVISIBLE = frozenset(["Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"])
_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols by their category, and blank all the same."""

_TOKEN_PREFIX = "evf_"  # noqa: S105 the prefix of every token, no token
_TRUSTED_S = 1.0  # how long a process may go on trusting a token that was revoked elsewhere
_CACHED_TOKENS = 10_000


class Account(Struct, frozen=True):
    """A person or a bot's owner."""

    id: str
    name: str


class Identity(Struct, frozen=True):
    """Whom a token speaks for, and what it may do."""

    account: str
    scopes: frozenset[Scope]


def clean_name(name: str) -> str:
    """Return a name as it is kept: NFC, no space around it, 1–64 characters.

    Raise Malformed if nothing is left, and Unreadable for what JSON Schema can't speak of: invisible characters, and
    a name that grows too long as NFC writes it.
    """
    name = unicodedata.normalize("NFC", name).strip()
    if not name:
        raise Malformed(f"A name has 1 to {MAX_NAME} characters.", "/name")
    if len(name) > MAX_NAME or any(map(_is_invisible, name)):
        raise Unreadable
    return name


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) in _INVISIBLE or character in _FILLERS


class Accounts:
    """The accounts and tokens kept in the store; each of its methods may raise StoreDown."""

    def __init__(self, redis: Redis, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Keep accounts in this store; `monotonic` (seconds) tells how long a token was trusted."""
        self._redis = redis
        self._monotonic = monotonic
        self._trusted: dict[str, tuple[float, Identity]] = {}

    async def create(self, name: str) -> Account:
        """Open an account of this name; names need not be unique."""
        account = Account(new_id(), clean_name(name))
        with answered():
            await self._redis.hset(_account_key(account.id), mapping={"name": account.name, "created": utc_ms()})
        return account

    async def find(self, account: str) -> Account:
        """Return an account; raise NotFound if there is none of this id."""
        (found,) = await self.named([account])
        return found

    async def named(self, accounts: Iterable[str]) -> list[Account]:
        """Return the accounts of these ids in their order; raise NotFound if one is missing."""
        ids = list(accounts)
        if not all(map(is_id, ids)):
            raise NotFound("There is no such player.")
        async with self._redis.pipeline(transaction=False) as pipe:
            for account in ids:
                pipe.hget(_account_key(account), "name")
            with answered():
                names: list[bytes | None] = await pipe.execute()
        if None in names:
            raise NotFound("There is no such player.")
        return [Account(account, name.decode()) for account, name in zip(ids, names, strict=True) if name is not None]

    async def issue_token(self, account: str, scopes: Iterable[Scope], expires_ms: int | None = None) -> str:
        """Make a token for an account; it is returned this once. `expires_ms` is UTC, None for never."""
        token = _TOKEN_PREFIX + secrets.token_urlsafe(32)
        key = _token_key(token)
        fields = {
            "account": account,
            "scopes": " ".join(scopes),
            "created": str(utc_ms()),
            "expires": str(expires_ms or 0),
        }
        async with self._redis.pipeline() as pipe:
            pipe.hset(key, items=[part for field in fields.items() for part in field])
            if expires_ms is not None:
                pipe.pexpireat(key, expires_ms)
            with answered():
                await pipe.execute()
        return token

    async def identify(self, token: str) -> Identity:
        """Return whom a token speaks for, trusted for at most a second; raise Unauthenticated if nobody."""
        now = self._monotonic()
        trusted = self._trusted.get(token)
        if trusted is not None and now - trusted[0] < _TRUSTED_S:
            return trusted[1]
        identity = await self._looked_up(token)
        if len(self._trusted) >= _CACHED_TOKENS:
            self._trusted.clear()
        self._trusted[token] = (now, identity)
        return identity

    async def _looked_up(self, token: str) -> Identity:
        self._trusted.pop(token, None)
        with answered():
            found = await self._redis.hmget(_token_key(token), ["account", "scopes"])
        account, scopes = cast("list[bytes | None]", found)
        if account is None or scopes is None:
            raise Unauthenticated("The token is unknown, expired or revoked.")
        return Identity(account.decode(), frozenset(cast("list[Scope]", scopes.decode().split())))


def _account_key(account: str) -> str:
    return f"account:{account}"


def _token_key(token: str) -> str:
    return f"token:{hashlib.sha256(token.encode()).hexdigest()}"
