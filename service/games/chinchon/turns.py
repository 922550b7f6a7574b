"""A turn of Chinchón: draw, then discard or close; at a table of mistakes, up to two draws and two discards.

What stands against a move is told in one place for each, `_against_draw` and its like, so that what is listed as
legal and what is decided can't differ. Sections cited here are those of the rules page, chinchon.en.md.
"""

from collections.abc import Iterator
from itertools import islice, takewhile

from events.base import Event
from events.cards import SPANISH, SpanishCard
from events.games.chinchon import (
    Discarded,
    HandIrregular,
    StockDrawn,
    StockRecycled,
    TurnEnded,
    UpCardTaken,
)
from events.table import NUMBERS_PER_DEAL, Shuffled
from projections.games.chinchon import HAND, State, Turn, must_draw_stock, printed
from service.chance import number
from service.game import LISTED, Ask, Command, Refused
from service.games.chinchon import exposure
from service.games.chinchon.commands import Close, Discard, DrawDiscard, DrawStock, EndTurn
from service.games.chinchon.deals import PROMPT, following
from service.games.chinchon.hands import hand_of, layout_of, melds_of
from service.rules.packs import without

TWICE = 2

# Commands are immutable, so one of each serves every table.
_DRAW_STOCK = DrawStock()
_DRAW_DISCARD = DrawDiscard()
_END_TURN = EndTurn()
_DISCARD = {card: Discard(card) for card in SPANISH}


def legal(state: State, turn: Turn) -> Iterator[Command]:
    """Yield every command of a turn; of closings no more than show that there are too many to list."""
    if _against_draw(state, turn) is None:
        yield _DRAW_STOCK
    if _against_draw_discard(state, turn) is None:
        yield _DRAW_DISCARD
    if _against_end(state, turn) is None:
        yield _END_TURN
    if _against_close(state, turn) is None:
        yield from islice(_closings(state, turn), LISTED + 1)
    if _against_discard(state, turn) is None:
        yield from map(_DISCARD.__getitem__, dict.fromkeys(hand_of(state, turn.seat)))


def _closings(state: State, turn: Turn) -> Iterator[Command]:
    hand, melds, limit = hand_of(state, turn.seat), melds_of(state), state.options.close_limit
    least = dict(zip(hand, melds.points_without(hand), strict=True))
    for card in (card for card, points in least.items() if points <= limit):
        # Layouts come with the fewest points first.
        for layout in takewhile(lambda each: each.points <= limit, melds.layouts(without(hand, card))):
            yield Close(card, layout.combinations)


def draw_stock(state: State, ask: Ask, turn: Turn) -> Iterator[Event]:
    """Yield the draw of the stock's top card; of an empty stock, what is made of it first, or the end of the deal."""
    _refuse(_against_draw(state, turn))
    stock, seat = state.stock, turn.seat
    if stock is None:
        raise ValueError(f"the stock of deal {state.deal} is hidden from this fold")
    if not stock and not _may_recycle(state):
        yield from exposure.exhaust(seat)
        return
    if not stock:
        kept = state.discards[-1] if state.options.recycle == "keep_top" else None
        gathered = state.discards if kept is None else state.discards[:-1]
        c = number(state.deal, state.recycled + 1)
        # Whatever is shuffled lies in printed order before, however it was gathered (section 3).
        stock = list(ask.chance.shuffle(sorted(gathered, key=printed), c))
        yield Shuffled(c, tuple(stock))
        yield StockRecycled(seat, len(stock), kept, tuple(stock))
    yield StockDrawn(seat, stock[0], len(stock) - 1)
    yield PROMPT[seat]


def _may_recycle(state: State) -> bool:
    times = state.options.recycles
    return state.recycled < (NUMBERS_PER_DEAL - 1 if times == "unlimited" else times)


def draw_discard(state: State, turn: Turn) -> Iterator[Event]:
    """Yield the taking of the last discard."""
    _refuse(_against_draw_discard(state, turn))
    yield UpCardTaken(turn.seat, state.discards[-1])
    yield PROMPT[turn.seat]


def _against_draw(state: State, turn: Turn) -> str | None:
    if turn.threw:
        return "already_discarded"
    if turn.drew == 0:
        return None
    if turn.drew == TWICE or state.options.mistakes == "refuse":
        return "already_drawn"
    if turn.seat in state.irregular:
        return "irregular_hand"
    return None


def _against_draw_discard(state: State, turn: Turn) -> str | None:
    if must_draw_stock(state):
        return _against_draw(state, turn) or "stock_must_be_drawn"
    return _against_draw(state, turn) or (None if state.discards else "no_up_card")


def discard(state: State, turn: Turn, card: SpanishCard) -> Iterator[Event]:
    """Yield a discard, which ends the turn unless mistakes may be made."""
    _refuse(_against_discard(state, turn))
    seat = turn.seat
    if card not in hand_of(state, seat):
        raise Refused("card_not_held")
    ends = state.options.mistakes == "refuse"
    whose = following(state, seat) if ends else seat
    yield Discarded(seat, card, whose if ends else None)
    yield PROMPT[whose]


def _against_discard(state: State, turn: Turn) -> str | None:
    if turn.drew == 0:
        return "draw_first"
    if turn.threw == TWICE:
        return "already_discarded"
    if turn.threw and turn.seat in state.irregular:
        return "irregular_hand"
    return None


def end_turn(state: State, turn: Turn) -> Iterator[Event]:
    """Yield the end of a turn, and that it left a hand of six or eight cards for the first time."""
    _refuse(_against_end(state, turn))
    seat, size = turn.seat, state.held[turn.seat]
    if size != HAND and seat not in state.irregular:
        yield HandIrregular(seat, size)
    whose = following(state, seat)
    yield TurnEnded(seat, whose)
    yield PROMPT[whose]


def _against_end(state: State, turn: Turn) -> str | None:
    if state.options.mistakes == "refuse":
        return "turn_ends_by_discard"
    if turn.drew == 0:
        return "draw_first"
    if turn.threw == 0:
        return "discard_first"
    return None


def close(state: State, ask: Ask, turn: Turn) -> Iterator[Event]:
    """Yield the closing of the deal, and what follows from it."""
    command: Close = ask.command
    _refuse(_against_close(state, turn))
    hand = hand_of(state, turn.seat)
    if command.face_down not in hand:
        raise Refused("card_not_held")
    layout = layout_of(state, without(hand, command.face_down), command.combinations)
    if layout.points > state.options.close_limit:
        raise Refused("deadwood_over_limit")
    return exposure.close(state, ask, command.face_down, layout)


def _against_close(state: State, turn: Turn) -> str | None:
    if turn.seat in state.irregular:
        return "irregular_hand"
    if turn.drew == 0:
        return "draw_first"
    if turn.threw:
        return "already_discarded"
    if turn.drew == TWICE:
        return "drawn_twice"
    if state.options.first_round_close == "no" and state.turns[turn.seat] == 1:
        return "first_round"
    return None


def _refuse(reason: str | None) -> None:
    """Raise Refused if there is a reason."""
    if reason is not None:
        raise Refused(reason)


def idle(state: State, turn: Turn) -> Command:
    """Return what stands for a silent player: draw from the stock, throw the card that came last, end the turn."""
    if turn.drew == 0:
        return _DRAW_STOCK
    if turn.threw == 0 and state.drawn is not None:
        return _DISCARD[state.drawn]
    return _END_TURN
