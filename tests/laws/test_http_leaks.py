"""What a service says to those who run it holds no secret: its logs, its metrics, and its answers to its own faults.

The service runs as it does for everybody, in processes of its own, logging all that it can; one game is broken so that
its faults name every card.
"""

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace

import msgspec
import pytest

from events.base import Event
from service.app import endpoints
from service.embedded import Embedded
from service.game import Ask
from service.games import find
from service.settings import LogFormat
from tests.laws.calls import JSON, Call, posted
from tests.laws.stages import Line, Said, Stage
from tests.service.cli.processes import serving, until
from tests.toy.projections.toy import Laying, State
from tests.toy.service.toy import GAME as TOY
from tests.toy.service.toy import Hold, decide

MODULE = "tests.laws.test_http_leaks"
CARDS = re.compile(r"\b([RGBY][1-8]|[SHDC][2-9TJQKA])\b")
IDS = re.compile(r"\b[0-9a-hjkmnp-tv-z]{26}\b")


def tells_all(state: State, ask: Ask) -> Iterator[Event]:
    match state.phase, ask.command:
        case Laying(seat), Hold() if seat == ask.by.seat:
            raise RuntimeError(f"{state.hands} {state.stock} {state.pledges} {ask}")
        case _:
            return decide(state, ask)


GAME = replace(TOY, decide=tells_all)


@dataclass
class Heard:
    """What was said while people played: logs, metrics, and answers to faults; and what may be in none of them."""

    logs: str
    metrics: str
    faults: list[str]
    secrets: set[str]


@pytest.fixture(scope="module", params=["text", "json"])
def heard(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Heard:
    """Play at a service that logs all it can in one of its forms."""
    form: LogFormat = request.param
    folder = tmp_path_factory.mktemp("leaks")
    logging = ("--log-format", form, "--log-level", "debug")
    with Embedded(folder / "store", what="a test") as store:
        variables = {"EVENFOLD_GAMES": MODULE, "EVENFOLD_REDIS_URL": store.url}
        with serving(folder, *logging, **variables) as server:
            stage = Stage(store.url, endpoints(find(MODULE)))
            with closing(Line(int(server.url.rpartition(":")[2]))) as line:
                stage.line = line
                scene = Scene(stage)
                scene.play()
                scene.watch_bots()
                until(lambda: "RuntimeError" in server.complaints())
                metrics = scene.say(Call("GET", "/metrics"), None).body.decode()
        return Heard(server.complaints(), metrics, scene.faults, scene.secrets)


class Scene:
    """Two people at a table of the broken game, who do whatever may have a secret told."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.people = [stage.sign_up(f"Nameable{number}") for number in range(2)]
        self.ids = {"table": "", "player": self.people[0][0]}
        self.faults: list[str] = []
        self.secrets = {token for _, token in self.people} | {"Nameable0", "Nameable1"}

    def say(self, call: Call, person: int | None, **headers: str) -> Said:
        """Ask for something as somebody, each POST with a key of its own."""
        key = f"a-key-that-is-mine-{len(self.secrets)}"
        if call.method == "POST" and person is not None:
            self.secrets.add(key)
            headers["Idempotency-Key"] = key
        token = None if person is None else self.people[person][1]
        return self.stage.say(call._replace(headers=(*call.headers, *headers.items())), token, self.ids)

    def open(self, game: str, body: object) -> str:
        """Open a table and return its path."""
        self.ids["table"] = self.say(posted(f"/v1/{game}/tables", body), 0).json["table"]
        return f"/v1/{game}/tables/{{table}}"

    def play(self) -> None:
        """Play a while, well and badly, and run into the fault."""
        path = self.open("toy", {"seats": 2})
        for person in range(2):
            self.say(posted(f"{path}/seats", {"seat": person, "nonce": f"luck-{person}"}), person)
        for person in range(2):
            self._try_everything(path, person)
            self._try_tickets(path, person)
            legal = self.say(Call("GET", f"{path}/actions"), person).json["legal"]
            assert self.say(posted(f"{path}/commands", legal[0]), person).status == 201
        prompted = self.say(Call("GET", path), 0).json["to_act"][0]
        broken = self.say(posted(f"{path}/commands", {"type": "toy.hold"}), prompted)
        assert (broken.status, broken.json["code"]) == (500, "internal")
        self.faults.append(broken.body.decode())
        self._note_sealed()

    def _try_everything(self, path: str, person: int) -> None:
        """Ask for what is refused, malformed, late or another's, with secrets in every part of the request."""
        token = self.people[person][1]
        odd = {
            posted(f"{path}/commands", {"type": "toy.pledge", "card": "R1"}): {"If-Match": '"1"'},
            posted(f"{path}/commands", {"type": "toy.lay", "cards": ["R1", "R2"]}): {},
            posted(f"{path}/commands", {"type": "toy.pledge", "card": token}): {},
            Call("POST", f"{path}/commands", (JSON,), b'{"type":"R1' + token.encode()): {},
            Call("GET", f"{path}?{token}=R1"): {},
            Call("GET", f"{path}?at={token}"): {},
            Call("GET", f"/v1/toy/tables/{token}"): {},
            Call("GET", f"/{token}/R1"): {},
            Call("DELETE", f"/v1/tokens/{token}"): {},
        }
        for call, headers in odd.items():
            assert self.say(call, person, **headers).status >= 400, call
        for bearer in (f"Bearer {token}x", f"Basic {token}", token):
            self.secrets.add(bearer)
            assert self.stage.say(Call("GET", path, (("Authorization", bearer),)), None, self.ids).status == 401

    def _try_tickets(self, path: str, person: int) -> None:
        """Use tickets as they are meant, twice, at another path, with a token, and in every wrong place."""
        stream = f"{path}/events".replace("{table}", self.ids["table"])
        tickets = [self.say(posted("/v1/tickets", {"path": stream}), person).json["ticket"] for _ in range(2)]
        self.secrets.update(tickets)
        first, second = tickets
        ndjson = ("Accept", "application/x-ndjson")
        for status, call in (
            (200, Call("GET", f"{stream}?ticket={first}", (ndjson,))),
            (401, Call("GET", f"{stream}?ticket={first}", (("X-Request-Id", first),))),
            (401, Call("GET", f"{path}/events?ticket={second}".replace("toy", "chinkway"))),
            (400, Call("GET", f"{path}?ticket={second}")),
            (400, Call("GET", f"{stream}?ticket={second}&{second}=1")),
            (400, Call("GET", f"{stream}?ticket={second}", (("Authorization", f"Bearer {second}"),))),
            (404, Call("GET", f"/v1/{second}")),
            (400, posted("/v1/tickets", {"path": f"{stream}?ticket={second}"})),
        ):
            said = self.say(call, person if call.method == "POST" else None)
            assert said.status == status, (call, said)

    def _note_sealed(self) -> None:
        """Note what only the log knows: seeds and salts."""
        for e in self.stage.log(self.ids["table"]):
            entry = msgspec.json.decode(e)
            self.secrets |= {entry["salt"]} | ({entry["key"]} if entry["key"] else set())
            self.secrets |= {event["seed"] for event in entry["events"] if event["type"] == "table.seeded"}

    def watch_bots(self) -> None:
        """Let bots play a deal of a game that ships."""
        path = self.open("chinkway", {"bots": ["anyone"] * 4})
        self.say(posted(f"{path}/seats", {"nonce": "mine"}), 0)
        self._note_sealed()
        until(lambda: self._moved(path) > 30)

    def _moved(self, path: str) -> int:
        legal = self.say(Call("GET", f"{path}/actions"), 0).json["legal"]
        if legal:
            self.say(posted(f"{path}/commands", legal[0]), 0)
        version: int = self.say(Call("GET", path), 0).json["version"]
        return version


def test_something_was_said(heard: Heard) -> None:
    """Or else nothing could be found in it."""
    assert "RuntimeError" in heard.logs
    assert "/v1/toy/tables/{table}/commands" in heard.logs
    assert "evenfold_" in heard.metrics
    assert len(heard.secrets) > 20


def test_no_log_names_a_card(heard: Heard) -> None:
    assert CARDS.findall(heard.logs) == []


def test_no_log_holds_a_token_a_ticket_a_key_a_seed_a_salt_or_a_name(heard: Heard) -> None:
    assert [secret for secret in heard.secrets if secret in heard.logs] == []
    assert re.findall("ev[ft]_", heard.logs) == []


def test_metrics_hold_neither_secrets_nor_cards_nor_ids(heard: Heard) -> None:
    assert [secret for secret in heard.secrets if secret in heard.metrics] == []
    assert CARDS.findall(heard.metrics) == []
    assert IDS.findall(heard.metrics) == []


def test_the_answer_to_a_fault_holds_nothing_of_it(heard: Heard) -> None:
    for fault in heard.faults:
        assert CARDS.findall(fault) == []
        assert "RuntimeError" not in fault
        assert [secret for secret in heard.secrets if secret in fault] == []
