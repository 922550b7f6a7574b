"""What the players of Kowah ask for: draw, take, discard, declare.

When each may be given, and with which cards, is in the game's other modules; sections cited there are those of the
rules page.
"""

from typing import Annotated

from msgspec import Meta

from events.cards import MoneyCard
from service.game import Command

Kind = Annotated[MoneyCard, Meta(description="The pair waited with, by its kind.", examples=["C2"])]


class DrawStock(Command, frozen=True, tag="kowah.draw_stock"):
    """Draw the top card of the stock."""


class TakeDiscard(Command, frozen=True, tag="kowah.take_discard"):
    """Take the latest discard."""


class Discard(Command, frozen=True, tag="kowah.discard"):
    """Throw a card face up and, if the eight that stay are ready, declare in the same breath."""

    card: Annotated[MoneyCard, Meta(description="A card of one's hand.", examples=["M9"])]
    checki: Kind | None = None


class Checki(Command, frozen=True, tag="kowah.checki"):
    """Declare after one's discard, as long as the next player has not acted."""

    kind: Kind


KowahCommand = DrawStock | TakeDiscard | Discard | Checki
