"""How the matches of golden logs are played: each by a script, with a seed that decides everything it leaves open.

The first deal is played by all; then most people resign, so that the rest of a match is short. What still has not come
up then is looked for in matches in which all stay. The same script gives the same bytes at any time and on any machine:
ids, salts, moments and keys are drawn too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from msgspec.structs import replace

from events.base import By
from events.table import Scored
from projections.table import Table
from service.game import AnyGame, AnyTable
from service.ids import new_id
from service.referee import Abandon, Resign
from tests.laws.matches import Asked, Driver, Match
from tests.laws.setups import Setup, covering, game_of, is_endless

# After how many decisions a match is left: one without end, one that may end, and one that is played for what comes
# late in a match and seldom.
LEFT = 60
SHORT = 150
LONG = 480

# The odds that what happens next is something about a dispute.
CONTEST = 0.2


class Script(NamedTuple):
    """How a match is played: its name, its setup, and what people do.

    `hosted`: the host seats the bots and starts. `staying`: so many people play on after the first deal; with none the
    match ends there, with None it is abandoned before play.
    """

    name: str
    setup: Setup
    hosted: bool
    staying: int | None


@dataclass
class Actors(Driver):
    """Whoever plays a script."""

    hosted: bool = False
    staying: int = 1

    @property
    def by_host(self) -> bool:
        """Whether the host seats the bots and starts play."""
        return self.hosted

    def player(self, seat: int | None) -> str:
        """Return an account's id."""
        return new_id(Random(f"{self.setup} {seat}").randbytes)

    def key(self, by: By) -> str | None:
        """Return what a person's command is remembered by, half the time."""
        named = not (by.player or "").startswith("bot:") and self.random.random() < 1 / 2
        return self.random.randbytes(32).hex() if named else None

    def move(self) -> Asked:
        """Resign after the first deal, all but those who stay; name the turn half the time."""
        people = [seat for seat in self.table.taken if self.is_person(seat)]
        too_many = len(people) > self.staying and self.table.status != "ended"
        if too_many and any(isinstance(e, Scored) for events in self.decided for e in events):
            return self.of(people[0], Resign())
        asked = super().move()
        turn = self.table.turn if self.random.random() < 1 / 2 else None
        return asked._replace(command=replace(asked.command, turn=turn))

    def abandon(self) -> Match:
        """Open the table, seat some, and abandon it."""
        self.create()
        for sitting in [*self.sittings()][:-1]:
            self.decide(sitting)
        self.decide(Asked(By(role="host", player=self.player(None)), Abandon()))
        return self.kept()


def scripts(game: AnyGame, seed: int) -> Iterator[Script]:
    """Yield the scripts of a game: every value of every option, every way in which a table begins and ends."""
    seats = game.seats
    usual = Setup(game.name, game.projection.options(), seats.usual, 1, 0, seed, 0.3, 0.0, SHORT)
    for number, options in enumerate(covering(game, 1), 1):
        longest = LEFT if is_endless(game.name, options) else SHORT
        yield Script(f"options-{number}", usual._replace(options=options, longest=longest), hosted=False, staying=1)
    untaken = seats.most - max(seats.least, 3)
    yield Script("hosted", usual._replace(seats=seats.most, untaken=max(untaken, 0)), hosted=True, staying=0)
    yield Script("abandoned", usual, hosted=True, staying=None)
    yield Script("contested", usual._replace(contest=CONTEST), hosted=False, staying=seats.usual)
    for number, options in enumerate(covering(game, 2), 1):
        if not is_endless(game.name, options):
            setup = usual._replace(options=options, longest=LONG)
            yield Script(f"all-stay-{number}", setup, hosted=False, staying=seats.usual)


def play(script: Script) -> Match:
    """Play a script; the same script gives the same match, byte for byte."""
    setup, random = script.setup, Random(repr(script))
    table: AnyTable = Table(id=new_id(random.randbytes))
    actors = Actors(setup, game_of(setup), random, table, hosted=script.hosted, staying=script.staying or 0)
    return actors.abandon() if script.staying is None else actors.play()
