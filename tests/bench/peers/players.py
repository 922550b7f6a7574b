"""Five people who play Trick: their accounts, what each knows from what its seat is shown, and their clock."""

import asyncio
import random
import time
from typing import Any

import msgspec
from msgspec import Struct

from tests.bench import clients
from tests.bench.clients import Exchange
from tests.bench.driver import request
from tests.bench.servers import Process
from tests.bench.trick.events import Card
from tests.bench.trick.projections import SEATS
from tests.bench.trick.service import playable


class Happening(Struct, frozen=True, gc=False):
    """Of an event what a player of Trick goes by."""

    type: str
    seat: int | None = None
    card: Card | None = None
    seats: int | tuple[int, ...] = ()
    hands: tuple[tuple[Card, ...] | None, ...] = ()


class Decision(Struct, frozen=True, gc=False):
    version: int = 0
    events: tuple[Happening, ...] = ()


class Account:
    """Somebody who plays at one table after the other, over a connection that stays for a round."""

    exchange: Exchange

    def __init__(self) -> None:
        self.bearer = ""

    async def connect(self, server: Process) -> None:
        """Open the connection that requests go over; get a token, the first time."""
        self.exchange = await clients.exchange(server)
        if self.bearer:
            return
        welcome = msgspec.json.decode(await self.post("/v1/players", {"name": "Bench"}))
        self.bearer = f"Authorization: Bearer {welcome['token']}"

    async def post(self, path: str, body: object) -> bytes:
        """Post JSON; return the answer's."""
        headers = [self.bearer] if self.bearer else []
        return await self.exchange.ask(request("POST", path, *headers, body=msgspec.json.encode(body)))

    async def get(self, path: str) -> Any:  # noqa: ANN401 any JSON
        """Return what a path holds."""
        return msgspec.json.decode(await self.exchange.ask(request("GET", path, self.bearer)))


class Players:
    """The five accounts that play at one table after the other."""

    def __init__(self, server: Process, rng: random.Random) -> None:
        self.server = server
        self.rng = rng
        self.accounts = [Account() for _ in range(SEATS)]

    async def connect(self) -> None:
        """Open a connection for each account."""
        for account in self.accounts:
            await account.connect(self.server)

    def close(self) -> None:
        """Close the connections."""
        for account in self.accounts:
            account.exchange.close()


class Clock:
    """A round while it is played: what its tables count in."""

    def __init__(self) -> None:
        self.stopped = False
        self.took: list[float] = []

    def stop(self) -> None:
        """Let nobody move any more, once somebody has."""
        if self.took:
            self.stopped = True
        else:
            asyncio.get_running_loop().call_later(0.01, self.stop)

    def saw(self, sent: float) -> None:
        """Count a move that was sent at a time, and is seen for the first time now."""
        self.took.append(time.perf_counter() - sent)


class Seat:
    """A player's knowledge: hand and trick, from what the seat is shown."""

    def __init__(self, number: int, account: Account, rng: random.Random) -> None:
        self.number = number
        self.account = account
        self.hand: list[Card] = []
        self._trick: list[Card] = []
        self._rng = rng

    def see(self, decision: Decision) -> bool:
        """Take a decision in; tell whether it prompts this seat."""
        prompted = False
        for event in decision.events:
            match event.type:
                case "trick.played" if event.card is not None:
                    self._trick.append(event.card)
                    if event.seat == self.number:
                        self.hand.remove(event.card)
                case "trick.trick_taken":
                    self._trick.clear()
                case "trick.dealt":
                    self.hand = list(event.hands[self.number] or ())
                case "table.turn_began":
                    prompted = isinstance(event.seats, tuple) and self.number in event.seats
                case _:
                    pass
        return prompted

    def play(self, turn: int) -> bytes:
        """Return a command for this turn: any card that may be played."""
        card = self._rng.choice(playable(self.hand, self._trick))
        return b'{"type":"trick.play","card":"%b","turn":%d}' % (card.encode(), turn)
