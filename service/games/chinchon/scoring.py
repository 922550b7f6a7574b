"""The score of a deal of Chinchón: points, bonuses, totals, who is out (section 7).

Sections cited here are those of the rules page, chinchon.en.md.
"""

from collections.abc import Iterator

from events.base import Event
from events.games.chinchon import DealScored, Options, WentOut
from events.table import Scored
from projections.games.chinchon import HAND, State
from service.game import Ask
from service.games.chinchon import pot, reentry
from service.games.chinchon.along import happens
from service.games.chinchon.hands import hand_of, melds_of

BONUS = 10
"""Points taken off for Chinchón; for cards that all combine, as many where the options say so."""


def score(play: State, ask: Ask) -> Iterator[Event]:
    """Yield the score of a deal in which all have laid out and off, and what follows."""
    linked = tuple(seat for seat in sorted(play.order) if _is_linked(play, seat))
    points = tuple(_points(play, seat, linked) if seat in play.order else None for seat in range(play.seats))
    totals = tuple(_total(play, seat, gained) for seat, gained in enumerate(points))
    yield happens(play, DealScored(play.deal, points, totals, tuple(sorted(play.chinchon)), linked))
    yield Scored(play.deal, points, totals)
    winner = pot.chinchon_winner(play, ask.forfeits)
    leaving = tuple(seat for seat in _leaving(play) if seat != winner)
    if leaving:
        yield happens(play, WentOut(leaving))
    if winner is not None:
        yield from pot.take(play, ask, (winner,))
    else:
        yield from reentry.offer(play, ask)


def _points(state: State, seat: int, linked: tuple[int, ...]) -> int:
    loose = melds_of(state).points(hand_of(state, seat))
    return loose - BONUS if seat in state.chinchon or seat in linked else loose


def _is_linked(state: State, seat: int) -> bool:
    """Tell whether a player laid out just seven cards, all combined, which is worth something here."""
    return state.exposed[seat] == HAND and seat not in state.chinchon and earns_linked_bonus(state, seat)


def earns_linked_bonus(state: State, seat: int) -> bool:
    """Tell whether seven cards that all combine are worth something here, to this player."""
    options = state.options
    for_whom = options.chinchon_for == "any" or seat == state.closer
    return bool(options.linked_bonus) and for_whom and seat not in state.irregular


def _total(state: State, seat: int, gained: int | None) -> int | None:
    total = state.totals[seat]
    if total is None or gained is None:
        return total
    return max(0, total + gained) if state.options.floor_zero == "on" else total + gained


def _leaving(state: State) -> list[int]:
    """Return who is out by this deal, lowest total first, of the same total in turn order."""
    leaving = [seat for seat in state.order if is_over(state.options, state.totals[seat] or 0)]
    return sorted(leaving, key=lambda seat: state.totals[seat] or 0)


def is_over(options: Options, total: int) -> bool:
    """Tell whether who has this total is out (section 8)."""
    return total >= options.limit if options.elimination == "reach" else total > options.limit
