"""Coming back into a match of Chinchón: the offer after a deal, the answers, and how the match goes on (section 8).

Sections cited here are those of the rules page, chinchon.en.md.
"""

from collections.abc import Iterator

from events.base import Event
from events.games.chinchon import ReentriesClosed, ReentryAnswered, ReentryOffered, Staked
from events.table import Answered, Ended, Scored, TurnBegan
from projections.games.chinchon import Answering, State
from projections.own import own
from service.game import Ask
from service.games.chinchon import pot
from service.games.chinchon.along import happens
from service.games.chinchon.deals import next_deal

MOST_TOKENS = 1_000_000
"""What a pot can hold; nobody comes back who could bring it above."""


def offer(play: State, ask: Ask) -> Iterator[Event]:
    """Yield the offer to come back once a deal is scored, and to whom; where there is nobody, how the match goes on."""
    offered = tuple(seat for seat in play.taken if _may_come_back(play, seat))
    if play.still_in and offered:
        yield happens(play, ReentryOffered(offered, play.highest_in))
        yield TurnBegan(offered)
    else:
        yield from _go_on(play, ask)


def _may_come_back(state: State, seat: int) -> bool:
    times, options = state.reentries[seat], state.options
    room = state.pot + options.stake * len(state.taken) <= MOST_TOKENS
    return seat not in state.still_in and room and (options.reentries == "unlimited" or times < options.reentries)


def answer(state: State, ask: Ask, seat: int, *, reenter: bool) -> Iterator[Event]:
    """Yield an answer to the offer; the last one brings back who comes back, and how the match goes on."""
    play = own(state)
    yield happens(play, ReentryAnswered(seat, reenter))
    yield Answered(seat)
    if isinstance(play.phase, Answering) and not play.phase.left:
        yield from _close(play, ask, play.phase)


def _close(play: State, ask: Ask, phase: Answering) -> Iterator[Event]:
    before = play.totals
    back = tuple(seat for seat in phase.offered if play.answers[seat])
    yield happens(play, ReentriesClosed(back, tuple(seat for seat in phase.offered if seat not in back), phase.total))
    if back:
        yield happens(play, Staked(back, play.pot + play.options.stake * len(back)))
        gained = (None if old is None else (new or 0) - old for old, new in zip(before, play.totals, strict=True))
        yield Scored(play.deal, tuple(gained), play.totals)
    yield from _go_on(play, ask)


def _go_on(play: State, ask: Ask) -> Iterator[Event]:
    """Yield the next deal, or the end of the match where fewer than two are in, or none whose player still plays."""
    seats = play.still_in
    if not seats:
        yield from pot.take(play, ask, pot.lowest(play, ask.forfeits))
    elif set(seats) <= set(ask.forfeits) or play.deal == ask.chance.last_deal:
        yield Ended("finished", pot.places(play, ask.forfeits))
    elif len(seats) == 1:
        yield from pot.take(play, ask, seats)
    else:
        yield from next_deal(play, ask.chance)
