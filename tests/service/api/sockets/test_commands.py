"""What is posted over a WebSocket is answered as HTTP answers it, byte for byte."""

import json
import re
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest

from service.parts import Sources
from service.settings import NO_LIMITS
from tests.served import Person, served
from tests.service.api.conftest import Company
from tests.service.api.sockets.conftest import NO_TABLE, decisions, path_of, somebody
from tests.sockets import Socket, opened


def test_a_command_is_answered_by_its_own_name(socket: Socket, table: str, ada: Person) -> None:
    name = "é\n\u2028" * 10
    socket.say({"command": {"id": name, "path": path_of(table, "seats"), "body": {"seat": 3}}})
    answer = socket.frame()
    assert (answer["id"], answer["status"], answer["body"]["seat"]) == (name, 201, 3)
    assert re.fullmatch("[0-9a-f]{32}", answer["headers"]["x-request-id"])
    assert ada.get(f"/v1/chinkway/tables/{table}").json()["you"] == 3


def test_a_table_can_be_opened_filled_and_started_over_a_socket(socket: Socket) -> None:
    made = socket.post("/v1/kowah/tables", {"seats": 3, "bots": [], "start": "host"})
    assert (made["status"], made["headers"]["location"]) == (201, f"/v1/kowah/tables/{made['body']['table']}")
    assert made["headers"]["etag"] == '"1"'
    path = made["headers"]["location"]
    assert socket.post(f"{path}/seats", {"seat": 0})["status"] == 201
    assert socket.post(f"{path}/seats", {"bot": "anyone"})["status"] == 201
    name = "start"
    socket.say({"command": {"id": name, "path": f"{path}/start"}})
    assert socket.answer(name)["status"] == 201


SAID: dict[str, tuple[str, Any, dict[str, str]]] = {
    "a rule": ("commands", {"type": "chinkway.play", "card": "SQ"}, {}),
    "a turn that is over": ("commands", {"type": "chinkway.play", "card": "SQ", "turn": 3}, {}),
    "an unknown type": ("commands", {"type": "chinkway.fold"}, {}),
    "an unknown field": ("commands", {"type": "table.resign", "why": 1}, {}),
    "a wrong type": ("commands", {"type": "chinkway.play", "card": 7}, {}),
    "no object": ("commands", [1, 2], {}),
    "null": ("commands", None, {}),
    "nested": ("commands", {"type": "chinkway.play", "card": {"a": [{}]}}, {}),
    "a seat too many": ("seats", {}, {}),
    "a float for an integer": ("seats", {"seat": 1.5}, {}),
    "no bot": ("seats", {"bot": "nobody"}, {}),
    "a start by who is no host": ("start", {}, {}),
    "a start with a body": ("start", {"a": 1}, {}),
    "a stale version": ("commands", {"type": "table.resign"}, {"If-Match": '"1"'}),
    "no tag": ("commands", {"type": "table.resign"}, {"If-Match": "1"}),
    "two tags": ("commands", {"type": "table.resign"}, {"If-Match": '"1", "2"'}),
    "an empty key": ("commands", {"type": "table.resign"}, {"Idempotency-Key": ""}),
    "a key with a space": ("commands", {"type": "table.resign"}, {"Idempotency-Key": "a b"}),
    "a key too long": ("commands", {"type": "table.resign"}, {"Idempotency-Key": "k" * 256}),
    "a preference too long": ("commands", {"type": "table.resign"}, {"Prefer": "p" * 1_025}),
    "another's abandoning": ("commands", {"type": "table.abandon"}, {}),
}


@pytest.mark.parametrize("case", SAID)
def test_a_problem_is_that_of_http_byte_for_byte(url: str, unmoved: Company, case: str) -> None:
    end, body, headers = SAID[case]
    person = unmoved.people[4 if unmoved.mover is not unmoved.people[4] else 3]
    path = f"{unmoved.path}/{end}"
    over_http = person.http.post(
        path, content=json.dumps(body), headers={"Content-Type": "application/json", **headers}
    )
    assert over_http.status_code >= 400, over_http.text
    with opened(url, person.token) as socket:
        same_over(socket, path, json.dumps(body), headers, over_http)


def same_over(socket: Socket, path: str, body: str, headers: dict[str, str], over_http: httpx.Response) -> None:
    """Hold that a socket's answer is HTTP's: status, headers, and the body byte for byte."""
    members = {"Idempotency-Key": "key", "If-Match": "if_match", "Prefer": "prefer"}
    rest = "".join(f', "{members[name]}": {json.dumps(value)}' for name, value in headers.items())
    socket.line.send(f'{{"command": {{"id": "x", "path": "{path}", "body": {body}{rest}}}}}')
    answer = socket.answer("x")
    assert answer["status"] == over_http.status_code, (answer, over_http.text)
    assert socket.raw.endswith(f',"body":{over_http.text}}}'), (socket.raw, over_http.text)
    plain = {"content-type", "content-length", "date", "cache-control", "vary", "x-request-id"}
    told = {name: value for name, value in answer["headers"].items() if name != "x-request-id"}
    assert told == {name.lower(): value for name, value in over_http.headers.items() if name.lower() not in plain}


@pytest.mark.parametrize("table", [NO_TABLE, "x", "é", "a'b"])
def test_tables_that_are_not_there_are_not_found_as_over_http(socket: Socket, ada: Person, table: str) -> None:
    answer = socket.post(path_of(table), {"type": "table.resign"})
    over_http = ada.post(path_of(table), {"type": "table.resign"})
    assert (answer["status"], answer["body"]["code"]) == (404, "not_found")
    assert over_http.status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/v1/me",
        "/v1/players",
        "/v1/tokens",
        "/v1/tickets",
        "/v1/chess/tables",
        "/v1/chinkway/tables/",
        "/v1/chinkway/tables/{table}",
        "/v1/chinkway/tables/{table}/events",
        "/v1/chinkway/tables/{table}/commands/",
        "/v1/chinkway/tables/{table}/commands?a=1",
        "/v1/chinkway/tables/%7btable%7d/commands",
        "//v1/chinkway/tables/{table}/commands",
        "v1/chinkway/tables/{table}/commands",
        "GET /v1/me",
        "\r\n",
        "é",
    ],
)
def test_nothing_but_what_is_posted_to_tables_can_be_asked(socket: Socket, table: str, path: str) -> None:
    socket.say({"command": {"id": "x", "path": path.replace("{table}", table), "body": {"name": "Eve"}}})
    answer = socket.frame()
    assert (answer["type"], answer["status"], answer["body"]["code"]) == ("answer", 404, "not_found")


def test_a_scope_is_needed_as_over_http(url: str, ada: Person, table: str) -> None:
    token = ada.post("/v1/tokens", {"scopes": ["play"]}).json()["token"]
    over_http = httpx.post(
        f"{url}{path_of(table)}", json={"type": "table.abandon"}, headers={"Authorization": f"Bearer {token}"}
    )
    assert over_http.status_code == 403
    with opened(url, token) as socket:
        same_over(socket, path_of(table), '{"type":"table.abandon"}', {}, over_http)


def test_a_key_has_one_answer_over_http_and_over_a_socket(url: str, ada: Person, table: str) -> None:
    path, key = path_of(table, "seats"), {"Idempotency-Key": "my-seat"}
    first = ada.http.post(path, json={"seat": 2}, headers=key)
    with opened(url, ada.token) as socket:
        same_over(socket, path, '{"seat":2}', key, first)
        assert socket.post(path, {"seat": 3}, key="my-seat")["body"]["code"] == "key_reused"
        made = socket.post("/v1/chinkway/tables", {"seats": 5}, key="my-table")
    again = ada.post("/v1/chinkway/tables", {"seats": 5}, Idempotency_Key="my-table")
    assert made["body"] == again.json()


def test_what_was_missed_comes_with_a_stale_version(url: str, company: Company) -> None:
    company.move(Random(1))
    mover = company.mover
    with opened(url, mover.token) as socket:
        answer = socket.post(f"{company.path}/commands", company.legal(mover)[0], if_match='"6"')
    missed = answer["body"]["missed"]
    assert (answer["status"], missed) == (412, decisions(mover, company.path.rpartition("/")[2], 6))


def test_a_body_holds_64_kib_and_no_more(socket: Socket, table: str) -> None:
    def body(size: int) -> str:
        return '{"nonce":"' + "x" * (size - 12) + '"}'

    for size, status in ((65_536, 400), (65_537, 413)):
        socket.line.send(f'{{"command":{{"id":"x","path":"{path_of(table, "seats")}","body":{body(size)}}}}}')
        assert socket.answer("x")["status"] == status


def test_what_is_asked_of_one_table_is_answered_in_its_order_and_holds_no_other_up(
    socket: Socket, table: str, ada: Person
) -> None:
    """What needs no store at all would come first, if it could; and does, most of the time, if it is of another."""
    other = ada.post("/v1/chinkway/tables").json()["table"]
    firsts = set()
    for _ in range(30):
        slow = socket.send(path_of(table, "seats"), {"seat": 4})
        quick = socket.send(path_of(table, "seats"), {"chair": 4})
        elsewhere = socket.send(path_of(other, "seats"), {"chair": 4})
        came = [frame["id"] for frame in socket.frames(3)]
        assert [name for name in came if name != elsewhere] == [slow, quick]
        firsts.add([slow, quick, elsewhere].index(came[0]))
    assert 2 in firsts


def test_the_rate_of_an_account_holds_on_its_sockets_too(valkey_url: str, tmp_path: Path) -> None:
    limits, still = NO_LIMITS._replace(requests=5), Sources(monotonic_ns=lambda: 0)
    with served(valkey_url, tmp_path, limits=limits, sources=still) as url, somebody(url) as ada:
        table = ada.post("/v1/chinkway/tables").json()["table"]
        with opened(url, ada.token) as socket:
            # Ten are taken at once, and two have been: that of the table, and the handshake.
            names = [socket.send(path_of(table, "seats"), {"chair": 1}) for _ in range(9)]
            answers = [socket.answer(name) for name in names]
            assert [answer["status"] for answer in answers] == [400] * 8 + [429]
            over_http = ada.post(path_of(table, "seats"), {"chair": 1})
            same_over(socket, path_of(table, "seats"), '{"chair":1}', {}, over_http)
            # And what is no message at all counts as well, and what is watched.
            for message in ("{", json.dumps({"watch": {"table": table}}), json.dumps({"unwatch": {"table": table}})):
                socket.line.send(message)
                assert socket.frame()["problem"]["code"] == "too_many_requests"
