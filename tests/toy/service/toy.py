"""Rules of Toy: pledge a card, all at once; lay a row or hold, in turn; score; deal again.

The smallest game that asks of the framework all that games ask: hidden cards, a lot, a shuffle a deal, a prompt to
several seats at once, untaken seats, more rows than can be listed, options, and a match without end.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, islice, pairwise, permutations
from typing import Annotated, assert_never, get_args

from msgspec import Meta

from events.base import Event
from events.table import Answered, Ended, Scored, Shuffled, TurnBegan
from service.chance import Shuffles, number
from service.game import LISTED, Ask, Command, Game, Refused, Seats
from service.rules import standing
from tests.toy.events.toy import (
    Card,
    DealScored,
    Dealt,
    Drew,
    FirstDrawn,
    Held,
    Laid,
    Opened,
    Options,
    Pledged,
    Row,
    Shown,
)
from tests.toy.projections.toy import PROJECTION, DealOver, Laying, Pledging, State

REASONS = {
    "card_not_held": "The card is not in the player's hand.",
    "same_card_twice": "The cards of a row must differ.",
    "wrong_length": "The row is longer or shorter than this table plays.",
}

PACK: tuple[Card, ...] = get_args(Card)
HAND = 7
BONUS = 5

_PRINTED = {card: place for place, card in enumerate(PACK)}


class Pledge(Command, frozen=True, tag="toy.pledge"):
    """Lay a card face down."""

    card: Annotated[Card, Meta(description="A card of one's hand.", examples=["R7"])]


class Lay(Command, frozen=True, tag="toy.lay"):
    """Lay a row of one's cards; it scores if it rises."""

    cards: Annotated[Row, Meta(description="Cards of one's hand.", examples=[["R1", "G4", "B7"]])]


class Hold(Command, frozen=True, tag="toy.hold"):
    """Lay nothing."""


ToyCommand = Pledge | Lay | Hold

_HOLD = Hold()


def legal(state: State, seat: int) -> Iterator[Command]:
    """Return every command this seat may give now; of the rows no more than show that there are too many to list."""
    match state.phase:
        case Pledging() if seat in state.taken and seat not in state.pledged:
            return map(Pledge, _hand(state, seat))
        case Laying(prompted) if prompted == seat:
            rows = permutations(_hand(state, seat), state.options.row)
            return chain(islice(map(Lay, rows), LISTED + 1), (_HOLD,))
        case _:
            return iter(())


def start(state: State, chance: Shuffles) -> Iterator[Event]:
    """Yield the lot for who lays first, and the first deal."""
    lot = chance.shuffle(state.taken, number(0, 0))
    yield Shuffled(number(0, 0), lot)
    yield FirstDrawn(lot[0])
    yield from _deal(state, 1, lot[0], chance)


def again(then: State, _now: State, chance: Shuffles) -> Iterator[Event]:
    """Yield the deal that begins in `then` once more; the same seat lays first."""
    return _next_deal(then, chance)


def _next_deal(state: State, chance: Shuffles) -> Iterator[Event]:
    first = _from(state.taken, state.first)[1] if state.deal else state.first
    return _deal(state, state.deal + 1, first, chance)


def _deal(state: State, deal: int, first: int, chance: Shuffles) -> Iterator[Event]:
    pack = chance.shuffle(PACK, number(deal))
    yield Shuffled(number(deal), pack)
    hands: list[tuple[Card, ...] | None] = [None] * len(state.totals)
    for place, seat in enumerate(_from(state.taken, first)):
        hands[seat] = tuple(sorted(pack[HAND * place : HAND * (place + 1)], key=_PRINTED.__getitem__))
    yield Dealt(deal, first, tuple(hands), pack[HAND * len(state.taken) :])
    yield TurnBegan(state.taken)


def decide(state: State, ask: Ask) -> Iterator[Event]:
    """Yield what the command makes happen; raise Refused if a rule forbids it."""
    phase, command, seat = state.phase, ask.command, ask.by.seat
    if seat is None or not _is_prompted(state, seat):
        raise Refused("not_now" if isinstance(phase, DealOver) else "not_your_turn")
    match phase, command:
        case Pledging(), Pledge(card=card):
            return _pledge(state, seat, card)
        case Laying(), Lay(cards=cards):
            return _lay(state, ask, seat, cards)
        case Laying(), Hold():
            return _hold(state, ask, seat)
        case _:
            raise Refused("not_now")


def _is_prompted(state: State, seat: int) -> bool:
    match state.phase:
        case Pledging():
            return seat in state.taken and seat not in state.pledged
        case Laying(prompted):
            return prompted == seat
        case DealOver():
            return False
        case unknown:
            assert_never(unknown)


def _pledge(state: State, seat: int, card: Card) -> Iterator[Event]:
    if card not in _hand(state, seat):
        raise Refused("card_not_held")
    yield Pledged(seat, card)
    if len(state.pledged) + 1 < len(state.taken):
        yield Answered(seat)
        return
    pledges = [card if other == seat else pledge for other, pledge in enumerate(state.pledges)]
    best = max(state.taken, key=lambda other: _height(pledges[other]))
    yield Shown(tuple(pledges), best, state.first)
    yield TurnBegan((state.first,))


def _height(card: Card | None) -> tuple[int, int]:
    return (0, 0) if card is None else (_rank(card), _PRINTED[card])


def _lay(state: State, ask: Ask, seat: int, cards: tuple[Card, ...]) -> Iterator[Event]:
    if len(cards) != state.options.row:
        raise Refused("wrong_length")
    if len(set(cards)) < len(cards):
        raise Refused("same_card_twice")
    if not set(cards) <= set(_hand(state, seat)):
        raise Refused("card_not_held")
    yield Laid(seat, cards, _following(state, seat))
    if state.left:
        yield Drew(seat, state.stock[0] if state.stock else None)
    yield from _next(state, ask, seat, cards)


def _hold(state: State, ask: Ask, seat: int) -> Iterator[Event]:
    yield Held(seat, _following(state, seat))
    yield from _next(state, ask, seat, ())


def _following(state: State, seat: int) -> int | None:
    order = _from(state.taken, state.first)
    after = order.index(seat) + 1
    return order[after] if after < len(order) else None


def _next(state: State, ask: Ask, seat: int, row: tuple[Card, ...]) -> Iterator[Event]:
    """Go on after a seat's row: the next seat, the next deal or the end."""
    following = _following(state, seat)
    if following is not None:
        yield TurnBegan((following,))
        return
    rows = [row if other == seat else laid for other, laid in enumerate(state.rows)]
    points = [_points(state, other, rows[other]) for other in range(len(rows))]
    totals = tuple(
        None if total is None or gained is None else total + gained
        for total, gained in zip(state.totals, points, strict=True)
    )
    yield DealScored(state.deal, tuple(points), totals)
    yield Scored(state.deal, tuple(points), totals)
    if state.deal == (state.options.deals or ask.chance.last_deal):
        yield Ended("finished", _places(state.options, totals, ask.forfeits))
    else:
        yield from _next_deal(state, ask.chance)


def _points(state: State, seat: int, row: Sequence[Card]) -> int | None:
    if seat not in state.taken:
        return None
    ranks = [_rank(card) for card in row]
    rising = all(left < right for left, right in pairwise(ranks))
    return (sum(ranks) if rising else -1) + (BONUS if state.options.bonus and seat == state.best else 0)


def _rank(card: Card) -> int:
    return int(card[1])


def _from(taken: Sequence[int], first: int) -> tuple[int, ...]:
    place = taken.index(first)
    return (*taken[place:], *taken[:place])


def _hand(state: State, seat: int) -> list[Card]:
    hand = state.hands[seat]
    if hand is None:
        raise ValueError(f"the hand of seat {seat} in deal {state.deal} is hidden from this fold")
    return hand


def idle(state: State, seat: int) -> Command:
    """Return the command that stands for this seat when its player is silent: the first card in hand, no row."""
    return Pledge(_hand(state, seat)[0]) if isinstance(state.phase, Pledging) and state.hands[seat] else _HOLD


def check(options: Options) -> None:
    """Raise Refused where a bonus would be a burden."""
    if options.bonus and options.wins == "low":
        raise Refused("options_conflict")


def places(state: State, forfeits: Sequence[int]) -> tuple[int | None, ...]:
    """Return one place per seat by the totals as they stand."""
    return _places(state.options, state.totals, forfeits)


def _places(options: Options, totals: Sequence[int | None], forfeits: Sequence[int]) -> tuple[int | None, ...]:
    rank = standing.highest_wins if options.wins == "high" else standing.lowest_wins
    return rank(totals, forfeits)


def reveal(state: State) -> Iterator[Event]:
    """Yield the pledges, where play ended before they were shown."""
    yield Opened(tuple(state.pledges))


GAME = Game(
    title="Toy",
    projection=PROJECTION,
    commands=ToyCommand,
    seats=Seats(least=2, most=4, usual=3),
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
