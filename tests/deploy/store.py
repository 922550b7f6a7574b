"""The store as deploy/ sets it up, by its conf and its users, on a real server; and every call which that knows."""

import re
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias, cast
from urllib.parse import quote

import hiredis
from redis import Redis

from tests.stores import serving
from tests.tree import ROOT

DEPLOY: Final = ROOT / "deploy"

USERS: Final = ("evenfold", "archivist", "operator", "replica")

Reply: TypeAlias = object
Call: TypeAlias = tuple[str, ...]
Words: TypeAlias = Sequence[str | bytes | int]

KEY: Final = "\0key"
"""Stands for a key in a call that has not been given one."""


def secrets(*arguments: str | Path) -> None:
    """Run deploy/secrets.sh."""
    subprocess.run(["sh", DEPLOY / "secrets.sh", *arguments], check=True, capture_output=True)


class Deployed(NamedTuple):
    """A server that runs with deploy/redis.conf, and the folder of its secrets."""

    place: str
    folder: Path

    def password(self, user: str, which: str = "password") -> str:
        """Return a user's password."""
        return (self.folder / f"{user}.{which}").read_text(encoding="ascii").strip()

    def url(self, user: str) -> str:
        """Return the address at which a user comes."""
        return self.place.replace("://", f"://{user}:{quote(self.password(user))}@")

    @contextmanager
    def client(self, user: str) -> Iterator[Redis]:
        """Give a client of a user."""
        client = Redis.from_url(self.url(user), protocol=2)
        try:
            yield client
        finally:
            client.close()

    def line(self, user: str) -> "Line":
        """Open a connection of a user."""
        return Line(self.place.removeprefix("unix://"), user, self.password(user))

    def denials(self) -> list[str]:
        """Return who was denied what since the server started."""
        with self.client("operator") as client:
            return [f"{entry['username']}: {entry['reason']} {entry['object']}" for entry in client.acl_log()]


@contextmanager
def deployed(binary: str, folder: Path, *settings: str) -> Iterator[Deployed]:
    """Make secrets, and run a server with deploy/redis.conf on a folder."""
    secrets("new", folder / "secrets")
    users = str(folder / "secrets" / "store" / "users.acl")
    with serving(binary, folder, str(DEPLOY / "redis.conf"), "--aclfile", users, *settings) as place:
        yield Deployed(place, folder / "secrets")


class Line:
    """One connection, opened anew after whatever may have changed its state."""

    def __init__(self, place: str, user: str | None = None, password: str = "") -> None:
        self._place = place
        self._greeting: tuple[Call, ...] = () if user is None else (("AUTH", user, password),)
        self._socket: socket.socket | None = None

    def say(self, call: Words) -> Reply:
        """Send a call, and return what the server answers: a refusal too, and None where it hangs up."""
        if self._socket is None:
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.connect(self._place)
            self._reader = hiredis.Reader()
            for greeting in self._greeting:
                assert self._ask(greeting) == b"OK"
        reply = self._ask(call)
        if not is_denied(reply) and call[0] not in {"FCALL", "XRANGE", "XINFO", "TYPE", "PTTL"}:
            self.close()
        return reply

    def close(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _ask(self, call: Words) -> Reply:
        assert self._socket is not None
        self._socket.sendall(hiredis.pack_command(tuple(call)))  # type: ignore[arg-type] # it declares a tuple of one
        while received := self._socket.recv(65_536):
            self._reader.feed(received)
            if (reply := self._reader.gets()) is not False:
                return cast("Reply", reply)
        return None


def is_denied(reply: Reply) -> bool:
    """Tell whether a user may not do it, also where a function did, in the words of Redis and of Valkey."""
    return isinstance(reply, hiredis.ReplyError) and bool(re.search(r"NOPERM|ACL failure|can't run this", str(reply)))


def every_call(client: Redis, key: str, other: str) -> list[Call]:
    """Return calls of every command that the server has, by its own description of their arguments.

    Each optional part, and each alternative, stands in one of them at least. Keys are `key`; where there are several,
    each of them in turn, the others being `other`.
    """
    described = _pairs(client.execute_command("COMMAND DOCS"))  # type: ignore[no-untyped-call] # redis-py has not annotated it
    calls: dict[Call, None] = {}
    for name, docs in described.items():
        for call in _calls((name,), _pairs(docs)):
            calls.update(dict.fromkeys(_with_keys(call, key, other)))
    # It mutes its own connection, and nothing else: there would be no answer to wait for.
    return [call for call in calls if call[:2] != ("client", "reply")]


def state_of(admin: Line, key: str) -> list[Reply]:
    """Return all that can be known of a stream: entries, what it knows of itself, type, and when it ends."""
    asked = (("XRANGE", key, "-", "+"), ("XINFO", "STREAM", key), ("TYPE", key), ("PTTL", key))
    return [str(admin.say(call)) for call in asked]


def _calls(name: Call, docs: Mapping[str, object]) -> Iterator[Call]:
    match docs.get("subcommands"):
        case list(subcommands):
            for full, its_docs in _pairs(subcommands).items():
                yield from _calls(tuple(full.split("|")), _pairs(its_docs))
        case _:
            match docs.get("arguments"):
                case list(arguments):
                    yield from ((*name, *words) for words in _sequences(arguments))
                case _:
                    yield name


def _sequences(arguments: list[object]) -> Iterator[Call]:
    """Yield what a list of arguments may be: the least, and then each of its parts in each other form that it has."""
    forms = [_forms(_pairs(argument)) for argument in arguments]
    least = [form[0] for form in forms]
    yield sum(least, ())
    for place, form in enumerate(forms):
        for other in form[1:]:
            yield sum([*least[:place], other, *least[place + 1 :]], ())


def _forms(argument: Mapping[str, object]) -> list[Call]:
    """Return the forms of one argument, the least first."""
    token = (str(argument["token"]),) if "token" in argument else ()
    parts = argument.get("arguments")
    match argument["type"], parts:
        case "oneof", list(alternatives):
            forms = [form for each in alternatives for form in _forms(_pairs(each))]
        case "block", list(inner):
            forms = list(_sequences(inner))
        case "key", _:
            forms = [(KEY,)]
        case "pure-token", _:
            forms = [()]
        case _:
            forms = [("1",)]
    forms = [(*token, *form) for form in forms]
    flags = argument.get("flags")
    return [(), *forms] if isinstance(flags, list) and "optional" in flags else forms


def _with_keys(call: Call, key: str, other: str) -> Iterator[Call]:
    places = [place for place, word in enumerate(call) if word == KEY]
    for choice in product((key, other), repeat=min(len(places), 2)):
        if key in choice or not places:
            chosen = dict(zip(places, (*choice, *(key for _ in places[2:])), strict=True))
            yield tuple(chosen.get(place, word) for place, word in enumerate(call))


def _pairs(reply: object) -> dict[str, object]:
    """Read a reply of names and values in turn."""
    assert isinstance(reply, list)
    return {_text(name): _read(value) for name, value in zip(reply[::2], reply[1::2], strict=True)}


def _read(value: object) -> object:
    match value:
        case bytes():
            return _text(value)
        case list():
            return [_read(item) for item in value]
        case _:
            return value


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
