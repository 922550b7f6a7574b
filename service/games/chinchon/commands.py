"""What the players of Chinchón ask for: draw, discard, close, lay out, lay off, come back.

When each may be given, and with which cards, is in the game's other modules; sections cited there are those of the
rules page.
"""

from typing import Annotated

from msgspec import Meta

from events.cards import SpanishCard
from events.games.chinchon import CombinationNumber
from service.game import Command

Laid = Annotated[
    tuple[Annotated[tuple[SpanishCard, ...], Meta(min_length=3, max_length=8)], ...],
    Meta(
        max_length=2,
        description="The combinations to lay out, their cards in any order; what stays in hand may hold no further "
        "one. Null or absent: the layout that leaves the fewest points (section 6).",
        examples=[[["O5", "C5", "E5"], ["B5", "B6", "B7"]]],
    ),
]


class DrawStock(Command, frozen=True, tag="chinchon.draw_stock"):
    """Draw the top card of the stock; an empty one is made anew of the discards first."""


class DrawDiscard(Command, frozen=True, tag="chinchon.draw_discard"):
    """Take the last discard."""


class Discard(Command, frozen=True, tag="chinchon.discard"):
    """Throw a card face up, which ends the turn where no mistakes may be made."""

    card: Annotated[SpanishCard, Meta(description="A card of one's hand.", examples=["E7"])]


class EndTurn(Command, frozen=True, tag="chinchon.end_turn"):
    """Say that the turn is over, where mistakes may be made."""


class Close(Command, frozen=True, tag="chinchon.close"):
    """Close the deal: lay a card face down, and the combinations of the other seven out."""

    face_down: Annotated[SpanishCard, Meta(description="A card of one's hand.", examples=["B12"])]
    combinations: Laid | None = None


class Expose(Command, frozen=True, tag="chinchon.expose"):
    """Lay out one's combinations."""

    combinations: Laid | None = None


class LayOff(Command, frozen=True, tag="chinchon.lay_off"):
    """Lay a card off on a combination of the seat whose combinations are open to it now."""

    card: Annotated[SpanishCard, Meta(description="A card of one's hand.", examples=["C7"])]
    number: CombinationNumber


class Auto(Command, frozen=True, tag="chinchon.auto"):
    """Lay off what leaves one the fewest points, and be done with this opportunity."""


class Pass(Command, frozen=True, tag="chinchon.pass"):
    """Lay off nothing more at this opportunity."""


class Reenter(Command, frozen=True, tag="chinchon.reenter"):
    """Come back into the match for a stake."""


class StayOut(Command, frozen=True, tag="chinchon.stay_out"):
    """Do not come back now."""


ChinchonCommand = (
    DrawStock | DrawDiscard | Discard | EndTurn | Close | Expose | LayOff | Auto | Pass | Reenter | StayOut
)
