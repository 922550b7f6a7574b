"""Lobbies for tests: tables of all games that come and go, and what is wanted of them by a plain look at each."""

import asyncio
from dataclasses import dataclass, field
from random import Random
from typing import Any

import msgspec
from msgspec.structs import replace

from projections.lobby import Summary
from projections.table import SeatView
from service.ids import new_id
from service.lobby import Filter, Lobby
from tests.laws.setups import GAMES, values_of

BOT = "anyone/1"
FEW = 4
"""How many people there are, so that several of them are at the same table, and one of them at several."""


@dataclass
class House:
    """Tables of all games, to which something happens again and again; `now` has all that ever were, as they are."""

    chance: Random
    people: list[str] = field(default_factory=list)
    now: dict[str, Summary] = field(default_factory=dict)
    at: int = 1_000

    def __post_init__(self) -> None:
        self.people = [new_id(self.chance.randbytes) for _ in range(FEW)]

    @property
    def live(self) -> list[Summary]:
        """The tables that have not ended, in the order of the lobby."""
        live = [summary for summary in self.now.values() if summary.status != "ended"]
        return sorted(live, key=lambda summary: (summary.created_at, summary.table), reverse=True)

    def move(self) -> Summary:
        """Let something happen to some table; return it as it is then."""
        # Most of it happens at few tables, so that these come to all that can be.
        live = self.live[: self.chance.choice([3, 3, 3, None])]
        changed = self._changed(self.chance.choice(live)) if live and self.chance.random() < 0.8 else self.opened()
        self.now[changed.table] = changed
        return changed

    def ended(self, summary: Summary) -> Summary:
        """End a table."""
        self.now[summary.table] = replace(summary, status="ended", version=summary.version + 1)
        return self.now[summary.table]

    def opened(self) -> Summary:
        """Return a table that is new, of which nobody but the asker knows."""
        chance, game = self.chance, self.chance.choice([*GAMES])
        # Several tables are opened at the same moment.
        self.at += chance.choice([0, 0, 1])
        options = msgspec.to_builtins(game.projection.options())
        options |= {name: chance.choice(values) for name, values in values_of(game).items() if chance.random() < 0.3}
        seats = tuple(SeatView(seat, None, None, resigned=False) for seat in range(chance.randint(2, game.seats.most)))
        return Summary(
            game=game.name,
            table=new_id(chance.randbytes),
            ruleset=game.ruleset,
            status="open",
            options=options,
            seats=seats,
            host=chance.choice(self.people),
            start=chance.choice(["full", "host"]),
            created_at=self.at,
            started_at=None,
            version=1,
        )

    def _changed(self, summary: Summary) -> Summary:
        chance = self.chance
        changed = replace(summary, version=summary.version + chance.randint(1, 3))
        what = chance.random()
        if what < 0.1 and changed.started_at is not None:
            return replace(changed, status="playing" if changed.status == "paused" else "paused")
        if what < 0.2:
            return replace(changed, status="ended")
        taken = [seat for seat in changed.seats if seat.player is not None]
        in_play = changed.status in {"playing", "paused"}
        if in_play and taken:
            return _seated(changed, replace(chance.choice(taken), resigned=True))
        seat = chance.choice(changed.seats)
        if what < 0.3 or in_play:
            return replace(changed, status="playing", started_at=self.at)
        if seat.player is not None:
            return _seated(changed, SeatView(seat.seat, None, None, resigned=False))
        if chance.random() < 0.3:
            return _seated(changed, SeatView(seat.seat, f"bot:{BOT}#{seat.seat}", BOT, resigned=False))
        return _seated(changed, SeatView(seat.seat, chance.choice(self.people), None, resigned=False))


def _seated(summary: Summary, view: SeatView) -> Summary:
    return replace(summary, seats=(*summary.seats[: view.seat], view, *summary.seats[view.seat + 1 :]))


@dataclass
class Wish:
    """What somebody asks for, as the parameters of a request have it; None for any."""

    game: str | None = None
    status: Any = None
    started: bool | None = None
    open_seats: int | None = None
    host: str | None = None
    player: str | None = None
    options: list[tuple[str, Any]] = field(default_factory=list)

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """The query that asks for it."""
        named = {
            "game": self.game,
            "status": self.status,
            "started": self.started,
            "open_seats": self.open_seats,
            "host": self.host,
            "player": self.player,
        }
        plain = ((name, _written(value)) for name, value in named.items() if value is not None)
        return (*plain, *(("option", f"{name}:{_written(value)}") for name, value in self.options))

    @property
    def filter(self) -> Filter:
        """The same for the lobby itself."""
        by_name: dict[str, set[Any]] = {}
        for name, value in self.options:
            by_name.setdefault(name, set()).add(value)
        options = {name: frozenset(values) for name, values in by_name.items()}
        seats = self.open_seats or 0
        return Filter(self.game, self.status, self.started, seats, self.host, self.player, options)

    def is_met(self, summary: Summary) -> bool:
        """Tell whether a table is one of those asked for."""
        if self.game is not None and summary.game != self.game:
            return False
        free = sum(seat.player is None for seat in summary.seats) if summary.status == "open" else 0
        sitting = {seat.player for seat in summary.seats if not seat.resigned}
        for name in {name for name, _ in self.options}:
            values = [value for other, value in self.options if other == name]
            if not any(summary.options[name] == value for value in values):
                return False
        return not (
            summary.status == "ended"
            or (self.status is not None and summary.status != self.status)
            or (self.started is not None and (summary.status != "open") is not self.started)
            or (self.open_seats is not None and free < self.open_seats)
            or (self.host is not None and summary.host != self.host)
            or (self.player is not None and self.player not in sitting)
        )


def _written(value: Any) -> str:  # noqa: ANN401 any value
    return str(value).lower() if isinstance(value, bool) else str(value)


def wished(house: House) -> Wish:
    """Draw what somebody may ask for."""
    chance = house.chance

    def perhaps(value: Any, odds: float = 0.25) -> Any:  # noqa: ANN401 any value
        return value if chance.random() < odds else None

    game = perhaps(chance.choice([*GAMES]), 0.5)
    wish = Wish(
        game=None if game is None else game.name,
        status=perhaps(chance.choice(["open", "playing", "paused"])),
        started=perhaps(chance.random() < 0.5, 0.15),
        open_seats=perhaps(chance.randint(0, 4)),
        host=perhaps(chance.choice(house.people)),
        player=perhaps(chance.choice(house.people)),
    )
    if game is not None and chance.random() < 0.5:
        every = [(name, value) for name, values in values_of(game).items() for value in values]
        usual = [*msgspec.to_builtins(game.projection.options()).items()]
        wish.options = chance.sample(usual, min(2, len(usual))) + chance.sample(every, min(2, len(every)))
    return wish


async def put(lobby: Lobby, *summaries: Summary) -> None:
    """List tables as whoever has just looked at them does; of one that comes several times the newest counts."""
    generation = (await lobby.find(summaries[0].table)).generation
    for answer in await asyncio.gather(*(lobby.put(summary, generation) for summary in summaries)):
        assert answer.outcome == "put" or (answer.outcome == "newer" and len(summaries) > 1)
