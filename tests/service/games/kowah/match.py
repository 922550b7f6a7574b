"""A table of Kowah for tests."""

from collections.abc import Sequence
from typing import TypeVar

from events.base import Event
from events.cards import MONEY, MoneyCard
from events.games.kowah import Dealt, Options
from events.table import TurnBegan
from projections.games.kowah import HAND, Drawing, State, View, begin
from service.actions import legal_now
from service.chance import Shuffles, number
from service.game import Command
from service.games.kowah import GAME, Discard, DrawStock
from service.games.kowah.deals import PACK
from service.games.kowah.turns import drawn
from service.referee import Referee
from tests.service.games.match import Played
from tests.stated import Stated

EVENT = TypeVar("EVENT", bound=Event)
Cards = tuple[MoneyCard, ...]
_CARDS: dict[str, MoneyCard] = {card: card for card in MONEY}

# Ready with C2 alone; ready with C5 or S5; ready with M9; and hands that are not ready and can't soon be.
TWOS = "C2 C2 C5 C7 C7 S5 S7 M5"
FIVES = "C5 C5 C8 S5 S5 S8 M5 M8"
NINES = "C1 C3 S1 S3 M1 M3 M9 M9"
DULL = ("C1 C6 S1 S4 S6 S9 M4 OT", "C3 C4 S3 S6 S8 M6 M7 RF", "C9 S2 S4 S8 M2 M3 M7 WF", "C4 S9 M1 M4 M6 M8 RF WF")


def cards(names: str) -> Cards:
    """Return cards written with spaces between."""
    return tuple(_CARDS[name] for name in names.split())


class Match(Played[State, Options]):
    """A table of Kowah; a deal lies in printed order unless it is stated."""

    def __init__(
        self,
        options: Options | None = None,
        seats: int = 3,
        taken: Sequence[int] | None = None,
        *,
        chance: Shuffles | None = None,
    ) -> None:
        self.chance = chance or Stated({number(deal): PACK for deal in range(1, 101)})
        super().__init__(GAME, options or Options(), seats, taken)

    @property
    def referee(self) -> Referee:
        return Referee(lambda _: self.chance)

    @property
    def pack(self) -> Sequence[str] | None:
        return PACK if self.state.deal else None

    def started(self) -> "Match":
        """Begin the first deal as the game does."""
        return self.given(*GAME.start(begin(self.options, len(self.viewers) - 1, self.taken), self.chance))

    def deal(self, *hands: str, stock: str = "", last: str = "") -> "Match":
        """Deal the hands in turn order from the lowest seat, dull ones where none are stated.

        The stock begins with the cards stated, ends with the `last` ones, and lies in printed order in between.
        """
        given: list[Cards | None] = [None] * self.state.seats
        pack = list(PACK)
        for place, seat in enumerate(self.taken):
            hand = cards(hands[place] if place < len(hands) else DULL[place % len(DULL)])
            assert len(hand) == HAND
            given[seat] = tuple(sorted(hand, key=MONEY.index))
        top, bottom = cards(stock), cards(last)
        for card in (*(card for hand in given for card in hand or ()), *top, *bottom):
            pack.remove(card)
        whole = (*top, *pack, *bottom)
        dealt = Dealt(self.state.deal + 1, self.taken, tuple(given), whole, len(whole))
        return self.given(dealt, TurnBegan((self.taken[0],)))

    def run_down(self, left: int) -> "Match":
        """Let all be silent until so many cards are left in the stock and somebody must draw."""
        while not (self.state.stock_left == left and isinstance(self.state.phase, Drawing)):
            self.silent()
        return self

    def declared(self, seat: int, kind: str) -> "Match":
        """Let a seat declare after a turn of drawing and throwing, all before it having been silent."""
        while self.to_act != seat:
            self.silent()
        (card,) = cards(kind)
        self.do(DrawStock())
        self.do(Discard(drawn(self.state), card))
        return self

    def listed(self, seat: int) -> tuple[Command, ...]:
        """Return what is listed for a seat, with its turn."""
        return legal_now(GAME, self.table, seat)

    def view(self, viewer: int | None) -> View:
        view = super().view(viewer)
        assert isinstance(view, View)
        return view
