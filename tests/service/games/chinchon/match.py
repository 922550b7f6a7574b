"""A match of Chinchón for tests: decided by the referee, folded decision by decision, for it and as every viewer.

After each decision it is held that no card is lost or made, and that every viewer's view is the same from the log and
from what that viewer was sent.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import pytest

from events.base import By, Entry, Event
from events.cards import SPANISH, SpanishCard
from events.games.chinchon import Combinations, DealScored, Dealt, Options
from events.table import Created, Scored, SeatTaken, Seeded, Started, TurnBegan
from projections import fold
from projections.games.chinchon import LayingOff, Phase, State, Turn, View, begin
from projections.table import Table
from service.chance import Shuffles, number
from service.game import REASONS, Ask, Command, Refused
from service.games.chinchon import GAME, Close, DrawStock, Expose, Pass
from service.games.chinchon.hands import melds_of, pack_of
from service.referee import Referee, Resign
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


class Match:
    """A table at which people play on these seats of so many, all of them unless said; play has begun, no deal has."""

    def __init__(
        self,
        options: Options | None = None,
        seats: int = 3,
        taken: Sequence[int] | None = None,
        *,
        chance: Shuffles | None = None,
    ) -> None:
        self.options = options or Options()
        self.taken = tuple(range(seats)) if taken is None else tuple(taken)
        self.orders: dict[int, Sequence[object]] = {}
        self.chance = chance
        self.entries: list[Entry[Any, Event]] = []
        self.viewers = (None, *range(seats))
        self.table: Table[State, Options] = Table(id="t")
        self.seen: dict[int | None, Table[State, Options]] = {viewer: Table(id="t") for viewer in self.viewers}
        stated = {name: getattr(self.options, name) for name in self.options.__struct_fields__}
        created = Created(
            game="chinchon",
            ruleset="chinchon/1",
            seats=seats,
            options=stated,
            start="host",
            host="p0",
            commitment="0" * 64,
        )
        people = [SeatTaken(seat, f"p{seat}", "", None) for seat in self.taken]
        self.given(created, Seeded("0" * 64), *people, Started(self.taken))

    @property
    def state(self) -> State:
        state = self.table.play
        assert state is not None
        return state

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

    def given(self, *events: Event) -> "Match":
        """Fold one decision, stored and as every viewer gets it, and hold what must be true of every version."""
        version = len(self.entries) + 1
        entry: Entry[Any, Event] = Entry(1, "table:t", version, 0, By(), None, None, None, "", events)
        self.entries.append(entry)
        fold.add(GAME.projection, self.table, entry, b"")
        for viewer, table in self.seen.items():
            fold.add(GAME.projection, table, fold.decision(GAME.projection, entry, b"", viewer), b"")
            assert GAME.projection.view(table, viewer) == self.view(viewer)
        if self.table.play is not None and self.state.deal:
            assert Counter(GAME.projection.cards(self.state)) == Counter(pack_of(self.state))
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

    def ask(self, command: Command, seat: int | None = None) -> Ask:
        """Return what a seat that must act, or the one named, asks for."""
        return Ask(By(seat=self.to_act if seat is None else seat), command, 0)

    @property
    def to_act(self) -> int:
        """The seat that must act, the lowest of several."""
        return self.table.to_act[0] if self.table.to_act else 0

    def do(self, command: Command, seat: int | None = None) -> tuple[Event, ...]:
        """Decide a command of the seat that must act, or of the one named, and fold what it brings."""
        events = self.referee.decide(GAME, self.table, self.ask(command, seat))
        self.given(*events)
        return events

    def plays(self, *commands: Command) -> "Match":
        """Let whoever must act give each command in turn."""
        for command in commands:
            self.do(command)
        return self

    def silent(self, times: int = 1) -> "Match":
        """Let whoever must act be silent so many times."""
        for _ in range(times):
            self.do(GAME.idle(self.state, self.to_act))
        return self

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

    def resigns(self, seat: int) -> tuple[Event, ...]:
        """Let a player give their seat up."""
        return self.do(Resign(), seat)

    def legal(self, seat: int | None = None) -> list[Command]:
        """Return what the seat that must act, or the one named, may do."""
        return list(GAME.legal(self.state, self.to_act if seat is None else seat))

    def reason(self, command: Command, seat: int | None = None) -> str:
        """Return why a command of the seat that must act, or of the one named, is refused."""
        with pytest.raises(Refused) as refused:
            self.referee.decide(GAME, self.table, self.ask(command, seat))
        assert refused.value.reason in {**REASONS, **GAME.reasons}
        return refused.value.reason

    def view(self, viewer: int | None) -> View:
        """Return the table as this viewer may see it."""
        view = GAME.projection.view(self.table, viewer)
        assert isinstance(view, View)
        return view

    def events(self, kind: type[EVENT]) -> list[EVENT]:
        """Return all events of a kind so far."""
        return [event for entry in self.entries for event in entry.events if isinstance(event, kind)]


class Packs(Stated):
    """Stated orders that remember how each pack lay before."""

    def __init__(self, orders: Mapping[int, Sequence[object]]) -> None:
        super().__init__(orders)
        self.packs: dict[int, tuple[object, ...]] = {}

    def shuffle(self, pack: Sequence[T], c: int) -> tuple[T, ...]:
        """Note the pack, and lay it as stated."""
        self.packs[c] = tuple(pack)
        return super().shuffle(pack, c)
