"""Whatever is killed under load, every acknowledged request is in the log once, and no other is.

A round kills one process of `evenfold serve` while people play, by a fixed seed: the store, an API worker, the reactor
that moves the bots, or the supervisor, which is then started again on the same folder and port. A player sends a
request again, with its key, until it is answered.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import httpx

from service.ids import key_of
from tests.faults.ledger import audited
from tests.served import Person
from tests.service.cli.processes import Server, serving, until
from tests.sizes import sized
from tests.stores import free_port

ROUNDS = sized(6, 30, 200)

# One supervisor in ten rounds: with it all start anew, and what was killed often does so without a pause again.
VICTIMS = ["valkey", " api ", " react "] * 3 + ["supervisor"]

BETWEEN = 8
"""How many requests are acknowledged between two kills, so that each comes under load and after all has recovered."""

PLAYERS = 3
TABLES = "/v1/chinkway/tables"
UNLIMITED = {f"EVENFOLD_{limit}": "0" for limit in ("RATE_LIMIT", "TABLE_QUOTA", "SIGN_UP_LIMIT", "MIN_FREE")}

Json = dict[str, Any]


class Acknowledged(NamedTuple):
    """What a request was told: the table, the hash of its key, the version and the head."""

    table: str
    key: str
    version: int
    head: str


class Player(threading.Thread):
    """Plays with bots, table after table, until told that it is enough; keeps what was acknowledged."""

    def __init__(self, url: str, number: int) -> None:
        super().__init__(daemon=True)
        self.person = Person(url, f"Player {number}")
        self.acknowledged: list[Acknowledged] = []
        self.enough = threading.Event()
        self._keys = (f"{number}-{n}" for n in count())

    def run(self) -> None:
        """Play."""
        while not self.enough.is_set():
            opened = self._insist(TABLES, {"bots": ["anyone"] * 4})
            path = f"{TABLES}/{opened['table']}"
            self._insist(f"{path}/seats", {})
            while not self.enough.is_set() and self._answer("GET", path)["status"] == "playing":
                for command in self._answer("GET", f"{path}/actions")["legal"][:1]:
                    self._insist(f"{path}/commands", command)

    def _insist(self, path: str, body: Json) -> Json:
        """Send a request with one key until it is answered; keep the answer if it is a success."""
        key = next(self._keys)
        answer = self._answer("POST", path, body, {"Idempotency-Key": key})
        if "head" in answer:
            table = answer.get("table") or path.split("/")[4]
            remembered = key_of(self.person.id, f"POST {path}", key)
            self.acknowledged.append(Acknowledged(table, remembered, answer["version"], answer["head"]))
        return answer

    def _answer(self, method: str, path: str, body: Json | None = None, headers: Json | None = None) -> Json:
        while True:
            try:
                answer = self.person.http.request(method, path, json=body, headers=headers)
            except httpx.TransportError:
                answer = None
            if answer is not None and answer.status_code != 503:
                # A bot that came first may have ended the turn that this answers.
                assert answer.is_success or answer.json()["code"] in {"turn_over", "not_now", "not_your_turn"}
                found: Json = answer.json()
                return found
            self.enough.wait(0.02)


class Served:
    """A server of two workers on a folder and a port, which can be killed as a whole and started again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = str(free_port())
        self._running = ExitStack()
        self.server: Server
        self.start()

    def start(self) -> None:
        """Start on the folder, whatever was left there."""
        arguments = ("--port", self._port, "--workers", "2")
        self.server = self._running.enter_context(serving(self._folder, *arguments, **UNLIMITED))

    def kill(self, victim: str, rng: Random) -> None:
        """Kill the supervisor and start it again, or one of its processes, which it starts again itself."""
        if victim == "supervisor":
            self.server.process.kill()
            self.server.process.wait()
            self._running.close()
            return self.start()
        until(lambda: self._those(victim))
        os.kill(rng.choice(self._those(victim)), signal.SIGKILL)
        return None

    def _those(self, word: str) -> list[int]:
        """Return the processes whose command line has this word."""
        return sorted(pid for pid, line in self.server.parts().items() if word in line)

    def close(self) -> None:
        """End it."""
        self._running.close()


def victims(rng: Random) -> Iterator[str]:
    """Yield what to kill, round after round."""
    while True:
        yield from rng.sample(VICTIMS, len(VICTIMS))


def test_what_was_acknowledged_is_in_the_log_once_whatever_is_killed(tmp_path: Path) -> None:
    rng = Random(30)
    serving = Served(tmp_path)
    try:
        players = [Player(serving.server.url, number) for number in range(PLAYERS)]
        for player in players:
            player.start()
        for _, victim in zip(range(ROUNDS), victims(rng), strict=False):
            await_progress(players)
            serving.kill(victim, rng)
        await_progress(players)
        for player in players:
            player.enough.set()
            player.join()
            player.person.http.close()
        found = audited(f"unix://{serving.server.data}/valkey.sock")
        keyed = [
            Acknowledged(stream.removeprefix("table:"), line.key, line.version, line.head)
            for stream, lines in found.items()
            for line in lines
            if line.key is not None
        ]
        acknowledged = [one for player in players for one in player.acknowledged]
        assert len(acknowledged) > ROUNDS * BETWEEN
        assert sorted(keyed) == sorted(acknowledged)
    finally:
        serving.close()


def await_progress(players: list[Player]) -> None:
    """Return when so many more requests were acknowledged; that needs the workers, the store, and bots that move."""
    before = sum(len(player.acknowledged) for player in players)
    until(lambda: sum(len(player.acknowledged) for player in players) >= before + BETWEEN)
