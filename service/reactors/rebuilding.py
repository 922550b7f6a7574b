"""Everything that is derived from the streams, and how each of it is made anew from them.

All of it may be done while the service runs, and done again where it was cut off: what comes of it is the same. What is
derived by one more reactor is one more entry here.
"""

from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

import msgspec
from redis.asyncio import Redis

from projections import attendance as attended
from projections.attendance import Attended
from service.attendance import Attendance
from service.docket import Docket
from service.inbox import Inboxes
from service.lobby import Lobby
from service.reactors import docket, inbox, lobby
from service.walk import Walk


class Derived(NamedTuple):
    """Something derived: its name, what it tells, and what makes it anew."""

    name: str
    about: str
    rebuild: Callable[[Walk, Redis], Awaitable[None]]


class _Keyed(msgspec.Struct):
    version: int
    key: str | None


_keyed = msgspec.json.Decoder(_Keyed)


async def _rebuild_keys(walk: Walk, _: Redis) -> None:
    async def remember(stream: str) -> None:
        async for entries in walk.pages(stream):
            keyed = [_keyed.decode(stored.e) for stored in entries]
            await walk.log.remember(stream, {each.key: each.version for each in keyed if each.key is not None})

    await walk.over(await walk.tables(), remember)


async def _rebuild_attendance(walk: Walk, redis: Redis) -> None:
    attendance = Attendance(redis)

    async def recall(stream: str) -> None:
        known = Attended()
        async for entries in walk.pages(stream):
            attended.add(known, (stored.e for stored in entries))
        await attendance.recall(stream.removeprefix("table:"), known)

    await walk.over(await walk.tables(), recall)


async def _rebuild_lobby(walk: Walk, redis: Redis) -> None:
    await lobby.rebuild(walk, Lobby(redis))


async def _rebuild_inboxes(walk: Walk, redis: Redis) -> None:
    await inbox.rebuild(walk, Inboxes(redis))


async def _rebuild_docket(walk: Walk, redis: Redis) -> None:
    await docket.rebuild(walk, Docket(redis))


# What keeps requests from being done twice comes first.
DERIVED: Final = (
    Derived("keys", "which Idempotency-Key led to which decision", _rebuild_keys),
    Derived("attendance", "at which tables an account is host, sits or sat", _rebuild_attendance),
    Derived("lobby", "which tables are open or in play", _rebuild_lobby),
    Derived("inboxes", "what each account was told", _rebuild_inboxes),
    Derived("docket", "which disputes are open", _rebuild_docket),
)
