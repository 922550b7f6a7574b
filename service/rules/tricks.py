"""Tricks of the French pack: which cards follow, and who takes the trick.

Cards rank 2 up to ace in each suit; a trump beats every other suit, and a suit that wasn't led wins nothing.
"""

from collections.abc import Sequence

from events.cards import FRENCH, FrenchCard

# 2 is lowest with 0, the ace highest with 12.
RANK: dict[FrenchCard, int] = {card: "23456789TJQKA".index(card[1]) for card in FRENCH}

_SUITS = "SHDC"


def _power(card: FrenchCard, trump: str, led: str) -> int:
    suit = card[0]
    if suit == trump:
        return 200 + RANK[card]
    return 100 + RANK[card] if suit == led else 0


# By trump (NT: none) and suit led: how strong each card is.
_POWER = {
    (trump, led): {card: _power(card, trump, led) for card in FRENCH} for trump in (*_SUITS, "NT") for led in _SUITS
}


def of_suit(hand: Sequence[FrenchCard], suit: str) -> list[FrenchCard]:
    """Return the cards of a hand that are of this suit (`NT` is none), in the order of the hand."""
    return [card for card in hand if card[0] == suit]


def taker(cards: Sequence[FrenchCard], trump: str) -> int:
    """Return which of a trick's cards takes it, counted from 0 for the card led; `NT` stands for no trumps."""
    return cards.index(max(cards, key=_POWER[trump, cards[0][0]].__getitem__))
