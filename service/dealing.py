"""Deals by their numbers: games count the places of a match, chance counts the deals that were dealt.

A deal that a ruling has played again takes the next number that is unused (`table.deal_replayed`), and from then on
numbers are ahead of places. Games know nothing of that: what they ask of chance, and what shuffles they tell of, is
numbered here.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias, TypeVar

from events.base import Event
from events.table import LAST_DEAL, NUMBERS_PER_DEAL, Shuffled
from service.chance import Shuffles
from service.game import AnyTable

T = TypeVar("T")

Chances: TypeAlias = Callable[[AnyTable], Shuffles]
"""Gives a table's chance."""


class Dealing(Shuffles):
    """A table's chance for a game; it is made when a decision first asks for a shuffle, for most never do."""

    def __init__(self, chances: Chances, table: AnyTable, ahead: int | None = None) -> None:
        """Deal ahead of the places in the match by as much as the table does, or by as much as is said."""
        self._chances = chances
        self._table = table
        self._ahead = table.ahead if ahead is None else ahead

    @property
    def last_deal(self) -> int:
        """The last place in the match of which the deal can be numbered."""
        return LAST_DEAL - self._ahead

    def shuffle(self, pack: Sequence[T], c: int) -> tuple[T, ...]:
        """Shuffle with the table's own chance."""
        return self._chances(self._table).shuffle(pack, self._numbered(c))

    def stated(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yield what the game makes happen, its shuffles as they are numbered."""
        for event in events:
            yield Shuffled(self._numbered(event.c), event.order) if isinstance(event, Shuffled) else event

    def _numbered(self, c: int) -> int:
        # What comes before the first deal has its numbers below those of all deals, and happens once.
        return c if c < NUMBERS_PER_DEAL else c + NUMBERS_PER_DEAL * self._ahead
