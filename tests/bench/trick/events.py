"""What can happen in a match of Trick, the game that is measured beside peers.

Five players, fifty cards of five colours, ten tricks of one card each.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from events.base import MAX_SEATS, Event, Seat
from events.table import DealNumber, Scores

Card = Literal[
    "R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9",
    "G0", "G1", "G2", "G3", "G4", "G5", "G6", "G7", "G8", "G9",
    "B0", "B1", "B2", "B3", "B4", "B5", "B6", "B7", "B8", "B9",
    "Y0", "Y1", "Y2", "Y3", "Y4", "Y5", "Y6", "Y7", "Y8", "Y9",
    "W0", "W1", "W2", "W3", "W4", "W5", "W6", "W7", "W8", "W9",
]  # fmt: skip
Hand = Annotated[tuple[Card, ...], Meta(max_length=10, description="Cards in printed order.")]
PerSeat = Meta(max_length=MAX_SEATS, description="One a seat.")


class Options(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a table plays Trick."""

    deals: Annotated[Literal[1, 0], Meta(description="How many deals; 0: without end.")] = 1


class Dealt(Event, frozen=True, tag="trick.dealt"):
    """Every seat got ten cards; `hands` holds one a seat, null where it is another's."""

    deal: DealNumber
    hands: Annotated[tuple[Hand | None, ...], PerSeat]


class Played(Event, frozen=True, tag="trick.played"):
    """A seat played a card; `next` is the seat after it, null where the trick is complete."""

    seat: Seat
    card: Card
    next: Seat | None


class TrickTaken(Event, frozen=True, tag="trick.trick_taken"):
    """A trick was complete: the seat that took it leads to the next."""

    seat: Seat


class DealScored(Event, frozen=True, tag="trick.deal_scored"):
    """A deal was over: how many tricks each seat took in it, and in all so far."""

    deal: DealNumber
    points: Scores
    totals: Scores


TrickEvent = Dealt | Played | TrickTaken | DealScored
