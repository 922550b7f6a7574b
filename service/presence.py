"""Presence: when those who have a part in a table, its host and who sits there, were last seen at it.

Seen is who reads the table, commands there, or holds a stream of it open. It is kept in memory at once, and in the
store every few seconds, in one call a second for the whole process, so that all processes tell the same. Nobody has to
say that somebody has gone: whoever is not seen again is absent after a while, also where a process was killed. It is
no part of a table: neither the log nor a view knows of it.

    presence:<account>   the tables where an account was seen, by when (UTC ms): a sorted set, kept for a day
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated, Final, NamedTuple

from msgspec import Meta, Struct
from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

from events.base import MAX_SEATS, Millis, Seat, Version
from service.auth.accounts import ERASED_KEY
from service.clock import Sleep, utc_ms
from service.errors import StoreDown
from service.game import AnyTable, NotSeated
from service.store import answered, begin

PRESENT_MS: Final = 15_000
"""For how long somebody counts as present after being seen."""

FRESH_MS: Final = 5_000
"""How old what the store knows of somebody who is there must be before it is written anew."""

KEPT_MS: Final = 86_400_000
"""For how long it is kept when somebody was seen last."""

SAVE_S: Final = 1.0
"""How often what was seen is written."""

HasPart = Callable[[str, str], bool]
"""Tell whether an account has a part in a table, as far as the process knows; True where it doesn't."""

_logger = logging.getLogger(__name__)


class HostPresence(Struct, frozen=True):
    """Whether the host of a table is there, and when it was last seen (null: not within a day)."""

    present: bool
    last_seen: Millis | None


class SeatPresence(Struct, frozen=True):
    """Whether who holds a seat is there, and when it was last seen.

    `present` is null where nobody can be: where a bot sits or nobody, and where the seat was given up. `last_seen` is
    null there too, and for who was not seen within a day.
    """

    seat: Seat
    present: bool | None
    last_seen: Millis | None


class Attendees(Struct, frozen=True):
    """Who of those that have a part in a table is there; `version` is the table's, which the seats are of."""

    version: Version
    host: HostPresence
    seats: Annotated[tuple[SeatPresence, ...], Meta(max_length=MAX_SEATS)]


class _Pair(NamedTuple):
    """An account, and a table where it was seen."""

    account: str
    table: str


class _Known(NamedTuple):
    """When somebody was seen, and the moment of that which the store has from us (UTC ms)."""

    seen: int
    saved: int


class Presence:
    """Who was seen where, by one process and by all."""

    def __init__(self, redis: Redis, clock: Callable[[], int] = utc_ms, *, sleep: Sleep = asyncio.sleep) -> None:
        """Keep it in this store; `clock` is UTC (ms), the same everywhere to within seconds."""
        self._redis = redis
        self._clock = clock
        self._sleep = sleep
        self._known: dict[_Pair, _Known] = {}
        self._attending: Counter[_Pair] = Counter()
        self._keeping: asyncio.Task[None] | None = None
        self._closed = False

    def see(self, account: str, table: str) -> None:
        """Note that an account which has a part in a table is there now."""
        pair = _Pair(account, table)
        known = self._known.get(pair)
        self._known[pair] = _Known(self._clock(), 0 if known is None else known.saved)

    @contextmanager
    def attending(self, account: str, table: str) -> Iterator[None]:
        """Let an account be there for as long as the block lasts, whenever it has a part in the table."""
        pair = _Pair(account, table)
        self._attending[pair] += 1
        try:
            yield
        finally:
            self._attending[pair] -= 1
            if not self._attending[pair]:
                del self._attending[pair]

    async def at(self, table: AnyTable, player: str) -> Attendees:
        """Return who is at a table; raise NotSeated unless the player has a part in it, StoreDown."""
        if not has_part(table, player):
            raise NotSeated
        # The table is read before the store is asked: it may be changed meanwhile.
        version, host, people = table.version, table.host, _people(table)
        seen = await self.last_seen(table.id, [host, *(person for person in people if person is not None)])
        return Attendees(
            version,
            HostPresence(self.is_present(seen[host]), seen[host]),
            tuple(
                SeatPresence(seat, None, None)
                if person is None
                else SeatPresence(seat, self.is_present(seen[person]), seen[person])
                for seat, person in enumerate(people)
            ),
        )

    async def last_seen(self, table: str, accounts: Iterable[str]) -> dict[str, int | None]:
        """Return when each of these accounts was last seen at a table (UTC ms), None for not within a day.

        It is told to within a few seconds. Raise StoreDown.
        """
        asked = tuple(dict.fromkeys(accounts))
        calls = self._redis.pipeline(transaction=False)
        for account in asked:
            calls.zscore(_key(account), table)
            calls.zscore(ERASED_KEY, account)
        with answered():
            scores: list[float | None] = await calls.execute()
        return {
            account: self._last(_Pair(account, table), stored) if erased is None else None
            for account, stored, erased in zip(asked, scores[::2], scores[1::2], strict=True)
        }

    def is_present(self, last_seen: int | None) -> bool:
        """Tell whether somebody who was last seen then counts as present."""
        return last_seen is not None and self._clock() - last_seen < PRESENT_MS

    async def forget(self, account: str) -> None:
        """Forget where an account was seen, which is being erased: nothing of it is written again. Raise StoreDown."""
        with answered():
            await self._redis.delete(_key(account))

    def begin(self, has_part: HasPart) -> None:
        """Write what is seen from now on."""
        self._keeping = asyncio.create_task(self._keep(has_part))

    async def close(self) -> None:
        """End that; what the store does not know yet is of the last seconds."""
        self._closed = True
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.wait([self._keeping])

    def _last(self, pair: _Pair, stored: float | None) -> int | None:
        known = self._known.get(pair)
        last = max(int(stored or 0), 0 if known is None else known.seen)
        return last if last > self._clock() - KEPT_MS else None

    async def _keep(self, has_part: HasPart) -> None:
        # redis-py may swallow a cancellation, and answer as if nothing had been asked of it.
        while not self._closed:
            await self._sleep(SAVE_S)
            await self.save(has_part)

    async def save(self, has_part: HasPart) -> None:
        """See who is attending, and write what the store does not know yet, if it answers."""
        for pair in self._attending:
            if has_part(*pair):
                self.see(*pair)
        now = self._clock()
        due = {
            pair: known.seen
            for pair, known in self._known.items()
            if known.seen > known.saved and now - known.saved >= FRESH_MS
        }
        if due:
            try:
                await self._write(due)
            except StoreDown as down:
                _logger.info("who is present can't be written now: %s", down)
        self._known = {pair: known for pair, known in self._known.items() if now - known.seen < PRESENT_MS}

    async def _write(self, due: dict[_Pair, int]) -> None:
        """Write when these were seen, in one call; of who is being erased, whose presence may be gone, nothing."""

        async def write(pipe: Pipeline) -> None:
            accounts = list(dict.fromkeys(pair.account for pair in due))
            # What comes between the question and the answer makes this begin again.
            erased: list[float | None] = await pipe.zmscore(ERASED_KEY, accounts)
            gone = {account for account, since in zip(accounts, erased, strict=True) if since is not None}
            begin(pipe)
            for (account, table), seen in due.items():
                if account not in gone:
                    pipe.zadd(_key(account), {table: seen}, gt=True)
            for account in accounts:
                if account not in gone:
                    pipe.zremrangebyscore(_key(account), "-inf", self._clock() - KEPT_MS)
                    pipe.pexpire(_key(account), KEPT_MS)

        with answered():
            await self._redis.transaction(write, ERASED_KEY)
        for pair, seen in due.items():
            known = self._known.get(pair)
            if known is not None:
                self._known[pair] = _Known(known.seen, seen)


def has_part(table: AnyTable, player: str) -> bool:
    """Tell whether a person hosts a table or holds a seat there; a bot has no presence, a seat given up no eyes."""
    return player == table.host or player in _people(table)


def _people(table: AnyTable) -> list[str | None]:
    """Return the person on each seat, None where nobody or a bot sits, and where the seat was given up."""
    return [
        player.id if player is not None and player.bot is None and seat not in table.resigned else None
        for seat, player in enumerate(table.players)
    ]


def _key(account: str) -> str:
    return f"presence:{account}"
