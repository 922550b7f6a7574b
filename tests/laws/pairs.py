"""Law 2: whoever can't tell two tables apart by what it may see gets the same bytes from both, whatever it asks.

Twins are played side by side on two stages. At steps of theirs that were chosen the viewer, and everybody who sees no
cards, asks both for the same, on every route; the answers must be alike byte for byte, errors, headers and
lengths included. The streams of the viewer, and of who looks on, are open through all of it, and are alike too.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import product
from random import Random

from msgspec import Raw

from events.base import By, Entry, Event
from service.api.endpoint import Endpoint
from service.api.eventstream import EVENT_STREAM, NDJSON
from service.auth.scopes import SCOPES
from service.game import AnyGame, AnyTable, Command
from service.referee import Create, Leave, Sit, Start
from tests.laws.calls import Call, Moment, calls, is_of_a_table, posted
from tests.laws.stages import Numbering, Said, Stage, Stream
from tests.laws.twins import Twins
from tests.laws.worlds import Orders
from tests.sizes import FULL

# Of what is not a plain look every so many calls are made at a step, others at the next, and as how many of those who
# have no seat anything is asked at a step.
STRIDE = 6 if FULL else 12
ROLES = 4 if FULL else 2

# What changes whoever asks it: the last thing that is asked.
ENDING = frozenset({("DELETE", "/v1/me")})

# Numbers of the process itself, which differ from one second to the next. They are searched for secrets instead.
MEASURED = frozenset({"/metrics"})

# It holds what happened at every step before.
INBOX = Call("GET", "/v1/me/events")

STRANGER = "evf_" + "x" * 43


@dataclass
class Cast:
    """Who takes part on a stage: accounts and their tokens by role, and the table that they play at."""

    stage: Stage
    tokens: dict[str, str | None]
    accounts: dict[str, str]
    table: str = ""

    def say(self, call: Call, role: str) -> Said:
        """Make a request as somebody."""
        return self.stage.say(call, self.tokens[role], self._ids)

    def stream(self, call: Call, role: str) -> Stream:
        """Open a stream as somebody."""
        return self.stage.stream(call, self.tokens[role], self._ids)

    @property
    def _ids(self) -> dict[str, str]:
        return {"table": self.table, "player": self.accounts["host"]}


def cast(stage: Stage, seats: Sequence[int]) -> Cast:
    """Sign everybody up: the host, one a seat, and those who look on with any kind of token."""
    people = {name: stage.sign_up(name) for name in ("host", "onlooker", *(f"seat {seat}" for seat in seats))}
    tokens: dict[str, str | None] = {name: token for name, (_, token) in people.items()}
    found = Cast(stage, tokens, {name: account for name, (account, _) in people.items()})
    onlooker = found.accounts["onlooker"]
    found.tokens |= {"nobody": None, "stranger": STRANGER, "onlooker without scope": stage.token(onlooker)}
    for scope in SCOPES:
        found.tokens[f"onlooker as {scope}"] = stage.token(onlooker, scope)
    for seat in seats:
        account = found.accounts[f"seat {seat}"]
        found.tokens[f"seat {seat} as arbiter"] = stage.token(account, "play", "arbiter", "admin")
    return found


@dataclass
class Pair:
    """Twins as they are played on two stages."""

    twins: Twins
    casts: tuple[Cast, Cast]
    numbers: tuple[Numbering, Numbering] = field(default_factory=lambda: (Numbering(), Numbering()))
    open: list[tuple[Call, str, list[Stream]]] = field(default_factory=list)

    def open_streams(self) -> None:
        """Open the streams that last through the match: the viewer's, who may not sit yet, and an onlooker's."""
        roles = ["onlooker", *([] if self.twins.viewer is None else [f"seat {self.twins.viewer}"])]
        for call, role in product(streams(self.twins.match.game), roles):
            self.open.append((call, role, [cast.stream(call, role) for cast in self.casts]))

    def alike_streams(self, version: int) -> int:
        """Hold: the streams that are open have said the same, up to a version; return how many."""
        for call, role, both in self.open:
            self.same([stream.up_to(version) for stream in both], call, f"{role} up to version {version}")
        return len(self.open)

    def close(self) -> None:
        """Close the streams that are open."""
        for _, _, both in self.open:
            for stream in both:
                stream.line.close()

    def alike_stream(self, call: Call, role: str, version: int) -> None:
        """Hold: a stream that somebody opens now says the same of all that has happened."""
        said = []
        for cast in self.casts:
            stream = cast.stream(call, role)
            with closing(stream.line):
                said.append(stream.up_to(version))
        self.same(said, call, f"{role} at version {version}")

    def alike(self, call: Call, role: str, version: int) -> None:
        """Hold: both stages answer somebody the same."""
        self.same([cast.say(call, role) for cast in self.casts], call, f"{role} at version {version}")

    def same(self, said: Sequence[Said], call: Call, who: str) -> None:
        """Hold: two answers are the same."""
        told = [numbers.of(answer) for numbers, answer in zip(self.numbers, said, strict=True)]
        assert told[0] == told[1], f"{call} tells {who} what lies hidden:\n{told[0]}\n\n{told[1]}"

    def decide(self, entry: Entry[Raw, Event], version: int) -> None:
        """Give each stage the command that led to a version; the viewer's own, twice, must be answered the same."""
        own = self.twins.viewer is not None and entry.by.seat == self.twins.viewer
        commands = [commands[version - 1] for commands in self.twins.commands]
        calls = [call_of(self.twins.match.game, command, f"key-{version}") for command in commands]
        said = [
            give(cast, entry.by, call, orders)
            for cast, call, orders in zip(self.casts, calls, self.twins.orders, strict=True)
        ]
        if own and version > self.twins.first:
            self.same(said, calls[0], role_of(entry.by))
            self.alike(calls[0], role_of(entry.by), version)


def give(cast: Cast, by: By, call: Call, orders: Orders) -> Said:
    """Give a command that must be accepted; a table that it opens is dealt by these orders."""
    said = cast.say(call, role_of(by))
    assert said.status in {200, 201}, (call, said)
    if not cast.table:
        cast.table = said.json["table"]
        cast.stage.orders[cast.table] = orders
    return said


def nothing_hidden_is_told(twins: Twins, stages: tuple[Stage, Stage]) -> int:
    """Hold law 2 at every step of these twins; return in how many answers it was held."""
    seats = twins.match.taken
    pair = Pair(twins, (cast(stages[0], seats), cast(stages[1], seats)))
    routes = stages[0].routes
    own = [route for route in routes if is_of_a_table(route) and route.tag == twins.match.game.name]
    with closing(pair):
        return _played(pair, routes, own)


def _played(pair: Pair, routes: Sequence[Endpoint], own: Sequence[Endpoint]) -> int:
    twins, told = pair.twins, 0
    for table, entry, _ in twins.match.versions():
        pair.decide(entry, table.version)
        if table.version == 1:
            pair.open_streams()
        if table.version in twins.asked:
            told += _held(pair, table, own)
        if table.version == twins.last:
            told += pair.alike_streams(table.version)
            _somebody_sees_the_difference(pair)
            return told + (_everywhere(pair, table, routes) if twins.everywhere else 0)
    raise AssertionError(f"the match ended before version {twins.last}")


def _held(pair: Pair, table: AnyTable, routes: Sequence[Endpoint]) -> int:
    """Ask on these routes, as the viewer, as who gave up, whose eyes are a spectator's now, and as some others."""
    told = 0
    random = Random(f"{pair.twins.viewer} {table.version}")
    seated = [seat for seat in table.taken if seat == pair.twins.viewer or seat in table.resigned]
    others = [*_others(seated)]
    roles = [(f"seat {seat}", seat) for seat in seated]
    for role, seat in (*roles, *random.sample(others, min(ROLES, len(others)))):
        moment = Moment(pair.twins.match, table, seat)
        plain: list[Call] = []
        rest: list[Call] = []
        for route in routes:
            first, *further = calls(route, moment)
            (plain if route.method == "GET" else rest).append(first)
            rest += further
        for call in (*plain, *rest[random.randrange(STRIDE) :: STRIDE]):
            pair.alike(call, role, table.version)
            told += 1
        if any(map(is_of_a_table, routes)):
            pair.alike_stream(random.choice(streams(pair.twins.match.game)), role, table.version)
            told += 1
    return told


def _others(seats: Sequence[int]) -> Iterator[tuple[str, int | None]]:
    """Yield the roles that never had a seat, and who has one of these and comes with another token."""
    for role in ("nobody", "stranger", "host", "onlooker", "onlooker without scope"):
        yield role, None
    yield from ((f"onlooker as {scope}", None) for scope in SCOPES)
    yield from ((f"seat {seat} as arbiter", seat) for seat in seats)


def _everywhere(pair: Pair, table: AnyTable, routes: Sequence[Endpoint]) -> int:
    """Ask on every route at the end of the twins, and last what can be asked only once."""
    for cast in pair.casts:
        cast.stage.list_in_lobby(cast.table)
        cast.stage.tell(cast.table)
        seated = [role for role in cast.accounts if role.startswith("seat ")]
        assert all(cast.say(INBOX, role).json["notices"] for role in seated), "nobody was told of a turn"
    routes = [route for route in routes if route.path not in MEASURED]
    lasting = [route for route in routes if (route.method, route.path) not in ENDING]
    told = _held(pair, table, lasting)
    if pair.twins.viewer is not None:
        for method, path in sorted(ENDING & {(route.method, route.path) for route in routes}):
            pair.alike(Call(method, path), f"seat {pair.twins.viewer}", table.version)
            told += 1
    return told


def _somebody_sees_the_difference(pair: Pair) -> None:
    """Hold: the twins are two worlds, and there are eyes that see it, in their view or in what has just happened."""
    path = f"/v1/{pair.twins.match.game.name}/tables/{{table}}"
    looks = (Call("GET", path), Call("GET", f"{path}/events?after={pair.twins.last - 1}"))
    roles = [role for role in pair.casts[0].tokens if role.startswith("seat ")]
    first, second = ([cast.say(look, role) for role in roles for look in looks] for cast in pair.casts)
    assert list(map(Numbering().of, first)) != list(map(Numbering().of, second)), (
        "nobody sees that the cards lie otherwise"
    )


def streams(game: AnyGame) -> list[Call]:
    """Return the calls by which a table of a game is read as it goes on."""
    path = f"/v1/{game.name}/tables/{{table}}/events"
    return [
        Call("GET", path, (("Accept", EVENT_STREAM),)),
        Call("GET", f"{path}?follow=true", (("Accept", NDJSON),)),
    ]


def role_of(by: By) -> str:
    """Return the role that gave a command."""
    return "host" if by.seat is None else f"seat {by.seat}"


def call_of(game: AnyGame, command: Command, key: str) -> Call:
    """Return the request by which a command comes; all but leaving are named by a key."""
    once, path = ("Idempotency-Key", key), f"/v1/{game.name}/tables"
    match command:
        case Create(seats=seats, options=options, start=start):
            return posted(path, {"seats": seats, "options": options, "start": start, "bots": []}, once)
        case Sit(seat=seat, nonce=nonce):
            return posted(f"{path}/{{table}}/seats", {"seat": seat, "nonce": nonce}, once)
        case Leave():
            return Call("DELETE", f"{path}/{{table}}/seats/me")
        case Start():
            return Call("POST", f"{path}/{{table}}/start", (once,))
        case _:
            return posted(f"{path}/{{table}}/commands", command, once, ("Prefer", "return=representation"))
