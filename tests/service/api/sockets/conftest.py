"""Sockets of Ada's, tables for them, and what a WebSocket is opened with."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import pytest

from service.api.websocket import PATH
from tests.raw import request
from tests.served import Person
from tests.sockets import Json, Socket, opened

NO_TABLE = "0" * 26


@pytest.fixture
def socket(url: str, ada: Person) -> Iterator[Socket]:
    """Give Ada's socket."""
    with opened(url, ada.token) as socket:
        yield socket


@pytest.fixture
def table(ada: Person) -> str:
    """Give a table of Chinkway that Ada has opened; nobody sits there."""
    opened_table: str = ada.post("/v1/chinkway/tables").json()["table"]
    return opened_table


def path_of(table: str, end: str = "commands") -> str:
    return f"/v1/chinkway/tables/{table}/{end}"


def decisions(person: Person, table: str, after: int = 0) -> list[Json]:
    """Return what somebody may see of a table's log, as HTTP has it."""
    answer = person.http.get(path_of(table, f"events?after={after}"), headers={"Accept": "application/x-ndjson"})
    return [json.loads(each) for each in answer.text.splitlines()]


def handshake(
    *headers: str, target: str = PATH, version: str = "13", key: str = "AAAAAAAAAAAAAAAAAAAAAA==", host: str = "here"
) -> bytes:
    """Write the handshake of a WebSocket."""
    upgrade = ("Connection: Upgrade", "Upgrade: websocket", f"Sec-WebSocket-Version: {version}")
    written = request(target, *upgrade, f"Sec-WebSocket-Key: {key}", *headers)
    return written.replace(b"Host: here", f"Host: {host}".encode(), 1)


def bearing(person: Person) -> str:
    return f"Authorization: Bearer {person.token}"


def masked(text: bytes) -> bytes:
    """Write a text message as a client does, masked by zeros."""
    assert len(text) < 126
    return bytes((0x81, 0x80 | len(text), 0, 0, 0, 0)) + text


@contextmanager
def somebody(url: str, name: str | None = "Ada") -> Iterator[Person]:
    """Give somebody on a server for a block, with an account under this name."""
    person = Person(url, name)
    with closing(person.http):
        yield person


def await_that(holds: Callable[[], bool], found: Callable[[], object] = str) -> None:
    """Wait until something holds; tell what is found instead if it never does."""
    until = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < until, found()
        time.sleep(0.02)
