"""The quest of a deal: what its cards ask for, what captured cards meet, and what that is worth.

Each of five quest cards is one part. A part asks for a card of its category: a court card of any suit, or a plain
card of one suit. What a captured card and a quest card count as goes by the same table.
"""

from collections.abc import Iterable, Mapping
from typing import get_args

from events.cards import FRENCH, FrenchCard
from events.games.chinkway import Category

CATEGORIES: tuple[Category, ...] = get_args(Category)

_PLAIN: dict[str, Category] = {"S": "spades", "H": "hearts", "D": "diamonds", "C": "clubs"}

# By the option `aces`: the category of each card.
CATEGORY: dict[str, dict[FrenchCard, Category]] = {
    aces: {card: "court" if card[1] in courts else _PLAIN[card[0]] for card in FRENCH}
    for aces, courts in {"plain": "JQK", "court": "JQKA"}.items()
}

COURT_CARDS: tuple[FrenchCard, ...] = tuple(card for card in FRENCH if card[1] in "JQK")


def count(cards: Iterable[FrenchCard], aces: str) -> dict[Category, int]:
    """Return how many of these cards are of each category; every category is named."""
    category = CATEGORY[aces]
    counts = dict.fromkeys(CATEGORIES, 0)
    for card in cards:
        counts[category[card]] += 1
    return counts


def parts(captured: Iterable[FrenchCard], wanted: Mapping[Category, int], aces: str) -> int:
    """Return how many parts, 0 to 5, captured cards meet; cards beyond what a category wants meet nothing."""
    category = CATEGORY[aces]
    unmet = dict(wanted)
    for card in captured:
        if unmet[category[card]]:
            unmet[category[card]] -= 1
    return sum(wanted.values()) - sum(unmet.values())


def points(met: int) -> int:
    """Return what this many parts are worth: 0, 1, 3, 6, 10, 15."""
    return met * (met + 1) // 2
