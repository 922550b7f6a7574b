"""The fold of tables, whichever ruleset each of them is pinned to."""

from functools import partial

import msgspec
from msgspec import Raw

from events.base import Entry
from events.table import Created
from projections import fold
from projections.table import Table
from service.folding import Adding
from service.game import AnyTable
from service.games import Games
from service.streams import Stored

_first = msgspec.json.Decoder(Entry[Raw, Raw])
_created = msgspec.json.Decoder(Created)


class TableFold:
    """The fold of tables, each by the ruleset its first entry pins it to."""

    def __init__(self, games: Games) -> None:
        """Fold tables of these games."""
        self._games = games

    def empty(self, stream: str) -> AnyTable:
        """Return a table before its first entry."""
        return Table(id=stream.removeprefix("table:"))

    def read(self, state: AnyTable, stored: Stored) -> Adding:
        """Read the entry that follows."""
        ruleset = state.ruleset or _created.decode(_first.decode(stored.e).events[0]).ruleset
        projection = self._games.ruled(ruleset).projection
        return partial(fold.add, projection, state, projection.decode(stored.e), stored.h)
