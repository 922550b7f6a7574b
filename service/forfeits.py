"""Seats that are given up, by their players or by a ruling, and the end of play that may come of it."""

from collections.abc import Iterator, Sequence

from events.base import Event
from events.table import Ended, Resigned
from service.game import AnyGame, AnyTable


def give_up(game: AnyGame, table: AnyTable, seats: Sequence[int]) -> Iterator[Event]:
    """Yield that these seats are forfeit, in this order, and the end of play where that leaves nobody to play on."""
    for seat in seats:
        yield Resigned(seat)
    forfeits = (*table.resigned, *seats)
    left = [seat for seat in table.taken if seat not in forfeits]
    if len(left) <= 1 or not any(_is_person(table, seat) for seat in left) or is_deserted(game, table.play, forfeits):
        yield Ended("finished", game.places(table.play, forfeits))


def is_deserted(game: AnyGame, play: object, forfeits: Sequence[int]) -> bool:
    """Tell whether all who are in play have given up, so that the rest could move on silently within one decision."""
    return game.in_play is not None and set(game.in_play(play)) <= set(forfeits)


def _is_person(table: AnyTable, seat: int) -> bool:
    player = table.players[seat]
    return player is not None and player.bot is None
