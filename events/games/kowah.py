"""What can happen in a match of Kowah, and the options it is played with.

Every event states what follows from it, so that adding events up compares no cards. What some viewers may not see
(hands, the stock, cards drawn before anybody has declared, what else a declared hand waits for) is null for them;
`Opened` states the hands once play has ended. Of each kind of card there are four, and copies share their name.
Sections cited here are those of the game's rules page.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from events.base import Event, Seat
from events.cards import MoneyCard
from events.table import DealNumber

SEATS = 6
"""How many may play at most."""

Hand = Annotated[
    tuple[MoneyCard, ...], Meta(max_length=9, description="Cards in printed order; nine within a turn alone.")
]
Pile = Annotated[tuple[MoneyCard, ...], Meta(max_length=120)]
PileSize = Annotated[int, Meta(ge=0, le=120, description="How many cards.")]
PerSeat = Meta(max_length=SEATS, description="One a seat.")
Turns = Annotated[tuple[Seat, ...], Meta(max_length=SEATS, description="Seats in the order in which they take turns.")]
Waits = Annotated[tuple[MoneyCard, ...], Meta(max_length=4, description="Kinds of card, any of which wins.")]
How = Literal["self_draw", "opponent_draw", "opponent_discard"]
Multiplier = Annotated[
    int, Meta(ge=0, le=3, description="3 self-drawn, 2 for a discard, 1 for another's draw; 0: drawn.")
]


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a table plays Kowah, agreed when it is opened and never changed (section 8)."""

    show: Annotated[
        Literal["pair", "hand"],
        Meta(description="What who declares shows: the `pair` waited with, or the whole `hand`."),
    ] = "pair"
    either_pair: Annotated[
        Literal["off", "on"],
        Meta(description="Where a hand could wait with either of two pairs: `off`: the one shown wins; `on`: both do."),
    ] = "off"
    last_discard: Annotated[
        Literal["off", "on"],
        Meta(description="Whether a discard follows the last card of the stock before the deal is drawn."),
    ] = "off"
    series: Annotated[
        Literal["off"] | Annotated[int, Meta(ge=2, le=100)],
        Meta(description="How many deals are played one after another, each for itself; `off`: one."),
    ] = "off"


class FirstDrawn(Event, frozen=True, tag="kowah.first_drawn"):
    """The lot fell on the player who begins the first deal."""

    first: Seat


class Dealt(Event, frozen=True, tag="kowah.dealt"):
    """Everybody got eight cards; the rest is the stock, top first and null for everybody, of `left` cards.

    `order` begins with who plays first; `hands` holds one a seat, null where it is another's or where nobody sits.
    """

    deal: DealNumber
    order: Turns
    hands: Annotated[tuple[Hand | None, ...], PerSeat]
    stock: Pile | None
    left: PileSize


class StockDrawn(Event, frozen=True, tag="kowah.stock_drawn"):
    """A player drew the top card of the stock, null for everybody else; `left` stay in it."""

    seat: Seat
    card: MoneyCard | None
    left: PileSize


class StockTurned(Event, frozen=True, tag="kowah.stock_turned"):
    """A player drew the top card of the stock for all to see, for somebody has declared; `left` stay in it."""

    seat: Seat
    card: MoneyCard
    left: PileSize


class DiscardTaken(Event, frozen=True, tag="kowah.discard_taken"):
    """A player took the latest discard."""

    seat: Seat
    card: MoneyCard


class Discarded(Event, frozen=True, tag="kowah.discarded"):
    """A player threw a card face up; `next` takes the next turn, null where the deal ends with it."""

    seat: Seat
    card: MoneyCard
    next: Seat | None


class Declared(Event, frozen=True, tag="kowah.declared"):
    """A player declared *checki*, and waits with this pair; every draw from the stock is seen by all from now on.

    `waits` are all kinds that win, null for everybody else; `hand` is null unless the whole hand is shown.
    """

    seat: Seat
    kind: MoneyCard
    waits: Waits | None
    hand: Hand | None


class Won(Event, frozen=True, tag="kowah.won"):
    """A card that came to the table won for a declared player; `by` drew or threw it."""

    seat: Seat
    card: MoneyCard
    how: How
    by: Seat
    multiplier: Multiplier


class StockEnded(Event, frozen=True, tag="kowah.stock_ended"):
    """The last card of the stock was drawn and nobody won: the deal is drawn."""


class DealScored(Event, frozen=True, tag="kowah.deal_scored"):
    """A deal was over: who won it, how, and the multiplier; null, null and 0 for a drawn one."""

    deal: DealNumber
    winner: Seat | None
    how: How | None
    multiplier: Multiplier


class FinalHands(msgspec.Struct, frozen=True, gc=False):
    """The hands as a deal left them, one a seat; null where nobody sits, or for whoever may not see it."""

    deal: DealNumber
    hands: Annotated[tuple[Hand | None, ...], PerSeat]


class Opened(Event, frozen=True, tag="kowah.opened"):
    """What was hidden was opened: the hands as each deal left them."""

    hands: Annotated[tuple[FinalHands, ...], Meta(max_length=100)]


KowahEvent = (
    FirstDrawn
    | Dealt
    | StockDrawn
    | StockTurned
    | DiscardTaken
    | Discarded
    | Declared
    | Won
    | StockEnded
    | DealScored
    | Opened
)
