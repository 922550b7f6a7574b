"""Tables of the toy that the referee brings about command by command, with a chance that shuffles nothing."""

from collections.abc import Sequence
from typing import Literal, TypeVar

from msgspec import to_builtins

from events.base import By, Decision, Event
from projections import fold
from projections.table import Table
from service.chance import Shuffles
from service.game import AnyTable, Ask, Command
from service.referee import Create, Referee, Sit, Start, by_of
from tests.toy.events.toy import Options
from tests.toy.service.toy import GAME

T = TypeVar("T")
Said = tuple[str, Command]

SEED = bytes(range(32))


class Printed(Shuffles):
    """Chance that leaves every pack in its printed order: the lowest seat comes first and is dealt R1 to R7."""

    def shuffle(self, pack: Sequence[T], c: int) -> tuple[T, ...]:  # noqa: ARG002 whichever shuffle it is
        """Return the pack as it is."""
        return tuple(pack)


REFEREE = Referee(lambda _: Printed())


def create(seats: int = 3, *, start: Literal["full", "host"] = "host", bots: int = 0, **chosen: str | bool) -> Create:
    """Return the command that opens a table of the toy, its options the usual ones but for those chosen."""
    options = to_builtins(Options()) | chosen
    return Create(game="toy", ruleset="toy/1", seats=seats, options=options, start=start, bots=("anyone/1",) * bots)


def opened(command: Create) -> tuple[Event, ...]:
    """Return what opening a table makes happen; Hal is the host."""
    return REFEREE.create(GAME, Table(id="a"), Ask(By(role="host", player="hal"), command, 1), SEED)


def add(table: AnyTable, events: tuple[Event, ...], by: By = By(), at: int = 1) -> None:  # noqa: B008 it is frozen
    """Fold one more decision."""
    fold.add(GAME.projection, table, Decision(table.version + 1, at, by, "", events), b"")


def say(table: AnyTable, who: str, command: Command, at: int = 1) -> tuple[Event, ...]:
    """Have somebody give a command; return what it made happen, which deciding it did not."""
    by = by_of(table, who, command)
    before = repr(table)
    events = REFEREE.decide(GAME, table, Ask(by, command, at))
    assert repr(table) == before
    add(table, events, by, at)
    return events


def table_of(command: Create, *said: Said) -> AnyTable:
    """Return a table after these commands."""
    table: AnyTable = Table(id="a")
    add(table, opened(command))
    for who, commanded in said:
        say(table, who, commanded)
    return table


ADA, BOB, CY = (("ada", Sit()), ("bob", Sit()), ("cy", Sit()))
START: Said = ("hal", Start())
PLAYED = (ADA, BOB, CY, START)
