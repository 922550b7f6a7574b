"""What players and arbiters may ask for about a dispute."""

from typing import Annotated

from msgspec import Meta

from events.table import DealNumber, DisputeNumber, DisputeReason, Places, PointsPerSeat, Seats, TextRef, Verdict
from service.game import Command

Contested = Annotated[int, Meta(ge=1, le=2**53, description="A version of the table.")]


class Dispute(Command, frozen=True, tag="table.dispute"):
    """Dispute what happened from version `first` to `last`, as somebody who sits at the table or sat there."""

    first: Contested
    last: Contested
    reason: DisputeReason
    text: TextRef | None = None


class Pause(Command, frozen=True, tag="table.pause"):
    """Stop play, as an arbiter."""


class Resume(Command, frozen=True, tag="table.resume"):
    """Let play go on, as an arbiter."""


class Look(Command, frozen=True, tag="table.look"):
    """See the cards of versions `first` to `last` for a while, as an arbiter, because of an open dispute."""

    dispute: DisputeNumber
    first: Contested
    last: Contested


class Rule(Command, frozen=True, tag="table.rule"):
    """Rule on an open dispute, as an arbiter.

    `corrected` takes at least one of `scores`, `places` and `forfeits`: never places while play goes on, always
    once it has ended; `replayed` takes `deal`, only while play goes on; the others take none of these.
    """

    dispute: DisputeNumber
    verdict: Verdict
    scores: PointsPerSeat | None = None
    places: Places | None = None
    forfeits: Seats = ()
    deal: DealNumber | None = None
    text: TextRef | None = None


ARBITERS = Pause | Resume | Look | Rule
"""What arbiters alone may command."""

COMMANDS = Dispute | ARBITERS
