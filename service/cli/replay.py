"""A table's log in words, decision by decision: from the store as its operator sees it, or as one seat does.

From the store everything is shown that has ever been sealed or hidden; over HTTP, what the token's player may see.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw
from rich.console import Console
from rich.markup import escape

from events.base import Decision, Entry, Event
from events.table import Created, Ended, SeatLeft, SeatTaken, TableEvent
from projections import fold
from service.auth.accounts import Accounts
from service.cli.client import Client, Refusal
from service.cli.games import found
from service.cli.opened import opened
from service.cli.sentences import Failed, Unusable, say
from service.errors import Damaged, NotFound
from service.game import AnyGame
from service.games import Games
from service.ids import is_id
from service.log import Log
from service.settings import Place
from service.streams import Stored, check_chain, table_stream
from service.words import Names, Words

Shown = Entry[Raw, Event] | Decision[Event]

_raw_entry = msgspec.json.Decoder(Entry[Raw, Raw])
_created = msgspec.json.Decoder(Created)


class Told(NamedTuple):
    """A table's decisions as somebody may see them, and what its players are called."""

    game: AnyGame
    decisions: Sequence[Shown]
    called: Mapping[str, str]


class Source(NamedTuple):
    """A server, and the tokens given for it: exactly one is needed."""

    url: str
    tokens: Sequence[str]


def from_store(place: Place, table: str, seat: int | None, modules: Sequence[str]) -> None:
    """Print a table of the store, as its operator sees it or as a seat does; raise Unusable or Failed."""
    told = asyncio.run(_from_store(place, _id_of(table), seat, found(modules)))
    if seat is None and not _has_ended(told.decisions):
        say("WARNING: The table has not ended, and this shows its seed and every hand; --seat shows what a seat sees.")
    _print(told)


def from_server(source: Source, table: str, seat: int | None, modules: Sequence[str]) -> None:
    """Print a table of a server, as the token's player sees it; raise Unusable or Failed."""
    if seat is not None:
        raise Unusable("A server shows what the token's player may see: --seat is for the store")
    if len(source.tokens) != 1:
        raise Unusable("A server shows a table to a player: give one token with --token")
    try:
        told = asyncio.run(_from_server(source, _id_of(table), found(modules)))
    except Refusal as refusal:
        raise Failed(f"The server refuses: {refusal.detail}") from refusal
    _print(told)


def _id_of(table: str) -> str:
    id_ = table.removeprefix("table:")
    if not is_id(id_):
        raise Unusable(f"{table!r} is not the id of a table: 26 lower-case letters and digits")
    return id_


async def _from_store(place: Place, table: str, seat: int | None, known: Games) -> Told:
    async with opened(place, "evenfold replay") as redis:
        log = Log(redis)
        try:
            entries = [stored async for stored in _pages(log, table_stream(table))]
            check_chain(table_stream(table), 0, b"", entries)
        except Damaged as damage:
            raise Failed(f"The log of the table is damaged: {damage}.") from None
        finally:
            await log.close()
        if not entries:
            raise Unusable(f"The store has no table {table}")
        created = _created.decode(_raw_entry.decode(entries[0].e).events[0])
        game = _game(known, created.ruleset)
        if seat is not None and seat >= created.seats:
            raise Unusable(f"The table has the seats 0 to {created.seats - 1}, not {seat}")
        projection = game.projection
        whole = [(projection.decode(stored.e), stored.h) for stored in entries]
        decisions: list[Shown] = [
            entry if seat is None else fold.decision(projection, entry, head, seat) for entry, head in whole
        ]
        ids = _players(decisions)
        return Told(game, decisions, await _called(Accounts(redis), ids))


async def _pages(log: Log, stream: str) -> AsyncIterator[Stored]:
    after = 0
    while page := await log.read(stream, after):
        for stored in page:
            yield stored
        after = page[-1].version


async def _called(accounts: Accounts, ids: Iterable[str]) -> dict[str, str]:
    """Return the names of players; an account that was erased is called by its id."""
    called = {}
    for player in ids:
        try:
            called[player] = _bot_name(player) or (await accounts.find(player)).name
        except NotFound:
            called[player] = player
    return called


async def _from_server(source: Source, table: str, known: Games) -> Told:
    async with Client(source.url, source.tokens[0], patience_s=0) as client:
        path, view = await _path_and_view(client, table)
        game = _game(known, view["ruleset"])
        decoder = msgspec.json.Decoder(Decision[TableEvent | game.projection.events])  # type: ignore[name-defined] # a union known at run time
        lines = (await client.lines(f"{path}/events")).splitlines()
        decisions: list[Shown] = [decoder.decode(line) for line in lines]
        ids = _players(decisions)
        called = {player: name for player in ids if (name := _bot_name(player))}
        called |= await client.names([player for player in ids if player not in called])
        return Told(game, decisions, called)


async def _path_and_view(client: Client, table: str) -> tuple[str, dict[str, Any]]:
    """Return the path and view of a table, whichever game it plays."""
    for game in (await client.get("/v1/games"))["games"]:
        path = f"/v1/{game['game']}/tables/{table}"
        view = await client.find(path)
        if view is not None:
            return path, view
    raise Unusable(f"The server has no table {table}")


def _game(known: Games, ruleset: str) -> AnyGame:
    try:
        return known.ruled(ruleset)
    except KeyError:
        raise Unusable(f"The ruleset {ruleset} is not known here; name its module with --games") from None


def _players(decisions: Iterable[Shown]) -> list[str]:
    """Return everybody whom the log names, each once."""
    named: dict[str, None] = {}
    for decision in decisions:
        if decision.by.player is not None:
            named[decision.by.player] = None
        for event in decision.events:
            match event:
                case Created():
                    named[event.host] = None
                case SeatTaken(_, player):
                    named[player] = None
                case _:
                    pass
    return list(named)


def _has_ended(decisions: Iterable[Shown]) -> bool:
    return any(isinstance(event, Ended) for decision in decisions for event in decision.events)


def _bot_name(player: str) -> str | None:
    """Return what a bot is called, `anyone#2` for `bot:anyone/1#2`; None for an account."""
    if not player.startswith("bot:"):
        return None
    name, _, seat = player.removeprefix("bot:").partition("#")
    return f"{name.partition('/')[0]}#{seat}"


def _print(told: Told) -> None:
    console = Console(soft_wrap=True, highlight=False, emoji=False)
    for line in _lines(told):
        console.print(line)


def _lines(told: Told) -> Iterator[str]:
    """Yield a line a decision (version, UTC, who), and an indented one for each of its events."""
    words = Words(told.game)
    seats: list[str] = []
    players = _distinct(told.called)
    for decision in told.decisions:
        for event in decision.events:
            _seat(event, seats, players, words)
        names = Names(seats, players)
        at = datetime.fromtimestamp(decision.at / 1000, UTC)
        who = escape(words.who(decision.by, names))
        yield f"[bold]{decision.version:>5}[/]  {at:%Y-%m-%d %H:%M:%S}.{decision.at % 1000:03}  [bold]{who}[/]"
        for event in decision.events:
            first, *entries = words.tell(event, names)
            yield f"       {escape(first)}"
            for entry in entries:
                yield f"         {escape(entry)}"


def _seat(event: Event, seats: list[str], players: Mapping[str, str], words: Words) -> None:
    """Keep up who sits where; a free seat is called by its number."""
    match event:
        case Created():
            seats[:] = [words.say("seat", {"number": number}) for number in range(event.seats)]
        case SeatTaken(seat, player):
            seats[seat] = players.get(player, player)
        case SeatLeft(seat):
            seats[seat] = words.say("seat", {"number": seat})
        case _:
            pass


def _distinct(called: Mapping[str, str]) -> dict[str, str]:
    """Return the names, those that several players have with the beginning of their ids."""
    often = Counter(called.values())
    return {player: name if often[name] == 1 else f"{name} ({player[:6]})" for player, name in called.items()}
