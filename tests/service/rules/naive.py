"""Sets and runs once more, as slowly and plainly as they are told: by trying everything."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations

from service.rules.melds import Layout

Cards = tuple[str, ...]
Plan = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Naive:
    """What one kind of pack holds: its cards in printed order, what they count, and whether sets hold a suit once."""

    pack: Sequence[str]
    values: Mapping[str, int]
    distinct_suits: bool = False
    known: dict[Cards, bool] = field(default_factory=dict)

    def order(self, cards: Collection[str]) -> list[int]:
        return sorted(self.pack.index(card) for card in cards)

    def sort(self, cards: Collection[str]) -> Cards:
        return tuple(self.pack[place] for place in self.order(cards))

    def combine(self, cards: Cards) -> bool:
        if cards not in self.known:
            self.known[cards] = self._combine(cards)
        return self.known[cards]

    def _combine(self, cards: Cards) -> bool:
        if len(cards) < 3:
            return False
        suits = [card[0] for card in cards]
        if len({card[1:] for card in cards}) == 1:
            return not self.distinct_suits or len(set(suits)) == len(suits)
        # Printed next to one another, in one suit.
        order = self.order(cards)
        return len(set(suits)) == 1 and order == list(range(order[0], order[0] + len(order)))

    def layouts(self, hand: Sequence[str]) -> list[Layout[str]]:
        """Return every layout there is, whatever stays, best first."""
        found = {self._layout(hand, groups) for groups in self._groups(hand)}
        return sorted(found, key=self._layouts_key)

    def finished(self, layouts: Sequence[Layout[str]]) -> list[Layout[str]]:
        """Return those after which nothing more combines."""
        return [
            layout
            for layout in layouts
            if not any(
                self.combine(some)
                for size in range(3, len(layout.loose) + 1)
                for some in combinations(layout.loose, size)
            )
        ]

    def best_plan(self, hand: Sequence[str], table: Sequence[Cards], *, one_a_run: bool) -> Plan:
        plans = {}
        for plan, rest in self._plans(hand, table, frozenset(), one_a_run=one_a_run):
            layout = self.layouts(rest)[0]
            covered = list(hand)
            for card in layout.loose:
                covered.remove(card)
            plans[plan] = (
                layout.points,
                len(layout.loose),
                len(layout.combinations),
                self.order(covered),
                len(plan),
                [(self.pack.index(card), number) for card, number in plan],
            )
        return min(plans, key=plans.__getitem__)

    def _groups(self, hand: Sequence[str]) -> Iterator[tuple[Cards, ...]]:
        """Yield each choice of disjoint combinations of a hand's cards; they are told apart by their places."""
        found = [
            places
            for size in range(3, len(hand) + 1)
            for places in combinations(range(len(hand)), size)
            if self.combine(tuple(hand[place] for place in places))
        ]
        for many in range(len(hand) // 3 + 1):
            for chosen in combinations(found, many):
                if len(set(chain(*chosen))) == sum(map(len, chosen)):
                    yield tuple(tuple(hand[place] for place in places) for places in chosen)

    def _layout(self, hand: Sequence[str], groups: tuple[Cards, ...]) -> Layout[str]:
        loose = list(hand)
        for card in chain(*groups):
            loose.remove(card)
        laid = sorted((self.sort(cards) for cards in groups), key=self._order_of)
        return Layout(tuple(laid), self.sort(loose), sum(self.values[card] for card in loose))

    def _order_of(self, cards: Cards) -> list[int]:
        return [self.pack.index(card) for card in cards]

    def _layouts_key(self, layout: Layout[str]) -> tuple[object, ...]:
        return (
            layout.points,
            len(layout.loose),
            len(layout.combinations),
            self.order(tuple(chain(*layout.combinations))),
            [self._order_of(cards) for cards in layout.combinations],
        )

    def _plans(
        self, hand: Sequence[str], table: Sequence[Cards], shut: frozenset[int], *, one_a_run: bool
    ) -> Iterator[tuple[Plan, Cards]]:
        """Yield every way to lay cards off, in every order, and what stays."""
        yield (), tuple(hand)
        for place, card in enumerate(hand):
            for number, combination in enumerate(table):
                longer = self.sort((*combination, card))
                if number in shut or not self.combine(longer):
                    continue
                rest = (*hand[:place], *hand[place + 1 :])
                grown = (*table[:number], longer, *table[number + 1 :])
                is_run = len({each[1:] for each in longer}) > 1
                now = shut | {number} if one_a_run and is_run else shut
                for plan, left in self._plans(rest, grown, now, one_a_run=one_a_run):
                    yield ((card, number), *plan), left
