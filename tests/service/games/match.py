"""A table of any game for tests: decided by the referee, folded decision by decision, for it and as every viewer.

After each decision it is held that no card is lost or made, and that every viewer's view is the same from the log and
from what that viewer was sent.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import Any, Generic, Self, TypeVar

import pytest

from events.base import By, Entry, Event
from events.table import Created, SeatTaken, Seeded, Started
from projections import fold
from projections.table import Table, View
from service.game import REASONS, Ask, Command, Game, Refused
from service.referee import Referee, Resign

STATE = TypeVar("STATE")
OPTIONS = TypeVar("OPTIONS")
EVENT = TypeVar("EVENT", bound=Event)


class Played(ABC, Generic[STATE, OPTIONS]):
    """A table at which people play on these seats of so many, all of them unless said; play has begun, no deal has."""

    def __init__(
        self, game: Game[STATE, OPTIONS], options: OPTIONS, seats: int, taken: Sequence[int] | None = None
    ) -> None:
        self.game = game
        self.options = options
        self.taken = tuple(range(seats)) if taken is None else tuple(taken)
        self.entries: list[Entry[Any, Event]] = []
        self.viewers = (None, *range(seats))
        self.table: Table[STATE, OPTIONS] = Table(id="t")
        self.seen: dict[int | None, Table[STATE, OPTIONS]] = {viewer: Table(id="t") for viewer in self.viewers}
        stated = {name: getattr(options, name) for name in game.projection.options.__struct_fields__}  # type: ignore[attr-defined] # options are a struct
        created = Created(
            game=game.name,
            ruleset=game.ruleset,
            seats=seats,
            options=stated,
            start="host",
            host="p0",
            commitment="0" * 64,
        )
        people = [SeatTaken(seat, f"p{seat}", "", None) for seat in self.taken]
        self.given(created, Seeded("0" * 64), *people, Started(self.taken))

    @property
    @abstractmethod
    def referee(self) -> Referee:
        """Who decides, with the chance of this table."""

    @property
    @abstractmethod
    def pack(self) -> Sequence[str] | None:
        """All cards of the table, copies included; None before the first deal."""

    @property
    def state(self) -> STATE:
        state = self.table.play
        assert state is not None
        return state

    def given(self, *events: Event) -> Self:
        """Fold one decision, stored and as every viewer gets it, and hold what must be true of every version."""
        projection = self.game.projection
        version = len(self.entries) + 1
        entry: Entry[Any, Event] = Entry(1, "table:t", version, 0, By(), None, None, None, "", events)
        self.entries.append(entry)
        fold.add(projection, self.table, entry, b"")
        for viewer, table in self.seen.items():
            fold.add(projection, table, fold.decision(projection, entry, b"", viewer), b"")
            assert projection.view(table, viewer) == self.view(viewer)
        if self.table.play is not None and self.pack is not None:
            assert Counter(projection.cards(self.state)) == Counter(self.pack)
        return self

    def ask(self, command: Command, seat: int | None = None) -> Ask:
        """Return what a seat that must act, or the one named, asks for."""
        return Ask(By(seat=self.to_act if seat is None else seat), command, 0)

    @property
    def to_act(self) -> int:
        """The seat that must act, the lowest of several."""
        return self.table.to_act[0] if self.table.to_act else 0

    def do(self, command: Command, seat: int | None = None) -> tuple[Event, ...]:
        """Decide a command of the seat that must act, or of the one named, and fold what it brings."""
        events = self.referee.decide(self.game, self.table, self.ask(command, seat))
        self.given(*events)
        return events

    def plays(self, *commands: Command) -> Self:
        """Let whoever must act give each command in turn."""
        for command in commands:
            self.do(command)
        return self

    def silent(self, times: int = 1) -> Self:
        """Let whoever must act be silent so many times."""
        for _ in range(times):
            self.do(self.game.idle(self.state, self.to_act))
        return self

    def resigns(self, seat: int) -> tuple[Event, ...]:
        """Let a player give their seat up."""
        return self.do(Resign(), seat)

    def legal(self, seat: int | None = None) -> list[Command]:
        """Return what the seat that must act, or the one named, may do."""
        return list(self.game.legal(self.state, self.to_act if seat is None else seat))

    def reason(self, command: Command, seat: int | None = None) -> str:
        """Return why a command of the seat that must act, or of the one named, is refused."""
        with pytest.raises(Refused) as refused:
            self.referee.decide(self.game, self.table, self.ask(command, seat))
        assert refused.value.reason in {**REASONS, **self.game.reasons}
        return refused.value.reason

    def view(self, viewer: int | None) -> View[OPTIONS]:
        """Return the table as this viewer may see it."""
        return self.game.projection.view(self.table, viewer)

    def events(self, kind: type[EVENT]) -> list[EVENT]:
        """Return all events of a kind so far."""
        return [event for entry in self.entries for event in entry.events if isinstance(event, kind)]
