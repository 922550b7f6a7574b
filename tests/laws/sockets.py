"""Law 2 over WebSockets: whoever can't tell two tables apart is sent the same frames of both, in the same order.

Sockets are opened on both stages, by the viewer, by who has given up a seat, and by some who never had one; each
watches the table from its beginning, and asks by commands at chosen steps what is refused. All of it is compared as it
came.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import msgspec

from service.api.endpoint import Endpoint
from tests.laws.calls import Call, Moment, calls, is_of_a_table
from tests.laws.pairs import Pair, cast
from tests.laws.stages import Said, Stage
from tests.laws.twins import Twins
from tests.sockets import Socket, opened

ONLOOKERS = ("host", "onlooker")

# Of what is refused so many calls are made at a step: others at the next.
CALLS = 5

_MEMBERS = {"Idempotency-Key": "key", "If-Match": "if_match", "Prefer": "prefer"}
# It says nothing but which request it was.
_REQUEST = re.compile(r'("x-request-id":")[0-9a-f]{32}')


@dataclass
class Ears:
    """Two sockets, one on each stage, of somebody in the same role."""

    role: str
    seat: int | None
    sockets: tuple[Socket, Socket]

    def alike(self, pair: Pair, frames: int, what: str) -> None:
        """Hold: the next so many frames are the same on both stages."""
        call = Call("GET", what)
        for _ in range(frames):
            said = [Said(0, (), _REQUEST.sub(r"\1", _next(socket)).encode()) for socket in self.sockets]
            pair.same(said, call, self.role)


def nothing_hidden_is_sent(twins: Twins, stages: tuple[Stage, Stage], *games: str) -> int:
    """Hold law 2 at every step of these twins, which play a game of these modules; return in how many frames."""
    seats = twins.match.taken
    pair = Pair(twins, (cast(stages[0], seats), cast(stages[1], seats)))
    posts = [route for route in stages[0].routes if _is_asked(route, twins)]
    with ExitStack() as stack:
        ears: list[Ears] = []
        sent = 0
        for table, entry, _ in twins.match.versions():
            pair.decide(entry, table.version)
            version = table.version
            if version == max(twins.first, 1):
                ears = [_ears(pair, role, seat, stack, games) for role, seat in _roles(twins, table.resigned)]
                for one in ears:
                    one.alike(pair, 1 + version, "the table so far")
            elif version > twins.first:
                for one in ears:
                    one.alike(pair, 1, f"version {version}")
            sent += len(ears)
            if version in twins.asked and version >= twins.first:
                for number, one in enumerate(ears):
                    refused = [*_refused(posts, Moment(twins.match, table, one.seat))]
                    stride = max(len(refused) // CALLS, 1)
                    for call in refused[(version + number) % stride :: stride]:
                        for socket, somewhere in zip(one.sockets, pair.casts, strict=True):
                            socket.line.send(_message(call, somewhere.table))
                        one.alike(pair, 1, f"{call} at version {version}")
                        sent += 1
            if version == twins.last:
                return sent
    raise AssertionError(f"the match ended before version {twins.last}")


def _is_asked(route: Endpoint, twins: Twins) -> bool:
    return route.socket and is_of_a_table(route) and route.tag == twins.match.game.name


def _roles(twins: Twins, resigned: Sequence[int]) -> Iterator[tuple[str, int | None]]:
    for seat in twins.match.taken:
        if seat == twins.viewer or seat in resigned:
            yield f"seat {seat}", seat
    yield from ((role, None) for role in ONLOOKERS)


def _ears(pair: Pair, role: str, seat: int | None, stack: ExitStack, games: Sequence[str]) -> Ears:
    sockets = []
    for one in pair.casts:
        socket = stack.enter_context(opened(one.stage.url, one.tokens[role], modules=tuple(games)))
        socket.say({"watch": {"table": one.table}})
        sockets.append(socket)
    return Ears(role, seat, (sockets[0], sockets[1]))


def _next(socket: Socket) -> str:
    socket.frame()
    return socket.raw


def _refused(routes: Sequence[Endpoint], moment: Moment) -> Iterator[Call]:
    for route in routes:
        yield from calls(route, moment)


def _message(call: Call, table: str) -> str:
    """Return the message that asks over a socket for what a call asks over HTTP."""
    rest = {_MEMBERS[name]: value for name, value in call.headers if name in _MEMBERS}
    command = {"id": "c", "path": call.path.replace("{table}", table), "body": msgspec.Raw(call.body or b"{}"), **rest}
    return msgspec.json.encode({"command": command}).decode()
