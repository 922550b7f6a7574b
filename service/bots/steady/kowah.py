"""How `steady` plays Kowah: it counts the ways to a ready hand, and waits with the pair of which most is live.

A hand of eight is worth the sum, over every pair of triplets and every kind for the pair, of how likely the cards come
that are lacking: each live card a little. So what is whole counts most, then what lacks one card of many.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from events.cards import MONEY, MoneyCard
from projections.games.kowah import View
from service.chance import Draws
from service.game import AnyView, Command
from service.games.kowah.commands import Discard, DrawStock, TakeDiscard
from service.games.kowah.deals import COPIES
from service.games.kowah.ready import RANK, TRIPLET
from service.rules.packs import without

# How likely one live card comes to a player in time, in parts of the cards that are not seen.
_COMES: Final = 2.5

# What is left, in live cards, of a pair with none live for its wait: a little, so that such hands are still told apart,
# and as a card that was taken may be thrown again.
_DEAD: Final = 0.2

# How much of the likelihood is left where two cards must come: either may be thrown while the other is waited for.
_BOTH: Final = 0.5

# How much more the hand must be worth with the discard to take it; a card of the stock brings something too.
_TAKES: Final = 1.3

# What a triplet of the pair's rank is worth, which must make two, two and one of the suits with it; with too few suits.
_SAME_RANK: Final = 0.5
_SUITS: Final = 2

# How much of a hand's worth is left to who throws what somebody waits for.
_FEEDS: Final = 1e-6


def choose(view: AnyView, legal: Sequence[Command], _draws: Draws) -> Command:
    """Pick what is worth most, the first listed of what is worth the same."""
    if not isinstance(view, View) or view.hand is None:
        raise TypeError(f"no view of a seat at Kowah: {view}")
    return _Hand(view, view.hand).choice(legal)


class _Hand:
    """A hand as its player sees it, to be asked for the best of the legal commands."""

    def __init__(self, view: View, cards: Sequence[MoneyCard]) -> None:
        self.view = view
        self.cards = cards
        self.live = _live(view, cards)
        self.of_rank = Counter[str]()
        for card, copies in self.live.items():
            self.of_rank[RANK[card]] += copies
        self.comes = _COMES / max(sum(self.live.values()), 1)
        others = (kind for seat, kind in enumerate(view.declared) if seat != view.you)
        self.feeding = {kind for kind in others if kind is not None}

    def choice(self, legal: Sequence[Command]) -> Command:
        """Return the best command."""
        discards = [command for command in legal if isinstance(command, Discard)]
        if not discards:
            return self._draw(legal)
        # Who has declared throws what was drawn, and has no choice.
        if len(discards) == 1:
            return discards[0]
        kept = {card: self._kept(card) for card in set(self.cards)}
        return max(discards, key=lambda command: (self._waits(command), kept[command.card]))

    def _draw(self, legal: Sequence[Command]) -> Command:
        """Take the discard where it brings the hand much nearer to a ready one; else draw from the stock."""
        by_kind = {type(command): command for command in legal}
        card = self.view.discard
        if card is None or TakeDiscard not in by_kind:
            return by_kind[DrawStock]
        cards = [*self.cards, card]
        best = max(self.worth(without(cards, each)) for each in set(cards) if each != card)
        return by_kind[TakeDiscard if best >= _TAKES * self.worth(self.cards) else DrawStock]

    def _waits(self, command: Discard) -> int:
        """Return how many live cards a declaration waits for; 0 for none, and where it comes to nothing."""
        # Who waits for the card wins by it before the declaration is made.
        return 0 if command.checki is None or command.card in self.feeding else self.live[command.checki]

    def _kept(self, card: MoneyCard) -> float:
        """Return what the hand is worth without a card."""
        return self.worth(without(self.cards, card)) * (_FEEDS if card in self.feeding else 1)

    def worth(self, cards: Sequence[MoneyCard]) -> float:
        """Return how likely eight cards become ready in time, by a measure of its own."""
        ranks = Counter(map(RANK.__getitem__, cards))
        triplets = {rank: self._triplet(rank, held) for rank, held in ranks.items()}
        whole = sum(triplets.values())
        squares = sum(worth * worth for worth in triplets.values())
        total = 0.0
        for kind, copies in Counter(cards).items():
            rank = RANK[kind]
            # The triplets of all ranks but the pair's own, and of that what is left beside the pair.
            own = triplets[rank]
            rest, rest_squares = whole - own, squares - own * own
            beside = self._beside(cards, kind, rank)
            ways = (rest * rest - rest_squares) / 2 + rest * beside
            total += self._pair(kind, copies) * ways
        return total

    def _pair(self, kind: MoneyCard, copies: int) -> float:
        """Return how likely there is a pair of a kind, and then a third card of it."""
        live = self.live[kind]
        if copies > 1:
            # What is held above two is lost to the wait.
            return _DEAD + live
        return max(live - 1, _DEAD) * live * self.comes

    def _triplet(self, rank: str, held: int) -> float:
        """Return how likely so many cards of a rank become three."""
        chance = min(self.of_rank[rank] * self.comes, 1)
        if held >= TRIPLET:
            return 1
        return chance if held == TRIPLET - 1 else _BOTH * chance * chance

    def _beside(self, cards: Sequence[MoneyCard], kind: MoneyCard, rank: str) -> float:
        """Return what a triplet of the pair's own rank is worth beside it: of the two other suits, both."""
        others = [card for card in cards if card != kind and RANK[card] == rank]
        if len(others) < TRIPLET - 1:
            return 0
        if len(others) >= TRIPLET:
            return 1 if len(set(others)) == _SUITS else 0
        return _SAME_RANK * self._triplet(rank, len(others))


def _live(view: View, cards: Sequence[MoneyCard]) -> Counter[MoneyCard]:
    """Return how many copies of each kind may still come to the table."""
    held = Counter(cards)
    for seat, shown in enumerate(view.shown):
        kind = view.declared[seat]
        if seat != view.you and kind is not None:
            held.update(shown or (kind, kind))
    seen, pile = Counter(view.seen), Counter(view.discards)
    # What was seen and has left the pile is held by somebody, and most likely by whom we know to hold it.
    gone = {kind: max(seen[kind], pile[kind] + held[kind]) for kind in MONEY}
    return Counter({kind: max(COPIES - copies, 0) for kind, copies in gone.items()})
