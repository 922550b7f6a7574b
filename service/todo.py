"""What an account has to do: every table that waits for it, as the tables stand in the store at that moment.

Where an account may have a part is written down before it gets one there (service/attendance.py), and how far a table
was folded is noted by the reactor that fills inboxes: from there on each is read to its end. So this lags behind no
command, whoever took it, and whether a reactor runs or not; and it costs three round trips for as many tables as are
looked at together, and a look at what has happened since the last prompt of a person there.

Left out: due times, which come with clocks.
"""

import asyncio
import re
from collections.abc import Sequence
from itertools import islice
from typing import Final, NamedTuple, TypeAlias, TypedDict

from msgspec import Struct

from events.base import GameName, Id, Millis, Seat, Version
from projections import inbox
from projections.inbox import Company
from service.attendance import Attendance, Part
from service.errors import Illegible, Malformed
from service.games import Games
from service.inbox import NOTHING, Inboxes, Reached
from service.log import PAGE, Log
from service.streams import Shorter, table_stream

TOGETHER: Final = 256
"""How many tables are looked at in one go."""

MOST: Final = 1_024
"""At how many tables a page looks that may wait: it ends there, however few do."""

CURSOR: Final = r"([0-9]{16})([0-9a-hjkmnp-tv-z]{26})"
"""What a cursor looks like: every text like this is one."""

_CURSOR = re.compile(CURSOR)


class Task(Struct, frozen=True, kw_only=True, tag_field="type"):
    """A table that waits for you, at its newest version; `since` is when it began to, `due` null without a clock."""

    game: GameName
    table: Id
    version: Version
    since: Millis
    due: Millis | None = None


class ToAct(Task, frozen=True, kw_only=True, tag="act"):
    """Your seat must act, since its prompt went out; `turn` is what your command answers."""

    seat: Seat
    turn: Version


class ToStart(Task, frozen=True, kw_only=True, tag="start"):
    """Enough seats are taken, since one was last taken or left, and play waits for you, the host, to start it."""


AnyTask: TypeAlias = ToAct | ToStart


class Page(NamedTuple):
    """Tasks, in the order in which their account came to the tables; `next` is where to read on, None at the end.

    `number` is that of the inbox's newest notice before any of the tables was looked at: what comes after it tells of
    whatever may have changed since.
    """

    tasks: tuple[AnyTask, ...]
    next: str | None
    number: int


class Todo:
    """The tables that wait for accounts."""

    def __init__(self, attendance: Attendance, inboxes: Inboxes, log: Log, games: Games) -> None:
        """Take what knows where an account is, and how tables stand; `games`, how many seats it takes to start."""
        self._attendance = attendance
        self._inboxes = inboxes
        self._log = log
        self._games = games

    async def page(self, account: str, after: str | None, limit: int) -> Page:
        """Return at most `limit` tables that wait for an account, after a cursor; raise Malformed for a bad one.

        Raise StoreDown. Where many tables were looked at that don't wait, a page may end before it is full.
        """
        beginning = None if after is None else _place_of(after)
        parts, number = await asyncio.gather(self._attendance.parts(account), self._inboxes.newest(account))
        left = iter([part for part in parts if beginning is None or part[:2] > beginning])
        tasks: list[AnyTask] = []
        looked = 0
        while some := tuple(islice(left, TOGETHER)):
            waiting = await self._waiting(some, account)
            looked += waiting.looked
            for part, task in waiting.tasks:
                tasks.append(task)
                if len(tasks) == limit:
                    return Page(tuple(tasks), _cursor(part) if part != parts[-1] else None, number)
            if looked >= MOST:
                return Page(tuple(tasks), _cursor(some[-1]) if some[-1] != parts[-1] else None, number)
        return Page(tuple(tasks), None, number)

    async def _waiting(self, parts: Sequence[Part], account: str) -> "_Waiting":
        """Look at some tables: two round trips, however many they are."""
        noted = await self._inboxes.reached([part.table for part in parts])
        open_ = [(part, at) for part, at in zip(parts, noted, strict=True) if _may_wait(part, at.company, account)]
        now = await asyncio.gather(*(self._now(part.table, at) for part, at in open_))
        tasks = ((part, self._task(at, account)) for (part, _), at in zip(open_, now, strict=True))
        return _Waiting(len(open_), [(part, task) for part, task in tasks if task is not None])

    async def _now(self, table: str, at: Reached) -> Reached:
        """Return a table as it stands in the store, by what has come since it was noted."""
        try:
            return await self._read(table, at)
        except Shorter:
            return await self._read(table, NOTHING)
        except Illegible:
            # Nobody can act there.
            return NOTHING

    async def _read(self, table: str, at: Reached) -> Reached:
        version, company = at
        while entries := await self._log.read(table_stream(table), version):
            for stored in entries:
                company, _ = inbox.add(company, stored.e)
            version = entries[-1].version
            if len(entries) < PAGE:
                break
        return Reached(version, company)

    def _task(self, at: Reached, account: str) -> AnyTask | None:
        """Return what an account has to do at a table, None for nothing."""
        version, company = at
        if company is None:
            return None
        about: _About = {"game": company.game, "table": company.table, "version": version, "since": company.since}
        seat = company.seat_of(account)
        if seat is not None and seat in company.to_act:
            return ToAct(seat=seat, turn=company.turn, **about)
        if company.host == account and company.waits_for_host and self._may_start(company):
            return ToStart(**about)
        return None

    def _may_start(self, company: Company) -> bool:
        try:
            game = self._games.ruled(company.ruleset)
        except KeyError:
            # It is not played here any more, and nobody can start it.
            return False
        return company.taken >= game.seats.least


class _About(TypedDict):
    game: str
    table: str
    version: int
    since: int


class _Waiting(NamedTuple):
    """At how many tables it had to be looked, and which of them wait."""

    looked: int
    tasks: list[tuple[Part, AnyTask]]


def _may_wait(part: Part, company: Company | None, account: str) -> bool:
    """Tell from what was noted of a table whether it may wait for an account by now."""
    if company is None:
        return True
    if not part.sits and company.start == "full":
        return False
    return not company.is_settled_for(account)


def _cursor(part: Part) -> str:
    return f"{part.since:016}{part.table}"


def _place_of(cursor: str) -> tuple[int, str]:
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise Malformed("The parameter after must be the `next` of an earlier page.", "after")
    return int(match[1]), match[2]
