"""What can happen in a match of Toy, the fourth game: it lives in the tests and shows what a game costs.

Each player pledges a card face down, all at once; then each in turn lays a row and draws. The pack is 32 cards of
four colours, which no other game has.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from events.base import MAX_SEATS, Event, Seat
from events.table import DealNumber, Scores

Card = Literal[
    "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8",
    "G1", "G2", "G3", "G4", "G5", "G6", "G7", "G8",
    "B1", "B2", "B3", "B4", "B5", "B6", "B7", "B8",
    "Y1", "Y2", "Y3", "Y4", "Y5", "Y6", "Y7", "Y8",
]  # fmt: skip
Hand = Annotated[tuple[Card, ...], Meta(max_length=7, description="Cards in printed order.")]
PerSeat = Meta(max_length=MAX_SEATS, description="One a seat.")
Row = Annotated[tuple[Card, ...], Meta(min_length=2, max_length=3, description="Cards from left to right.")]


class Options(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a table plays Toy."""

    deals: Annotated[Literal[0, 3], Meta(description="How many deals; 0: without end.")] = 0
    row: Annotated[Literal[3, 2], Meta(description="How many cards a row has.")] = 3
    wins: Annotated[Literal["high", "low"], Meta(description="Which total is the best.")] = "high"
    bonus: Annotated[bool, Meta(description="Whether the highest pledge scores; not where the lowest total wins.")] = (
        False
    )


class FirstDrawn(Event, frozen=True, tag="toy.first_drawn"):
    """The lot fell on the seat that lays first in the first deal."""

    seat: Seat


class Dealt(Event, frozen=True, tag="toy.dealt"):
    """Every taken seat got seven cards; `hands` holds one a seat, null where it is another's; `stock` is sealed."""

    deal: DealNumber
    first: Seat
    hands: Annotated[tuple[Hand | None, ...], PerSeat]
    stock: Annotated[tuple[Card, ...], Meta(max_length=32)] | None


class Pledged(Event, frozen=True, tag="toy.pledged"):
    """A seat laid a card face down; null for everybody else until `Shown`."""

    seat: Seat
    card: Card | None


class Shown(Event, frozen=True, tag="toy.shown"):
    """All pledges were turned, null for untaken seats; `best` pledged highest, `next` lays first."""

    cards: Annotated[tuple[Card | None, ...], PerSeat]
    best: Seat
    next: Seat


class Laid(Event, frozen=True, tag="toy.laid"):
    """A seat laid a row; `next` is the seat after it, null after the last."""

    seat: Seat
    cards: Row
    next: Seat | None


class Held(Event, frozen=True, tag="toy.held"):
    """A seat laid nothing; `next` is the seat after it, null after the last."""

    seat: Seat
    next: Seat | None


class Drew(Event, frozen=True, tag="toy.drew"):
    """A seat that had laid a row drew from the stock; null for everybody else."""

    seat: Seat
    card: Card | None


class DealScored(Event, frozen=True, tag="toy.deal_scored"):
    """A deal was over: what it gave each seat and the totals since; null for untaken seats."""

    deal: DealNumber
    points: Scores
    totals: Scores


class Opened(Event, frozen=True, tag="toy.opened"):
    """What still lay face down when play ended was turned: the pledges, null where there is none."""

    pledges: Annotated[tuple[Card | None, ...], PerSeat]


ToyEvent = FirstDrawn | Dealt | Pledged | Shown | Laid | Held | Drew | DealScored | Opened
