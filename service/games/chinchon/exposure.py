"""The end of a deal of Chinchón: everybody in turn lays combinations out, and the others lay cards off on them.

Whether somebody is asked hangs on what all can see, for a question that is left out would betray a hand. Decisions
fold along what they yield, on a match of their own. Sections cited here are those of the rules page, chinchon.en.md.
"""

from collections.abc import Iterator
from itertools import islice

from events.base import Event
from events.cards import SpanishCard
from events.games.chinchon import (
    Closed,
    Combination,
    Exposed,
    ExposureBegan,
    LaidOff,
    LayOffBegan,
    Passed,
    StockExhausted,
)
from projections.games.chinchon import HAND, Exposing, LayingOff, State
from projections.own import own
from service.game import LISTED, Ask, Command, Refused
from service.games.chinchon import scoring
from service.games.chinchon.along import happens
from service.games.chinchon.commands import Auto, Expose, LayOff, Pass
from service.games.chinchon.deals import PROMPT
from service.games.chinchon.hands import hand_of, layout_of, melds_of, packs_of
from service.rules.melds import LEAST, Layout, Plan
from service.rules.turns import turns_from

AUTO = Auto()
_PASS = Pass()


def legal_exposures(state: State, phase: Exposing) -> Iterator[Command]:
    """Yield every layout of a hand, the best first; no more than show that there are too many to list."""
    layouts = melds_of(state).layouts(hand_of(state, phase.seat))
    return islice((Expose(layout.combinations) for layout in layouts), LISTED + 1)


def legal_lay_offs(state: State, phase: LayingOff) -> Iterator[Command]:
    """Yield what may be done at an opportunity to lay off."""
    yield AUTO
    for card in dict.fromkeys(hand_of(state, phase.seat)):
        for number in range(len(state.laid[phase.on] or ())):
            if number not in phase.closed and _extended(state, phase.on, card, number):
                yield LayOff(card, number)
    yield _PASS


def close(state: State, ask: Ask, face_down: SpanishCard, layout: Layout[SpanishCard]) -> Iterator[Event]:
    """Yield the closing of a deal, the closer's layout and what follows."""
    play, seat = own(state), ask.by.seat or 0
    yield happens(play, Closed(seat, face_down))
    yield from _lay_out(play, ask, seat, layout)


def exhaust(seat: int) -> Iterator[Event]:
    """Yield the end of a deal that nobody has closed: the player who chose the stock lays out first."""
    yield StockExhausted(seat)
    yield ExposureBegan(seat)
    yield PROMPT[seat]


def expose(state: State, ask: Ask, phase: Exposing) -> Iterator[Event]:
    """Yield a player's layout, and what follows."""
    command: Expose = ask.command
    layout = layout_of(state, hand_of(state, phase.seat), command.combinations)
    return _lay_out(own(state), ask, phase.seat, layout)


def _lay_out(play: State, ask: Ask, seat: int, layout: Layout[SpanishCard]) -> Iterator[Event]:
    yield happens(play, Exposed(seat, layout.combinations, len(layout.loose), _is_chinchon(play, seat, layout)))
    yield from _go_on(play, ask, seat, seat)


def _is_chinchon(state: State, seat: int, layout: Layout[SpanishCard]) -> bool:
    """Tell whether a layout is Chinchón: seven cards in one combination, of a hand that never had another size."""
    options = state.options
    if len(layout.combinations) != 1 or layout.loose or seat in state.irregular:
        return False
    (combination,) = layout.combinations
    counts = options.chinchon == "one_combination" or melds_of(state).is_run(combination)
    return len(combination) == HAND and counts and (options.chinchon_for == "any" or seat == state.closer)


def _go_on(play: State, ask: Ask, on: int, seat: int) -> Iterator[Event]:
    """Yield what follows once `seat` is done with the combinations of `on`: the next question, or the score."""
    for other in turns_from(play.order, seat)[1:]:
        if other == on:
            break
        if _may_lay_off(play, other, on):
            yield happens(play, LayOffBegan(other, on))
            yield PROMPT[other]
            return
    yield from _next_exposure(play, ask, on)


def _may_lay_off(state: State, seat: int, on: int) -> bool:
    """Tell whether a player is asked to lay off on the combinations of `on`; all can see it."""
    where = state.options.layoff
    open_to_all = where == "phases" or (where == "closer" and on == state.closer)
    return open_to_all and bool(state.laid[on]) and on not in state.chinchon and state.held[seat] > 0


def _next_exposure(play: State, ask: Ask, seat: int) -> Iterator[Event]:
    """Yield what follows once all are done with the combinations of `seat`."""
    following = turns_from(play.order, seat)[1]
    if following == play.starter:
        yield from scoring.score(play, ask)
    elif play.held[following] < LEAST:
        yield happens(play, Exposed(following, (), play.held[following], chinchon=False))
        yield from _next_exposure(play, ask, following)
    else:
        yield happens(play, ExposureBegan(following))
        yield PROMPT[following]


def lay_off(state: State, ask: Ask, phase: LayingOff) -> Iterator[Event]:
    """Yield a card laid off; a hand that is empty then ends the opportunity."""
    command: LayOff = ask.command
    card, number, on = command.card, command.number, phase.on
    if card not in hand_of(state, phase.seat):
        raise Refused("card_not_held")
    if number >= len(state.laid[on] or ()):
        raise Refused("no_such_combination")
    if number in phase.closed:
        raise Refused("run_closed")
    if _extended(state, on, card, number) is None:
        raise Refused("does_not_fit")
    play = own(state)
    yield _laid_off(play, phase, card, number)
    if play.held[phase.seat]:
        yield PROMPT[phase.seat]
    else:
        yield from _passed(play, ask, phase)


def auto(state: State, ask: Ask, phase: LayingOff) -> Iterator[Event]:
    """Yield the cards laid off that leave this player the fewest points, and the end of the opportunity."""
    play = own(state)
    for card, number in _best_lay_off(state, phase):
        yield _laid_off(play, phase, card, number)
    yield from _passed(play, ask, phase)


def _best_lay_off(state: State, phase: LayingOff) -> Plan[SpanishCard]:
    """Return what leaves the fewest points; seven cards that score a bonus together stay so (section 6)."""
    seat, hand, melds = phase.seat, hand_of(state, phase.seat), melds_of(state)
    if state.laid[seat] is None:
        layout = melds.best(hand)
        linked = len(hand) == HAND and not layout.loose and scoring.earns_linked_bonus(state, seat)
        if linked or _is_chinchon(state, seat, layout):
            return ()
    return melds.lay_offs(hand, state.laid[phase.on] or (), one_a_run=packs_of(state) > 1, closed=phase.closed)


def pass_on(state: State, ask: Ask, phase: LayingOff) -> Iterator[Event]:
    """Yield the end of an opportunity, and what follows."""
    return _passed(own(state), ask, phase)


def _passed(play: State, ask: Ask, phase: LayingOff) -> Iterator[Event]:
    yield happens(play, Passed(phase.seat))
    yield from _go_on(play, ask, phase.on, phase.seat)


def _laid_off(play: State, phase: LayingOff, card: SpanishCard, number: int) -> Event:
    combination = _extended(play, phase.on, card, number)
    if combination is None:
        raise ValueError(f"{card} does not fit on combination {number} of seat {phase.on}: {play.laid[phase.on]}")
    # With two packs a player lays one card on any one run at one opportunity (section 6).
    closed = packs_of(play) > 1 and melds_of(play).is_run(combination)
    return happens(play, LaidOff(phase.seat, card, phase.on, number, combination, closed))


def _extended(state: State, on: int, card: SpanishCard, number: int) -> Combination | None:
    combinations = state.laid[on] or ()
    return melds_of(state).extended(combinations[number], card)
