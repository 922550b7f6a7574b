"""What is no message is told so, and leaves the WebSocket and the service well."""

import json
from random import Random

import pytest

from tests.served import Person
from tests.service.api.sockets.conftest import NO_TABLE, path_of
from tests.sizes import sized
from tests.sockets import Json, Socket

GARBAGE: dict[str, str | bytes] = {
    "nothing": "",
    "no JSON": "{",
    "no object": "[]",
    "a word": '"watch"',
    "null": "null",
    "an empty object": "{}",
    "an unknown member": '{"look": {}}',
    "two members": json.dumps({"unwatch": {"table": NO_TABLE}, "watch": {"table": NO_TABLE}}),
    "an unknown field": '{"watch": {"table": "00000000000000000000000000", "before": 1}}',
    "a null member": '{"watch": null}',
    "no table": '{"watch": {}}',
    "a table of another shape": '{"watch": {"table": "x"}}',
    "a version below none": '{"watch": {"table": "00000000000000000000000000", "after": -1}}',
    "a version that is none": '{"watch": {"table": "00000000000000000000000000", "after": "1"}}',
    "a command without a path": '{"command": {"id": "x"}}',
    "a command without a name": '{"command": {"path": "/v1"}}',
    "an empty name": '{"command": {"id": "", "path": "/v1"}}',
    "a name too long": '{"command": {"id": "%s", "path": "/v1"}}' % ("x" * 65),
    "a number for a name": '{"command": {"id": 1, "path": "/v1"}}',
    "a path too long": '{"command": {"id": "x", "path": "/%s"}}' % ("x" * 256),
    "half a pair": '{"command": {"id": "\\ud800", "path": "/v1"}}',
    "too deep": "[" * 60_000,
    "too deep within": '{"command": {"id": "x", "path": "/v1", "body": %s}}' % ("[" * 30_000 + "]" * 30_000),
    "binary": b'{"unwatch": {"table": "00000000000000000000000000"}}',
    "binary nothing": b"",
    "a large number": '{"watch": {"table": "00000000000000000000000000", "after": 1e400}}',
}


@pytest.mark.parametrize("case", GARBAGE)
def test_what_is_no_message_is_told_so_and_the_socket_stays_open(socket: Socket, table: str, case: str) -> None:
    socket.line.send(GARBAGE[case])
    told = socket.frame()
    assert (told["type"], told["problem"]["status"], told["problem"]["code"]) == ("error", 400, "malformed")
    assert ("never a binary one" in told["problem"]["detail"]) is isinstance(GARBAGE[case], bytes)
    assert socket.watch(table)["type"] == "watched"


def test_a_message_that_is_none_is_told_with_the_name_it_gave(socket: Socket, table: str) -> None:
    socket.line.send('{"command": {"id": "mine", "path": "/v1", "bodies": {}}}')
    told = socket.frame()
    assert (told["id"], told["problem"]["field"]) == ("mine", "/command/bodies")
    socket.line.send(f'{{"watch": {{"table": "{table}", "after": -1}}}}')
    told = socket.frame()
    assert (told["table"], told["problem"]["field"]) == (table, "/watch/after")


def test_an_integral_float_is_an_integer_here_too(socket: Socket, table: str) -> None:
    socket.line.send(f'{{"watch": {{"table": "{table}", "after": 1.0}}}}')
    assert socket.frame()["after"] == 1


def test_garbage_by_the_hundred_leaves_the_socket_and_the_service_well(socket: Socket, ada: Person, table: str) -> None:
    rng = Random(3)
    good = json.dumps({"command": {"id": "x", "path": path_of(table, "seats"), "body": {"seat": 1}}})
    told: list[Json] = []
    for _ in range(sized(300, 1_000, 20_000)):
        cut = good[: rng.randrange(len(good))]
        noise = "".join(chr(rng.randrange(1, 0x800)) for _ in range(rng.randrange(8)))
        socket.line.send(cut + noise if rng.random() < 0.8 else (cut + noise).encode())
        told.append(socket.frame())
    assert {frame["problem"]["status"] for frame in told} == {400}
    assert ada.get("/readyz").status_code == 200
    assert socket.post(path_of(table, "seats"), {"seat": 1})["status"] == 201
