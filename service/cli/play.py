"""A match that bots play over HTTP, by the API alone: each seat an account that posts one of its legal commands.

It knows no game: what may be done it reads from `actions`, what came of it from the neutral events.
"""

import asyncio
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from service.cli.client import Client, Refusal
from service.cli.processes import command, environment
from service.cli.sentences import Failed, Unusable

NAMES = ("Ada", "Blaise", "Carl", "Daniel", "Emmy", "Fermat", "Grace", "Henri")

Json = Mapping[str, Any]


class Match(NamedTuple):
    """What to play: the game, the seats (None: as many as it usually has), its options, the seed of all choices."""

    game: str
    seats: int | None
    options: Mapping[str, bool | int | str]
    seed: int | None


def play(match: Match, url: str | None, tokens: Sequence[str], modules: Sequence[str]) -> None:
    """Play a match on this server, else on one of its own, and print its score sheet; raise Unusable or Failed.

    The accounts of the tokens take the first seats; for the others, accounts are opened.
    """
    if url is not None:
        asyncio.run(_play(match, url, tokens))
        return
    if tokens:
        raise Unusable("A token belongs to a server: name it with --url")
    with _own_server(modules) as own:
        asyncio.run(_play(match, own, ()))
    sys.stdout.write("It was played on a server of its own, which is gone; with --url it stays.\n")


def option(text: str) -> tuple[str, bool | int | str]:
    """Read `name=value`; a value that is a number or a boolean in JSON is one. Raise Unusable."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise Unusable(f"{text!r} is not an option of a game: write name=value")
    try:
        return name, msgspec.json.decode(value, type=bool | int)
    except msgspec.MsgspecError:
        return name, value


@contextmanager
def _own_server(modules: Sequence[str]) -> Iterator[str]:
    """Serve on a free port, the data in a folder that goes afterwards; yield the address."""
    with tempfile.TemporaryDirectory(prefix="evenfold-play-") as folder:
        own = {
            "EVENFOLD_HOST": "127.0.0.1",
            "EVENFOLD_SIGN_UP": "true",
            "EVENFOLD_GAMES": " ".join(modules),
        }
        arguments = ("serve", "--supervised", "--port", "0", "--data", str(Path(folder) / "data"), "--bot-pause", "0")
        server = subprocess.Popen(  # noqa: S603 our own interpreter, with arguments made here
            command(*arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # What an operator says to another server, by its variables, is not said to this one.
            env={
                name: value
                for name, value in environment(own).items()
                if name in own or not name.startswith("EVENFOLD_")
            },
            start_new_session=True,
        )
        try:
            address = next(
                (found[0] for line in server.stdout or () if (found := re.search(r"http://\S+", line))), None
            )
            if address is None:
                raise Failed("The server of the match did not start")
            yield address
        finally:
            server.terminate()
            server.communicate()


async def _play(match: Match, url: str, tokens: Sequence[str]) -> None:
    players: list[Client] = []
    guest = Client(url, patience_s=0)
    try:
        game = await _game(guest, match)
        for number in range(match.seats or game["seats"]["usual"]):
            token = tokens[number] if number < len(tokens) else await _account(guest, NAMES[number % len(NAMES)])
            players.append(Client(url, token))
        path = await _table(players, match)
        view = await _rounds(players, path, random.Random(match.seed))  # noqa: S311 choices of bots, no secrets
        await _score_sheet(players[0], path, view, game["title"])
    except Refusal as refusal:
        raise Failed(f"The server refuses: {refusal.detail}") from refusal
    finally:
        for client in (guest, *players):
            await client.close()


async def _game(guest: Client, match: Match) -> Json:
    known: dict[str, Json] = {game["game"]: game for game in (await guest.get("/v1/games"))["games"]}
    if match.game not in known:
        raise Unusable(f"There is no game {match.game!r} at this server; it has {', '.join(known)}")
    return known[match.game]


async def _account(guest: Client, name: str) -> str:
    try:
        welcome = await guest.post("/v1/players", {"name": name}, once=False)
    except Refusal as refusal:
        raise Failed(f"No account can be opened: {refusal.detail} Give a token for each seat with --token") from refusal
    return str(welcome["token"])


async def _table(players: Sequence[Client], match: Match) -> str:
    """Open a table and seat everybody; return its path."""
    wanted = {"seats": len(players), "options": match.options, "bots": []}
    table = await players[0].post(f"/v1/{match.game}/tables", wanted)
    path = f"/v1/{match.game}/tables/{table['table']}"
    for seat, player in enumerate(players):
        await player.post(f"{path}/seats", {"seat": seat})
    return path


async def _rounds(players: Sequence[Client], path: str, chance: random.Random) -> Json:
    """Let whoever must act do something legal until play has ended; return the last view, as seat 0 has it."""
    view: Json = await players[0].get(path)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task(f"Table {view['table']}", total=_deals(view))
        while view["status"] == "playing":
            seat = view["to_act"][0]
            done = await _act(players[seat], path, chance)
            if done is None:
                view = await players[0].get(path)
                continue
            view = done["view"]
            progress.advance(bar, sum(event["type"] == "table.scored" for event in done["events"]))
    if view["status"] != "ended":
        raise Failed(f"The table is {view['status']}, and nobody here can change that")
    return view


def _deals(view: Json) -> int | None:
    """Return how many deals there will be, where the game tells it: nothing but the progress bar depends on it."""
    deals = view.get("deals")
    return deals if isinstance(deals, int) else None


async def _act(player: Client, path: str, chance: random.Random) -> Json | None:
    """Post any of the legal commands; None if there is none, or another came before it.

    Each type that there is comes as likely as any other, for it is the rare ones that bring a match to its end.
    """
    actions = await player.get(f"{path}/actions")
    if not actions["legal"]:
        return None
    kind = chance.choice(list(dict.fromkeys(command["type"] for command in actions["legal"])))
    chosen = chance.choice([command for command in actions["legal"] if command["type"] == kind])
    try:
        done: Json = await player.post(f"{path}/commands", chosen)
    except Refusal as refusal:
        if refusal.code == "turn_over":
            return None
        raise
    return done


async def _score_sheet(player: Client, path: str, view: Json, title: str) -> None:
    """Print what each deal gave, the scores after the last one, and the places."""
    events = [event for line in (await player.lines(f"{path}/events")).splitlines() for event in _events(line)]
    scored = [event for event in events if event["type"] == "table.scored"]
    names = await player.names([seat["player"] for seat in view["seats"]])
    sheet = Table(title=title, show_footer=True)
    sheet.add_column("deal", justify="right", footer="score\nplace")
    places = view["places"] or [None] * len(view["seats"])
    for seat, score, place in zip(view["seats"], view["scores"], places, strict=True):
        sheet.add_column(
            names.get(seat["player"], seat["player"]), justify="right", footer=f"{_cell(score)}\n{_cell(place)}"
        )
    deal = None
    for event in scored:
        # What changes scores between two deals, as coming back does, is told by a row of its own.
        sheet.add_row(f"after {deal}" if event["deal"] == deal else str(event["deal"]), *map(_cell, event["points"]))
        deal = event["deal"]
    console = Console(highlight=False, emoji=False)
    console.print(sheet)
    console.print(f"Table {view['table']}: {view['outcome']}")


def _events(line: bytes) -> list[Json]:
    events: list[Json] = msgspec.json.decode(line)["events"]
    return events


def _cell(number: int | None) -> str:
    return "–" if number is None else str(number)
