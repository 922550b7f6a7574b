"""Through whose eyes a table is looked at, and who may look so: the one place where that right is decided.

Everybody has eyes of their own (`Table.eyes_of`): those of the seat held today, or a spectator's. A spectator's are
anybody's, for who has them sees what is public. Those of another seat, and of all seats together, are nobody's while
something may lie hidden, and anybody's once the table has ended: by then its record is open too. All of this is as
the table stands now, whichever version is looked at.

Left out: which tokens may ask for another's eyes at all (the routes, as for all that scopes decide).
"""

from typing import Literal, TypeAlias

from events.base import Seat
from projections.fold import ALL, Eyes
from service.game import AnyTable, Refused

Wanted: TypeAlias = Seat | Literal["spectator", "all"] | None
"""Whose eyes somebody asks for: a seat's, a spectator's, those of all seats together, or None for one's own."""


def granted(table: AnyTable, player: str, wanted: Wanted) -> Eyes:
    """Return the eyes through which a player may see a table now.

    Raise Refused: `not_ended` for another seat's eyes, or all, before the end; `no_such_seat` where there is none.
    """
    own = table.eyes_of(player)
    if wanted is None or (wanted == own and own is not None):
        return own
    if wanted == "spectator":
        return None
    if table.status != "ended":
        raise _refused("not_ended", table)
    if wanted == ALL:
        return ALL
    if wanted >= len(table.players):
        raise _refused("no_such_seat", table)
    return wanted


def _refused(reason: str, table: AnyTable) -> Refused:
    refused = Refused(reason)
    refused.version = table.version
    return refused
