"""The notation of Chinkway's worked cases: cards, trumps, categories, seats and sides as lines write them.

Cards are written rank first; seats P1 … P5 count from the dealer, A … E are seats 0 … 4. A word that names nothing
is a ValueError.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from events.cards import FRENCH, FrenchCard
from events.games.chinkway import Category, Options, Trump
from projections.games.chinkway import SEATS
from service.games.chinkway import partners, quests

LETTERS = "ABCDE"
Card = FrenchCard
CARD: dict[str, Card] = {card: card for card in FRENCH}

_SUIT_WORDS = {"S": "spades spade ♠", "H": "hearts heart ♥", "D": "diamonds diamond ♦", "C": "clubs club ♣"}
_SUIT: dict[str, str] = {word: suit for suit, words in _SUIT_WORDS.items() for word in (suit.lower(), *words.split())}
_NO_TRUMPS = {"nt", "none", "no trump", "no trumps", "no_trump", "no_trumps"}
_COURT = {"court", "courts", "court card", "court cards", "picture", "pictures", "face", "face cards"}
_TRUMP: dict[str, Trump] = {trump: trump for trump in get_args(Trump)}

_SIDE = re.compile(r"(P[1-5]|[A-E])(([\s,&+/-]|and)*(P[1-5]|[A-E]))*")


def card_of(word: str) -> Card:
    """Return the API's name of a card written rank first."""
    named = word.replace("10", "T")
    suit = _SUIT.get(named[1:].lower(), named[1:])
    if suit + named[:1] not in CARD:
        raise ValueError(f"{word!r} names no card")
    return CARD[suit + named[0]]


def cards_of(words: Iterable[str]) -> list[Card]:
    return [card_of(word) for word in words]


def written(card: str) -> str:
    return card[1:] + card[0]


def trump_of(word: str) -> Trump:
    """Return a trump suit, or none, by its letter or its name."""
    named = "NT" if word.lower() in _NO_TRUMPS else _SUIT.get(word.lower(), word)
    if named not in _TRUMP:
        raise ValueError(f"{word!r} names no trumps")
    return _TRUMP[named]


def category_of(word: str) -> Category:
    """Return a category by its letter or its name: "S", "hearts", "court"."""
    bare = re.sub(r"[\s_]*(plain|parts?)[\s_]*", "", word.lower().replace("_", " "))
    named = "court" if bare in _COURT else {"S": "spades", "H": "hearts", "D": "diamonds", "C": "clubs"}[suit_of(bare)]
    return next(category for category in quests.CATEGORIES if category == named)


def suit_of(word: str) -> str:
    """Return a suit's letter, by itself, by its name or by a card of it."""
    named = word.replace("10", "T")
    if named.lower() in _SUIT:
        return _SUIT[named.lower()]
    return card_of(named)[0]


def quest_of(told: Sequence[str] | Mapping[str, int], aces: str) -> list[Card]:
    """Return quest cards: those named or, where parts are counted by category, any that ask for those."""
    if not isinstance(told, Mapping):
        return cards_of(told)
    fitting = {category_of(name): count for name, count in told.items()}
    cards: list[Card] = []
    for category, count in fitting.items():
        cards += [card for card in FRENCH if quests.CATEGORY[aces][card] == category][:count]
    return cards


class Seating:
    """Who is who: the deal, its dealer, its sides, and the names of seats.

    Sides are as given or, where none are, by the schedule of the deal.
    """

    def __init__(self, given: Mapping[str, Any], options: Options) -> None:
        self.deal: int = given.get("deal") or 1
        dealer, first = given.get("dealer") or "P1", given.get("first_dealer")
        dealers = [partners.dealer_of(seat, self.deal) for seat in range(SEATS)]
        if first is None and dealer in LETTERS:
            self.first = dealers.index(LETTERS.index(dealer))
        else:
            self.first = LETTERS.index(first or "A") if first not in {"P1", "dealer"} else 0
        self.dealer = dealers[self.first]
        if self.seat(dealer) != self.dealer:
            raise ValueError(f"{dealer} doesn't deal deal {self.deal} when {LETTERS[self.first]} dealt the first")
        self.sides = partners.sides_of(options.partners, self.deal, self.dealer)
        told = given.get("sides") or given.get("pairs") or ()
        if told:
            self.sides = self._filled([self.side(side) for side in (told.values() if isinstance(told, dict) else told)])

    def _filled(self, sides: list[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
        """Add what given sides leave out: the dealer alone, a last pair."""
        named = [seat for side in sides for seat in side]
        rest = [place for place in map(self.seat, ("P1", "P2", "P3", "P4", "P5")) if place not in named]
        if self.dealer in rest:
            rest.remove(self.dealer)
            sides = [(self.dealer,), *sides]
        sides += [tuple(rest)] if rest else []
        if sorted(seat for side in sides for seat in side) != list(range(SEATS)):
            raise ValueError(f"{sides} are not the sides of five seats")
        return tuple(sorted(sides, key=lambda side: [(seat - self.dealer) % SEATS for seat in side]))

    def seat(self, name: str | int) -> int:
        """Return the seat of a name: "P2", "C", 2 as in the API, "dealer"."""
        match name:
            case int() if not isinstance(name, bool) and 0 <= name < SEATS:
                return name
            case "dealer":
                return self.dealer
            case str() if len(name) == 1 and name in LETTERS:
                return LETTERS.index(name)
            case str() if re.fullmatch(r"P[1-5]", name):
                return (self.dealer + int(name[1]) - 1) % SEATS
            case _:
                raise ValueError(f"{name!r} names no seat")

    def side(self, name: str | int | Sequence[str]) -> tuple[int, ...]:
        """Return the seats of a side, written as a list, as "P2P3", as "BC" or as one seat."""
        if isinstance(name, int) or name == "dealer":
            return (self.seat(name),)
        if not isinstance(name, str):
            return tuple(map(self.seat, name))
        if not _SIDE.fullmatch(name):
            raise ValueError(f"{name!r} names no side")
        return tuple(map(self.seat, re.findall(r"P[1-5]|[A-E]", name)))

    def side_of(self, seat: int) -> tuple[int, ...]:
        return next(side for side in self.sides if seat in side)
