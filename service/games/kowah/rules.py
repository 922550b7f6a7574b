"""Rules of Kowah: draw or take, discard, declare *checki*, and wait for the third card.

Facts are in events/games/kowah.py, what they add up to in projections/games/kowah/. Sections cited in this package are
those of the rules page, kowah.en.md, and so are rulings, KW-R1 and on. Left out: the twelve further cards of the pack.
"""

from collections.abc import Iterator
from typing import assert_never

from events.base import Event
from events.games.kowah import SEATS, Opened, Options
from projections.games.kowah import PROJECTION, Discarding, Drawing, Over, State, hands_left
from service.game import Ask, Command, Game, Refused, Seats
from service.games.kowah import deals, turns
from service.games.kowah.commands import Checki, Discard, DrawStock, KowahCommand, TakeDiscard

REASONS = {
    "draw_first": "The turn begins with a draw.",
    "already_drawn": "No more cards may be drawn in this turn.",
    "no_discard": "There is no discard to take.",
    "stock_must_be_drawn": "Too many turns in a row were begun from the discards; this one begins from the stock.",
    "hand_declared": "Who has declared draws from the stock, and throws the very card that was drawn.",
    "card_not_held": "The card is not in the player's hand.",
    "declare_after_discard": "A player declares after a discard of their own.",
    "already_declared": "The player has declared, which holds for the whole deal.",
    "nothing_to_come": "The stock has ended, and with this discard the deal: nothing can come any more.",
    "no_pair": "The eight cards do not hold a pair of that kind.",
    "no_triplets": "The six cards beside the pair are not two triplets.",
    "not_two_two_one": "A triplet of the pair's rank must make two, two and one of the three suits with it.",
}


def legal(state: State, seat: int) -> Iterator[Command]:
    """Return every command this seat may give now; who threw the latest discard may declare though not prompted."""
    match state.phase:
        case Drawing() as phase if phase.seat == seat:
            return turns.legal_draws(state, phase)
        case Drawing() if state.thrower == seat:
            return turns.legal_checki(state, seat)
        case Discarding() as phase if phase.seat == seat:
            return turns.legal_discards(state, phase)
        case Drawing() | Discarding() | Over():
            return iter(())
        case unknown:
            assert_never(unknown)


def decide(state: State, ask: Ask) -> Iterator[Event]:
    """Yield what the command makes happen; raise Refused if a rule forbids it.

    Whose turn it is comes first, then what was done in it before, then the cards.
    """
    phase, seat = state.phase, ask.by.seat
    command: KowahCommand = ask.command
    if isinstance(phase, Over):
        raise Refused("not_now")
    if isinstance(phase, Drawing) and isinstance(command, Checki) and seat is not None and seat == state.thrower:
        return turns.checki(state, ask, seat)
    if phase.seat != seat:
        raise Refused("not_your_turn")
    if isinstance(command, Checki):
        raise Refused("declare_after_discard")
    return _begun(state, ask, phase) if isinstance(phase, Drawing) else _ended(state, ask, phase)


def _begun(state: State, ask: Ask, phase: Drawing) -> Iterator[Event]:
    """Return what the command makes of the beginning of a turn."""
    command: DrawStock | TakeDiscard | Discard = ask.command
    match command:
        case DrawStock():
            return turns.draw_stock(state, ask, phase)
        case TakeDiscard():
            return turns.take_discard(state, phase)
        case Discard():
            raise Refused("draw_first")
        case unknown:
            assert_never(unknown)


def _ended(state: State, ask: Ask, phase: Discarding) -> Iterator[Event]:
    """Return what the command makes of the end of a turn."""
    command: DrawStock | TakeDiscard | Discard = ask.command
    match command:
        case Discard():
            return turns.discard(state, ask, phase)
        case DrawStock() | TakeDiscard():
            raise Refused("already_drawn")
        case unknown:
            assert_never(unknown)


def idle(state: State, seat: int) -> Command:
    """Return the command that stands for this seat when its player is silent (section 9): it never declares."""
    match state.phase:
        case Discarding() as phase if phase.seat == seat:
            return Discard(turns.drawn(state))
        case Drawing() | Discarding() | Over():
            return DrawStock()
        case unknown:
            assert_never(unknown)


def check(_options: Options) -> None:
    """Accept all options: none contradict each other (section 8)."""


def reveal(state: State) -> Iterator[Event]:
    """Yield what was hidden: the hands as each deal left them, the one under way too."""
    under_way = () if isinstance(state.phase, Over) else (hands_left(state),)
    yield Opened((*state.final, *under_way))


GAME = Game(
    title="Kowah",
    projection=PROJECTION,
    commands=KowahCommand,
    seats=Seats(least=2, most=SEATS, usual=3),
    check=check,
    start=deals.start,
    again=deals.again,
    decide=decide,
    legal=legal,
    idle=idle,
    places=deals.places,
    reveal=reveal,
    reasons=REASONS,
    rival="steady",
)
