"""Sets and runs, as rummy games lay them out: what combines, what is best laid out, what can be laid off.

A set is three cards or more of one rank, a run three or more of one suit whose ranks follow one another. Cards are
told apart by their names alone, so of two that are the same it does not matter which is which, and nothing here comes
out twice because of them. What may be done with combinations, and when, is a game's own.

How a best layout is found: all combinations there can be are numbered when `Melds` is made, in printed order. A number
stands for a weight, one integer that adds up; the best layout is the one whose sum is greatest. From the high bits to
the low ones a sum tells the points of the cards laid out, how many they are, less one for each combination, and how
often each card of the pack is among them, the first one highest. Above each of these counts lies a bit that is set in
a hand: a combination has its cards in the hand if taking its weight away leaves all of these bits alone.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from operator import itemgetter, le
from typing import Generic, Literal, NamedTuple, TypeVar

CARD = TypeVar("CARD", bound=str)
Cards = tuple[CARD, ...]
Plan = tuple[tuple[CARD, int], ...]
"""Cards to lay off, in order, each with the number of the combination it goes to."""

LEAST = 3
"""How many cards combine."""

_Within = list[tuple[tuple[int, ...], ...]]
"""By the cards held of a suit or a rank, as a number: the shapes of the combinations among them."""

Fault = Literal["not_held", "no_combination", "combines_further"]


class Layout(NamedTuple, Generic[CARD]):
    """The combinations laid out of a hand, the cards that stay loose, and the points that these count."""

    combinations: tuple[Cards[CARD], ...]
    loose: Cards[CARD]
    points: int


class NoLayout(Exception):
    """Cards were not laid out by the rules.

    fault   not_held: a card isn't there, or not so often; no_combination: a group is neither a set nor a run;
            combines_further: what stays holds another combination
    """

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault: Fault = fault


class _Scene(NamedTuple, Generic[CARD]):
    """How things lie while cards are laid off: what is in hand, on the table, and which of that takes nothing more."""

    cards: Cards[CARD]
    table: tuple[Cards[CARD], ...]
    closed: frozenset[int]


class _Way(NamedTuple):
    """Combinations that lie out together: their weight, what stays of the hand as weight and count, their numbers."""

    weight: int
    rest: int
    left: int
    numbers: tuple[int, ...]


class Melds(Generic[CARD]):
    """The combinations of one kind of pack.

    pack            the names of its cards in printed order, suit first: one character, then the rank; ranks follow one
                    another as they are printed, and the last is not followed by the first
    values          what each card counts while it is loose; none less than 0
    packs           how many of these packs are shuffled together: how often a hand may hold a card
    distinct_suits  whether a set holds no suit twice

    Making one takes some milliseconds, so make it once. Hands may come in any order and hold cards of the pack only
    (KeyError); what comes out is in printed order.
    """

    def __init__(
        self, pack: Sequence[CARD], values: Mapping[CARD, int], *, packs: int = 1, distinct_suits: bool = False
    ) -> None:
        self._values = {card: values[card] for card in pack}
        self._printed = {card: place for place, card in enumerate(pack)}.__getitem__
        suits = list(dict.fromkeys(card[0] for card in pack))
        ranks = list(dict.fromkeys(card[1:] for card in pack))
        most = 1 if distinct_suits else packs
        runs = [_runs(pack, suit, ranks) for suit in suits]
        sets = [_sets(pack, rank, suits, most) for rank in ranks]
        every = [cards for group in (*runs, *sets) for cards in group.values()]
        self._combinations = sorted(every, key=lambda cards: [self._printed(card) for card in cards])
        self._numbers = {cards: number for number, cards in enumerate(self._combinations)}
        self._of_runs = frozenset(cards for group in runs for cards in group.values())
        self._weigh(pack, packs)
        self._place(pack, suits, ranks, packs)
        self._runs = [self._numbered(group, _spans_by_ranks(len(ranks))) for group in runs]
        self._sets = [self._numbered(group, _counts_by_suits(len(suits), packs, most)) for group in sets]

    def _numbered(self, group: Mapping[tuple[int, ...], Cards[CARD]], within: _Within) -> list[tuple[int, ...]]:
        """Return the numbers of the combinations of a suit or rank that each of its hands holds."""
        numbers = {shape: self._numbers[cards] for shape, cards in group.items()}
        return [tuple(numbers[shape] for shape in shapes if shape in numbers) for shapes in within]

    def _weigh(self, pack: Sequence[CARD], packs: int) -> None:
        """Make the weights of cards and combinations."""
        width = packs.bit_length() + 1
        alone = width * len(pack)
        sizes = alone + (packs * len(pack)).bit_length() + 1
        self._points_from = sizes + (packs * len(pack)).bit_length() + 1
        self._held = sum(1 << width * place + width - 1 for place in range(len(pack)))
        self._weights = {
            card: (value << self._points_from) + (1 << sizes) + (1 << width * (len(pack) - 1 - place))
            for place, (card, value) in enumerate(self._values.items())
        }
        self._weight = [self._weight_of(cards) - (1 << alone) for cards in self._combinations]

    def _place(self, pack: Sequence[CARD], suits: Sequence[str], ranks: Sequence[str], packs: int) -> None:
        """Make the tables that tell which combinations a hand holds, by the ranks of a suit and the suits of a rank.

        A hand is three integers. In the first each suit has a bit for each of its ranks; in the other two each rank has
        a field, of how many cards there are of it, and of how many of each suit.
        """
        self._suit_width = len(ranks)
        base = packs + 1
        self._rank_width = (base ** len(suits)).bit_length() + 1
        self._places: dict[CARD, tuple[int, int, int]] = {}
        for card in pack:
            suit, rank = suits.index(card[0]), ranks.index(card[1:])
            shift = self._rank_width * rank
            self._places[card] = (1 << self._suit_width * suit + rank, 1 << shift, base**suit << shift)
        top = 1 << self._rank_width - 1
        self._tops = sum(top << self._rank_width * rank for rank in range(len(ranks)))
        self._short = sum(top - LEAST << self._rank_width * rank for rank in range(len(ranks)))

    def points(self, cards: Iterable[CARD]) -> int:
        """Return what cards count while they are loose."""
        return sum(map(self._values.__getitem__, cards))

    def in_order(self, cards: Iterable[CARD]) -> Cards[CARD]:
        """Return cards in printed order."""
        return tuple(sorted(cards, key=self._printed))

    def is_set(self, cards: Iterable[CARD]) -> bool:
        """Tell whether cards are a set, in whatever order."""
        return self.is_combination(cards) and not self.is_run(cards)

    def is_run(self, cards: Iterable[CARD]) -> bool:
        """Tell whether cards are a run, in whatever order."""
        return self.in_order(cards) in self._of_runs

    def is_combination(self, cards: Iterable[CARD]) -> bool:
        """Tell whether cards are a set or a run, in whatever order."""
        return self.in_order(cards) in self._numbers

    def can_combine(self, cards: Iterable[CARD]) -> bool:
        """Tell whether there is a combination among cards."""
        return bool(self._found(cards))

    def extended(self, combination: Sequence[CARD], card: CARD) -> Cards[CARD] | None:
        """Return a combination with a card laid off on it; None if it would be none."""
        longer = self.in_order([*combination, card])
        return longer if longer in self._numbers else None

    def best(self, hand: Collection[CARD]) -> Layout[CARD]:
        """Return the layout that leaves the fewest points.

        Of several: the one with the fewest loose cards, then the fewest combinations, then the one whose cards laid
        out, in printed order, come first, and last, if these are the same cards, whose combinations do.
        """
        cards = self.in_order(hand)
        found = self._found(cards)
        if not found:
            return Layout((), cards, self.points(cards))
        # Of equal weights the first way is taken: ways come in the order of their combinations.
        return self._layout(cards, max(self._ways(cards, found), key=itemgetter(0)))

    def layouts(self, hand: Collection[CARD]) -> Iterator[Layout[CARD]]:
        """Yield every layout after which the loose cards hold no combination, the best first, and so on."""
        cards = self.in_order(hand)
        found = self._found(cards)
        for way in sorted(self._ways(cards, found), key=itemgetter(0), reverse=True):
            if not any(self._fits(way.rest, number) for number in found):
                yield self._layout(cards, way)

    def arrange(self, hand: Collection[CARD], groups: Iterable[Iterable[CARD]]) -> Layout[CARD]:
        """Return the layout of the combinations that a player names, in the player's order; raise NoLayout.

        The cards of each may be named in any order. Of several faults the first of the three in `Fault` is told.
        """
        named = [tuple(group) for group in groups]
        loose = list(self.in_order(hand))
        for card in (card for group in named for card in group):
            if card not in loose:
                raise NoLayout("not_held")
            loose.remove(card)
        combinations = tuple(map(self.in_order, named))
        if not all(combination in self._numbers for combination in combinations):
            raise NoLayout("no_combination")
        if self.can_combine(loose):
            raise NoLayout("combines_further")
        return Layout(combinations, tuple(loose), self.points(loose))

    def points_without(self, hand: Sequence[CARD]) -> tuple[int, ...]:
        """Return for each card of a hand, in the hand's order, the points that the best layout without it leaves."""
        total = self.points(hand)
        found = self._found(hand)
        if not found:
            return tuple(total - self._values[card] for card in hand)
        ways = sorted(self._ways(hand, found), key=itemgetter(0), reverse=True)
        return tuple(total - self._values[card] - self._most_laid(ways, card) for card in hand)

    def lay_offs(
        self, hand: Collection[CARD], table: Sequence[Sequence[CARD]], *, one_a_run: bool, closed: Collection[int] = ()
    ) -> Plan[CARD]:
        """Return which cards to lay off on the table's combinations, in order, each with its combination's number.

        What stays is then best laid out: the fewest points are left. Of several ways: the one that leaves the fewest
        loose cards, then the fewest combinations, then whose cards that are not loose come first in printed order, then
        lays off the fewest. The same cards are laid off in the order that comes first: each time the first one in
        printed order, on the first combination it fits.

        one_a_run  lay at most one card on any one run
        closed     the numbers of combinations that nothing more may be laid on
        """
        plans: dict[Cards[CARD], Plan[CARD]] = {}
        nothing: Plan[CARD] = ()
        # Plans of one length after another, those of a length in their order: the first that leads somewhere is kept.
        scenes = {_Scene(self.in_order(hand), tuple(map(self.in_order, table)), frozenset(closed)): nothing}
        while scenes:
            longer: dict[_Scene[CARD], Plan[CARD]] = {}
            for scene, plan in scenes.items():
                plans.setdefault(scene.cards, plan)
                for card, number, after in self._after_one(scene, one_a_run=one_a_run):
                    longer.setdefault(after, (*plan, (card, number)))
            scenes = longer
        return min(plans.items(), key=self._order_of_plans)[1]

    def _order_of_plans(self, plan: tuple[Cards[CARD], Plan[CARD]]) -> tuple[int, ...]:
        rest, laid = plan
        layout = self.best(rest)
        # Of as many points and cards those weigh least that are printed last.
        loose = self._weight_of(layout.loose)
        return layout.points, len(layout.loose), len(layout.combinations), loose, len(laid)

    def _after_one(self, scene: _Scene[CARD], *, one_a_run: bool) -> Iterator[tuple[CARD, int, _Scene[CARD]]]:
        """Yield each card that fits somewhere, the number of that combination, and how things lie then."""
        for card in dict.fromkeys(scene.cards):
            for number, combination in enumerate(scene.table):
                if number in scene.closed or not (longer := self.extended(combination, card)):
                    continue
                rest = _without(scene.cards, (card,))
                table = (*scene.table[:number], longer, *scene.table[number + 1 :])
                shut = {number} if one_a_run and longer in self._of_runs else set()
                yield card, number, _Scene(rest, table, scene.closed | shut)

    def _found(self, cards: Iterable[CARD]) -> list[int]:
        """Return the numbers of the combinations among cards, ascending."""
        ranks = many = suits = 0
        for card in cards:
            in_suit, of_rank, of_suit = self._places[card]
            ranks |= in_suit
            many += of_rank
            suits += of_suit
        found: list[int] = []
        # Most hands have no combination, and that is soon seen; what looks like a run may still go over two suits.
        if ranks & ranks >> 1 & ranks >> 2:
            width = self._suit_width
            every = (1 << width) - 1
            for runs in self._runs:
                found += runs[ranks & every]
                ranks >>= width
        if many + self._short & self._tops:
            width = self._rank_width
            every = (1 << width) - 1
            for sets in self._sets:
                found += sets[suits & every]
                suits >>= width
        found.sort()
        return found

    def _ways(self, cards: Collection[CARD], found: Sequence[int]) -> list[_Way]:
        """Return every choice of combinations that lie out together, none at all first, then by their numbers."""
        ways = [_Way(0, self._weight_of(cards) | self._held, len(cards), ())]
        for weight, rest, left, numbers in ways:
            if left < LEAST:
                continue
            for number in found:
                # Again from its last one: with two packs a combination can be there twice.
                if (numbers and number < numbers[-1]) or not self._fits(rest, number):
                    continue
                ways.append(
                    _Way(
                        weight + self._weight[number],
                        rest - self._weight[number],
                        left - len(self._combinations[number]),
                        (*numbers, number),
                    )
                )
        return ways

    def _fits(self, rest: int, number: int) -> bool:
        return (rest - self._weight[number]) & self._held == self._held

    def _weight_of(self, cards: Iterable[CARD]) -> int:
        return sum(map(self._weights.__getitem__, cards))

    def _most_laid(self, ways: Iterable[_Way], card: CARD) -> int:
        """Return the points of the heaviest way that leaves a card in the hand; some way does."""
        weight = self._weights[card]
        laid = next(way.weight for way in ways if (way.rest - weight) & self._held == self._held)
        return laid >> self._points_from

    def _layout(self, cards: Cards[CARD], way: _Way) -> Layout[CARD]:
        combinations = tuple(self._combinations[number] for number in way.numbers)
        loose = cards
        for combination in combinations:
            loose = _without(loose, combination)
        return Layout(combinations, loose, self.points(loose))


def _without(cards: Cards[CARD], taken: Iterable[CARD]) -> Cards[CARD]:
    rest = list(cards)
    for card in taken:
        rest.remove(card)
    return tuple(rest)


def _runs(pack: Sequence[CARD], suit: str, ranks: Sequence[str]) -> dict[tuple[int, ...], Cards[CARD]]:
    """Return every run of a suit by the places of its first rank and of that after its last."""
    own = {card[1:]: card for card in pack if card[0] == suit}
    spans = ((start, end) for start in range(len(ranks)) for end in range(start + LEAST, len(ranks) + 1))
    return {
        (start, end): tuple(own[rank] for rank in ranks[start:end])
        for start, end in spans
        if own.keys() >= set(ranks[start:end])
    }


def _sets(pack: Sequence[CARD], rank: str, suits: Sequence[str], most: int) -> dict[tuple[int, ...], Cards[CARD]]:
    """Return every set of a rank by how often it holds each suit."""
    own = [card for card in pack if card[1:] == rank]
    there = [most if suit in {card[0] for card in own} else 0 for suit in suits]
    return {
        counts: tuple(card for card in own for _ in range(counts[suits.index(card[0])]))
        for counts in product(*(range(many + 1) for many in there))
        if sum(counts) >= LEAST
    }


@cache
def _spans_by_ranks(ranks: int) -> _Within:
    """Return for each choice of a suit's ranks, a bit each, the spans that lie in it."""
    found: list[tuple[tuple[int, ...], ...]] = [()]
    for held in range(1, 1 << ranks):
        start = (held & -held).bit_length() - 1
        # Adding the lowest bit carries through those that follow it, up to the first that is missing.
        end = (~held & held + (held & -held)).bit_length() - 1
        found.append((*((start, each) for each in range(start + LEAST, end + 1)), *found[held & held - 1]))
    return found


@cache
def _counts_by_suits(suits: int, packs: int, most: int) -> _Within:
    """Return for each choice of a rank's cards, a digit for each suit, the counts of the sets that lie in it."""
    sets = [counts for counts in product(range(most + 1), repeat=suits) if sum(counts) >= LEAST]
    # The digit of the first suit is the lowest, and the last factor of a product the first to change.
    return [
        tuple(counts for counts in sets if all(map(le, counts, reversed(held))))
        for held in product(range(packs + 1), repeat=suits)
    ]
