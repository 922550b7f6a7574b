"""A table of Kowah for tests: decided by the referee, folded decision by decision, for it and as every viewer.

After each decision it is held that no card is lost or made, and that every viewer's view is the same from the log and
from what that viewer was sent.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeVar

import pytest

from events.base import By, Entry, Event
from events.cards import MONEY, MoneyCard
from events.games.kowah import Dealt, Options
from events.table import Created, SeatTaken, Seeded, Started, TurnBegan
from projections import fold
from projections.games.kowah import HAND, Drawing, State, View, begin
from projections.table import Table
from service.actions import legal_now
from service.chance import Shuffles, number
from service.game import REASONS, Ask, Command, Refused
from service.games.kowah import GAME, Discard, DrawStock
from service.games.kowah.deals import PACK
from service.games.kowah.turns import drawn
from service.referee import Referee, Resign
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
        self.chance = chance or Stated({number(deal): PACK for deal in range(1, 101)})
        self.entries: list[Entry[Any, Event]] = []
        self.viewers = (None, *range(seats))
        self.table: Table[State, Options] = Table(id="t")
        self.seen: dict[int | None, Table[State, Options]] = {viewer: Table(id="t") for viewer in self.viewers}
        stated = {name: getattr(self.options, name) for name in self.options.__struct_fields__}
        created = Created(
            game="kowah", ruleset="kowah/1", seats=seats, options=stated, start="host", host="p0", commitment="0" * 64
        )
        people = [SeatTaken(seat, f"p{seat}", "", None) for seat in self.taken]
        self.given(created, Seeded("0" * 64), *people, Started(self.taken))

    @property
    def state(self) -> State:
        state = self.table.play
        assert state is not None
        return state

    def started(self) -> "Match":
        """Begin the first deal as the game does."""
        return self.given(*GAME.start(begin(self.options, len(self.viewers) - 1, self.taken), self.chance))

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
            assert Counter(GAME.projection.cards(self.state)) == Counter(PACK)
        return self

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

    def ask(self, command: Command, seat: int | None = None) -> Ask:
        """Return what the seat that must act, or the one named, asks for."""
        return Ask(By(seat=self.to_act if seat is None else seat), command, 0)

    @property
    def to_act(self) -> int:
        """The seat that must act."""
        (seat,) = self.table.to_act
        return seat

    def do(self, command: Command, seat: int | None = None) -> tuple[Event, ...]:
        """Decide a command of the seat that must act, or of the one named, and fold what it brings."""
        events = self.referee.decide(GAME, self.table, self.ask(command, seat))
        self.given(*events)
        return events

    @property
    def referee(self) -> Referee:
        return Referee(lambda _: self.chance)

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

    def resigns(self, seat: int) -> tuple[Event, ...]:
        """Let a player give their seat up."""
        return self.do(Resign(), seat)

    def legal(self, seat: int | None = None) -> list[Command]:
        """Return what the seat that must act, or the one named, may do."""
        return list(GAME.legal(self.state, self.to_act if seat is None else seat))

    def listed(self, seat: int) -> tuple[Command, ...]:
        """Return what is listed for a seat, with its turn."""
        return legal_now(GAME, self.table, seat)

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
