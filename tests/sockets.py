"""A WebSocket of somebody's on a server of the tests; every frame is judged by the document, as every answer is."""

import json
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any

import httpx
import jsonschema_rs
import msgspec
from websockets.sync.client import ClientConnection, connect

from service import games
from service.api.document import document
from service.api.websocket import PATH
from service.app import endpoints
from tests.documented import Schema, documented
from tests.served import Person

Json = dict[str, Any]

ENOUGH_S = 30
"""How long a frame is waited for."""


class Socket:
    """A WebSocket that is open."""

    def __init__(self, line: ClientConnection, *modules: str) -> None:
        """Speak over this; the server plays the games that ship, and those of these modules."""
        self.line = line
        self.raw = ""
        self._modules = modules
        self.early: deque[Json] = deque()
        self._names = iter(range(1, 1_000_000))
        self._paths: dict[str, str] = {}

    def say(self, message: object) -> None:
        """Send a message as JSON."""
        self.line.send(msgspec.json.encode(message).decode())

    def frame(self) -> Json:
        """Return the next frame."""
        return self.early.popleft() if self.early else self._received()

    def frames(self, count: int) -> list[Json]:
        """Return so many next frames."""
        return [self.frame() for _ in range(count)]

    def until(self, wanted: Callable[[Json], bool]) -> Json:
        """Return the first frame that is wanted; those before it come later."""
        for number, frame in enumerate(self.early):
            if wanted(frame):
                del self.early[number]
                return frame
        while not wanted(frame := self._received()):
            self.early.append(frame)
        return frame

    def watch(self, table: str, after: int = 0) -> Json:
        """Watch a table; return what says so."""
        self.say({"watch": {"table": table, "after": after}})
        return self.until(lambda frame: frame["type"] in {"watched", "error"} and frame.get("table") == table)

    def post(self, path: str, body: object = None, **rest: object) -> Json:
        """Post to a table; return the answer."""
        return self.answer(self.send(path, body, **rest))

    def send(self, path: str, body: object = None, **rest: object) -> str:
        """Post to a table, and return the name that the answer will bear."""
        name = f"c{next(self._names)}"
        self._paths[name] = path
        self.say({"command": {"id": name, "path": path, "body": {} if body is None else body, **rest}})
        return name

    def answer(self, name: str) -> Json:
        """Return the answer of this name."""
        return self.until(lambda frame: frame["type"] == "answer" and frame["id"] == name)

    def closed(self) -> int:
        """Return the code that the server closes with; whatever comes before is no matter."""
        try:
            while True:
                self.line.recv(timeout=ENOUGH_S)
        except TimeoutError:
            raise
        except Exception:  # noqa: BLE001 whatever it is, it is told by the code
            code = self.line.close_code
            assert code is not None
            return code

    def _received(self) -> Json:
        text = self.line.recv(timeout=ENOUGH_S)
        assert isinstance(text, str)
        self.raw = text
        frame: Json = json.loads(text)
        assert _judges(*self._modules)[1].is_valid(frame), frame
        path = self._paths.pop(frame.get("id", ""), None) if frame["type"] == "answer" else None
        if path is not None:
            self._judge(frame, path)
        return frame

    def _judge(self, answer: Json, path: str) -> None:
        """Fail where the document does not have such an answer to a POST there."""
        media = "application/problem+json" if answer["status"] >= 400 else "application/json"
        asked = httpx.Request("POST", f"http://here{path}")
        headers = {**answer["headers"], "content-type": media}
        told = httpx.Response(answer["status"], headers=headers, json=answer["body"], request=asked)
        told.headers["content-type"] = media
        documented(*self._modules).check(told)


@contextmanager
def opened(url: str, token: str | None = None, *, query: str = "", modules: tuple[str, ...] = ()) -> Iterator[Socket]:
    """Open a socket on a server for a block, with a token or with what the query says."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    address = f"{url.replace('http', 'ws', 1)}{PATH}{query}"
    with connect(address, additional_headers=headers, compression=None, ping_interval=None) as line:
        yield Socket(line, *modules)


@contextmanager
def sockets_of(url: str, people: list[Person]) -> Iterator[list[Socket]]:
    """Open a socket for each of these people for a block."""
    with ExitStack() as stack:
        yield [stack.enter_context(opened(url, person.token)) for person in people]


@cache
def judge_of_messages() -> jsonschema_rs.Draft202012Validator:
    """Return what tells whether something is a message that the document has."""
    return _judges()[0]


@cache
def _judges(*modules: str) -> tuple[jsonschema_rs.Draft202012Validator, jsonschema_rs.Draft202012Validator]:
    """Return what judges messages and frames by the document of a server that plays these games too."""
    known = games.find(*modules)
    whole: Schema = msgspec.json.decode(msgspec.json.encode(document(endpoints(known), known)))
    spoken = whole["paths"][PATH]["get"]["x-websocket"]
    schemas = (spoken["messages"], {"anyOf": [*spoken["frames"].values()]})
    messages, frames = (
        jsonschema_rs.Draft202012Validator({**schema, "components": whole["components"]}) for schema in schemas
    )
    return messages, frames
