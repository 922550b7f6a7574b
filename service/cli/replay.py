"""A table's log in words, decision by decision: from the store as its operator sees it, or as others do.

From the store everything is shown that has ever been sealed or hidden; over HTTP, what the token's player may see: once
the table has ended that is whatever any seat saw.
"""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

import msgspec
from msgspec import Raw
from rich.console import Console
from rich.markup import escape

from events.base import Decision, Entry
from events.table import Created, Ended, TableEvent
from projections import fold
from service.archive import archived
from service.auth.accounts import Accounts
from service.cli.client import Client, Refusal
from service.cli.games import found
from service.cli.opened import opened
from service.cli.sentences import Failed, Unusable, say
from service.errors import ArchiveAway, Damaged
from service.game import AnyGame
from service.games import Games
from service.ids import is_id
from service.log import Log
from service.settings import Place
from service.streams import Stored, check_chain, table_stream
from service.words import ENGLISH, Words, languages
from service.words.telling import Shown, Teller, bots_called, named_in

LOCALES: Final = ("LC_ALL", "LC_MESSAGES", "LANG")
"""Where the environment says which language its user reads: the first that is set counts."""

_raw_entry = msgspec.json.Decoder(Entry[Raw, Raw])
_created = msgspec.json.Decoder(Created)


class Wanted(NamedTuple):
    """What is to be told: a table through some eyes, the decisions after one version and up to another, in a language.

    None is: as whoever asks may see it; to the newest; in the language of the environment.
    """

    table: str
    seat: int | None = None
    after: int = 0
    until: int | None = None
    language: str | None = None
    spectator: bool = False

    @property
    def eyes(self) -> int | Literal["spectator"] | None:
        """Through whose eyes: a seat's, a spectator's, or None for all that whoever asks may see."""
        return "spectator" if self.spectator else self.seat


class Told(NamedTuple):
    """A table's decisions as somebody may see them, and what its players are called."""

    game: AnyGame
    decisions: Sequence[Shown]
    called: Mapping[str, str]


class Source(NamedTuple):
    """A server, and the tokens given for it: exactly one is needed."""

    url: str
    tokens: Sequence[str]


def from_store(place: Place, wanted: Wanted, modules: Sequence[str]) -> None:
    """Print a table of the store, as its operator sees it or as others do; raise Unusable or Failed."""
    told = asyncio.run(_from_store(place, _checked(wanted), found(modules)))
    words = _words(told.game, wanted.language)
    if wanted.eyes is None and not _has_ended(told.decisions):
        say(
            "WARNING: The table has not ended, and this shows its seed and every hand; --seat shows what a seat sees, "
            "--spectator what anybody does."
        )
    _print(told, words, wanted)


def from_server(source: Source, wanted: Wanted, modules: Sequence[str]) -> None:
    """Print a table of a server, as the token's player may see it; raise Unusable or Failed."""
    if len(source.tokens) != 1:
        raise Unusable("A server shows a table to a player: give one token with --token")
    try:
        told = asyncio.run(_from_server(source, _checked(wanted), found(modules)))
    except Refusal as refusal:
        raise Failed(f"The server refuses: {refusal.detail}") from refusal
    _print(told, _words(told.game, wanted.language), wanted)


def of_environment(known: Sequence[str], variables: Mapping[str, str]) -> str:
    """Return the language of these that the environment asks for, as gettext reads it; else English."""
    locale = next((variables[name] for name in LOCALES if variables.get(name)), "")
    if locale.partition(".")[0] in {"", "C", "POSIX"}:
        return ENGLISH
    asked = (*variables.get("LANGUAGE", "").split(":"), locale)
    tags = (re.split(r"[_.@-]", tag)[0].lower() for tag in asked)
    return next((tag for tag in tags if tag in known), ENGLISH)


def _words(game: AnyGame, language: str | None) -> Words:
    known = languages(game)
    if language is None:
        return Words(game, of_environment(known, os.environ))
    if language not in known:
        raise Unusable(f"{game.title} is not told in {language!r}, but in {', '.join(sorted(known))}")
    return Words(game, language)


def _checked(wanted: Wanted) -> Wanted:
    id_ = wanted.table.removeprefix("table:")
    if not is_id(id_):
        raise Unusable(f"{wanted.table!r} is not the id of a table: 26 lower-case letters and digits")
    if wanted.spectator and wanted.seat is not None:
        raise Unusable("A spectator has no seat: give --spectator or --seat, not both")
    if wanted.until is not None and wanted.until <= wanted.after:
        raise Unusable(f"Nothing lies after version {wanted.after} and up to version {wanted.until}")
    return wanted._replace(table=id_)


async def _from_store(place: Place, wanted: Wanted, known: Games) -> Told:
    table, seat = wanted.table, wanted.seat
    async with opened(place, "evenfold replay") as redis:
        log = Log(redis, archive=archived(place.archive))
        try:
            entries = [stored async for stored in _pages(log, table_stream(table))]
            check_chain(table_stream(table), 0, b"", entries)
        except Damaged as damage:
            raise Failed(f"The log of the table is damaged: {damage}.") from None
        except ArchiveAway as away:
            raise Failed(f"{away}.") from None
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
            entry if wanted.eyes is None else fold.decision(projection, entry, head, seat) for entry, head in whole
        ]
        return Told(game, decisions, await _called(Accounts(redis), named_in(decisions)))


async def _pages(log: Log, stream: str) -> AsyncIterator[Stored]:
    after = 0
    while page := await log.read(stream, after):
        for stored in page:
            yield stored
        after = page[-1].version


async def _called(accounts: Accounts, ids: Sequence[str]) -> dict[str, str]:
    """Return the names of players; an account that was erased has none."""
    called = bots_called(ids)
    people = await accounts.named(filter(is_id, ids))
    return called | {account.id: account.name for account in people}


async def _from_server(source: Source, wanted: Wanted, known: Games) -> Told:
    async with Client(source.url, source.tokens[0], patience_s=0) as client:
        path, view = await _path_and_view(client, wanted.table)
        game = _game(known, view["ruleset"])
        events = TableEvent | game.projection.events
        decoder = msgspec.json.Decoder(Decision[events])  # type: ignore[valid-type] # a union known at run time
        eyes = "" if wanted.eyes is None else f"?as={wanted.eyes}"
        lines = (await client.lines(f"{path}/events{eyes}")).splitlines()
        decisions: list[Shown] = [decoder.decode(line) for line in lines]
        ids = named_in(decisions)
        called = bots_called(ids)
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


def _has_ended(decisions: Iterable[Shown]) -> bool:
    return any(isinstance(event, Ended) for decision in decisions for event in decision.events)


def _print(told: Told, words: Words, wanted: Wanted) -> None:
    """Print a line a decision (version, UTC, who), and an indented one for each of its events."""
    console = Console(soft_wrap=True, highlight=False, emoji=False)
    teller = Teller(words, told.called)
    for decision in told.decisions:
        step = teller.tell(decision)
        if wanted.after < step.version and (wanted.until is None or step.version <= wanted.until):
            _, *lines = map(escape, step.plain())
            console.print(f"[bold]{step.version:>5}[/]  {step.moment}  [bold]{escape(step.who)}[/]", *lines, sep="\n")
