"""Rules of Trick: seat 0 leads, all follow suit, the highest card of the colour led takes the trick and leads.

The game of the peers' harnesses (tests/bench/peers/), rule by rule, so that what differs is what is measured.
"""

from collections.abc import Iterator, Sequence
from operator import add
from typing import get_args

from events.base import Event
from events.table import Ended, Scored, Shuffled, TurnBegan
from service.chance import Shuffles, number
from service.game import Ask, Command, Game, Refused, Seats
from service.rules import standing
from service.rules.packs import hands
from tests.bench.trick.events import Card, DealScored, Dealt, Options, Played, TrickTaken
from tests.bench.trick.projections import PROJECTION, SEATS, State

REASONS = {
    "card_not_held": "The card is not in the player's hand.",
    "must_follow_suit": "A player who holds a card of the colour led must play one.",
}

PACK: tuple[Card, ...] = get_args(Card)
HAND = 10

_PRINTED = {card: place for place, card in enumerate(PACK)}


class Play(Command, frozen=True, tag="trick.play"):
    """Play a card."""

    card: Card


_PLAY = {card: Play(card=card) for card in PACK}
_TURN = tuple(TurnBegan((seat,)) for seat in range(SEATS))


def legal(state: State, seat: int) -> Iterator[Command]:
    """Return every command this seat may give now."""
    if state.turn != seat:
        return iter(())
    return map(_PLAY.__getitem__, playable(_hand(state, seat), state.trick))


def playable(hand: Sequence[Card], trick: Sequence[Card]) -> Sequence[Card]:
    """Return the cards of a hand that may be played to a trick."""
    following = [card for card in hand if card[0] == trick[0][0]] if trick else ()
    return following or hand


def start(state: State, chance: Shuffles) -> Iterator[Event]:  # noqa: ARG001 it starts alike, whatever the options
    """Yield the first deal."""
    return _deal(1, chance)


def again(then: State, _now: State, chance: Shuffles) -> Iterator[Event]:
    """Yield the deal that begins in `then` once more."""
    return _deal(then.deal + 1, chance)


def _deal(deal: int, chance: Shuffles) -> Iterator[Event]:
    pack = chance.shuffle(PACK, number(deal))
    yield Shuffled(number(deal), pack)
    dealt = hands(pack, (HAND,) * SEATS)
    yield Dealt(deal, tuple(tuple(sorted(hand, key=_PRINTED.__getitem__)) for hand in dealt))
    yield _TURN[0]


def decide(state: State, ask: Ask) -> Iterator[Event]:
    """Yield what the command makes happen; raise Refused if a rule forbids it."""
    seat, card = ask.by.seat, ask.command.card
    if seat is None or state.turn != seat:
        raise Refused("not_now" if state.turn is None else "not_your_turn")
    hand, trick = _hand(state, seat), state.trick
    if card not in hand:
        raise Refused("card_not_held")
    if card not in playable(hand, trick):
        raise Refused("must_follow_suit")
    if len(trick) < SEATS - 1:
        following = (seat + 1) % SEATS
        return iter((Played(seat, card, following), _TURN[following]))
    return _complete_trick(state, ask, seat, card)


def _complete_trick(state: State, ask: Ask, seat: int, card: Card) -> Iterator[Event]:
    yield Played(seat, card, None)
    leader = (seat + 1) % SEATS
    taker = (leader + taking([*state.trick, card])) % SEATS
    yield TrickTaken(taker)
    # The card that completes a trick is still held while it is decided, so the last trick leaves one.
    if sum(state.held) > 1:
        yield _TURN[taker]
        return
    points = tuple(taken + (other == taker) for other, taken in enumerate(state.taken))
    totals = tuple(map(add, (total or 0 for total in state.totals), points))
    yield DealScored(state.deal, points, totals)
    yield Scored(state.deal, points, totals)
    if state.deal == (state.options.deals or ask.chance.last_deal):
        yield Ended("finished", standing.highest_wins(totals, ask.forfeits))
    else:
        yield from _deal(state.deal + 1, ask.chance)


def taking(trick: Sequence[Card]) -> int:
    """Return which of a trick's cards takes it, counted from 0 for the card led."""
    led = trick[0][0]
    return max(range(len(trick)), key=lambda place: (trick[place][0] == led, trick[place][1]))


def _hand(state: State, seat: int) -> list[Card]:
    hand = state.hands[seat]
    if hand is None:
        raise ValueError(f"the hand of seat {seat} in deal {state.deal} is hidden from this fold")
    return hand


def idle(state: State, seat: int) -> Command:
    """Return the command that stands for this seat when its player is silent: the first card it may play."""
    choice = playable(state.hands[seat] or (), state.trick)
    return _PLAY[choice[0] if choice else PACK[0]]


def check(options: Options) -> None:
    """Take any options: none contradict each other."""


def places(state: State, forfeits: Sequence[int]) -> tuple[int | None, ...]:
    """Return one place per seat by the totals as they stand."""
    return standing.highest_wins(state.totals, forfeits)


def reveal(state: State) -> Iterator[Event]:  # noqa: ARG001 every game is asked this
    """Yield nothing: only the shuffles were sealed."""
    return iter(())


GAME = Game(
    title="Trick",
    projection=PROJECTION,
    commands=Play,
    seats=Seats(least=SEATS, most=SEATS, usual=SEATS),
    check=check,
    start=start,
    again=again,
    decide=decide,
    legal=legal,
    idle=idle,
    places=places,
    reveal=reveal,
    reasons=REASONS,
)
