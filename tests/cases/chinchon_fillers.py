"""Cards for what a case leaves open: hands that disturb nothing, hands worth stated points, a hand to close with.

They are made of cards that the case does not name, and checked by brute force.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from random import Random

from events.games.chinchon import Options
from tests.cases import chinchon_reckoning as reckoning
from tests.cases.chinchon_notation import Card
from tests.cases.chinchon_reckoning import LEAST, value_of

SEVEN = 7
TRIES = 200
Table = Sequence[Sequence[Card]]


class Fillers:
    """The cards of a pack that a case does not name; what is taken is gone.

    `named` are those that it does: no combination taken here can be extended by one of them.
    """

    def __init__(self, pack: Sequence[Card], named: Sequence[Card], options: Options) -> None:
        self.options = options
        self.cards = list(pack)
        for card in named:
            self.cards.remove(card)
        self.named = list(named)
        self.random = Random(0)
        # Suits of runs and ranks of sets that lie or will lie on the table: loose cards keep clear of them.
        self.shunned: set[str] = set()

    def take(self, card: Card) -> Card:
        self.cards.remove(card)
        return card

    def shun(self, table: Table) -> None:
        """Have loose cards fit none of these combinations, however they are extended."""
        for combination in table:
            ranks = {card[1:] for card in combination}
            self.shunned |= {f"rank {rank}" for rank in ranks} if len(ranks) == 1 else {f"suit {combination[0][0]}"}

    def any(self) -> Card:
        """Take a card that fits nothing, of few points; if there is none any."""
        return self.take(min(self.cards, key=lambda card: (self._is_shunned(card), value_of(card, self.options))))

    def loose(self, held: Sequence[Card], size: int, least: int = 0, *, whatever: bool = False) -> list[Card]:
        """Complete a hand by cards that make no new combination in it, of few points or, together, of `least`.

        Where too few are left, `whatever` there is may do.
        """
        high = -1 if reckoning.sum_of(held, self.options) < least else 1
        for attempt in range(TRIES):
            hand = list(held)
            self.random.shuffle(self.cards)
            for card in sorted(self.cards, key=lambda card: high * value_of(card, self.options)):
                if len(hand) >= size:
                    break
                shunned = self._is_shunned(card) and attempt < TRIES // 2
                if not shunned and not self._combines_anew(hand, card):
                    hand.append(card)
            if len(hand) == size:
                return self._taken(held, hand)
        if whatever and len(held) + len(self.cards) >= size:
            return self._taken(held, [*held, *self.cards[: size - len(held)]])
        raise ValueError(f"{held} can't be completed to {size} cards that do not combine")

    def worth(self, points: int) -> list[Card]:
        """Take seven cards that count exactly these points at best, −10 for Chinchón."""
        for laid in self._layouts(points):
            hand = [card for combination in laid for card in combination]
            spare = [card for card in self.cards if card not in hand and not self._is_shunned(card)]
            for _ in range(TRIES // 10):
                self.random.shuffle(spare)
                loose = self._adding_up(spare, SEVEN - len(hand), max(points, 0))
                if loose is None:
                    break
                if reckoning.least([*hand, *loose], self.options) == max(points, 0):
                    self.shun(laid)
                    return self._taken((), [*hand, *loose])
        raise ValueError(f"no seven cards that are left count {points}")

    def closing(self, table: Table, has: Sequence[Card]) -> tuple[list[Card], list[tuple[Card, ...]]]:
        """Complete a table and some loose cards to seven cards to close with; return them and the combinations."""
        held = [*(card for combination in table for card in combination), *has]
        laid = [tuple(combination) for combination in table]
        wanted = SEVEN - len(held)
        for sizes in _sizes(wanted, 2 - len(laid)):
            found = next(self._disjoint(sizes), None)
            if found is None:
                continue
            added = [card for combination in found for card in combination]
            self.shun([*laid, *found])
            self._taken((), added)
            return self.loose([*held, *added], SEVEN) if len(held) + len(added) < SEVEN else [*held, *added], [
                *laid,
                *found,
            ]
        raise ValueError(f"{table} and {has} can't be completed to a hand that closes")

    def _taken(self, held: Sequence[Card], hand: list[Card]) -> list[Card]:
        for card in hand[len(held) :]:
            self.cards.remove(card)
        return hand

    def _is_shunned(self, card: Card) -> bool:
        return f"suit {card[0]}" in self.shunned or f"rank {card[1:]}" in self.shunned

    def _combines_anew(self, hand: Sequence[Card], card: Card) -> bool:
        return any(reckoning.combines([*two, card], self.options) for two in combinations(hand, LEAST - 1))

    def _layouts(self, points: int) -> Iterator[tuple[tuple[Card, ...], ...]]:
        """Yield combinations that a hand of so many points may hold: none of many points, all of none."""
        if points < 0:
            yield from ((run,) for run in self._combinations(SEVEN) if reckoning.is_run(run, self.options))
            return
        yield from ((),) if points >= SEVEN else ()
        for sizes in ((3,), (4,), (3, 3), (4, 3)):
            yield from self._disjoint(sizes)

    def _disjoint(self, sizes: Sequence[int]) -> Iterator[tuple[tuple[Card, ...], ...]]:
        if not sizes:
            yield ()
            return
        for first in self._combinations(sizes[0]):
            for rest in self._disjoint(sizes[1:]):
                cards = [card for combination in (first, *rest) for card in combination]
                # Nor may the two be joined, or taken for another layout.
                if len({*cards}) == len(cards) and all(
                    not reckoning.fits(card, combination, self.options)
                    for combination in (first, *rest)
                    for card in cards
                    if card not in combination
                ):
                    yield (first, *rest)

    def _combinations(self, size: int) -> Iterator[tuple[Card, ...]]:
        """Yield combinations of cards that are left, sets first, which no card that is named fits."""
        spare = list(dict.fromkeys(sorted(self.cards, key=lambda card: value_of(card, self.options))))
        groups = [
            [card for card in spare if card[at] == key]
            for at, keys in ((slice(1, None), {card[1:] for card in spare}), (slice(1), set(reckoning.SUITS)))
            for key in sorted(keys)
        ]
        for group in groups:
            for cards in combinations(group, size):
                if reckoning.combines(cards, self.options) and not any(
                    reckoning.fits(card, cards, self.options) for card in self.named
                ):
                    yield cards

    def _adding_up(self, spare: Sequence[Card], count: int, points: int) -> list[Card] | None:
        """Return so many of these cards that count just these points, None if there are none."""
        if count == 0:
            return [] if points == 0 else None
        values = [value_of(card, self.options) for card in spare]
        if points < count * min(values, default=1) or points > count * max(values, default=0):
            return None
        for place, card in enumerate(spare):
            rest = self._adding_up(spare[place + 1 :], count - 1, points - values[place])
            if rest is not None:
                return [card, *rest]
        return None


def _sizes(wanted: int, count: int) -> list[tuple[int, ...]]:
    """Return how large the combinations may be that fill up so many cards, the largest fillings first."""
    ways: list[tuple[int, ...]] = [()]
    ways += [(size,) for size in range(LEAST, SEVEN)] if count else []
    ways += [(4, 3), (3, 3)] if count == 2 else []
    return sorted((way for way in ways if sum(way) <= wanted), key=sum, reverse=True)
