"""Inboxes: for each account its newest notices, numbered without a gap, and what was told of each table so far.

A reactor (service/reactors/inbox.py) fills them from the streams. The function in inbox.lua puts all notices of a
table's next decisions into their inboxes and notes the version that was reached, in one call or not at all: so each
decision is told once, however often it comes up and whoever else tells it at the same moment.

    inbox:<account>    a stream of the last 1,000: id `<base>-<n>`, whose sum is the number, and field `n`, the notice
    inbox:base         the first number since all inboxes were last made anew; 1, or nothing there, at first
    {pp}:told:<id>     what is told of a table: a hash of the base, the version reached, and the table as of then

To make all anew is to raise the base above any number that was ever given: no inbox has anything then, and nothing was
told of any table. Whoever comes with an older number has to begin anew as well, and can't take another notice for the
one that it had.

Left out: a cluster, where one call can't reach the inboxes of all who sit at a table.
"""

import asyncio
import time
from collections import Counter as Tally
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, NamedTuple, cast

import msgspec
from msgspec.structs import replace
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from projections.inbox import Company, Told
from projections.notices import AnyNotice
from service.auth.accounts import ERASED_KEY
from service.errors import StoreDown
from service.feeds import BELLS, RETRY_S, Bell
from service.functions import is_missing, source
from service.ids import partition
from service.metrics import Counter
from service.pipe import Command
from service.store import Call, answered, heed_cancelling

KEPT: Final = 1_000
"""How many of an account's notices are kept (inbox.lua)."""

PAGE: Final = 100
"""How many notices a stream reads at once."""

LEAP: Final = 10**9
"""By how much the base is raised at least: no inbox ever holds so many between."""

BASE_KEY: Final = "inbox:base"

_FIRST_BASE: Final = b"1"
_NS_PER_US: Final = 1_000

_FUNCTION: Final = source(Path(__file__).with_name("inbox.lua"))

_notices = Counter("evenfold_inbox_notices_total", "Notices put into inboxes.", "type")
_encode = msgspec.json.Encoder().encode
_company = msgspec.json.Decoder(Company)
_notice: "msgspec.json.Decoder[AnyNotice]" = msgspec.json.Decoder(AnyNotice)


"""Send a command's words to the store and return its reply; raise StoreDown or the server's ResponseError."""


class Reached(NamedTuple):
    """Up to which version the decisions of a table were told, and the table as of then, None before its first."""

    version: int
    company: Company | None


NOTHING: Final = Reached(0, None)


class Page(NamedTuple):
    """Notices that follow one another.

    `next` is the number to ask after for more, None at the newest. `reset` is None where they follow what was asked
    for; else that is not there, and these are the first that are kept: they follow the number `reset`.
    """

    notices: tuple[AnyNotice, ...]
    next: int | None
    reset: int | None


class Reset(NamedTuple):
    """What was asked for is not there: what comes next is the first that is kept, and follows this number."""

    number: int


class Inboxes:
    """The inboxes kept in the store; each of its methods may raise StoreDown."""

    def __init__(self, redis: Redis, call: Call | None = None, time_ns: Callable[[], int] = time.time_ns) -> None:
        """Keep inboxes in this store; `call` is a quicker way to it for whoever tells a lot, `time_ns` tells UTC."""
        self._redis = redis
        self._call = call or redis.execute_command
        self._time_ns = time_ns

    async def page(self, account: str, after: int | None, limit: int) -> Page:
        """Return at most `limit` notices after a number, the oldest first; from the oldest kept where that is None."""
        base, newest = await self._ends(account)
        if after == newest:
            return Page((), None, None)
        if after is not None and base - 1 <= after < newest:
            notices = await self._read(account, base, after + 1, limit + 1)
            if notices and notices[0].number == after + 1:
                return _page(notices, limit, None)
        notices = await self._read(account, base, base, limit + 1)
        before = notices[0].number - 1 if notices else newest
        return _page(notices, limit, before if after is not None else None)

    async def follow(
        self, account: str, after: int | None, bell: AbstractContextManager[Bell]
    ) -> AsyncGenerator[AnyNotice | Reset]:
        """Yield what follows a number, from the oldest kept where that is None, and then what comes, for ever.

        `bell` rings when there may be more. While the store does not answer, wait.
        """
        with bell as ringing:
            while True:
                seen = ringing.count
                try:
                    page = await self.page(account, after, PAGE)
                except StoreDown:
                    await asyncio.sleep(RETRY_S)
                    continue
                heed_cancelling()
                if page.reset is not None:
                    after = page.reset
                    yield Reset(after)
                for notice in page.notices:
                    after = notice.number
                    yield notice
                if page.next is None:
                    await ringing.after(seen)

    async def newest(self, account: str) -> int:
        """Return the number of the newest notice; where there is none, the one that the first will follow."""
        _, newest = await self._ends(account)
        return newest

    async def reached(self, tables: Sequence[str]) -> list[Reached]:
        """Return what was told of each of these tables, in one round trip."""
        calls = self._redis.pipeline(transaction=False)
        calls.get(BASE_KEY)
        for table in tables:
            calls.hmget(_told_key(table), ["base", "version", "company"])
        with answered():
            base, *found = await calls.execute()
        return [_reached(base or _FIRST_BASE, *values) for values in found]

    async def tell(self, before: Reached, now: Reached, told: Sequence[Told]) -> bool:
        """Put notices into their inboxes, unless another has told of any of these decisions: all of them, or none.

        They come of the decisions after `before` up to `now`. Called again with the same, it has happened once, and
        True says so; False says that what was told is no longer, or was never, `before`.
        """
        if now.company is None:
            raise ValueError(f"at version {now.version} there is a decision, and so a table")
        inboxes: dict[str, int] = {}
        given: list[bytes | int] = []
        for account, notice in told:
            given += (inboxes.setdefault(_inbox_key(account), len(inboxes) + 1), _encode(notice))
        keys = (_told_key(now.company.table), BASE_KEY, ERASED_KEY, BELLS, *inboxes)
        reached = await self._told(keys, before.version, now.version, _encode(now.company), *given)
        if reached != now.version:
            return False
        for tag, count in Tally(tag_of(notice) for _, notice in told).items():
            _notices.add(tag, by=count)
        return True

    async def forget(self, account: str) -> None:
        """Erase an account's inbox; whose erasing has begun gets none again."""
        with answered():
            await self._redis.delete(_inbox_key(account))

    async def clear(self) -> None:
        """Empty all inboxes and forget what was told, to tell it anew by numbers that were never given before."""
        with answered():
            base = int(await self._redis.get(BASE_KEY) or _FIRST_BASE)
            # More than one a microsecond the store can't give; the clock tells too where the base itself was lost.
            await self._redis.set(BASE_KEY, max(self._time_ns() // _NS_PER_US, base + LEAP))

    async def _ends(self, account: str) -> tuple[int, int]:
        """Return the base, and the newest number."""
        calls = self._redis.pipeline(transaction=False)
        calls.get(BASE_KEY)
        calls.xrevrange(_inbox_key(account), count=1)
        with answered():
            stored, last = await calls.execute()
        base = int(stored or _FIRST_BASE)
        began, number = _number(last[0][0]) if last else (0, 0)
        return base, number if began == base else base - 1

    async def _read(self, account: str, base: int, first: int, count: int) -> list[AnyNotice]:
        with answered():
            found = await self._redis.xrange(_inbox_key(account), f"{base}-{first - base}", count=count)
        rows = cast("list[tuple[bytes, dict[bytes, bytes]]]", found)
        return [replace(_notice.decode(fields[b"n"]), number=_number(id_)[1]) for id_, fields in rows]

    async def _told(self, keys: Sequence[str], *given: bytes | int) -> int:
        """Call the function, which is loaded if the store does not know it, as a new one does not."""
        call: Command = ("FCALL", _FUNCTION.name, len(keys), *keys, *given)
        with answered():
            try:
                return cast("int", await self._call(*call))
            except ResponseError as error:
                if not is_missing(error):
                    raise
            await self._redis.function_load(_FUNCTION.code, replace=True)
            return cast("int", await self._call(*call))


def tag_of(notice: AnyNotice) -> str:
    """Return what a notice calls its kind."""
    return str(notice.__struct_config__.tag)


def bell_of(account: str) -> str:
    """Return the name of the bell that rings when an account's inbox has grown."""
    return _inbox_key(account)


def _page(notices: list[AnyNotice], limit: int, reset: int | None) -> Page:
    """Return a page of notices, of which one more was read than it may hold, to see whether more follow."""
    shown = tuple(notices[:limit])
    return Page(shown, shown[-1].number if len(notices) > limit else None, reset)


def _reached(base: bytes, told_at: bytes | None, version: bytes | None, company: bytes | None) -> Reached:
    if told_at != base or version is None or company is None:
        return NOTHING
    return Reached(int(version), _company.decode(company))


def _number(id_: bytes) -> tuple[int, int]:
    """Return the base that an id was given by, and the number that it stands for."""
    base, _, n = id_.partition(b"-")
    return int(base), int(base) + int(n)


def _inbox_key(account: str) -> str:
    return f"inbox:{account}"


def _told_key(table: str) -> str:
    return f"{{{partition(table):02}}}:told:{table}"
