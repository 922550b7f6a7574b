"""Accounts: people and bots' owners, by the names that people call them.

Names live beside the log, so that they can be erased; the log holds opaque ids alone. An erased account's id stays on a
list, from the moment that its erasing begins: it takes no seat any more, and whoever restores an older store knows whom
to erase again.

    account:<id>      a hash: name, and when it was opened (UTC ms)
    accounts:erased   a sorted set of ids, by when their erasing began (UTC ms)
"""

import unicodedata
from collections.abc import Callable, Collection, Iterable
from itertools import compress, islice
from typing import Final, cast

from msgspec import Struct
from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

from service.clock import utc_ms
from service.errors import Malformed, NotFound, Unreadable
from service.ids import is_id, new_id
from service.store import answered, begin

ERASED_KEY: Final = "accounts:erased"

PAGE: Final = 1_000
"""Of so many accounts it is asked at once whether they linger."""

MAX_NAME = 64
_INVISIBLE = frozenset(["Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"])
FILLERS: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols by their category, and blank all the same."""


class Account(Struct, frozen=True):
    """A person or a bot's owner."""

    id: str
    name: str


def clean_name(name: str, field: str = "/name") -> str:
    """Return a name, or another short text, as it is kept: NFC, no space around it, 1–64 characters.

    Raise Malformed if nothing is left, and Unreadable for what JSON Schema can't speak of: invisible characters, and
    a name that grows too long as NFC writes it.
    """
    name = unicodedata.normalize("NFC", name).strip()
    if not name:
        raise Malformed(f"A name has 1 to {MAX_NAME} characters.", field)
    if len(name) > MAX_NAME or any(map(_is_invisible, name)):
        raise Unreadable
    return name


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) in _INVISIBLE or character in FILLERS


class Accounts:
    """The accounts kept in the store; each of its methods may raise StoreDown."""

    def __init__(self, redis: Redis) -> None:
        """Keep accounts in this store."""
        self._redis = redis

    async def create(self, name: str) -> Account:
        """Open an account of this name; names need not be unique."""
        account = Account(new_id(), clean_name(name))
        with answered():
            await self._redis.hset(account_key(account.id), mapping={"name": account.name, "created": utc_ms()})
        return account

    async def find(self, account: str) -> Account:
        """Return an account; raise NotFound if there is none of this id, or none any more."""
        for found in await self.named([account]):
            return found
        raise NotFound("There is no such player.")

    async def named(self, accounts: Iterable[str]) -> list[Account]:
        """Return the accounts of these ids in their order, without those that are erased or never were.

        Raise NotFound for what has not the shape of an id.
        """
        ids = list(accounts)
        if not all(map(is_id, ids)):
            raise NotFound("There is no such player.")
        async with self._redis.pipeline(transaction=False) as pipe:
            for account in ids:
                pipe.hget(account_key(account), "name")
            with answered():
                names: list[bytes | None] = await pipe.execute()
        return [Account(account, name.decode()) for account, name in zip(ids, names, strict=True) if name is not None]

    async def rename(self, account: str, name: str) -> Account:
        """Give an account another name; raise NotFound if it is gone."""
        renamed = Account(account, clean_name(name))

        async def write(pipe: Pipeline) -> None:
            if not await pipe.exists(account_key(account)):
                raise NotFound("There is no such player.")
            begin(pipe)
            pipe.hset(account_key(account), "name", renamed.name)

        with answered():
            await self._redis.transaction(write, account_key(account))
        return renamed

    async def condemn(self, account: str) -> None:
        """Put an account on the list of the erased: from now on it takes no seat and opens no table."""
        with answered():
            await self._redis.zadd(ERASED_KEY, {account: utc_ms()}, nx=True)

    async def is_condemned(self, account: str) -> bool:
        """Tell whether an account is being erased, or has been."""
        with answered():
            return await self._redis.zscore(ERASED_KEY, account) is not None

    async def condemned(self) -> set[str]:
        """Return the ids of all accounts on the list of the erased; raise StoreDown."""
        with answered():
            return {each.decode("ascii") for each in cast("list[bytes]", await self._redis.zrange(ERASED_KEY, 0, -1))}

    async def lingering(self, accounts: Collection[str]) -> list[str]:
        """Return of whom of these the store still has a name; raise StoreDown."""
        return await with_keys(self._redis, account_key, accounts)

    async def forget(self, account: str) -> None:
        """Erase what is known of an account but its id."""
        with answered():
            await self._redis.delete(account_key(account))


def account_key(account: str) -> str:
    """Return the key of an account: a hash of its name and when it was opened."""
    return f"account:{account}"


async def with_keys(redis: Redis, key_of: Callable[[str], str], accounts: Collection[str]) -> list[str]:
    """Return the accounts of which a key is there; raise StoreDown."""
    found: list[str] = []
    each = iter(accounts)
    while page := list(islice(each, PAGE)):
        async with redis.pipeline(transaction=False) as pipe:
            for account in page:
                pipe.exists(key_of(account))
            with answered():
                there: list[int] = await pipe.execute()
        found += compress(page, there)
    return found
