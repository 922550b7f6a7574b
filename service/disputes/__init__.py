"""Disputes: what players contest, and what arbiters do about it, at any table and by events alone.

Whoever sits at a table, or gave a seat up there, may file a dispute over a range of its versions; one of theirs is open
at a time, and once play has ended the window stays open for 30 days. An arbiter who has no part in the table may pause
and resume play, look behind the cards for an hour at a time, which everybody is told of at once, and rule
(service/disputes/rulings.py).

Left out: who is an arbiter (the routes, by the token's scope), and what was written (it is kept beside the log).
"""

from collections.abc import Iterator
from typing import Final

from events.base import Event
from events.table import DisputeFiled, Looked, Paused, Resumed
from service.disputes.commands import ARBITERS, COMMANDS, Dispute, Look, Pause, Resume, Rule
from service.disputes.rulings import follow, rule
from service.game import AnyGame, AnyTable, Ask, NotSeated, Refused

__all__ = [
    "ARBITERS",
    "COMMANDS",
    "LOOK_MS",
    "MOST",
    "WINDOW_MS",
    "Dispute",
    "Look",
    "Pause",
    "Resume",
    "Rule",
    "decide",
    "follow",
]

WINDOW_MS: Final = 30 * 24 * 3_600_000
"""For how long after the end of play a dispute may be filed."""

LOOK_MS: Final = 3_600_000
"""How long a look lasts."""

MOST: Final = 1_000
"""How many disputes a table may have."""


def decide(game: AnyGame, table: AnyTable, ask: Ask) -> Iterator[Event]:
    """Yield what a command about a dispute makes happen, but for what follows from it; raise Refused."""
    if isinstance(ask.command, Dispute):
        yield _file(table, ask, ask.command)
        return
    _may_judge(table, ask.by.player or "")
    match ask.command:
        case Pause():
            yield _pause(table)
        case Resume():
            yield _resume(table)
        case Look() as command:
            yield _look(table, ask, command)
        case Rule() as command:
            _check_open(table, command.dispute)
            yield rule(game, table, command)
        case _:
            raise Refused("not_now")


def _file(table: AnyTable, ask: Ask, command: Dispute) -> DisputeFiled:
    player = ask.by.player or ""
    if table.seat_of(player) is None:
        raise NotSeated
    if table.play is None:
        raise Refused("not_started")
    if table.ended_at is not None and ask.at > table.ended_at + WINDOW_MS:
        raise Refused("dispute_window_over")
    if any(dispute.player == player and dispute.is_open for dispute in table.disputes):
        raise Refused("dispute_open")
    if len(table.disputes) == MOST:
        raise Refused("disputes_exhausted")
    _check_range(table, command.first, command.last)
    return DisputeFiled(len(table.disputes) + 1, command.first, command.last, command.reason, command.text)


def _pause(table: AnyTable) -> Paused:
    _may_stop(table)
    if table.status == "paused":
        raise Refused("paused")
    return Paused()


def _resume(table: AnyTable) -> Resumed:
    _may_stop(table)
    if table.status != "paused":
        raise Refused("not_paused")
    return Resumed()


def _look(table: AnyTable, ask: Ask, command: Look) -> Looked:
    _check_open(table, command.dispute)
    _check_range(table, command.first, command.last)
    return Looked(command.dispute, command.first, command.last, ask.at + LOOK_MS)


def _may_judge(table: AnyTable, player: str) -> None:
    """Raise Refused for an arbiter who has a part in the table."""
    if player == table.host or player in table.former or table.seat_of(player) is not None:
        raise Refused("arbiter_concerned")


def _may_stop(table: AnyTable) -> None:
    """Raise Refused where there is no play to stop or to go on."""
    if table.status == "ended":
        raise Refused("ended")
    if table.status == "open":
        raise Refused("not_started")


def _check_open(table: AnyTable, number: int) -> None:
    if number > len(table.disputes):
        raise Refused("no_such_dispute")
    if not table.disputes[number - 1].is_open:
        raise Refused("dispute_closed")


def _check_range(table: AnyTable, first: int, last: int) -> None:
    if not first <= last <= table.version:
        raise Refused("no_such_versions")
