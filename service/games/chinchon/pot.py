"""Who takes the pot of a match of Chinchón, and everybody's places (sections 7 and 8).

Sections cited here are those of the rules page, chinchon.en.md.
"""

from collections.abc import Iterator, Sequence

from events.base import Event
from events.games.chinchon import PotTaken
from events.table import Ended
from projections.games.chinchon import State
from service.game import Ask
from service.games.chinchon.along import happens
from service.rules import standing


def chinchon_winner(state: State, forfeits: Sequence[int]) -> int | None:
    """Return who wins the match at once by Chinchón: the closer, else the first in turn order; None for nobody."""
    if state.options.chinchon_wins == "off":
        return None
    eligible = [seat for seat in state.order if seat in state.chinchon and seat not in forfeits]
    return state.closer if state.closer in eligible else next(iter(eligible), None)


def lowest(state: State, forfeits: Sequence[int]) -> tuple[int, ...]:
    """Return who takes the pot where a deal put everybody out: the lowest total, of several the closer (section 8).

    Somebody has not resigned, or the match would be over.
    """
    eligible = [seat for seat in state.order if seat not in forfeits]
    least = min(state.totals[seat] or 0 for seat in eligible)
    level = tuple(seat for seat in eligible if state.totals[seat] == least)
    return (state.closer,) if state.closer is not None and state.closer in level else level


def take(play: State, ask: Ask, seats: Sequence[int]) -> Iterator[Event]:
    """Yield that these seats, in turn order, take the pot in equal shares, odd tokens to the first, and the end."""
    share, odd = divmod(play.pot, len(seats))
    yield happens(play, PotTaken(tuple(seats), tuple(share + (place < odd) for place in range(len(seats)))))
    yield Ended("finished", places(play, ask.forfeits))


def places(state: State, forfeits: Sequence[int]) -> tuple[int | None, ...]:
    """Return one place per seat as things stand: who took the pot, who is in, who went out in a later deal."""
    levels = {seat: _level(state, seat) for seat in state.taken}
    order = sorted(set(levels.values()))
    ranks = [order.index(levels[seat]) if seat in levels else None for seat in range(state.seats)]
    return standing.lowest_wins(ranks, forfeits)


def _level(state: State, seat: int) -> tuple[int, int, int]:
    """Return what orders the seats, the lowest first: each of the same level has the same place."""
    if seat in state.pot_takers:
        return 0, 0, 0
    went_out, total = state.went_out[seat], state.totals[seat] or 0
    return (1, 0, total) if went_out is None else (2, -went_out, total)
