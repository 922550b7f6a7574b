"""A stage: a server with a store of its own, whose cards lie as stated, and people who talk to it byte by byte.

What is said is compared as it came over the wire: status, headers in their order, body. Only what differs from stage
to stage by nature is put aside: ids, hashes and tokens are numbered as they come up, moments are left out.
"""

import asyncio
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
from redis import Redis
from redis.asyncio import Redis as AsyncRedis

from projections import lobby
from service.api.endpoint import Endpoint
from service.api.eventstream import EVENT_STREAM, NDJSON
from service.app import endpoints
from service.auth.scopes import Scope
from service.auth.tokens import Grant, Tokens
from service.chance import Shuffles
from service.embedded import Embedded
from service.game import AnyTable
from service.games import find
from service.inbox import Inboxes
from service.lobby import Lobby
from service.parts import Sources
from service.reactors.inbox import InboxFilling
from service.referee import chance_of
from service.streams import keys_of, table_stream
from tests.laws.calls import Call, posted
from tests.logs import logged
from tests.served import served
from tests.stated import Stated

T = TypeVar("T")

# The clock of all stages: no two moments are the same, so that tables lie in one order in every lobby.
_MOMENTS = count(1_700_000_000_000, 1_000)

# What a stream sends while nothing happens.
HEARTBEATS = frozenset({b":\n\n", b"\n"})

# When everybody was seen: whoever was once there stays, however long a test takes.
SEEN_AT = 1_700_000_000_000

# Which header says nothing but when, or which request it was.
PASSING = frozenset({"date", "x-request-id", "traceparent"})

_VARYING = re.compile(
    r"(?P<token>ev[ft]_[A-Za-z0-9_-]{43})|\b(?P<signature>[0-9a-f]{128})\b|\b(?P<hash>[0-9a-f]{64})\b|\b(?P<id>[0-9a-hjkmnp-tv-z]{26})\b"
    r"|(?P<time>[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}\.[0-9]{3})|\b(?P<moment>1[0-9]{12})\b"
    r"|(?<=\"next\":\")(?P<cursor>[A-Za-z0-9_-]{40,64})(?=\")"
)


class Said(NamedTuple):
    """An answer as it came over the wire."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def named(self) -> dict[str, str]:
        """Its headers by their names in lower case."""
        return {name.lower(): value for name, value in self.headers}

    @property
    def is_stream(self) -> bool:
        """Tell whether it goes on: lines may, if that was asked for."""
        return self.status == HTTPStatus.OK and self.named["content-type"] in {EVENT_STREAM, NDJSON}

    @property
    def json(self) -> Any:  # noqa: ANN401 any JSON
        """The body read as JSON."""
        return msgspec.json.decode(self.body)


class Line:
    """A connection to a server on the loopback, that reads what comes and makes nothing of it."""

    def __init__(self, port: int) -> None:
        """Connect to the server on a port."""
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._answers = self._socket.makefile("rb")

    def exchange(self, call: Call) -> Said:
        """Send a request and return the answer to it."""
        return self._whole(self._asked(call))

    def _asked(self, call: Call) -> Said:
        """Send a request and read the head of the answer."""
        body = call.body or b""
        length = [("Content-Length", str(len(body)))] if body or call.method != "GET" else []
        headers = "".join(f"{name}: {value}\r\n" for name, value in (("Host", "stage"), *length, *call.headers))
        self._socket.sendall(f"{call.method} {call.path} HTTP/1.1\r\n{headers}\r\n".encode() + body)
        status = int(self._answers.readline().split()[1])
        return Said(status, tuple(self._headers()), b"")

    def begin(self, call: Call) -> Said:
        """Send a request for a stream, and return the answer as far as its body; all of it if it is no stream."""
        said = self._asked(call)
        return said if said.is_stream else self._whole(said)

    def read_up_to(self, version: int) -> bytes:
        """Read on in a stream, heartbeats aside, up to the decision of a version."""
        marks = (b"id: %d\nevent: decision\n" % version, b'{"version":%d,' % version)
        read = b""
        while True:
            piece = self._answers.read(int(self._answers.readline(), 16))
            self._answers.readline()
            assert piece, (version, read)
            if piece in HEARTBEATS:
                continue
            read += piece
            if piece.startswith(marks):
                return read

    def close(self) -> None:
        """Hang up."""
        self._answers.close()
        self._socket.close()

    def _whole(self, said: Said) -> Said:
        """Read the body that belongs to a head."""
        return said._replace(body=b"".join(self._body(said.status, said.named)))

    def _headers(self) -> Iterator[tuple[str, str]]:
        while line := self._answers.readline().rstrip().decode("latin-1"):
            name, _, value = line.partition(": ")
            yield name, value

    def _body(self, status: int, headers: Mapping[str, str]) -> Iterator[bytes]:
        if "content-length" in headers:
            yield self._answers.read(int(headers["content-length"]))
        elif headers.get("transfer-encoding") == "chunked":
            while size := int(self._answers.readline(), 16):
                yield self._answers.read(size)
                self._answers.readline()
            self._answers.readline()
        else:
            assert status in {204, 304}, (status, headers)


@dataclass
class Numbering:
    """Numbers for what differs from stage to stage by nature, as it comes up: the same thing, the same number."""

    known: dict[str, str] = field(default_factory=dict)

    def of(self, said: Said) -> str:
        """Write an answer with numbers for ids, hashes, tokens and tickets, and without moments."""
        headers = (f"{name}: {len(value) if name.lower() in PASSING else value}" for name, value in said.headers)
        return _VARYING.sub(self._number, "\n".join([str(said.status), *headers, said.body.decode()]))

    def _number(self, found: re.Match[str]) -> str:
        kind = found.lastgroup
        if kind in {"moment", "time", "cursor"}:
            return f"<{kind} of {len(found[0])}>"
        return self.known.setdefault(found[0], f"<{kind} {len(self.known)}>")


class _AsFarAsStated(Stated):
    """Stated orders, after which packs lie as they are printed: whoever leaves at the end may have play go on alone."""

    def shuffle(self, pack: Sequence[T], c: int) -> tuple[T, ...]:
        """Return the pack in the order stated for c; as it is, if that comes after all that are stated."""
        return tuple(pack) if c > max(self._orders) else super().shuffle(pack, c)


@dataclass
class Stream:
    """A stream that was asked for, and what came of that so far."""

    line: Line
    said: Said

    def up_to(self, version: int) -> Said:
        """Read up to the decision of a version, and return all that was said; what is no stream is whole already."""
        if self.said.is_stream:
            self.said = self.said._replace(body=self.said.body + self.line.read_up_to(version))
        return self.said


@dataclass
class Stage:
    """A server that deals stated orders, table by table, and one connection to it."""

    store: str
    routes: tuple[Endpoint, ...]
    url: str = ""
    orders: dict[str, Mapping[int, Sequence[str | int]]] = field(default_factory=dict)
    line: "Line | None" = None

    def chances(self, table: AnyTable) -> Shuffles:
        """Return the chance of a table: its stated orders, or its own where none were stated."""
        return _AsFarAsStated(self.orders[table.id]) if table.id in self.orders else chance_of(table)

    def clock(self) -> int:
        """Return a moment a second after the one before, UTC in ms."""
        return next(_MOMENTS)

    def say(self, call: Call, token: str | None, ids: Mapping[str, str]) -> Said:
        """Make a request, with a token or without, and return the answer."""
        assert self.line is not None
        return self.line.exchange(self._filled(call, token, ids))

    def stream(self, call: Call, token: str | None, ids: Mapping[str, str]) -> "Stream":
        """Ask for a stream on a connection of its own."""
        line = Line(int(self.url.rpartition(":")[2]))
        return Stream(line, line.begin(self._filled(call, token, ids)))

    def _filled(self, call: Call, token: str | None, ids: Mapping[str, str]) -> Call:
        """Return a call with the ids that it names, and the token."""
        headers = call.headers if token is None else (*call.headers, ("Authorization", f"Bearer {token}"))
        path = call.path.replace("{table}", ids["table"]).replace("{player}", ids["player"])
        return call._replace(path=path.replace("{token}", "0" * 26), headers=headers)

    def sign_up(self, name: str) -> tuple[str, str]:
        """Open an account; return its id and a token."""
        said = self.say(posted("/v1/players", {"name": name}), None, {"table": "", "player": ""})
        assert said.status == 201, said
        return said.json["player"]["id"], said.json["token"]

    def token(self, account: str, *scopes: Scope) -> str:
        """Make a token of any scopes for an account, as the operator may."""

        async def issued() -> str:
            redis = AsyncRedis.from_url(self.store)
            try:
                return (await Tokens(redis).issue(account, Grant(scopes))).secret
            finally:
                await redis.aclose()

        return asyncio.run(issued())

    def log(self, table: str) -> list[bytes]:
        """Return the entries of a table, as stored."""
        with Redis.from_url(self.store) as redis:
            rows: Any = redis.xrange(keys_of(table_stream(table)).stream)
        return [fields[b"e"] for _, fields in rows]

    def list_in_lobby(self, table: str) -> None:
        """List a table in the lobby as it is now, as the reactor does a moment later."""

        async def put() -> None:
            redis = AsyncRedis.from_url(self.store)
            try:
                summary = lobby.add(None, self.log(table))
                assert summary is not None
                kept = Lobby(redis)
                await kept.put(summary, (await kept.find(table)).generation)
            finally:
                await redis.aclose()

        asyncio.run(put())

    def tell(self, table: str) -> None:
        """Tell all accounts what concerns them at a table up to now, as the reactor does a moment later."""

        async def look() -> None:
            async with logged(self.store) as log:
                redis = AsyncRedis.from_url(self.store)
                try:
                    await InboxFilling(log, Inboxes(redis)).look(table_stream(table), 0)
                finally:
                    await redis.aclose()

        asyncio.run(look())


@contextmanager
def staged(store: str, keys: Path, *games: str) -> Iterator[Stage]:
    """Give a stage on a store, which plays the games that ship and those of these modules."""
    stage = Stage(store, endpoints(find(*games)))
    sources = Sources(chances=stage.chances, clock=stage.clock, seen_at=lambda: SEEN_AT)
    with served(store, keys, *games, sources=sources) as url, closing(Line(int(url.rpartition(":")[2]))) as line:
        stage.line, stage.url = line, url
        # Who says nothing at first is not waited for as long as it takes to find twins.
        assert line.exchange(Call("GET", "/healthz")).status == 200
        yield stage


@contextmanager
def two_stores(folder: Path) -> Iterator[tuple[str, str]]:
    """Give the addresses of two stores on folders of their own."""
    with Embedded(folder / "first", what="a stage") as first, Embedded(folder / "second", what="a stage") as second:
        yield first.url, second.url
