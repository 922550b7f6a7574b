"""Notices: what an account may be told of a table that concerns it.

Each holds public parts of the log alone. Whom a decision concerns is in inbox.py.
"""

from typing import Annotated, TypeAlias

from msgspec import Meta, Struct

from events.base import GameName, Id, Millis, PlayerId, Seat, Version
from events.table import DisputeNumber, DisputeReason, Outcome, Place, Verdict

Number = Annotated[int, Meta(ge=0, le=2**53, description="Counts the notices of an inbox.")]


class Notice(Struct, frozen=True, kw_only=True, tag_field="type"):
    """Something that concerns an account: what happened at a table by the decision that led to `version`, and when.

    `number` is the notice's own in its inbox, 0 before it is there.
    """

    number: Number = 0
    game: GameName
    table: Id
    version: Version
    at: Millis


class YouSat(Notice, frozen=True, kw_only=True, tag="seated"):
    """You took a seat, by whichever of your tokens."""

    seat: Seat


class YouLeft(Notice, frozen=True, kw_only=True, tag="unseated"):
    """You stood up before play; nothing more of this table concerns you, unless you are its host."""

    seat: Seat


class FilledNotice(Notice, frozen=True, kw_only=True, tag="table_filled"):
    """All seats of your table are taken, and play waits for you, its host, to start it."""


class StartedNotice(Notice, frozen=True, kw_only=True, tag="table_started"):
    """Play began at a table where you sit, or that you host; `seat` is null for a host without one."""

    seat: Seat | None


class YourTurn(Notice, frozen=True, kw_only=True, tag="your_turn"):
    """Your seat must act: a prompt went out to it, and `turn` is what your command answers."""

    seat: Seat
    turn: Version


class EndedNotice(Notice, frozen=True, kw_only=True, tag="table_ended"):
    """Play ended at a table where you sat or that you host, or was given up before it began.

    `seat` is null for a host without one; `place` is null without a seat, and where nothing was played.
    """

    outcome: Outcome
    seat: Seat | None
    place: Place | None


class DisputeNotice(Notice, frozen=True, kw_only=True, tag="dispute"):
    """Somebody, perhaps you, disputed what happened from version `first` to `last` of your table."""

    dispute: DisputeNumber
    player: PlayerId
    first: Version
    last: Version
    reason: DisputeReason


class PauseNotice(Notice, frozen=True, kw_only=True, tag="pause"):
    """An arbiter paused play at your table: nobody must act, nor may."""


class ResumeNotice(Notice, frozen=True, kw_only=True, tag="resume"):
    """Play goes on at your table; who must act is told of the turn again."""


class LookNotice(Notice, frozen=True, kw_only=True, tag="look"):
    """An arbiter looks behind the cards of versions `first` to `last` of your table, and may until `until`."""

    dispute: DisputeNumber
    first: Version
    last: Version
    until: Millis


class RulingNotice(Notice, frozen=True, kw_only=True, tag="ruling"):
    """An arbiter ruled on a dispute at your table.

    `seat` is null for a host without one; `place` is null without a seat, and where the ruling states no places.
    """

    dispute: DisputeNumber
    verdict: Verdict
    seat: Seat | None
    place: Place | None


AnyNotice: TypeAlias = (
    YouSat
    | YouLeft
    | FilledNotice
    | StartedNotice
    | YourTurn
    | EndedNotice
    | DisputeNotice
    | PauseNotice
    | ResumeNotice
    | LookNotice
    | RulingNotice
)
