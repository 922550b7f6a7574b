"""Attendance: which tables an account hosts, and at which it sits.

An account's sets hold a table before the append that gives it a part there, so they name all that there is and perhaps
more, wherever a process was cut off; whoever reads them looks at the table itself, and from the tables they can be
written anew. They tell how many tables an account has open, which seats to give up when it is erased, and where it has
played.

    account:hosting:<account>   tables that it opened: a sorted set, by when it asked (UTC ms); the ended leave it
    account:seats:<account>     tables at which it sits, likewise
    account:past:<account>      tables where it had a seat and that have ended
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Literal, NamedTuple, cast

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

from projections.attendance import Attended
from service.auth.accounts import ERASED_KEY
from service.auth.tokens import UNKNOWN
from service.clock import utc_ms
from service.errors import TooManyTables, Unauthenticated
from service.store import Call, Turns, answered, begin

Standing = Literal["none", "live", "ended"]
"""How it stands with a table: its stream has no entry yet, it is open or in play, or it has ended."""

Look = Callable[[str], Awaitable[Standing]]
"""Look at a table, by its id, as it stands now."""

GRACE_MS: Final = 60_000
"""How long a table may stand in a set without an entry in its stream: its append may still be under way."""

SWEEP_MS: Final = 200
"""How often at most a process looks through the tables of an account that has used its quota up."""

CHEAP: Final = 16
"""So many tables are looked through each time."""

REMEMBERED: Final = 10_000
"""Of how many accounts it is known when that was."""

ROOM: Final = 128
"""From how many tables on a set is freed of those that have ended, where no quota asks for that earlier."""


class Part(NamedTuple):
    """A table where an account may have a part, and since when (UTC ms); `sits`: not as its host alone."""

    since: int
    table: str
    sits: bool


class Attendance:
    """The tables of accounts; each of its methods may raise StoreDown."""

    def __init__(
        self, redis: Redis, quota: int = 0, clock: Callable[[], int] = utc_ms, *, call: Call | None = None
    ) -> None:
        """Keep them in this store; `quota` tables an account may have open at once, 0 for any number.

        `call` is a quicker way to the store for what every seat that is taken asks.
        """
        self._redis = redis
        self._call = call or redis.execute_command
        self._quota = quota
        self._clock = clock
        self._turns = Turns()
        self._swept: dict[str, int] = {}

    async def host(self, account: str, table: str, look: Look) -> None:
        """Write down that an account is about to open a table; a table that it has opened before is no further one.

        Raise TooManyTables where the quota is used up, Unauthenticated for an account that is being erased.
        """
        await self._admit(account)
        key = hosting_key(account)
        if not self._quota:
            await self._grow(key, None, table, look)
            return
        if await self._entered(key, table, self._quota):
            return
        if self._quota <= CHEAP or self._may_sweep(key):
            await self._sweep(key, None, look)
            if await self._entered(key, table, self._quota):
                return
        if await look(table) == "none":
            raise TooManyTables(self._quota)

    async def sit(self, account: str, table: str, look: Look) -> None:
        """Write down that an account is about to take a seat; raise Unauthenticated if it is being erased."""
        await self._admit(account)
        await self._grow(seats_key(account), past_key(account), table, look)

    async def is_welcome(self, account: str) -> bool:
        """Tell whether an account is not being erased."""
        with answered():
            return await self._call("ZSCORE", ERASED_KEY, account) is None

    async def tables(self, account: str) -> list[str]:
        """Return every table where the account may be host or have a seat, unless it was seen to have ended."""
        return [part.table for part in await self.parts(account)]

    async def parts(self, account: str) -> list[Part]:
        """Return the same tables, since when and as what it may be there; the first it came to first."""
        async with self._redis.pipeline(transaction=False) as pipe:
            pipe.zrange(hosting_key(account), 0, -1, withscores=True)
            pipe.zrange(seats_key(account), 0, -1, withscores=True)
            with answered():
                hosting, seats = cast("list[list[tuple[bytes, float]]]", await pipe.execute())
        sitting = dict(seats)
        since = {table: min(at, sitting.get(table, at)) for table, at in (*seats, *hosting)}
        return sorted(Part(int(at), table.decode(), table in sitting) for table, at in since.items())

    async def recall(self, table: str, known: Attended) -> None:
        """Write down anew who has had a part in a table, but for accounts whose erasing has begun."""
        accounts = list(dict.fromkeys([*filter(None, [known.host]), *known.sat]))
        erased = await self._erased(accounts)
        async with self._redis.pipeline(transaction=False) as pipe:
            for account in accounts:
                if account in erased:
                    continue
                if account == known.host and not known.ended:
                    pipe.zadd(hosting_key(account), {table: known.opened_at}, nx=True)
                elif account == known.host:
                    pipe.zrem(hosting_key(account), table)
                if account in known.sat and not known.ended:
                    pipe.zadd(seats_key(account), {table: known.sat[account]}, nx=True)
                elif account in known.sat:
                    pipe.zadd(past_key(account), {table: known.sat[account]}, nx=True)
                    pipe.zrem(seats_key(account), table)
            with answered():
                await pipe.execute()
        for account in await self._erased(accounts) - erased:
            await self.forget(account)

    async def _erased(self, accounts: Sequence[str]) -> set[str]:
        """Return those whose erasing has begun."""
        async with self._redis.pipeline(transaction=False) as pipe:
            for account in accounts:
                pipe.zscore(ERASED_KEY, account)
            with answered():
                found = await pipe.execute()
        return {account for account, since in zip(accounts, found, strict=True) if since is not None}

    async def forget(self, account: str) -> None:
        """Forget the tables of an account."""
        with answered():
            await self._redis.delete(hosting_key(account), seats_key(account), past_key(account))

    async def _admit(self, account: str) -> None:
        if not await self.is_welcome(account):
            raise Unauthenticated(UNKNOWN)

    async def _grow(self, key: str, past: str | None, table: str, look: Look) -> None:
        """Put a table into a set of any size, and free it of what has ended as often as it has grown by much."""
        size = await self._enter(key, table)
        if size > ROOM and size % (ROOM // 2) == 1:
            await self._sweep(key, past, look)

    def _may_sweep(self, key: str) -> bool:
        """Tell whether a full set may be looked through again, which a refused request asks for each time."""
        now = self._clock()
        last = self._swept.get(key)
        if last is not None and 0 <= now - last < SWEEP_MS:
            return False
        if len(self._swept) >= REMEMBERED:
            self._swept.clear()
        self._swept[key] = now
        return True

    async def _entered(self, key: str, table: str, most: int) -> bool:
        """Put a table into a set of at most so many, and tell whether it is there now; of rivals the first get in."""

        async def write(pipe: Pipeline) -> bool:
            if await pipe.zscore(key, table) is not None:
                return True
            if await pipe.zcard(key) >= most:
                return False
            begin(pipe)
            pipe.zadd(key, {table: self._clock()})
            return True

        async with self._turns.of(key):
            with answered():
                entered: bool = await self._redis.transaction(write, key, value_from_callable=True)
        return entered

    async def _enter(self, key: str, table: str) -> int:
        """Put a table into a set, and return how many it holds."""
        with answered():
            _, size = await asyncio.gather(
                self._call("ZADD", key, "NX", self._clock(), table), self._call("ZCARD", key)
            )
        return cast("int", size)

    async def _sweep(self, key: str, past: str | None, look: Look) -> None:
        """Take out of a set what has ended, or was never opened; the ended go to the past first, if there is one."""
        with answered():
            members = cast("list[tuple[bytes, float]]", await self._redis.zrange(key, 0, -1, withscores=True))
        for member, since in members:
            table = member.decode()
            standing = await look(table)
            if standing == "live" or (standing == "none" and self._clock() - since < GRACE_MS):
                continue
            with answered():
                if past is not None and standing == "ended":
                    await self._redis.zadd(past, {table: since})
                await self._redis.zrem(key, table)


def hosting_key(account: str) -> str:
    """Return the key of the tables that an account hosts."""
    return f"account:hosting:{account}"


def seats_key(account: str) -> str:
    """Return the key of the tables where an account sits."""
    return f"account:seats:{account}"


def past_key(account: str) -> str:
    """Return the key of the tables where an account sat."""
    return f"account:past:{account}"
