"""What the parts cost by themselves: events folded a second, moves played a second, and where a command's time goes."""

import asyncio
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, get_args

import msgspec

from events.base import By, Event
from events.table import TurnBegan
from projections import fold
from projections.table import Table
from service import games
from service.api.answers import Done, encoded
from service.api.tables import TableRoutes
from service.audit import record
from service.audit.checking import Evidence, check
from service.audit.signing import Signer
from service.chance import Chance
from service.decider import Draft, entry_after
from service.embedded import Embedded
from service.game import AnyGame, AnyTable, Ask
from service.log import Log
from service.referee import Referee
from service.store import connect
from service.streams import Stored, table_stream
from tests.bench.matches import SEED, Match, Move, play
from tests.bench.report import Sheet
from tests.bench.size import Size

SIGNER = Signer(bytes(range(32)))

ENDING: Mapping[str, Mapping[str, object]] = MappingProxyType({"chinchon": {"recycles": 0, "reentries": 0}})
"""Options with which matches of random moves end, by the game that has them."""


def sheet(size: Size) -> Sheet:
    """Measure folds of Chinkway, and playouts of every game that is played here."""
    game = games.find().ruled("chinkway/1")
    match = play(game, random.Random(1))
    events = sum(len(game.projection.decode(stored.e).events) for stored in match.entries)
    found = Sheet(f"Parts, on one core: a match of Chinkway, {len(match.entries)} decisions, {events} events")
    for _ in range(size.rounds):
        for name, rate in _rates(game, match, events, size.seconds):
            found.add(name, {"a second": rate, "µs": 1e6 / rate})
    return found


def _rates(game: AnyGame, match: Match, events: int, seconds: float) -> Iterator[tuple[str, float]]:
    decisions = len(match.entries)
    yield "events folded, entries decoded from memory", events * _rate(lambda: folded(game, match), seconds)
    yield "events folded, entries read from the store", events * asyncio.run(_from_store(game, match, seconds))
    yield "decisions folded, entries decoded from memory", decisions * _rate(lambda: folded(game, match), seconds)
    whole, known, evidence = recorded(game, match), games.find(), Evidence({SIGNER.id: SIGNER.public})
    if (fault := check(whole, known, evidence).report.fault) is not None:
        raise RuntimeError(f"the record of the match is told not to hold: {fault}")
    yield (
        "events verified: a record, every decision again",
        events * _rate(lambda: check(whole, known, evidence), seconds),
    )
    for other in games.find():
        yield f"moves of {other.title}: legal, decide, evolve", _played(Playouts(other, random.Random(2)), seconds)


def _played(playouts: "Playouts", seconds: float) -> float:
    """Return how many moves a second random matches come to."""
    moves, took, begun = 0, 0.0, time.perf_counter()
    while took < seconds:
        moves += playouts.play()
        took = time.perf_counter() - begun
    return moves / took


def folded(game: AnyGame, match: Match) -> AnyTable:
    """Fold a match from its entries."""
    table: AnyTable = Table(id=match.stream.removeprefix("table:"))
    projection = game.projection
    for stored in match.entries:
        fold.add(projection, table, projection.decode(stored.e), stored.h)
    return table


def recorded(game: AnyGame, match: Match) -> bytes:
    """Return the record of a match."""
    return b"".join(record.lines(folded(game, match), [stored.e for stored in match.entries], SIGNER))


class Playouts:
    """Matches of random legal moves, by a game's own functions alone: no table, no entries."""

    def __init__(self, game: AnyGame, rng: random.Random) -> None:
        """Play this game with these draws, and what options end it soonest where random moves would not."""
        self._game = game
        self._options = msgspec.convert(ENDING.get(game.name, {}), game.projection.options)
        self._rng = rng
        self._own = frozenset(get_args(game.projection.events))
        self._by = [By(seat=seat) for seat in range(game.seats.usual)]

    def play(self) -> int:
        """Play a match to its end; return how many moves it had."""
        game, choice, seats = self._game, self._rng.choice, self._game.seats.usual
        state = game.projection.begin(self._options, seats, tuple(range(seats)))
        chance = Chance(SEED, "table:playout", [str(self._rng.getrandbits(64))] + [""] * (seats - 1))
        to_act, state = self._evolved(state, game.start(state, chance))
        moves = 0
        while to_act:
            command = choice(list(game.legal(state, to_act[0])))
            to_act, state = self._evolved(state, game.decide(state, Ask(self._by[to_act[0]], command, 0, chance)))
            moves += 1
        return moves

    def _evolved(self, state: Any, events: Iterator[Event]) -> tuple[tuple[int, ...], Any]:  # noqa: ANN401 any game's
        to_act: tuple[int, ...] = ()
        evolve, own = self._game.projection.evolve, self._own
        for event in tuple(events):  # decided whole on the state before it, as a table does
            if type(event) in own:
                state = evolve(state, event)
            elif isinstance(event, TurnBegan):
                to_act = event.seats
        return to_act, state


async def _from_store(game: AnyGame, match: Match, seconds: float) -> float:
    """Return how often a second a match is read from the store and folded."""
    with tempfile.TemporaryDirectory() as folder, Embedded(Path(folder)) as store:
        redis = await connect(store.url)
        log = Log(redis)
        for stored in match.entries:
            await log.append(match.stream, stored.version - 1, stored.e, stored.h)
        times, took, begun = 0, 0.0, time.perf_counter()
        while took < seconds:
            table: AnyTable = Table(id=match.stream.removeprefix("table:"))
            for stored in await log.read_range(match.stream, 1, len(match.entries)):
                fold.add(game.projection, table, game.projection.decode(stored.e), stored.h)
            times += 1
            took = time.perf_counter() - begun
        await log.close()
        await redis.aclose()
        return times / took


def _rate(work: Callable[[], object], seconds: float) -> float:
    """Return how often a second some work is done."""
    times, took, begun = 0, 0.0, time.perf_counter()
    while took < seconds:
        work()
        times += 1
        took = time.perf_counter() - begun
    return times / took


class _Scene(NamedTuple):
    """A move that is about to be made, and what it will come to."""

    table: AnyTable
    move: Move
    body: bytes
    draft: Draft
    stored: Stored


class _Steps:
    """The steps of a command, each by itself."""

    def __init__(self, game: AnyGame) -> None:
        self._game = game
        self._referee = Referee()
        self._decode_body = msgspec.json.Decoder(TableRoutes(game).commands).decode
        self.named: dict[str, Callable[[_Scene], object]] = {
            "read the body": lambda scene: self._decode_body(scene.body),
            "decide by the rules": self._decide,
            "write and chain the entry": self._write,
            "read it back": lambda scene: self._game.projection.decode(scene.stored.e),
            "redact and write the answer": self._answer,
        }

    def _decide(self, scene: _Scene) -> object:
        return self._referee.decide(self._game, scene.table, Ask(scene.move.by, scene.move.command, 0))

    def _write(self, scene: _Scene) -> object:
        return entry_after(table_stream(scene.table.id), scene.table, scene.draft, None)

    def _answer(self, scene: _Scene) -> object:
        projection = self._game.projection
        entry = projection.decode(scene.stored.e)
        decision = fold.decision(projection, entry, scene.stored.h, scene.move.by.seat)
        return encoded(Done(decision.version, decision.head, decision.events))


def steps(size: Size) -> Sheet:
    """Measure what each of our own steps of a command costs, on average over all moves of a match."""
    game = games.find().ruled("chinkway/1")
    match = play(game, random.Random(1))
    found = Sheet("Steps of a command, each by itself: Chinkway")
    for _ in range(size.rounds):
        for name, step in _Steps(game).named.items():
            found.add(name, {"CPU µs": _spent_us(game, match, step, size.repeats)})
    return found


def _spent_us(game: AnyGame, match: Match, step: Callable[[_Scene], object], repeats: int) -> float:
    """Return what a step costs: each move's in the state that it meets, the folds between them not counted."""
    table: AnyTable = Table(id=match.stream.removeprefix("table:"))
    moves = {move.version: move for move in match.moves}
    spent = 0.0
    for stored in match.entries:
        entry = game.projection.decode(stored.e)
        if move := moves.get(table.version):
            draft = Draft(0, move.by, move.command, entry.events)
            scene = _Scene(table, move, msgspec.json.encode(move.command), draft, stored)
            begun = time.perf_counter()
            for _ in range(repeats):
                step(scene)
            spent += time.perf_counter() - begun
        fold.add(game.projection, table, entry, stored.h)
    return spent / repeats / len(moves) * 1e6
