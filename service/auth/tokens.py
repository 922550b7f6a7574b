"""Tokens: whom a bearer speaks for, and what it may do.

A token is shown once and stored as its SHA-256. What an account's tokens are stands in one hash; each has besides a key
that is found by its secret and ends when the token does. Both are written in one transaction, so neither is ever
without the other, however a process ends.

    account:tokens:<account>      the account's tokens: a hash of JSON by the token's id
    account:repeated:<account>    which token a request with an Idempotency-Key led to: a hash of JSON by the key's hash
    token:<SHA-256 of a secret>   whom it speaks for: the fields account, id, scopes; expires with the token
"""

import hashlib
import secrets
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Final, NamedTuple, TypeVar, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

from service.auth.accounts import account_key, with_keys
from service.auth.scopes import Scope
from service.clock import utc_ms
from service.errors import AlreadyCreated, KeyReused, NotFound, TooManyTokens, Unauthenticated
from service.ids import new_id
from service.store import Turns, answered, begin

T = TypeVar("T")

MAX_TOKENS: Final = 50
"""How many tokens of one account may be alive at once."""

REMEMBERED: Final = 1_000
"""Of so many keyed requests of one account it is remembered that they ran; of the older half of them no longer then."""

UNKNOWN: Final = "The token is unknown, expired or revoked."

_PREFIX: Final = "evf_"
_TRUSTED_S: Final = 1.0  # how long a process may go on trusting a token that was revoked elsewhere
_GONE = -2  # what PEXPIRETIME says of a key that is not there
_CACHED: Final = 10_000


class Identity(Struct, frozen=True):
    """Whom a token speaks for, what it may do, and the token's own id.

    `found_by` is the hash of the secret that it came with: a token that is rotated has two for a while.
    """

    account: str
    scopes: frozenset[Scope]
    token: str
    found_by: str


class Token(Struct, frozen=True):
    """What a token is, without its secret; `expires_at` is UTC ms, None for never."""

    id: str
    label: str | None
    scopes: tuple[Scope, ...]
    created_at: int
    expires_at: int | None


class Issued(NamedTuple):
    """A token, and its secret, which nobody will be told again."""

    token: Token
    secret: str


class Bearer(NamedTuple):
    """Whom a secret speaks for as the store has it now, and when that secret ends (UTC ms), None for never."""

    identity: Identity
    ends_at: int | None


class Grant(NamedTuple):
    """What a token is to be."""

    scopes: tuple[Scope, ...]
    expires_at: int | None = None
    label: str | None = None


class Repeatable(NamedTuple):
    """A request that may come twice: the hash of its Idempotency-Key, and what tells its body from others."""

    key: str
    body: str


class _Kept(Struct, frozen=True):
    """A token as its account keeps it: `found_by` is the hash of its secret, `former` of one that still has grace."""

    token: Token
    found_by: str
    former: str | None = None


class _Run(Struct, frozen=True):
    """A keyed request that ran: its body, the token it led to, and when (UTC ms)."""

    body: str
    token: str
    at: int


_encode = msgspec.json.Encoder().encode
_kept = msgspec.json.Decoder(_Kept)
_run = msgspec.json.Decoder(_Run)


class Tokens:
    """The tokens kept in the store; each of its methods may raise StoreDown."""

    def __init__(
        self, redis: Redis, monotonic: Callable[[], float] = time.monotonic, clock: Callable[[], int] = utc_ms
    ) -> None:
        """Keep tokens in this store; `monotonic` (seconds) tells how long one was trusted, `clock` is UTC (ms)."""
        self._redis = redis
        self._monotonic = monotonic
        self._clock = clock
        self._trusted: dict[str, tuple[float, Identity]] = {}
        self._endings = 0
        self._turns = Turns()

    def trusted(self, secret: str) -> Identity | None:
        """Return whom a token speaks for if the store said so less than a second ago, None if it must be asked."""
        trusted = self._trusted.get(secret)
        if trusted is not None and self._monotonic() - trusted[0] < _TRUSTED_S:
            return trusted[1]
        return None

    async def identify(self, secret: str) -> Identity:
        """Return whom a token speaks for, trusted for at most a second; raise Unauthenticated if nobody."""
        return self.trusted(secret) or await self._looked_up(secret, self._monotonic())

    async def confirmed(self, secret: str) -> Bearer:
        """Return whom a token speaks for, asked of the store: what outlasts a second is done on no older word."""
        now = self._monotonic()
        identity = await self._looked_up(secret, now)
        with answered():
            ends_at = int(await self._redis.pexpiretime(_token_key(identity.found_by)))
        if ends_at == _GONE:
            raise Unauthenticated(UNKNOWN)
        return Bearer(identity, None if ends_at < 0 else ends_at)

    async def ended(self, found_by: Sequence[str]) -> set[str]:
        """Return which of these hashes find no token any more; raise StoreDown."""
        keys = [_token_key(one) for one in found_by]
        with answered():
            if int(await self._redis.exists(*keys)) == len(keys):
                return set()
            async with self._redis.pipeline(transaction=False) as pipe:
                for key in keys:
                    pipe.exists(key)
                there = await pipe.execute()
        return {one for one, is_there in zip(found_by, there, strict=True) if not is_there}

    async def found(self, found_by: str) -> Identity | None:
        """Return whom the secret of this SHA-256 speaks for, asked of the store; None if nobody."""
        with answered():
            found = await self._redis.hmget(_token_key(found_by), ["account", "scopes", "id"])
        account, scopes, token = cast("list[bytes | None]", found)
        if account is None or scopes is None or token is None:
            return None
        held = frozenset(cast("list[Scope]", scopes.decode().split()))
        return Identity(account.decode(), held, token.decode(), found_by)

    async def issue(self, account: str, grant: Grant, repeatable: Repeatable | None = None) -> Issued:
        """Make a token for an account.

        Raise AlreadyCreated if the request ran before, KeyReused if it did with another body, TooManyTokens, and
        Unauthenticated if the account is gone.
        """

        async def write(pipe: Pipeline) -> Issued:
            remember = await self._recall(pipe, account, repeatable)
            kept = await _all(pipe, account)
            ended = [id_ for id_, one in kept.items() if not self._is_alive(one)]
            if len(kept) - len(ended) >= MAX_TOKENS:
                raise TooManyTokens(MAX_TOKENS)
            token = Token(new_id(), grant.label, grant.scopes, self._clock(), grant.expires_at)
            secret = _PREFIX + secrets.token_urlsafe(32)
            begin(pipe)
            if ended:
                pipe.hdel(_tokens_key(account), *ended)
            _keep(pipe, account, _Kept(token, _hash(secret)))
            remember(token.id)
            return Issued(token, secret)

        return await self._transaction(write, account)

    async def of(self, account: str) -> list[Token]:
        """Return an account's tokens that have not expired, the oldest first."""
        with answered():
            kept = await _all(self._redis, account)
        alive = (one.token for one in kept.values() if self._is_alive(one))
        return sorted(alive, key=lambda token: (token.created_at, token.id))

    async def find(self, account: str, token: str) -> Token:
        """Return one of an account's tokens; raise NotFound if it has none of this id."""
        with answered():
            return self._one(await _all(self._redis, account), token).token

    async def rotate(self, account: str, token: str, grace_ms: int, repeatable: Repeatable | None = None) -> Issued:
        """Give a token a new secret; the one before ends after the grace, any earlier one at once.

        Raise NotFound, and AlreadyCreated, KeyReused and Unauthenticated as `issue` does.
        """

        async def write(pipe: Pipeline) -> Issued:
            remember = await self._recall(pipe, account, repeatable)
            before = self._one(await _all(pipe, account), token)
            secret = _PREFIX + secrets.token_urlsafe(32)
            begin(pipe)
            _end(pipe, before.former)
            if grace_ms:
                pipe.pexpire(_token_key(before.found_by), grace_ms, lt=True)
            else:
                _end(pipe, before.found_by)
            former = before.found_by if grace_ms else None
            _keep(pipe, account, replace(before, found_by=_hash(secret), former=former))
            remember(token)
            return Issued(before.token, secret)

        issued = await self._transaction(write, account)
        self._distrust(lambda known: known.token == token)
        return issued

    async def revoke(self, account: str, token: str) -> None:
        """End a token, at once in this process and within a second in every other; raise NotFound."""

        async def write(pipe: Pipeline) -> None:
            ended = self._one(await _all(pipe, account), token)
            begin(pipe)
            _end(pipe, ended.found_by)
            _end(pipe, ended.former)
            pipe.hdel(_tokens_key(account), token)

        await self._transaction(write, account)
        self._distrust(lambda known: known.token == token)

    async def lingering(self, accounts: Collection[str]) -> list[str]:
        """Return of whom of these the store still has tokens; raise StoreDown."""
        return await with_keys(self._redis, _tokens_key, accounts)

    async def end_all(self, account: str) -> None:
        """End every token of an account, and forget what its keyed requests led to."""

        async def write(pipe: Pipeline) -> None:
            kept = await _all(pipe, account)
            begin(pipe)
            for one in kept.values():
                _end(pipe, one.found_by)
                _end(pipe, one.former)
            pipe.delete(_tokens_key(account), _repeated_key(account))

        with answered():
            await self._redis.transaction(write, _tokens_key(account))
        self._distrust(lambda known: known.account == account)

    async def _looked_up(self, secret: str, now: float) -> Identity:
        self._trusted.pop(secret, None)
        endings = self._endings
        identity = await self.found(_hash(secret))
        if identity is None:
            raise Unauthenticated(UNKNOWN)
        if len(self._trusted) >= _CACHED:
            self._trusted.clear()
        # While a token was ended here, the store may have been asked just before that.
        if endings == self._endings:
            self._trusted[secret] = (now, identity)
        return identity

    def _distrust(self, ended: Callable[[Identity], bool]) -> None:
        self._endings += 1
        self._trusted = {secret: known for secret, known in self._trusted.items() if not ended(known[1])}

    def _is_alive(self, kept: _Kept) -> bool:
        return kept.token.expires_at is None or kept.token.expires_at > self._clock()

    def _one(self, kept: dict[str, _Kept], token: str) -> _Kept:
        one = kept.get(token)
        if one is None or not self._is_alive(one):
            raise NotFound("There is no such token.")
        return one

    async def _transaction(self, write: Callable[[Pipeline], Awaitable[T]], account: str) -> T:
        """Run a transaction on an account's tokens, from its start again where another was quicker."""

        async def guarded(pipe: Pipeline) -> T:
            if not await pipe.exists(account_key(account)):
                raise Unauthenticated(UNKNOWN)
            return await write(pipe)

        watched = (account_key(account), _tokens_key(account), _repeated_key(account))
        async with self._turns.of(account):
            with answered():
                return cast("T", await self._redis.transaction(guarded, *watched, value_from_callable=True))

    async def _recall(self, pipe: Pipeline, account: str, repeatable: Repeatable | None) -> Callable[[str], None]:
        """Raise AlreadyCreated or KeyReused if a request ran before; else return how to remember the token it makes."""
        key = _repeated_key(account)
        if repeatable is None:
            return lambda _: None
        stored = cast("bytes | None", await pipe.hget(key, repeatable.key))
        if stored is not None:
            run = _run.decode(stored)
            raise AlreadyCreated(run.token) if run.body == repeatable.body else KeyReused
        forgotten = await _oldest(pipe, key) if await pipe.hlen(key) >= REMEMBERED else ()

        def remember(token: str) -> None:
            if forgotten:
                pipe.hdel(key, *forgotten)
            pipe.hset(key, repeatable.key, _encode(_Run(repeatable.body, token, self._clock())))

        return remember


async def _oldest(redis: Redis, key: str) -> list[str]:
    """Return the keys of the older half of the requests that are remembered."""
    stored = cast("dict[bytes, bytes]", await redis.hgetall(key))
    runs = {name.decode(): _run.decode(run) for name, run in stored.items()}
    return sorted(runs, key=lambda name: runs[name].at)[: len(runs) // 2]


async def _all(redis: Redis, account: str) -> dict[str, _Kept]:
    """Return what an account keeps of its tokens, by their ids, with those that have expired."""
    stored = cast("dict[bytes, bytes]", await redis.hgetall(_tokens_key(account)))
    return {token.decode(): _kept.decode(kept) for token, kept in stored.items()}


def _keep(pipe: Pipeline, account: str, kept: _Kept) -> None:
    """Write a token where its account and where its secret finds it."""
    key = _token_key(kept.found_by)
    pipe.hset(_tokens_key(account), kept.token.id, _encode(kept))
    pipe.hset(key, mapping={"account": account, "id": kept.token.id, "scopes": " ".join(kept.token.scopes)})
    if kept.token.expires_at is not None:
        pipe.pexpireat(key, kept.token.expires_at)


def _end(pipe: Pipeline, found_by: str | None) -> None:
    if found_by is not None:
        pipe.delete(_token_key(found_by))


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _tokens_key(account: str) -> str:
    """Return the key of an account's tokens: a hash of them by their ids."""
    return f"account:tokens:{account}"


def _token_key(found_by: str) -> str:
    return f"token:{found_by}"


def _repeated_key(account: str) -> str:
    return f"account:repeated:{account}"
