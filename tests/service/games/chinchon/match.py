"""A match of Chinchón for tests."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from events.base import Event
from events.cards import SPANISH, SpanishCard
from events.games.chinchon import Combinations, DealScored, Dealt, Options
from events.table import Scored, TurnBegan
from projections.games.chinchon import LayingOff, Phase, State, Turn, View, begin
from service.chance import Shuffles, number
from service.games.chinchon import GAME, Close, DrawStock, Expose, Pass
from service.games.chinchon.hands import melds_of, pack_of
from service.referee import Referee
from tests.service.games.match import Played
from tests.stated import Stated

T = TypeVar("T")
EVENT = TypeVar("EVENT", bound=Event)
Cards = tuple[SpanishCard, ...]

FIVE_LEFT = "O2 O3 O4 O5 O6 C1 E4"
"""A run of five, and five points left over."""
HANDS = (FIVE_LEFT, "O1 C2 C4 C7 E1 E3 B6", "O10 C3 C5 C11 E2 E6 B7", "O12 C12 C6 C10 E5 E7 B3")
"""Four hands of one deal; nothing of them combines but in the first, on which O1 alone can be laid off."""
POINTS = (5, 24, 40, 49)
"""What these count if nothing is laid off."""
CHINCHON = "C3 C4 C5 C6 C7 C10 C11"

_CARDS: dict[str, SpanishCard] = {card: card for card in SPANISH}


def cards(names: str) -> Cards:
    """Return cards written with spaces between."""
    return tuple(_CARDS[name] for name in names.split())


def laid(*combinations: str) -> Combinations:
    """Return combinations, each written with spaces between its cards."""
    return tuple(map(cards, combinations))


class Match(Played[State, Options]):
    """A table of Chinchón."""

    def __init__(
        self,
        options: Options | None = None,
        seats: int = 3,
        taken: Sequence[int] | None = None,
        *,
        chance: Shuffles | None = None,
    ) -> None:
        self.orders: dict[int, Sequence[object]] = {}
        self.chance = chance
        super().__init__(GAME, options or Options(), seats, taken)

    @property
    def pack(self) -> Sequence[str] | None:
        return pack_of(self.state) if self.state.deal else None

    @property
    def referee(self) -> Referee:
        # A next deal is dealt in printed order unless another one is stated.
        usual = {number(self.state.deal + 1): pack_of(self.state)}
        chance = self.chance or Stated({**usual, **self.orders})
        return Referee(lambda _: chance)

    def started(self) -> "Match":
        """Begin the first deal as the game does."""
        self.given(*GAME.start(begin(self.options, len(self.viewers) - 1, self.taken), self.chance or Stated({})))
        return self

    def totals(self, *totals: int) -> "Match":
        """Let a deal be scored that left the taken seats with these totals."""
        by_seat = dict(zip(self.taken, totals, strict=True))
        scored = tuple(by_seat.get(seat) for seat in range(self.state.seats))
        return self.given(DealScored(self.state.deal, scored, scored, (), ()), Scored(self.state.deal, scored, scored))

    def deal(self, *hands: str, up: str = "", stock: str = "", deal: int = 1) -> "Match":
        """Deal the hands in turn order, from the lowest seat that is in; what is not stated can't be combined."""
        order = self.state.still_in
        pack = list(pack_of(self.state))
        for card in cards(" ".join((*hands, up, stock))):
            pack.remove(card)
        given: list[tuple[SpanishCard, ...] | None] = [None] * self.state.seats
        for place, seat in enumerate(order):
            hand = cards(hands[place]) if place < len(hands) else self._dull(pack)
            given[seat] = melds_of(self.state).in_order(hand)
        (turned,) = cards(up) or (pack.pop(0),)
        rest = (*cards(stock), *pack)
        dealt = Dealt(deal, order, tuple(given), turned, rest, len(rest))
        return self.given(dealt, TurnBegan((order[0],)))

    def _dull(self, pack: list[SpanishCard]) -> Cards:
        """Take seven cards from a pack that hold no combination."""
        hand: list[SpanishCard] = []
        for card in pack:
            if len(hand) < 7 and not melds_of(self.state).can_combine([*hand, card]):
                hand.append(card)
        for card in hand:
            pack.remove(card)
        assert len(hand) == 7
        return tuple(hand)

    def closed(self, *hands: str, face_down: SpanishCard = "B12") -> "Match":
        """Deal these hands, and let the forehand draw a card and close with it and all that combines."""
        return self.deal(*hands, stock=face_down).plays(DrawStock(), Close(face_down))

    def until(self, phase: type[Phase]) -> "Match":
        """Let whoever must act be silent until such a phase is reached."""
        while not isinstance(self.state.phase, phase):
            self.silent()
        return self

    def emptied(self) -> "Match":
        """Let all be silent until the stock is empty and somebody is at the beginning of a turn."""
        while self.state.stock:
            self.silent()
        while not (isinstance(self.state.phase, Turn) and self.state.phase.drew == 0):
            self.silent()
        return self

    def scored(self) -> DealScored:
        """Let everybody lay out the best and lay nothing off to the end of the deal; return its score."""
        before = len(self.events(DealScored))
        while len(self.events(DealScored)) == before:
            self.do(Pass() if isinstance(self.state.phase, LayingOff) else Expose())
        return self.events(DealScored)[-1]

    def view(self, viewer: int | None) -> View:
        view = super().view(viewer)
        assert isinstance(view, View)
        return view


class Packs(Stated):
    """Stated orders that remember how each pack lay before."""

    def __init__(self, orders: Mapping[int, Sequence[object]]) -> None:
        super().__init__(orders)
        self.packs: dict[int, tuple[object, ...]] = {}

    def shuffle(self, pack: Sequence[T], c: int) -> tuple[T, ...]:
        """Note the pack, and lay it as stated."""
        self.packs[c] = tuple(pack)
        return super().shuffle(pack, c)
