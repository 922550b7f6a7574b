"""Rules of Chinchón: draw, discard, close; lay out, lay off; come back for a stake, or stay out.

Facts are in events/games/chinchon.py, what they add up to in projections/games/chinchon/. Sections cited in this
package are those of the rules page, chinchon.en.md. Left out: jokers, of which the source has none.
"""

from collections.abc import Iterator, Sequence
from typing import assert_never

from events.base import Event
from events.games.chinchon import Opened, Options
from projections.games.chinchon import (
    PROJECTION,
    Answering,
    DealOver,
    Exposing,
    LayingOff,
    Phase,
    State,
    Turn,
)
from service.game import Ask, Command, Game, Refused, Seats
from service.games.chinchon import deals, exposure, pot, reentry, turns
from service.games.chinchon.commands import (
    Auto,
    ChinchonCommand,
    Close,
    Discard,
    DrawDiscard,
    DrawStock,
    EndTurn,
    Expose,
    LayOff,
    Pass,
    Reenter,
    StayOut,
)

REASONS = {
    "draw_first": "The turn begins with a draw.",
    "already_drawn": "No more cards may be drawn in this turn.",
    "already_discarded": "A card was thrown in this turn, after which this can't be done.",
    "discard_first": "A turn ends after a discard.",
    "turn_ends_by_discard": "At this table a turn ends by its discard.",
    "stock_must_be_drawn": "Too many turns in a row were begun from the discards; this one begins from the stock.",
    "no_up_card": "There is no discard to take.",
    "irregular_hand": "A player with six or eight cards draws one, throws one, and may not close.",
    "drawn_twice": "A player who has drawn two cards may not close in this turn.",
    "first_round": "At this table nobody may close in their first turn of a deal.",
    "card_not_held": "The card is not in the player's hand, or not so often.",
    "no_combination": "The cards are neither a set nor a run.",
    "combination_left": "What stays in hand holds another combination.",
    "deadwood_over_limit": "The cards left over count more points than a player may close with.",
    "no_such_combination": "There is no combination of that number.",
    "run_closed": "The player has laid a card on that run at this opportunity; with two packs it is one a run.",
    "does_not_fit": "The combination with that card would be none.",
}

_REENTER = Reenter()
_STAY_OUT = StayOut()


def legal(state: State, seat: int) -> Iterator[Command]:
    """Return every command this seat may give now; of one type no more than show that there are too many to list."""
    phase = state.phase
    if not _is_prompted(phase, seat):
        return iter(())
    match phase:
        case Turn():
            return turns.legal(state, phase)
        case Exposing():
            return exposure.legal_exposures(state, phase)
        case LayingOff():
            return exposure.legal_lay_offs(state, phase)
        case Answering():
            return iter((_STAY_OUT, _REENTER))
        case DealOver():
            return iter(())
        case unknown:
            assert_never(unknown)


def _is_prompted(phase: Phase, seat: int | None) -> bool:
    match phase:
        case Turn() | Exposing() | LayingOff():
            return phase.seat == seat
        case Answering(_, left):
            return seat in left
        case DealOver():
            return False
        case unknown:
            assert_never(unknown)


def decide(state: State, ask: Ask) -> Iterator[Event]:
    """Yield what the command makes happen; raise Refused if a rule forbids it.

    Whose turn it is comes first, then the phase, then what was done in it before, then the cards.
    """
    phase, seat = state.phase, ask.by.seat
    if seat is None or not _is_prompted(phase, seat):
        raise Refused("not_now" if isinstance(phase, DealOver) else "not_your_turn")
    match phase, ask.command:
        case Turn(), command:
            return _turn(state, ask, phase, command)
        case Exposing(), Expose():
            return exposure.expose(state, ask, phase)
        case LayingOff(), LayOff():
            return exposure.lay_off(state, ask, phase)
        case LayingOff(), Auto():
            return exposure.auto(state, ask, phase)
        case LayingOff(), Pass():
            return exposure.pass_on(state, ask, phase)
        case Answering(), Reenter():
            return reentry.answer(state, ask, seat, reenter=True)
        case Answering(), StayOut():
            return reentry.answer(state, ask, seat, reenter=False)
        case _:
            raise Refused("not_now")


def _turn(state: State, ask: Ask, turn: Turn, command: Command) -> Iterator[Event]:
    match command:
        case DrawStock():
            return turns.draw_stock(state, ask, turn)
        case DrawDiscard():
            return turns.draw_discard(state, turn)
        case Discard():
            return turns.discard(state, turn, command.card)
        case EndTurn():
            return turns.end_turn(state, turn)
        case Close():
            return turns.close(state, ask, turn)
        case _:
            raise Refused("not_now")


def idle(state: State, seat: int) -> Command:
    """Return the command that stands for this seat when its player is silent (section 10)."""
    match state.phase:
        case Turn() as turn:
            return turns.idle(state, turn) if turn.seat == seat else DrawStock()
        case Exposing():
            return Expose()
        case LayingOff():
            return exposure.AUTO
        case Answering() | DealOver():
            return _STAY_OUT
        case unknown:
            assert_never(unknown)


def check(_options: Options) -> None:
    """Accept all options: none contradict each other (section 9)."""


def in_play(state: State) -> Sequence[int]:
    """Return the seats that are in the match, and those that may come back into it now."""
    offered = state.phase.offered if isinstance(state.phase, Answering) else ()
    return (*state.still_in, *offered)


def reveal(state: State) -> Iterator[Event]:
    """Yield what lay face down: the closing cards."""
    yield Opened(tuple(state.closing_cards))


GAME = Game(
    title="Chinchón",
    projection=PROJECTION,
    commands=ChinchonCommand,
    seats=Seats(least=2, most=8, usual=4),
    check=check,
    start=deals.start,
    again=deals.again,
    decide=decide,
    legal=legal,
    idle=idle,
    places=pot.places,
    reveal=reveal,
    reasons=REASONS,
    in_play=in_play,
)
