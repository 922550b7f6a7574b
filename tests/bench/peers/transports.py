"""Tables of Trick on our side: how their players hear of moves is the transport.

There are four:

    Unheard     commands over HTTP; nobody is told, the driver hands the turn on from the mover's answer
    Streamed    commands over HTTP, every move pushed to all five seats as server-sent events
    Unwatched   commands over one WebSocket a seat; nobody is told
    Socketed    commands over one WebSocket a seat, every move pushed to all five
"""

import asyncio
import time
from functools import partial
from typing import Self

import msgspec
from msgspec import Struct

from tests.bench import clients
from tests.bench.clients import EventStream, Sent, WebSocket
from tests.bench.driver import request
from tests.bench.peers.players import Clock, Decision, Players, Seat
from tests.bench.trick.projections import SEATS

TABLES = "/v1/trick/tables"
SOCKET = "/v1/socket"
CREATED = 201

JOINED = SEATS
"""The version of a table before the last seat is taken: what comes after it is play."""


class Frame(Struct, frozen=True, gc=False):
    """What a WebSocket is sent: a decision, or the answer to a command."""

    type: str
    status: int | None = None
    decision: Decision | None = None
    body: Decision = Decision()


_decision = msgspec.json.Decoder(Decision)
_frame = msgspec.json.Decoder(Frame)


class Table:
    """A table of five accounts: opened, filled, played on while its round goes on."""

    def __init__(self, players: Players, clock: Clock, path: str) -> None:
        self.path = path
        self.seats = [Seat(number, account, players.rng) for number, account in enumerate(players.accounts)]
        self.clock = clock
        self.server = players.server

    @classmethod
    async def opened(cls, players: Players, clock: Clock, deals: int) -> Self:
        """Open a table and have all five sit down."""
        host, *_ = players.accounts
        opened = msgspec.json.decode(await host.post(TABLES, {"options": {"deals": deals}}))
        table = cls(players, clock, f"{TABLES}/{opened['table']}")
        for number, account in enumerate(players.accounts):
            await account.post(f"{table.path}/seats", {"seat": number})
        return table

    async def connect(self) -> None:
        """Do what comes before the first move."""

    async def play(self) -> None:
        """Play on until the match ends or the clock has stopped, and everybody has heard of it."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the connections that are this table's alone."""

    def request(self, seat: Seat, turn: int) -> bytes:
        """Write a command as a request."""
        return request("POST", f"{self.path}/commands", seat.account.bearer, body=seat.play(turn))

    def message(self, seat: Seat, turn: int) -> bytes:
        """Write a command as a WebSocket's message."""
        path, body = self.path.encode(), seat.play(turn)
        return b'{"command":{"id":"%d","path":"%b/commands","body":%b}}' % (turn, path, body)


class Unheard(Table):
    """Commands over HTTP, of which nobody is told: the driver hands the turn on from the mover's answer."""

    async def connect(self) -> None:
        await self._look()

    async def play(self) -> None:
        turn: int | None = JOINED + 1
        mover = self.seats[0]
        while turn is not None and not self.clock.stopped:
            sent = time.perf_counter()
            done = await self.ask(mover, turn)
            self.clock.saw(sent)
            turn = None
            for seat in self.seats:
                if seat.see(done):
                    mover, turn = seat, done.version
            if turn is not None and not mover.hand:
                await self._look()

    async def ask(self, mover: Seat, turn: int) -> Decision:
        """Have a seat's command answered."""
        return _decision.decode(await mover.account.exchange.ask(self.request(mover, turn)))

    async def _look(self) -> None:
        """Have each player look at the table, for the hand."""
        for seat in self.seats:
            seat.hand = list((await seat.account.get(self.path))["hand"])


class _Heard(Table):
    """A table whose players act on what is pushed to each of them; nothing may be missed, or come twice."""

    def __init__(self, players: Players, clock: Clock, path: str) -> None:
        super().__init__(players, clock, path)
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._seen = [JOINED] * SEATS
        self._newest = JOINED
        self._sent = 0.0
        self._last: int | None = None  # the version after which nobody moves
        self._ended: set[int] = set()
        self._prompted: tuple[Seat, int] | None = None  # before play goes on
        self._goes_on = False

    async def play(self) -> None:
        self._goes_on = True
        if self._prompted is not None:
            self._act(*self._prompted)
            self._look_whether_over()
        await self.over

    def hear(self, seat: Seat, decision: Decision) -> None:
        """Take what a seat is told."""
        version = decision.version
        if version != self._seen[seat.number] + 1:
            self.fail(AssertionError(f"seat {seat.number} heard of {version} after {self._seen[seat.number]}"))
        self._seen[seat.number] = version
        if version > self._newest:
            self._newest = version
            if self._sent:
                self.clock.saw(self._sent)
        if seat.see(decision):
            self._act(seat, version)
        self._look_whether_over()

    def hear_end(self, seat: Seat) -> None:
        """Learn that a seat is told that the match has ended."""
        self._ended.add(seat.number)
        self._look_whether_over()

    def lose(self, seat: Seat, error: Exception) -> None:
        """Learn that a seat's connection has ended."""
        if seat.number not in self._ended:
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        """End the table by an error."""
        if not self.over.done():
            self.over.set_exception(error)

    def send(self, seat: Seat, turn: int) -> None:
        """Send a seat's command."""
        raise NotImplementedError

    def _act(self, seat: Seat, turn: int) -> None:
        if not self._goes_on:
            self._prompted = (seat, turn)
        elif self.clock.stopped:
            self._last = turn
        else:
            self._sent = time.perf_counter()
            self.send(seat, turn)

    def _look_whether_over(self) -> None:
        everybody_knows = min(self._seen) == self._last or len(self._ended) == SEATS
        if everybody_knows and not self.over.done():
            self.over.set_result(None)


class Streamed(_Heard):
    """Commands over HTTP; every move is pushed to all five as a server-sent event."""

    def __init__(self, players: Players, clock: Clock, path: str) -> None:
        super().__init__(players, clock, path)
        self._streams: list[EventStream] = []
        self._answers: dict[int, asyncio.Future[bytes]] = {}

    async def connect(self) -> None:
        for seat in self.seats:
            path = f"{self.path}/events?after={JOINED}"
            heard = partial(self._take, seat)
            stream = await clients.event_stream(self.server, path, seat.account.bearer, heard)
            stream.lost = partial(self.lose, seat)
            self._streams.append(stream)

    def close(self) -> None:
        for stream in self._streams:
            stream.close()

    async def play(self) -> None:
        await super().play()
        # A push can be faster than the answer, and the next table's requests go over the same connections.
        await asyncio.gather(*self._answers.values())

    def send(self, seat: Seat, turn: int) -> None:
        before = self._answers.get(seat.number)
        if before is None or before.done():
            self._post(seat, turn)
        else:  # The push of this seat's own last move was faster than its answer.
            before.add_done_callback(lambda _: self._post(seat, turn))

    def _post(self, seat: Seat, turn: int) -> None:
        answer = seat.account.exchange.send(self.request(seat, turn))
        answer.add_done_callback(self._answered)
        self._answers[seat.number] = answer

    def _answered(self, answer: "asyncio.Future[bytes]") -> None:
        if not answer.cancelled() and (error := answer.exception()):
            self.fail(error)

    def _take(self, seat: Seat, sent: Sent) -> None:
        if sent.event == "decision":
            self.hear(seat, _decision.decode(sent.data))
        elif sent.event == "ended":
            self.hear_end(seat)
        else:
            self.fail(AssertionError(sent))


class Socketed(_Heard):
    """Commands and moves over one WebSocket a seat."""

    def __init__(self, players: Players, clock: Clock, path: str) -> None:
        super().__init__(players, clock, path)
        self._sockets: list[WebSocket] = []

    async def connect(self) -> None:
        table = self.path.rpartition("/")[2]
        for seat in self.seats:
            bearer, heard = seat.account.bearer, partial(self._take, seat)
            opened = await clients.web_socket(self.server, SOCKET, bearer, heard)
            opened.lost = partial(self.lose, seat)
            self._sockets.append(opened)
            opened.send(msgspec.json.encode({"watch": {"table": table, "after": JOINED}}))

    def close(self) -> None:
        for socket in self._sockets:
            socket.close()

    def send(self, seat: Seat, turn: int) -> None:
        self._sockets[seat.number].send(self.message(seat, turn))

    def _take(self, seat: Seat, message: bytes) -> None:
        frame = _frame.decode(message)
        if frame.decision is not None:
            self.hear(seat, frame.decision)
        elif frame.type == "ended":
            self.hear_end(seat)
        elif frame.type not in {"answer", "watched"} or frame.status not in {None, CREATED}:
            self.fail(clients.Unanswered(message.decode()))


class Unwatched(Unheard):
    """Commands over one WebSocket a seat, of which nobody is told."""

    def __init__(self, players: Players, clock: Clock, path: str) -> None:
        super().__init__(players, clock, path)
        self._sockets: list[WebSocket] = []
        self._answer: asyncio.Future[Decision]

    async def connect(self) -> None:
        await super().connect()
        for seat in self.seats:
            self._sockets.append(await clients.web_socket(self.server, SOCKET, seat.account.bearer, self._take))

    async def ask(self, mover: Seat, turn: int) -> Decision:
        self._answer = asyncio.get_running_loop().create_future()
        self._sockets[mover.number].send(self.message(mover, turn))
        return await self._answer

    def close(self) -> None:
        for socket in self._sockets:
            socket.close()

    def _take(self, message: bytes) -> None:
        frame = _frame.decode(message)
        if frame.status == CREATED:
            self._answer.set_result(frame.body)
        else:
            self._answer.set_exception(clients.Unanswered(message.decode()))
