"""How every route is called, made from the route itself: what it takes by name, and its bodies.

A new route is called by being there, as long as it takes what others take; where it takes something that is not known
here, `Unknown` says what. Calls name no ids: `{table}`, `{player}` and `{token}` in a path are the stage's to fill in.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from random import Random
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from service.actions import legal_now, sample
from service.api.endpoint import Endpoint, Parameter
from service.api.eventstream import EVENT_STREAM
from service.api.examples import examples
from service.disputes import MOST
from service.game import AnyGame, AnyTable, Command
from tests.laws.bodies import bodies
from tests.laws.matches import Match, asked_by, outcome

# Of a type of command so many bodies that are refused are posted.
FEW = 2

JSON = ("Content-Type", "application/json")
Headers = tuple[tuple[str, str], ...]


class Unknown(Exception):
    """A route takes something that tests/laws/calls.py does not know how to give."""


class Call(NamedTuple):
    """A request, all but who makes it."""

    method: str
    path: str
    headers: Headers = ()
    body: bytes | None = None


class Moment(NamedTuple):
    """Who calls when: the table as it stands in the first world, and the caller's eyes and seat, None for no seat.

    Who gave a seat up still has it, and has no eyes.
    """

    match: Match
    table: AnyTable
    seat: int | None

    @property
    def game(self) -> AnyGame:
        """The game that is played."""
        return self.match.game


def posted(path: str, body: object, *headers: tuple[str, str]) -> Call:
    """Return a POST of JSON."""
    return Call("POST", path, (JSON, *headers), msgspec.json.encode(body))


def is_of_a_table(route: Endpoint) -> bool:
    """Tell whether a route is one of a table that is there."""
    return "{table}" in route.path


def calls(route: Endpoint, moment: Moment) -> Iterator[Call]:
    """Yield calls of a route, none of which changes the table of the moment; raise Unknown where that isn't known."""
    if route.method == "GET":
        yield from _looks(route, moment)
    elif is_of_a_table(route):
        yield from _refused(route, moment)
    else:
        for body in examples(route) or [None]:
            headers = () if body is None else (JSON,)
            yield Call(route.method, _path(route, moment), headers, None if body is None else msgspec.json.encode(body))


def _looks(route: Endpoint, moment: Moment) -> Iterator[Call]:
    """Yield a plain GET, and one with each thing that it may take, or may answer with."""
    path = _path(route, moment)
    given = {p.name: _values(p, moment) for p in route.parameters if p.where != "path"}
    needed = {p.name for p in route.parameters if p.required and p.where == "query"}
    base = "&".join(f"{name}={given[name][0]}" for name in needed)
    yield Call("GET", f"{path}?{base}" if base else path)
    for parameter in route.parameters:
        for value in given.get(parameter.name, ()):
            if parameter.where == "header":
                yield Call("GET", f"{path}?{base}" if base else path, ((parameter.name, value),))
            else:
                rest = base if parameter.name in needed else ""
                yield Call("GET", f"{path}?{'&'.join(filter(None, (rest, f'{parameter.name}={value}')))}")
    if {"at", "as"} <= given.keys():
        yield from (Call("GET", f"{path}?at={at}&as={eyes}") for at, eyes in product(given["at"], given["as"]))
    for media in route.media:
        if media == EVENT_STREAM:
            continue  # It has no end; pairs.py compares streams beside answers.
        yield Call("GET", f"{path}?{base}" if base else path, (("Accept", media),))


def _path(route: Endpoint, moment: Moment) -> str:
    known = {
        "table": "{table}",
        "player": "{player}",
        "token": "{token}",
        "game": moment.game.name,
        "page": "problems",
        "dispute": str(MOST),
    }
    names = [parameter.name for parameter in route.parameters if parameter.where == "path"]
    if strange := {*names} - known.keys():
        raise Unknown(f"{route.method} {route.path} takes {strange} in its path")
    return route.path.format(**known)


def _values(parameter: Parameter, moment: Moment) -> Sequence[str]:
    """Return values for a parameter of the query or a header."""
    version, seats = moment.table.version, len(moment.table.players)
    known: Mapping[str, Sequence[object]] = {
        "at": (1, version // 2 + 1, version, version + 1),
        "after": (0, version // 2, version - 1, version),
        "limit": (1, 3),
        "version": (1, version),
        "first": (0,),
        "second": (0,),
        "follow": ("false",),
        "rulings": ("true",),
        "checkpoints": ("true",),
        # A stranger's eyes, one's own or, without a seat, the first one's, those of the next seat, and those of all.
        "as": ("spectator", moment.seat or 0, ((moment.seat or 0) + 1) % seats, "all"),
        "Last-Event-ID": (version // 2, version - 1, version),
        "id": ("{player}", "{player}&id={player}", "0" * 26),
        "game": (moment.game.name,),
        "status": ("open", "playing"),
        "started": ("true", "false"),
        "open_seats": (1, 8),
        "option": ("deals:5&game=chinkway", "deals:5"),
        "host": ("{player}",),
        "player": ("{player}",),
        "since": ("0-0",),
        "If-None-Match": (f'"{version}"', f'"{version - 1}"', "*"),
        "If-Match": (f'"{version - 1}"', '"1"'),
        "Prefer": ("return=representation",),
        "Accept-Language": ("es",),
        "Idempotency-Key": ("golden",),
    }
    if parameter.name not in known:
        raise Unknown(f"a route takes the {parameter.where} {parameter.name}")
    return [str(value) for value in known[parameter.name]]


def _refused(route: Endpoint, moment: Moment) -> Iterator[Call]:
    """Yield calls of a route that acts on a table in play, each to be refused."""
    stale = ("If-Match", f'"{moment.table.version - 1}"')
    first = ("If-Match", '"1"')
    path = _path(route, moment)
    match route.method, path.rpartition("{table}/")[2]:
        case "POST", "commands" if route.tag == moment.game.name:
            yield from _commands(path, moment)
        case "POST", "commands":
            yield from (posted(path, body) for body in examples(route))
        case "POST", "seats":
            for body, header in product(({}, {"seat": 0, "nonce": "luck"}, {"bot": "anyone"}), ((), (stale,))):
                yield posted(path, body, *header)
        case "POST", "start":
            yield from (Call("POST", path, header) for header in ((), (stale,), (first,)))
        case "POST", "pause" | "resume":
            yield from (Call("POST", path, header) for header in product((stale, first)))
        case "POST", "disputes":
            disputed = {"first": 1, "last": moment.table.version + 1, "reason": "conduct", "text": "He peeked."}
            yield from (posted(path, disputed, *header) for header in ((), (stale,)))
        case "POST", end if end.startswith("disputes/"):
            yield from (posted(path, body) for body in examples(route))
        case "DELETE", "seats/me":
            yield from (Call("DELETE", path, header) for header in ((), (stale,), (first,)))
        case method, end:
            raise Unknown(f"{method} {end} of a table")


def _commands(path: str, moment: Moment) -> Iterator[Call]:
    table, random = moment.table, Random(moment.table.version)
    legal: tuple[Command, ...] = ()
    if moment.seat is not None and table.status == "playing":
        legal = legal_now(moment.game, table, moment.seat)
    for kind in moment.game.command_types:
        for command in _illegal(kind, moment, legal, random):
            yield posted(path, command)
        some = next((command for command in legal if type(command) is kind), sample(kind))
        yield posted(path, some, ("If-Match", f'"{table.version - 1}"'))
        yield posted(path, some, ("If-Match", '"1"'), ("Prefer", "return=representation"))
        yield posted(path, replace(some, turn=table.turn + 1))
        yield posted(path, {**msgspec.to_builtins(some), "peek": True})
    yield posted(path, {"type": "table.abandon"})
    if moment.seat is None or moment.seat in table.resigned:
        yield posted(path, {"type": "table.resign"})


def _illegal(kind: type[Command], moment: Moment, legal: Sequence[Command], random: Random) -> list[Command]:
    """Return bodies of a type that are refused."""
    if moment.seat is None or moment.seat not in moment.table.to_act:
        return [sample(kind)]
    plain = {replace(command, turn=None) for command in legal}
    some = (command for command in bodies(kind, random) if command not in plain)
    asked = ((command, asked_by(moment.table, moment.seat, command)) for command in some)
    refused = (command for command, ask in asked if isinstance(outcome(moment.match, moment.table, ask), str))
    return [*islice(refused, FEW)]
