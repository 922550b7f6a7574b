"""Matches for the laws: tables driven through the referee by seeded players, and kept as a store would keep them.

Nothing here touches a store: an entry is encoded byte by byte as the log does it, and every law reads these bytes.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import NamedTuple

import msgspec
from msgspec import Raw

from events.base import By, Decision, Entry, Event
from events.table import Ended, Seeded, Started, TableEvent
from projections import fold
from projections.table import Table
from service.game import REASONS, AnyGame, AnyTable, Ask, Command, Refused
from service.ids import new_id, new_salt
from service.referee import NEUTRAL, Create, Leave, Referee, Resign, Sit, Start
from service.streams import Stored, genesis, head_after
from tests.laws.contesting import contest, disputes, kind_of
from tests.laws.setups import Setup, game_of
from tests.sizes import FULL

_encode = msgspec.json.Encoder().encode

# What stands for the arbiter where seats stand for people, and how often who contests what has ended is heard.
ARBITER = -1
AFTERWARDS = 8


def account(name: str) -> str:
    """Return the id of an account that begins with a name, of letters and digits that ids have."""
    return name.ljust(26, "0")


HOST, JUDGE = account("h0st"), account("arb1ter")

# How many seeds are tried for a setup.
SEEDS = 1 if FULL else 6


@dataclass(frozen=True)
class Match:
    """A match as it was decided: its game, its stream, its entries as stored, and the events before they were."""

    game: AnyGame
    table: str
    stored: tuple[Stored, ...]
    decided: tuple[tuple[Event, ...], ...]
    setup: Setup

    @property
    def seats(self) -> range:
        """The numbers of the seats."""
        return range(self.setup.seats)

    @property
    def taken(self) -> tuple[int, ...]:
        """The numbers of the seats with which play started; none where it did not."""
        return next((event.seats for events in self.decided for event in events if isinstance(event, Started)), ())

    @property
    def viewers(self) -> tuple[int | None, ...]:
        """Every seat, and None for the spectator."""
        return (None, *self.seats)

    def empty(self) -> AnyTable:
        """Return the table before its first entry."""
        return Table(id=self.table)

    def entries(self) -> list[Entry[Raw, Event]]:
        """Read every entry."""
        return [self.game.projection.decode(stored.e) for stored in self.stored]

    def at(self, version: int) -> AnyTable:
        """Return the table at a version."""
        table = self.empty()
        for entry, stored in zip(self.entries()[:version], self.stored, strict=False):
            fold.add(self.game.projection, table, entry, stored.h)
        return table

    def versions(self) -> Iterator[tuple[AnyTable, Entry[Raw, Event], Stored]]:
        """Yield the table at each version, folded in place, with the entry that led to it."""
        table = self.empty()
        for entry, stored in zip(self.entries(), self.stored, strict=True):
            fold.add(self.game.projection, table, entry, stored.h)
            yield table, entry, stored

    def steps(self) -> Iterator[tuple[AnyTable, Entry[Raw, Event], Stored]]:
        """Yield the table before each entry, folded in place once the caller is done, with the entry."""
        table = self.empty()
        for entry, stored in zip(self.entries(), self.stored, strict=True):
            yield table, entry, stored
            fold.add(self.game.projection, table, entry, stored.h)

    def command(self, entry: Entry[Raw, Event]) -> Command:
        """Read the command of an entry."""
        command: Command = msgspec.json.decode(entry.command, type=NEUTRAL | self.game.commands)
        return command

    def again(self, table: AnyTable, entry: Entry[Raw, Event]) -> tuple[Event, ...]:
        """Decide the command of an entry once more, on the table before it."""
        command = self.command(entry)
        ask = Ask(entry.by, command, entry.at)
        if isinstance(command, Create):
            return Referee().create(self.game, table, ask, self.seed)
        return Referee().decide(self.game, table, ask)

    def redacted(self, entry: Entry[Raw, Event], head: bytes, viewer: int | None) -> bytes:
        """Write an entry as this viewer gets it over the wire."""
        return _encode(fold.decision(self.game.projection, entry, head, viewer))

    def received(self, wire: bytes) -> Decision[Event]:
        """Read a decision as a client does."""
        return msgspec.json.decode(wire, type=Decision[TableEvent | self.game.projection.events])  # type: ignore[name-defined] # a union known at run time

    def view(self, table: AnyTable, viewer: int | None) -> bytes:
        """Write the table as this viewer may see it."""
        return _encode(self.game.projection.view(table, viewer))

    @property
    def seed(self) -> bytes:
        """The seed of all the match's shuffles."""
        (seed,) = (event.seed for event in self.decided[0] if isinstance(event, Seeded))
        return bytes.fromhex(seed or "")


class Asked(NamedTuple):
    """A command, and who gives it."""

    by: By
    command: Command


@dataclass
class Driver:
    """Plays one match to its end or to its length."""

    setup: Setup
    game: AnyGame
    random: Random
    table: AnyTable
    referee: Referee = field(default_factory=Referee)
    stored: list[Stored] = field(default_factory=list)
    decided: list[tuple[Event, ...]] = field(default_factory=list)
    given: Counter[object] = field(default_factory=Counter)
    afterwards: int = 0

    @property
    def by_host(self) -> bool:
        """Whether the host seats the bots and starts play."""
        return self.setup.untaken > 0

    def player(self, seat: int | None) -> str:
        """Return the id of who will sit on a seat, None for the host, and of the arbiter."""
        return {None: HOST, ARBITER: JUDGE}.get(seat, account(f"p1ayer{seat}"))

    def key(self, by: By) -> str | None:  # noqa: ARG002 others go by who asks
        """Return the hash that the next decision is remembered by, None for none."""
        return None

    def play(self) -> Match:
        """Open the table, seat everybody, and give commands while somebody may act."""
        self.create()
        for sitting in self.sittings():
            self.decide(sitting)
        while self.goes_on() and self.table.version < self.setup.longest:
            self.decide(self.move())
        return self.kept()

    def goes_on(self) -> bool:
        """Tell whether somebody may act, or may still contest what has ended."""
        if self.table.status != "ended":
            return True
        self.afterwards += 1
        has_people = any(player is not None and player.bot is None for player in self.table.players)
        return bool(self.setup.contest) and has_people and self.afterwards <= AFTERWARDS

    def kept(self) -> Match:
        """Return the match as far as it has come."""
        return Match(self.game, self.table.id, tuple(self.stored), tuple(self.decided), self.setup)

    def create(self) -> None:
        """Open the table."""
        setup = self.setup
        command = Create(
            game=setup.game,
            ruleset=self.game.ruleset,
            seats=setup.seats,
            options=msgspec.to_builtins(setup.options),
            start="host" if self.by_host else "full",
            bots=() if self.by_host else ("anyone/1",) * setup.bots,
        )
        by = By(role="host", player=self.player(None))
        ask = Ask(by, command, self._later())
        seed = self.random.randbytes(32)
        self._keep(ask, self.referee.create(self.game, self.table, ask, seed))

    def sittings(self) -> Iterator[Asked]:
        """Yield people sitting down in any order, one of them twice; the host seats bots, and starts, if need be."""
        setup = self.setup
        people = setup.seats - setup.untaken - setup.bots
        wanted = self.random.sample(range(setup.seats - (0 if self.by_host else setup.bots)), people)
        for place, seat in enumerate(wanted):
            player, nonce = self.player(seat), f"nonce-{self.random.randrange(10**6)}"
            if place == 0 and people > 1:
                yield Asked(By(seat=seat, player=player), Sit(seat=seat, nonce="fickle"))
                yield Asked(By(seat=seat, player=player), Leave())
            yield Asked(By(seat=seat, player=player), Sit(seat=seat, nonce=nonce))
        if self.by_host:
            host = By(role="host", player=self.player(None))
            for _ in range(setup.bots):
                yield Asked(host, Sit(bot="anyone/1"))
            yield Asked(host, Start())

    def move(self) -> Asked:
        """Choose what somebody does who may do something."""
        people = [seat for seat in self.table.taken if self.is_person(seat)]
        if self.table.status != "ended" and people and self.random.random() < self.setup.resigning:
            return self.of(self.random.choice(people), Resign())
        if self.table.status != "playing" or (self.setup.contest and self.random.random() < self.setup.contest):
            return self.contest()
        unasked = [seat for seat in people if seat not in self.table.to_act and self.may_act(seat)]
        if unasked and self.random.random() < 1 / 2:
            seat = self.random.choice(unasked)
            return self.of(seat, self._some(list(self.game.legal(self.table.play, seat))))
        seat = self.random.choice(self.table.to_act)
        if self.random.random() < self.setup.silence:
            return self.of(seat, self.game.idle(self.table.play, seat))
        return self.of(seat, self._some(list(self.game.legal(self.table.play, seat))))

    def _some(self, legal: list[Command]) -> Command:
        """Choose a command of the type that has been given least so far: what can be done seldom is done."""
        kinds = list(dict.fromkeys(map(type, legal)))
        self.random.shuffle(kinds)
        kind = min(kinds, key=self.given.__getitem__)
        self.given[kind] += 1
        return self.random.choice([command for command in legal if type(command) is kind])

    def contest(self) -> Asked:
        """Choose what somebody does about a dispute, of the kind that was done least so far."""
        judge = By(role="arbiter", player=self.player(ARBITER))
        rulings = ((judge, command) for command in contest(self.game, self.table, self.random))
        possible = [*disputes(self.table, self.random), *rulings]
        self.random.shuffle(possible)
        by, command = min(possible, key=lambda asked: self.given[kind_of(asked[1])])
        self.given[kind_of(command)] += 1
        return Asked(by, command)

    def may_act(self, seat: int) -> bool:
        """Tell whether a seat may do something, prompted or not."""
        return any(True for _ in self.game.legal(self.table.play, seat))

    def is_person(self, seat: int) -> bool:
        """Tell whether a person sits there who has not given up."""
        player = self.table.players[seat]
        return player is not None and player.bot is None and seat not in self.table.resigned

    def of(self, seat: int, command: Command) -> Asked:
        """Return a command as the player of a seat gives it."""
        player = self.table.players[seat]
        assert player is not None
        return Asked(By(seat=seat, player=player.id), command)

    def decide(self, asked: Asked) -> None:
        """Decide a command, and keep what it makes happen."""
        ask = Ask(asked.by, asked.command, self._later())
        self._keep(ask, self.referee.decide(self.game, self.table, ask))

    def _keep(self, ask: Ask, events: tuple[Event, ...]) -> None:
        stream = f"table:{self.table.id}"
        entry = Entry(
            log=1,
            stream=stream,
            version=self.table.version + 1,
            at=ask.at,
            by=ask.by,
            command=ask.command,
            cause=None,
            key=self.key(ask.by),
            salt=new_salt(self.random.randbytes),
            events=events,
        )
        e = _encode(entry)
        h = head_after(self.table.head or genesis(stream), e)
        self.stored.append(Stored(entry.version, e, h))
        self.decided.append(events)
        fold.add(self.game.projection, self.table, entry, h)

    def _later(self) -> int:
        return self.table.at + self.random.randrange(3) * 997 if self.table.at else 1_700_000_000_000


def play(setup: Setup, game: AnyGame | None = None) -> Match:
    """Play a match; the same setup gives the same match, byte for byte."""
    random = Random(repr(setup))
    return Driver(setup, game or game_of(setup), random, Table(id=new_id(random.randbytes))).play()


@lru_cache(maxsize=4)
def played(setup: Setup) -> Match:
    """Return the match of a setup; laws that follow one another read the same one.

    It is the one of a few, which differ by their seeds, in which most kinds of things happen: few matches must do.
    """
    return max((play(setup._replace(seed=setup.seed + 1_000 * more)) for more in range(SEEDS)), key=_variety)


def _variety(match: Match) -> int:
    return len({type(event) for events in match.decided for event in events})


def has_ended(match: Match) -> bool:
    """Tell whether a match came to its end."""
    return any(isinstance(event, Ended) for events in match.decided for event in events)


def outcome(match: Match, table: AnyTable, ask: Ask) -> tuple[Event, ...] | str:
    """Return what the referee decides, or the reason for which it refuses: one of the closed list."""
    try:
        return Referee().decide(match.game, table, ask)
    except Refused as refused:
        reason = refused.reason
    assert reason in {**REASONS, **match.game.reasons}, f"{reason} is on no list, but refuses {ask.command}"
    return reason


def asked_by(table: AnyTable, seat: int, command: Command) -> Ask:
    """Return a command as the player of a seat gives it at this moment; of an untaken seat nobody does."""
    player = table.players[seat]
    return Ask(By(seat=seat, player=player.id if player is not None else None), command, table.at)
