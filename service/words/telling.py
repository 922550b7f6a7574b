"""A table told decision by decision: as lines of a language, by the names that people there go by.

Events name seats and ids. Who sits where is kept up as decisions pass; what people are called is looked up by whoever
has them told, for names live beside the log.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple, TypeAlias

from msgspec import Raw

from events.base import Decision, Entry, Event
from events.table import Created, SeatLeft, SeatTaken
from service.words import Names, Words

Shown: TypeAlias = Entry[Raw, Event] | Decision[Event]
"""A decision as it is stored, or as somebody may see it."""


class Step(NamedTuple):
    """A decision in words: its version, when (UTC ms), who asked for it, and of each event its lines."""

    version: int
    at: int
    who: str
    told: tuple[tuple[str, ...], ...]

    @property
    def moment(self) -> str:
        """When it was, in UTC: `2026-01-31 20:15:00.123`."""
        return f"{datetime.fromtimestamp(self.at / 1_000, UTC):%Y-%m-%d %H:%M:%S}.{self.at % 1_000:03}"

    @property
    def lines(self) -> tuple[str, ...]:
        """What is told, line by line."""
        return tuple(line for lines in self.told for line in lines)

    def plain(self) -> Iterator[str]:
        """Yield it as plain text: a line that heads it, one an event, and one an entry of an event's lists."""
        yield f"{self.version:>5}  {self.moment}  {self.who}"
        for first, *entries in self.told:
            yield f"       {first}"
            yield from (f"         {entry}" for entry in entries)


class Teller:
    """Tells the decisions of one table in their order."""

    def __init__(self, words: Words, called: Mapping[str, str], seated: Sequence[str | None] = ()) -> None:
        """Tell in these words.

        `called` is what people are called by their ids; whom it does not name goes by the id. `seated` is who sits
        where before the first decision that is told, by id, None where nobody does; nothing for a table's first one.
        """
        self._words = words
        self._called = distinct(called)
        self._seated = list(seated)

    @property
    def seated(self) -> tuple[str | None, ...]:
        """Who sits where after the last decision that was told."""
        return tuple(self._seated)

    def tell(self, decision: Shown) -> Step:
        """Tell the decision that follows."""
        for event in decision.events:
            self._keep_up(event)
        names = Names([self._name(number, player) for number, player in enumerate(self._seated)], self._called)
        told = tuple(tuple(self._words.tell(event, names)) for event in decision.events)
        return Step(decision.version, decision.at, self._words.who(decision.by, names), told)

    def _keep_up(self, event: Event) -> None:
        match event:
            case Created():
                self._seated = [None] * event.seats
            case SeatTaken(seat, player):
                self._seated[seat] = player
            case SeatLeft(seat):
                self._seated[seat] = None
            case _:
                pass

    def _name(self, seat: int, player: str | None) -> str:
        """Return what a seat is called: by its player, a free one by its number."""
        return self._words.say("seat", {"number": seat}) if player is None else self._called.get(player, player)


def named_in(decisions: Iterable[Shown]) -> list[str]:
    """Return everybody whom decisions name, each once."""
    named: dict[str, None] = {}
    for decision in decisions:
        if decision.by.player is not None:
            named[decision.by.player] = None
        for event in decision.events:
            match event:
                case Created():
                    named[event.host] = None
                case SeatTaken(_, player) | SeatLeft(_, player):
                    named[player] = None
                case _:
                    pass
    return list(named)


def bots_called(players: Iterable[str]) -> dict[str, str]:
    """Return what those of these players are called that are bots: `anyone#2` for `bot:anyone/1#2`."""
    called = {}
    for player in players:
        if player.startswith("bot:"):
            name, _, seat = player.removeprefix("bot:").partition("#")
            called[player] = f"{name.partition('/')[0]}#{seat}"
    return called


def distinct(called: Mapping[str, str]) -> dict[str, str]:
    """Return the names, those that several players have with the beginning of their ids."""
    often = Counter(called.values())
    return {player: name if often[name] == 1 else f"{name} ({player[:6]})" for player, name in called.items()}
