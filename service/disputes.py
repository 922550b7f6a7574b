"""Disputes: what players contest, and what arbiters do about it, at any table and by events alone.

Whoever sits at a table, or sat there when play ended, may file a dispute over a range of its versions; one of theirs is
open at a time, and once play has ended the window stays open for 30 days. An arbiter who has no part in the table may
pause and resume play, look behind the cards for an hour at a time, which everybody is told of at once, and rule.

What is decided here is neutral: scores of a match that goes on, and deals played again, are the games' to know. Left
out: who is an arbiter (the routes, by the token's scope), and what was written (it is kept beside the log).
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Final

from msgspec import Meta

from events.base import Event, Seat, Version
from events.table import (
    DealNumber,
    DisputeFiled,
    DisputeNumber,
    DisputeReason,
    Ended,
    Looked,
    Paused,
    Places,
    Resigned,
    Resumed,
    Ruled,
    Scores,
    Seats,
    TextRef,
    Verdict,
)
from service.game import AnyTable, Ask, Command, NotSeated, Refused

WINDOW_MS: Final = 30 * 24 * 3_600_000
"""For how long after the end of play a dispute may be filed."""

LOOK_MS: Final = 3_600_000
"""How long a look lasts."""

MOST: Final = 1_000
"""How many disputes a table may have."""


class Dispute(Command, frozen=True, tag="table.dispute"):
    """Dispute what happened from version `first` to `last`, as somebody who sits at the table or sat there."""

    first: Annotated[int, Meta(ge=1, le=2**53)]
    last: Annotated[int, Meta(ge=1, le=2**53)]
    reason: DisputeReason
    text: TextRef | None = None


class Pause(Command, frozen=True, tag="table.pause"):
    """Stop play, as an arbiter."""


class Resume(Command, frozen=True, tag="table.resume"):
    """Let play go on, as an arbiter."""


class Look(Command, frozen=True, tag="table.look"):
    """See the cards of versions `first` to `last` for a while, as an arbiter, because of an open dispute."""

    dispute: DisputeNumber
    first: Annotated[int, Meta(ge=1, le=2**53)]
    last: Version


class Rule(Command, frozen=True, tag="table.rule"):
    """Rule on an open dispute, as an arbiter.

    `corrected` takes at least one of `scores`, `places` and `forfeits`, places only once play has ended; `replayed`
    takes `deal`, only while play goes on; the others take none of these.
    """

    dispute: DisputeNumber
    verdict: Verdict
    scores: Scores | None = None
    places: Places | None = None
    forfeits: Seats = ()
    deal: DealNumber | None = None
    text: TextRef | None = None


ARBITERS = Pause | Resume | Look | Rule
"""What arbiters alone may command."""

COMMANDS = Dispute | ARBITERS


def decide(table: AnyTable, ask: Ask) -> Iterator[Event]:
    """Yield what a command about a dispute makes happen, but for what follows from it; raise Refused."""
    if isinstance(ask.command, Dispute):
        return iter((_file(table, ask),))
    _may_judge(table, ask.by.player or "")
    match ask.command:
        case Pause():
            return iter((_pause(table),))
        case Resume():
            return iter((_resume(table),))
        case Look():
            return iter((_look(table, ask),))
        case Rule():
            return _rule(table, ask.command)
        case _:
            raise Refused("not_now")


def _file(table: AnyTable, ask: Ask) -> DisputeFiled:
    command: Dispute = ask.command
    player = ask.by.player or ""
    if table.seat_of(player) is None:
        raise NotSeated
    if table.play is None:
        raise Refused("not_started")
    if table.ended_at is not None and ask.at > table.ended_at + WINDOW_MS:
        raise Refused("dispute_window_over")
    if any(dispute.player == player and dispute.ruling is None for dispute in table.disputes):
        raise Refused("dispute_open")
    if len(table.disputes) == MOST:
        raise Refused("disputes_exhausted")
    _check_range(table, command.first, command.last)
    return DisputeFiled(len(table.disputes) + 1, command.first, command.last, command.reason, command.text)


def _pause(table: AnyTable) -> Paused:
    _may_change(table)
    if table.status == "paused":
        raise Refused("paused")
    return Paused()


def _resume(table: AnyTable) -> Resumed:
    _may_change(table)
    if table.status != "paused":
        raise Refused("not_paused")
    return Resumed()


def _look(table: AnyTable, ask: Ask) -> Looked:
    command: Look = ask.command
    _open(table, command.dispute)
    _check_range(table, command.first, command.last)
    return Looked(command.dispute, command.first, command.last, ask.at + LOOK_MS)


def _rule(table: AnyTable, command: Rule) -> Iterator[Event]:
    _open(table, command.dispute)
    goes_on = table.status != "ended"
    _check_verdict(table, command, goes_on=goes_on)
    yield Ruled(
        command.dispute,
        command.verdict,
        command.scores,
        command.places,
        command.forfeits,
        command.deal,
        command.text,
    )
    if not goes_on:
        return
    if command.verdict == "annulled":
        yield Ended("annulled", (None,) * len(table.players))
        return
    for seat in command.forfeits:
        yield Resigned(seat)


def _check_verdict(table: AnyTable, command: Rule, *, goes_on: bool) -> None:
    corrections = command.scores is not None or command.places is not None or bool(command.forfeits)
    if corrections != (command.verdict == "corrected") or (command.deal is not None) != (command.verdict == "replayed"):
        raise Refused("ruling_contradicts_itself")
    if command.verdict == "replayed" and not goes_on:
        raise Refused("ended")
    if command.places is not None and goes_on:
        raise Refused("not_ended")
    for stated in (command.scores, command.places):
        if stated is not None and tuple(value is not None for value in stated) != _is_taken(table):
            raise Refused("one_for_each_seat")
    if len(set(command.forfeits)) != len(command.forfeits):
        raise Refused("ruling_contradicts_itself")
    for seat in command.forfeits:
        _may_forfeit(table, seat)


def _may_forfeit(table: AnyTable, seat: Seat) -> None:
    if seat not in table.taken:
        raise Refused("no_such_seat")
    if seat in table.resigned:
        raise Refused("resigned")


def _is_taken(table: AnyTable) -> tuple[bool, ...]:
    return tuple(player is not None for player in table.players)


def _may_judge(table: AnyTable, player: str) -> None:
    """Raise Refused for an arbiter who has a part in the table."""
    if player == table.host or player in table.former or table.seat_of(player) is not None:
        raise Refused("arbiter_concerned")


def _may_change(table: AnyTable) -> None:
    if table.status == "ended":
        raise Refused("ended")
    if table.status == "open":
        raise Refused("not_started")


def _open(table: AnyTable, number: int) -> None:
    if number > len(table.disputes):
        raise Refused("no_such_dispute")
    if table.disputes[number - 1].ruling is not None:
        raise Refused("dispute_closed")


def _check_range(table: AnyTable, first: int, last: int) -> None:
    if not first <= last <= table.version:
        raise Refused("no_such_versions")


def forfeited(places: Sequence[int | None], forfeits: Sequence[int]) -> tuple[int | None, ...]:
    """Return places with some seats behind all others, an earlier one of them behind a later; who stays moves up."""
    stay = [place for seat, place in enumerate(places) if place is not None and seat not in forfeits]
    moved: list[int | None] = [None if place is None else 1 + sum(other < place for other in stay) for place in places]
    for behind, seat in enumerate(reversed(forfeits), len(stay) + 1):
        moved[seat] = behind
    return tuple(moved)
