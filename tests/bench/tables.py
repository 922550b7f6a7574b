"""Tables at the service that is measured, and the requests that play them on: known before they are sent.

A table is opened and filled over HTTP; its log, seed and all, is then read from the store, which is the bench's own,
and played on in memory by the decisions that the service itself will make.
"""

import asyncio
import http.client
import json
import random
from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import Any

import msgspec
from redis import Redis

from events.base import By
from service import games
from service.actions import legal_now
from service.appending import Appended
from service.game import AnyGame, Command
from service.log import Log
from service.store import connect
from service.streams import Stored, keys_of, stored_of, table_stream
from tests.bench.driver import Script, Sent, request
from tests.bench.matches import Local
from tests.bench.processes import MODULE, Rig
from tests.bench.servers import HOST, Process

GAMES = games.find(MODULE)


class Player:
    """An account at a server, for what comes before the measured part."""

    def __init__(self, server: Process) -> None:
        """Sign up."""
        self._port = server.port
        self._headers = {"Content-Type": "application/json"}
        welcome = self.post("/v1/players", {"name": "Bench"})
        self.id: str = welcome["player"]["id"]
        self._headers["Authorization"] = f"Bearer {welcome['token']}"

    @property
    def bearer(self) -> str:
        """The header that tells a server who asks."""
        return f"Authorization: {self._headers['Authorization']}"

    def post(self, path: str, body: dict[str, object]) -> dict[str, Any]:
        """Post JSON; return the JSON of what was created."""
        answered: dict[str, Any] = json.loads(self._asked("POST", path, json.dumps(body)))
        return answered

    def get(self, path: str) -> bytes:
        """Get what a path holds."""
        return self._asked("GET", path, None)

    def _asked(self, method: str, path: str, body: str | None) -> bytes:
        # One connection a request: servers close those that lie idle while a bench plays matches in memory.
        with closing(http.client.HTTPConnection(HOST, self._port)) as connection:
            connection.request(method, path, body, self._headers)
            answer = connection.getresponse()
            content = answer.read()
        assert answer.status in {200, 201}, content
        return content


class Played:
    """A table that is played on in memory, a step ahead of the service."""

    def __init__(self, game: AnyGame, local: Local, players: list[Player]) -> None:
        """Take what its players have made of it."""
        self.path = f"/v1/{game.name}/tables/{local.table.id}"
        self.stream = table_stream(local.table.id)
        self.players = players
        self._game = game
        self._local = local

    @property
    def version(self) -> int:
        """The version that the table has in memory."""
        return self._local.table.version

    def script(self, moves: int, rng: random.Random) -> Script:
        """Return so many legal commands, fewer where the match ends before, as requests to be sent in their order."""
        script: Script = []
        while len(script) < moves and self._local.table.to_act:
            seat, command = self._move(rng)
            body = msgspec.json.encode(command)
            script.append(Sent(seat, request("POST", f"{self.path}/commands", self.players[seat].bearer, body=body)))
        return script

    def grown(self, version: int, rng: random.Random) -> list[Stored]:
        """Return the entries that take the table to a version, to be appended as they are."""
        before = len(self._local.entries)
        while self.version < version and self._local.table.to_act:
            self._move(rng)
        return self._local.entries[before:]

    def _move(self, rng: random.Random) -> tuple[int, Command]:
        table = self._local.table
        seat = table.to_act[0]
        command = rng.choice(legal_now(self._game, table, seat))
        self._local.decide(By(seat=seat, player=self.players[seat].id), command)
        return seat, command


class Company:
    """People with accounts at a rig's first worker, who open tables there."""

    def __init__(self, rig: Rig) -> None:
        """Open no account before one is needed."""
        self.rig = rig
        self._players: list[Player] = []

    def tables(self, name: str, count: int) -> list[Played]:
        """Open so many tables of a game and fill them."""
        game = GAMES.named(name)
        assert game is not None
        missing = game.seats.usual - len(self._players)
        self._players += [Player(self.rig.workers[0]) for _ in range(missing)]
        players = self._players[: game.seats.usual]
        with Redis.from_url(self.rig.store) as redis:
            return [_opened(game, players, redis) for _ in range(count)]

    def scripts(self, name: str, count: int, moves: int, rng: random.Random) -> list[Script]:
        """Open so many tables of a game, and return at most so many commands for each of them."""
        return [table.script(moves, rng) for table in self.tables(name, count)]

    def aged(self, name: str, count: int, version: int, rng: random.Random) -> list[Played]:
        """Open so many tables of a game that have a version already; no worker has seen what came after the start."""
        tables = self.tables(name, count)
        append(self.rig.store, ((table.stream, table.grown(version, rng)) for table in tables))
        return tables


def append(store: str, streams: Iterable[tuple[str, list[Stored]]], keys: Sequence[str] = ()) -> None:
    """Append entries to streams, as the service does it; `keys` are the hashes that a stream knows its last ones by."""
    asyncio.run(_appended(store, streams, keys))


async def _appended(store: str, streams: Iterable[tuple[str, list[Stored]]], keys: Sequence[str]) -> None:
    redis = await connect(store)
    log = Log(redis)
    for stream, entries in streams:
        named = [None] * (len(entries) - len(keys)) + list(keys)
        appends = [
            log.append(stream, entry.version - 1, entry.e, entry.h, key)
            for entry, key in zip(entries, named, strict=True)
        ]
        answers = await asyncio.gather(*appends)
        assert all(isinstance(answer, Appended) for answer in answers), stream
    await log.close()
    await redis.aclose()


def _opened(game: AnyGame, players: list[Player], redis: Redis) -> Played:
    path = f"/v1/{game.name}/tables"
    table: str = players[0].post(path, {})["table"]
    for seat, player in enumerate(players):
        player.post(f"{path}/{table}/seats", {"seat": seat})
    local = Local(game, table)
    stream = table_stream(table)
    rows: Any = redis.xrange(keys_of(stream).stream)
    local.adopt(
        stored_of(stream, [(id_, [part for field in fields.items() for part in field]) for id_, fields in rows], 1)
    )
    return Played(game, local, players)
