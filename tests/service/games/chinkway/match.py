"""A match of Chinkway for tests: folded decision by decision, for the referee and as every viewer."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import pytest

from events.base import By, Entry, Event
from events.cards import FRENCH
from events.games.chinkway import Options
from events.table import Created, SeatTaken, Seeded, Started
from projections import fold
from projections.games.chinkway import SEATS, State, View, begin
from projections.table import Table
from service.chance import Chance, Shuffles, number
from service.game import REASONS, Ask, Command, Refused
from service.games.chinkway import GAME, quests
from tests.cases.chinkway_scene import CHANCE, Scene
from tests.stated import Stated

EVENT = TypeVar("EVENT", bound=Event)
VIEWERS = (None, *range(SEATS))

# The game deck as it is printed: player 2 gets S2 … SJ, the dealer the last twelve.
PRINTED: dict[int, Sequence[object]] = {0: (3, 0, 1, 2, 4), 1: quests.COURT_CARDS, number(1): FRENCH}
REMOVED = quests.COURT_CARDS[:2]
QUEST_PACK = tuple(card for card in reversed(FRENCH) if card not in REMOVED)

QUEST = ["3C", "AH", "JC", "QD", "9D"]

# Each option at each of its values, the others at their defaults (partners five and deals 5 go together).
EVERY_OPTION = [
    Options(),
    Options(partners="fixed"),
    Options(partners="five", deals=5),
    Options(deals=11),
    Options(void="must_trump"),
    Options(quest_removed="two_any"),
    Options(quest_removed="none", deals=11),
    Options(quest_pack="reshuffle"),
    Options(aces="court"),
    Options(surplus="refuse"),
    Options(team_scoring="sum"),
    Options(team_scoring="sum", surplus="refuse"),
    Options(capture_timeout="first_needed"),
]


def chance(seed: int) -> Chance:
    return Chance(random.Random(seed).randbytes(32), "table:t", ("",) * SEATS)


class Match:
    """A table at which five people play, and the same table as each viewer folds it from what they may see."""

    def __init__(self, options: Options, shuffles: Shuffles) -> None:
        self.chance = shuffles
        self.entries: list[Entry[Any, Event]] = []
        self.table: Table[State, Options] = Table(id="t")
        self.seen: dict[int | None, Table[State, Options]] = {viewer: Table(id="t") for viewer in VIEWERS}
        stated = {name: getattr(options, name) for name in options.__struct_fields__}
        created = Created(
            game="chinkway",
            ruleset="chinkway/1",
            seats=SEATS,
            options=stated,
            start="full",
            host="p0",
            commitment="0" * 64,
        )
        seats = [SeatTaken(seat, f"p{seat}", "", None) for seat in range(SEATS)]
        self.append(created, Seeded("0" * 64), *seats)
        self.append(Started(tuple(range(SEATS))), *GAME.start(begin(options, SEATS, ()), shuffles))

    @property
    def state(self) -> State:
        state = self.table.play
        assert state is not None
        return state

    def append(self, *events: Event) -> None:
        """Fold one decision, stored and as every viewer gets it."""
        version = len(self.entries) + 1
        entry: Entry[Any, Event] = Entry(1, "table:t", version, 0, By(), None, None, None, "", events)
        self.entries.append(entry)
        fold.add(GAME.projection, self.table, entry, b"")
        for viewer, table in self.seen.items():
            fold.add(GAME.projection, table, fold.decision(GAME.projection, entry, b"", viewer), b"")

    def ask(self, command: Command, seat: int | None = None) -> Ask:
        """Return what the seat that must act, or the one named, asks for."""
        return Ask(By(seat=self.state.phase.seat if seat is None else seat), command, 0, self.chance)

    def do(self, command: Command, seat: int | None = None) -> tuple[Event, ...]:
        """Decide a command of the seat that must act, or of the one named, and fold what it brings."""
        events = tuple(GAME.decide(self.state, self.ask(command, seat)))
        self.append(*events)
        return events

    def legal(self) -> list[Command]:
        """Return what the seat that must act may do."""
        seat = self.state.phase.seat
        return [] if seat is None else list(GAME.legal(self.state, seat))

    def play(self, choose: Callable[[Sequence[Command]], Command]) -> Iterator[tuple[Event, ...]]:
        """Play on to the end, each command chosen from the legal ones; yield each decision once it is folded."""
        while legal := self.legal():
            yield self.do(choose(legal))

    def view(self, viewer: int | None) -> View:
        """Return the table as this viewer may see it."""
        view = GAME.projection.view(self.table, viewer)
        assert isinstance(view, View)
        return view

    def events(self, kind: type[EVENT]) -> list[EVENT]:
        """Return all events of a kind so far."""
        return [event for entry in self.entries for event in entry.events if isinstance(event, kind)]


def started(options: Options, orders: Mapping[int, Sequence[object]]) -> list[Event]:
    return list(GAME.start(begin(options, SEATS, ()), Stated(orders)))


def scene(options: Options | None = None, **given: Any) -> Scene:  # noqa: ANN401 what a case may give
    """Return a match at the moment that a worked case's `given` describes."""
    return Scene(given, options or Options())


def opening() -> Match:
    """Return a match at its first prompt, dealt in printed order; seat 3 deals."""
    return Match(Options(), Stated(PRINTED | {2: QUEST_PACK}))


def events_of(match: Match, command: Command, seat: int | None = None) -> list[Event]:
    return list(GAME.decide(match.state, match.ask(command, seat)))


def reason(match: Match | Scene, command: Command, seat: int | None = None) -> str:
    """Return why a command of the seat that must act, or of the one named, is refused."""
    by = By(seat=match.state.phase.seat if seat is None else seat)
    with pytest.raises(Refused) as refused:
        tuple(GAME.decide(match.state, Ask(by, command, 0, CHANCE)))
    assert refused.value.reason in {**REASONS, **GAME.reasons}
    return refused.value.reason


def idle(match: Match) -> Command:
    """Return what stands for the seat that must act."""
    return GAME.idle(match.state, match.state.phase.seat or 0)
