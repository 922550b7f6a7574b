"""Whole matches played in memory, to measure parts with."""

import random
from typing import NamedTuple

import msgspec

from events.base import By, Event
from projections import fold
from projections.table import Table
from service.actions import legal_now
from service.decider import Draft, entry_after
from service.game import AnyGame, AnyTable, Ask, Command
from service.ids import new_id
from service.referee import Create, Referee, Sit, named_by
from service.streams import Stored, table_stream

SEED = bytes(32)
"""What the tables are dealt from that are played in memory alone."""


class Move(NamedTuple):
    """A command in a match: the table it meets, who gives it, and the body."""

    version: int
    by: By
    command: Command


class Match(NamedTuple):
    """A whole match: its stream, its entries and its moves."""

    stream: str
    entries: list[Stored]
    moves: list[Move]


class Local:
    """A table folded in memory, by the decisions that the service itself would make."""

    def __init__(self, game: AnyGame, table: str) -> None:
        """Begin a table of this game with this id."""
        self.table: AnyTable = Table(id=table)
        self.entries: list[Stored] = []
        self._game = game
        self._referee = Referee()

    def create(self, host: str, command: Create) -> None:
        """Open the table."""
        by = By(role="host", player=host)
        self._store(by, command, self._referee.create(self._game, self.table, Ask(by, command, 0), SEED))

    def adopt(self, entries: list[Stored]) -> None:
        """Take what has happened elsewhere."""
        for stored in entries:
            self._add(stored)

    def decide(self, by: By, command: Command) -> None:
        """Let a command happen."""
        self._store(by, command, self._referee.decide(self._game, self.table, Ask(by, command, 0)))

    def _store(self, by: By, command: Command, events: tuple[Event, ...]) -> None:
        draft = Draft(self.table.at, named_by(by, events), command, events)
        self._add(entry_after(table_stream(self.table.id), self.table, draft, None))

    def _add(self, stored: Stored) -> None:
        self.entries.append(stored)
        fold.add(self._game.projection, self.table, self._game.projection.decode(stored.e), stored.h)


def play(game: AnyGame, rng: random.Random, longest: int = 10_000) -> Match:
    """Play a match of random legal commands to its end, or to a version where it has none."""
    local = Local(game, new_id(rng.randbytes))
    people = [new_id(rng.randbytes) for _ in range(game.seats.usual)]
    options = msgspec.to_builtins(game.projection.options())
    local.create(
        people[0], Create(game=game.name, ruleset=game.ruleset, seats=len(people), options=options, start="full")
    )
    for seat, person in enumerate(people):
        local.decide(By(player=person), Sit(seat=seat))
    moves = []
    while local.table.to_act and local.table.version < longest:
        seat = local.table.to_act[0]
        move = Move(
            local.table.version, By(seat=seat, player=people[seat]), rng.choice(legal_now(game, local.table, seat))
        )
        moves.append(move)
        local.decide(move.by, move.command)
    return Match(table_stream(local.table.id), local.entries, moves)
