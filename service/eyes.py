"""Through whose eyes a table is looked at, and who may look so: the one place where that right is decided.

Everybody has eyes of their own (`Table.eyes_of`): those of the seat held today, or a spectator's. A spectator's are
anybody's, for who has them sees what is public. Those of another seat, and of all seats together, are nobody's while
something may lie hidden, but an arbiter's for the versions of a look of theirs, as long as that lasts; and anybody's
once the table has ended: by then its record is open too. All of this is as the table stands now, whichever version is
looked at.

Left out: which tokens may ask for another's eyes at all, or are an arbiter's (the routes, as for all that scopes
decide).
"""

from typing import Literal, NamedTuple, TypeAlias

from events.base import Seat
from projections.fold import ALL, Eyes
from service.game import AnyTable, Refused

Wanted: TypeAlias = Seat | Literal["spectator", "all"] | None
"""Whose eyes somebody asks for: a seat's, a spectator's, those of all seats together, or None for one's own."""


class Judging(NamedTuple):
    """An arbiter would see versions of a table from this one on, at a moment (UTC ms)."""

    version: int
    at: int


class Sight(NamedTuple):
    """The eyes through which somebody may see a table, and the last version that they may see, None for all of them."""

    eyes: Eyes
    last: int | None = None


def granted(table: AnyTable, player: str, wanted: Wanted, judging: Judging | None = None) -> Sight:
    """Return how a player may see a table now, as an arbiter if that is stated.

    Raise Refused: `not_ended` for another seat's eyes, or all, before the end and outside of an arbiter's look;
    `no_such_seat` where there is none.
    """
    own = table.eyes_of(player)
    if wanted is None or (wanted == own and own is not None):
        return Sight(own)
    if wanted == "spectator":
        return Sight(None)
    last = None
    if table.status != "ended":
        last = _looked_to(table, player, judging)
        if last is None:
            raise _refused("not_ended", table)
    if wanted != ALL and wanted >= len(table.players):
        raise _refused("no_such_seat", table)
    return Sight(wanted, last)


def _looked_to(table: AnyTable, player: str, judging: Judging | None) -> int | None:
    """Return the last version of the looks that show an arbiter a version now, None where no look does."""
    if judging is None:
        return None
    shown = (
        look.last
        for look in table.looks
        if look.player == player and look.first <= judging.version <= look.last and judging.at < look.until
    )
    return max(shown, default=None)


def _refused(reason: str, table: AnyTable) -> Refused:
    refused = Refused(reason)
    refused.version = table.version
    return refused
