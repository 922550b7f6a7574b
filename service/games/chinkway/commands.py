"""What the players of Chinkway ask for: discard, declare, play, capture, decline.

When each may be given, and with which cards, is in rules.py; sections cited there are those of the rules page.
"""

from typing import Annotated

from msgspec import Meta

from events.cards import FrenchCard
from events.games.chinkway import Trump
from service.game import Command


class Discard(Command, frozen=True, tag="chinkway.discard"):
    """Lay two cards out of play, face down, as the dealer."""

    cards: Annotated[
        tuple[FrenchCard, FrenchCard],
        Meta(description="Two different cards of one's hand, in any order.", examples=[["D3", "C2"]]),
    ]


class Declare(Command, frozen=True, tag="chinkway.declare"):
    """Name trumps, as the dealer; the quest is turned at once."""

    trump: Annotated[Trump, Meta(description="The trump suit; `NT` for no trumps.", examples=["H", "NT"])]


class Play(Command, frozen=True, tag="chinkway.play"):
    """Play a card to the trick."""

    card: Annotated[FrenchCard, Meta(description="A card of one's hand that may be played now.", examples=["SQ"])]


class Capture(Command, frozen=True, tag="chinkway.capture"):
    """Capture a card of the trick one has taken."""

    card: Annotated[FrenchCard, Meta(description="One of the view's `choices`.", examples=["C5"])]


class Decline(Command, frozen=True, tag="chinkway.decline"):
    """Capture nothing of the trick one has taken."""


ChinkwayCommand = Discard | Declare | Play | Capture | Decline
