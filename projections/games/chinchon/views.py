"""What each viewer may see of a match of Chinchón, and of its events."""

from collections.abc import Iterator
from typing import Annotated, Literal, assert_never

from msgspec import Meta

from events.base import Seat
from events.cards import SpanishCard
from events.games.chinchon import (
    ChinchonEvent,
    Closed,
    ClosingCard,
    CombinationNumber,
    Combinations,
    DealScored,
    Dealt,
    Discarded,
    Exposed,
    ExposureBegan,
    ForehandDrawn,
    Hand,
    HandIrregular,
    LaidOff,
    LayOffBegan,
    Opened,
    Options,
    Passed,
    PerSeat,
    Pile,
    PileSize,
    PotTaken,
    ReentriesClosed,
    ReentryAnswered,
    ReentryOffered,
    SomeSeats,
    Staked,
    StockDrawn,
    StockExhausted,
    StockRecycled,
    Tokens,
    TurnEnded,
    Turns,
    UpCardTaken,
    WentOut,
)
from events.table import DealNumber, Points, Total
from projections import table as neutral
from projections.games.chinchon.state import (
    Answering,
    DealOver,
    Exposing,
    LayingOff,
    Phase,
    State,
    Turn,
    begin,
    must_draw_stock,
)
from projections.table import Table

PhaseName = Literal["turn", "expose", "lay_off", "reentry", "over"]
Moves = Annotated[int, Meta(ge=0, le=2)]


class View(neutral.View[Options], frozen=True, kw_only=True):
    """A table of Chinchón as one viewer may see it; before play all that is its own is null, 0, false or empty.

    `scores` are the totals, `points` what the deal scored last gave, null for seats that did not play it. `hand` is the
    viewer's own, null for a spectator and for a player who is out; `held` counts everybody's cards. `discards` are the
    pile, its top card last: the `up_card`, null where there is none. `drew` and `threw` count the cards of this turn,
    and `must_draw_stock` tells that it may not be begun from the discards. `combinations` are what each seat has laid
    out, with what was laid off on it since, null before it has; `on` names the seat on whose combinations cards may be
    laid off now, `closed` the numbers of those that nothing more may be laid on at this opportunity. `reentries` count
    how often each seat came back; `offered` are the seats that may come back now, with `offered_total`, and `answered`
    those of them that have said whether they do. `shares` are what each seat took of the pot, null while it stands.
    `seen` are the cards turned up in this deal, each once, in the order in which they came. `closing_cards` holds one a
    deal that was closed: its card is null, until play has ended, for all but who laid it, and for that player too once
    out.
    """

    phase: PhaseName | None
    deal: DealNumber
    forehand: Seat | None
    dealer: Seat | None
    order: Turns
    hand: Hand | None
    held: Annotated[tuple[Annotated[int, Meta(ge=0, le=9)], ...], PerSeat]
    stock: PileSize
    recycled: DealNumber
    up_card: SpanishCard | None
    discards: Pile
    drew: Moves
    threw: Moves
    must_draw_stock: bool
    irregular: SomeSeats
    closer: Seat | None
    combinations: Annotated[tuple[Combinations | None, ...], PerSeat]
    chinchon: SomeSeats
    on: Seat | None
    closed: Annotated[tuple[CombinationNumber, ...], Meta(max_length=2)]
    points: Annotated[tuple[Points | None, ...], PerSeat]
    out: SomeSeats
    reentries: Annotated[tuple[DealNumber, ...], PerSeat]
    offered: SomeSeats
    offered_total: Total | None
    answered: SomeSeats
    pot: Tokens
    shares: Annotated[tuple[Tokens, ...], PerSeat] | None
    closing_cards: Annotated[tuple[ClosingCard, ...], Meta(max_length=65_535)]


def view(table: Table[State, Options], seat: int | None) -> View:
    """Return a table as this seat may see it, None for a spectator."""
    options = table.options
    if options is None:
        raise ValueError(f"nothing is to be seen of a table at version {table.version}")
    state = table.play if table.play is not None else begin(options, len(table.players), ())
    # Who is out sees as a spectator.
    eyes = seat if seat in state.still_in else None
    hand = state.hands[eyes] if eyes is not None and state.hands else None
    phase = state.phase if table.status != "ended" else DealOver()
    turn = phase if isinstance(phase, Turn) else None
    laying_off = phase if isinstance(phase, LayingOff) else None
    answering = phase if isinstance(phase, Answering) else Answering((), (), 0)
    return View(
        **neutral.public(table, seat),
        options=options,
        seen=tuple(state.shown),
        phase=_name(phase) if table.play is not None else None,
        deal=state.deal,
        forehand=state.forehand if state.deal else None,
        dealer=state.order[-1] if state.deal else None,
        order=state.order,
        hand=None if hand is None else tuple(hand),
        held=tuple(state.held),
        stock=state.stock_left,
        recycled=state.recycled,
        up_card=state.discards[-1] if state.discards else None,
        discards=tuple(state.discards),
        drew=0 if turn is None else turn.drew,
        threw=0 if turn is None else turn.threw,
        must_draw_stock=turn is not None and must_draw_stock(state),
        irregular=tuple(sorted(state.irregular)),
        closer=state.closer,
        combinations=tuple(state.laid),
        chinchon=tuple(sorted(state.chinchon)),
        on=None if laying_off is None else laying_off.on,
        closed=() if laying_off is None else laying_off.closed,
        points=state.points,
        out=tuple([seat for seat in state.taken if seat not in state.still_in]),
        reentries=tuple(state.reentries),
        offered=answering.offered,
        offered_total=answering.total if answering.offered else None,
        answered=tuple([seat for seat in answering.offered if seat not in answering.left]),
        pot=state.pot,
        shares=_shares(state) if state.pot_takers else None,
        closing_cards=tuple(_closing_cards(state, eyes)),
    )


def _name(phase: Phase) -> PhaseName:
    match phase:
        case Turn():
            return "turn"
        case Exposing():
            return "expose"
        case LayingOff():
            return "lay_off"
        case Answering():
            return "reentry"
        case DealOver():
            return "over"
        case unknown:
            assert_never(unknown)


def _shares(state: State) -> tuple[int, ...]:
    shares = dict(zip(state.pot_takers, state.shares, strict=True))
    return tuple([shares.get(seat, 0) for seat in range(state.seats)])


def _closing_cards(state: State, eyes: int | None) -> Iterator[ClosingCard]:
    for closing in state.closing_cards:
        yield closing if state.opened or closing.seat == eyes else ClosingCard(closing.deal, closing.seat, None)


def redact(event: ChinchonEvent, seat: int | None) -> ChinchonEvent:
    """Return an event as this seat may see it, None for a spectator; what is not listed here as public is hidden."""
    match event:
        case UpCardTaken() | Discarded() | TurnEnded() | HandIrregular() | StockExhausted():
            return event
        case ExposureBegan() | Exposed() | LayOffBegan() | LaidOff() | Passed():
            return event
        case Staked() | ForehandDrawn() | DealScored() | WentOut() | PotTaken() | Opened():
            return event
        case ReentryOffered() | ReentriesClosed():
            return event
        case StockDrawn(drawer, _, left):
            return event if drawer == seat else StockDrawn(drawer, None, left)
        case Dealt(deal, order, hands, up, _, left):
            return Dealt(deal, order, _own_alone(hands, seat), up, None, left)
        case StockRecycled(drawer, count, kept, _):
            return StockRecycled(drawer, count, kept, None)
        case Closed(closer, _):
            return event if closer == seat else Closed(closer, None)
        case ReentryAnswered(answerer, _):
            return event if answerer == seat else ReentryAnswered(answerer, None)
        case _:
            assert_never(event)


def _own_alone(hands: tuple[Hand | None, ...], seat: int | None) -> tuple[Hand | None, ...]:
    return tuple([hand if own == seat else None for own, hand in enumerate(hands)])
