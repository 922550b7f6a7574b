"""Texts: what people write about a table, a dispute's reason or a ruling's, kept beside the log so that it can go.

A text is stored before the decision that names it, and removed again where nothing is decided; who is cut off in
between leaves a text that nothing names, and that goes with its author's account as all of theirs do. What a request
with an Idempotency-Key writes has its id and its salt from key and body, so that a repeat finds it and names it alike.
Such requests may overlap: each holds the text, what names it never lets go, and with its last holder it goes.

    text:<id>           a hash: salt (hex), text, its author, and how many hold it
    texts:<account>     the ids of what an account wrote: a set

Left out: who may write and read (the routes), and what a record does with them (service/audit/records.py).
"""

import hmac
import secrets
import unicodedata
from collections.abc import AsyncIterator, Awaitable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Final, NamedTuple, cast

from msgspec import convert
from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

from events.table import TextRef
from service.auth.accounts import ERASED_KEY, FILLERS
from service.auth.tokens import UNKNOWN
from service.errors import Obstacle, StoreDown, Unauthenticated, Unconfirmed, UnreadableText
from service.game import AnyTable, Refused
from service.ids import derived, new_id
from service.once import Once
from service.store import answered, begin
from service.written import Text

SALT_BYTES: Final = 16

TEXT_KEY: Final = "text:"
"""What the key of a text begins with, before its id."""

_SEEN: Final = frozenset("LNPS")
"""What can be seen, by the first letter of Unicode's category: letters, numbers, punctuation and symbols."""
_BLANK: Final = FILLERS | {"\ufffc"}


class Writing(NamedTuple):
    """What somebody writes: who, the text (None for nothing), the body that it came in, and the request's key."""

    author: str
    text: str | None
    body: bytes
    once: Once | None


class Texts:
    """The texts kept in the store; each of its methods may raise StoreDown."""

    def __init__(self, redis: Redis, secret: bytes = b"") -> None:
        """Keep texts in this store; `secret` derives ids and salts for requests that may come twice."""
        self._redis = redis
        self._secret = secret

    @asynccontextmanager
    async def kept(self, writing: Writing) -> AsyncIterator[TextRef | None]:
        """Keep a text for a block that has a decision name it, None for no text; not where nothing is decided.

        So does every obstacle say but Unconfirmed. That, whoever is cut off and what nobody foresaw leave open whether
        the decision is stored: then the text stays. Raise Unauthenticated for an account that is being erased, and
        UnreadableText for what nobody sees.
        """
        if writing.text is None:
            yield None
            return
        if not any(map(_is_seen, writing.text)):
            raise UnreadableText
        text = Text(*self._id_and_salt(writing), writing.text)
        await self._keep(text, writing.author)
        try:
            yield text.ref
        except Unconfirmed:
            raise
        except (Refused, Obstacle):
            with suppress(StoreDown):
                await self._drop(text.id, writing.author)
            raise

    async def find(self, refs: Iterable[TextRef]) -> Mapping[str, Text]:
        """Return by id those of these texts that still exist; one that the hash is not of is none."""
        named = list(refs)
        if not named:
            return {}
        calls = self._redis.pipeline(transaction=False)
        for ref in named:
            calls.hmget(_text_key(ref.id), "salt", "text")
        with answered():
            found = cast("list[list[bytes | None]]", await calls.execute())
        texts = (read_text(ref.id, *fields) for ref, fields in zip(named, found, strict=True))
        return {text.id: text for text, ref in zip(texts, named, strict=True) if text is not None and text.ref == ref}

    async def forget(self, account: str) -> None:
        """Erase all that an account wrote."""
        with answered():
            ids = await cast("Awaitable[set[bytes]]", self._redis.smembers(_author_key(account)))
            await self._redis.delete(*(_text_key(id_.decode("ascii")) for id_ in ids), _author_key(account))

    def _id_and_salt(self, writing: Writing) -> tuple[str, str]:
        if writing.once is None:
            return new_id(), secrets.token_hex(SALT_BYTES)
        account, route, key = writing.once
        # No key and no JSON has a NUL: no table's id is ever derived from the same.
        id_ = derived(self._secret, account, route, f"{key}\0{writing.body.decode()}")
        salt = hmac.digest(self._secret, f"evenfold/salt/1\0{id_}".encode(), "sha256")[:SALT_BYTES]
        return id_, salt.hex()

    async def _keep(self, text: Text, author: str) -> None:
        calls = self._redis.pipeline(transaction=True)
        calls.hset(_text_key(text.id), mapping={"salt": text.salt, "text": text.text, "author": author})
        calls.hincrby(_text_key(text.id), "holders", 1)
        calls.sadd(_author_key(author), text.id)
        calls.zscore(ERASED_KEY, author)
        with answered():
            *_, erased_at = await calls.execute()
        if erased_at is not None:
            await self._drop(text.id, author)
            raise Unauthenticated(UNKNOWN)

    async def _drop(self, id_: str, author: str) -> None:
        """Hold a text no more; it goes with its last holder."""
        key = _text_key(id_)

        async def write(calls: Pipeline) -> None:
            holders = await cast("Awaitable[bytes | None]", calls.hget(key, "holders"))
            begin(calls)
            if int(holders or 0) > 1:
                calls.hincrby(key, "holders", -1)
            else:
                calls.delete(key)
                calls.srem(_author_key(author), id_)

        with answered():
            await self._redis.transaction(write, key)


def read_text(id_: str, salt: bytes | None, text: bytes | None) -> Text | None:
    """Return a text as the store has its fields, None where they are not there or say none."""
    if salt is None or text is None:
        return None
    try:
        return convert({"id": id_, "salt": salt.decode("ascii"), "text": text.decode()}, Text)
    except ValueError:
        return None


def named_at(table: AnyTable) -> Iterator[TextRef]:
    """Yield what names the texts of a table, in the order of its disputes, each before that of its ruling."""
    for dispute in table.disputes:
        if dispute.text is not None:
            yield dispute.text
        if dispute.ruling is not None and dispute.ruling.text is not None:
            yield dispute.ruling.text


def _is_seen(character: str) -> bool:
    return unicodedata.category(character)[0] in _SEEN and character not in _BLANK


def _text_key(id_: str) -> str:
    return f"{TEXT_KEY}{id_}"


def _author_key(account: str) -> str:
    return f"texts:{account}"
