"""The WebSocket: several tables on one connection, and commands that are HTTP's own."""

import json
import logging
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
from websockets.exceptions import InvalidStatus

import service.presence
from service.api.head import Bounds
from service.api.socket import MAX_WATCHED, TOKEN_ENDED, UNDER_WAY
from service.api.websocket import PATH, RESTART
from service.parts import Sources
from service.settings import NO_LIMITS
from service.web import pages
from tests.raw import judge, line, request
from tests.served import Person, served
from tests.service.api.conftest import Company, seated
from tests.sizes import sized
from tests.sockets import Json, Socket, judge_of_messages, opened, sockets_of
from tests.stores import asking

SHORT = {"options": {"deals": 5, "partners": "five"}}
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


@pytest.fixture(scope="module")
def unmoved(url: str) -> Iterator[Company]:
    """Give a table whose match has just begun, at which nothing is done."""
    with seated(url) as company:
        yield company


def path_of(table: str, end: str = "commands") -> str:
    return f"/v1/chinkway/tables/{table}/{end}"


def handshake(
    *headers: str, target: str = PATH, version: str = "13", key: str = "AAAAAAAAAAAAAAAAAAAAAA==", host: str = "here"
) -> bytes:
    """Write the handshake of a WebSocket."""
    upgrade = ("Connection: Upgrade", "Upgrade: websocket", f"Sec-WebSocket-Version: {version}")
    written = request(target, *upgrade, f"Sec-WebSocket-Key: {key}", *headers)
    return written.replace(b"Host: here", f"Host: {host}".encode(), 1)


def bearing(person: Person) -> str:
    return f"Authorization: Bearer {person.token}"


# --- Opening ---


@pytest.mark.parametrize("secret", [None, "evf_" + "x" * 43])
def test_whoever_may_not_open_one_gets_the_problem_and_no_frame(
    url: str, secret: str | None, company: Company, nobody: Person
) -> None:
    headers = {} if secret is None else {"Authorization": f"Bearer {secret}"}
    over_http = nobody.get(PATH, **headers)
    with line(url) as raw:
        # What it would be told, if it were listened to all the same.
        watch = json.dumps({"watch": {"table": company.path.rpartition("/")[2]}}).encode()
        raw.send(handshake(*(f"{name}: {value}" for name, value in headers.items())) + masked(watch))
        answer = raw.answer()
        assert raw.is_closed()
    assert (answer.status, answer.body) == (401, over_http.content)
    judge(answer, "GET", PATH)


def test_what_is_no_handshake_is_told_so(url: str, ada: Person) -> None:
    plain = ada.get(PATH)
    assert (plain.status_code, plain.json()["code"]) == (426, "upgrade_required")
    for wrong in (
        handshake(bearing(ada), version="12"),
        handshake(bearing(ada), key="AAAA"),
        handshake(bearing(ada), key="no base64"),
        handshake(bearing(ada), "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="),
        handshake(bearing(ada)).replace(b"GET", b"HEAD", 1),
        handshake(bearing(ada)).replace(b"websocket", b"h2c", 1),
    ):
        with line(url) as raw:
            raw.send(wrong)
            answer = raw.answer(bodiless=wrong.startswith(b"HEAD"))
            assert (answer.status, answer.headers["upgrade"]) == (426, "websocket"), wrong
            raw.send(request("/healthz"))
            assert raw.answer().status == 200


def test_a_handshake_with_a_body_is_none(url: str, ada: Person) -> None:
    with line(url) as raw:
        raw.send(handshake(bearing(ada), "Content-Length: 2") + b"{}")
        assert raw.answer().status == 426
        raw.send(request("/healthz"))
        assert raw.answer().status == 200


def test_at_any_other_address_a_handshake_is_a_plain_request(url: str, ada: Person) -> None:
    with line(url) as raw:
        raw.send(handshake(bearing(ada), target="/v1/me"))
        answer = raw.answer()
        assert answer.status == 200
        judge(answer, "GET", "/v1/me")
        raw.send(request("/healthz"))
        assert raw.answer().status == 200


def test_a_handshake_that_comes_behind_a_request_is_not_taken_out_of_its_turn(url: str, ada: Person) -> None:
    with line(url) as raw:
        raw.send(request("/v1/me", bearing(ada)) + handshake(bearing(ada)))
        assert [raw.answer().status for _ in range(2)] == [200, 426]


def test_one_that_is_too_long_is_refused_as_any_request_is(url: str, ada: Person) -> None:
    with line(url) as raw:
        raw.send(handshake(bearing(ada), "X: " + "x" * 16_384))
        assert raw.answer().status == 431


@pytest.mark.parametrize("hosts", [b"", b"Host: a\r\nHost: b\r\n"])
def test_one_that_is_no_request_of_http_1_1_is_told_so(url: str, ada: Person, hosts: bytes) -> None:
    with line(url) as raw:
        raw.send(handshake(bearing(ada)).replace(b"Host: here\r\n", hosts))
        answer = raw.answer()
        assert (answer.status, answer.code) == (400, "malformed")


def test_its_answer_bears_the_name_of_the_request_and_its_trace(url: str, ada: Person) -> None:
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    with line(url) as raw:
        raw.send(handshake(bearing(ada), "X-Request-Id: mine", f"traceparent: {trace}"))
        status, headers = raw.head()
        assert (status, headers["x-request-id"]) == (101, "mine")
        assert headers["traceparent"].split("-")[1] == trace.split("-")[1]


def test_a_ticket_opens_one_socket_that_can_do_what_its_token_can(url: str, ada: Person, table: str) -> None:
    ticket = ada.post("/v1/tickets", {"path": PATH}).json()["ticket"]
    with opened(url, query=f"?ticket={ticket}") as socket:
        assert socket.watch(table)["type"] == "watched"
        assert socket.post(path_of(table, "seats"), {"seat": 1})["status"] == 201
        assert socket.post(path_of(table), {"type": "table.abandon"})["status"] == 201
    with pytest.raises(InvalidStatus) as spent, opened(url, query=f"?ticket={ticket}"):
        pass
    assert spent.value.response.status_code == 401


def test_a_ticket_of_a_token_that_may_not_play_plays_no_more_than_that(url: str, ada: Person, table: str) -> None:
    looker = ada.post("/v1/tokens", {"scopes": []}).json()["token"]
    ticket = httpx.post(f"{url}/v1/tickets", json={"path": PATH}, headers={"Authorization": f"Bearer {looker}"}).json()[
        "ticket"
    ]
    with opened(url, query=f"?ticket={ticket}") as socket:
        assert socket.watch(table)["type"] == "watched"
        assert socket.post(path_of(table, "seats"))["body"]["code"] == "forbidden"


def test_an_account_has_so_many_streams_and_no_more(valkey_url: str, tmp_path: Path) -> None:
    with served(valkey_url, tmp_path, limits=NO_LIMITS._replace(streams=2)) as url, ExitStack() as stack:
        ada = stack.enter_context(somebody(url))
        for _ in range(2):
            stack.enter_context(opened(url, ada.token))
        with pytest.raises(InvalidStatus) as refused, opened(url, ada.token):
            pass
        assert refused.value.response.status_code == 429
        assert refused.value.response.headers["RateLimit-Policy"]


# --- Matches ---


def test_a_match_is_played_over_a_socket_for_each_player_that_watches_several_tables(url: str) -> None:
    """Five people at two tables, each with one socket for both; what it is sent is what the log has."""
    with seated(url, SHORT) as company, sockets_of(url, company.people) as sockets:
        tables = [company.path.rpartition("/")[2], another(company)]
        for socket in sockets:
            for table in tables:
                assert socket.watch(table)["type"] == "watched"
        whole, short = (Play(company.people, sockets, table, Random(number)) for number, table in enumerate(tables))
        while whole.step():
            if whole.steps < 40:
                short.step()
            elif whole.steps == 40:
                short.give_up()
        for person, socket in zip(company.people, sockets, strict=True):
            rest = [socket.until(lambda frame: frame["type"] == "ended") for _ in tables]
            assert {frame["table"] for frame in rest} == {*tables}
            assert seen_of(socket, tables[0]) == decisions(person, tables[0])
            # Who has resigned sees less of what it has seen before.
            heads = [decision["head"] for decision in decisions(person, tables[1])]
            assert [decision["head"] for decision in seen_of(socket, tables[1])] == heads


class Play:
    """A table played over sockets by whoever must act, with no more knowledge of rules than what is legal."""

    def __init__(self, people: list[Person], sockets: list[Socket], table: str, rng: Random) -> None:
        self.people = people
        self.sockets = sockets
        self.table = table
        self.rng = rng
        self.view: Json = people[0].get(f"/v1/chinkway/tables/{table}").json()
        self.steps = 0

    def step(self) -> bool:
        """Have one seat act; tell whether play goes on."""
        if self.view["status"] != "playing":
            return False
        seat = self.view["to_act"][0]
        legal = self.people[seat].get(path_of(self.table, "actions")).json()["legal"]
        command = self.rng.choice(legal)
        answer = self.sockets[seat].post(path_of(self.table), command, prefer="return=representation")
        assert (answer["status"], answer["headers"]["preference-applied"]) == (201, "return=representation"), answer
        self.view = answer["body"]["view"]
        self.steps += 1
        return True

    def give_up(self) -> None:
        """Have all but one resign, which ends it."""
        for socket in self.sockets[1:]:
            assert socket.post(path_of(self.table), {"type": "table.resign"})["status"] == 201


def another(company: Company) -> str:
    """Open another table of the same people, and return it in play."""
    table: str = company.people[0].post("/v1/chinkway/tables", SHORT).json()["table"]
    for seat, person in enumerate(company.people):
        assert person.post(path_of(table, "seats"), {"seat": seat}).status_code == 201
    return table


def decisions(person: Person, table: str, after: int = 0) -> list[Json]:
    """Return what somebody may see of a table's log, as HTTP has it."""
    answer = person.http.get(path_of(table, f"events?after={after}"), headers={"Accept": "application/x-ndjson"})
    return [json.loads(each) for each in answer.text.splitlines()]


def seen_of(socket: Socket, table: str) -> list[Json]:
    """Return the decisions of a table that have come on a socket so far, in the order of their coming."""
    found = [frame for frame in socket.early if frame.get("table") == table and frame["type"] == "decision"]
    assert [frame["version"] for frame in found] == [frame["decision"]["version"] for frame in found]
    return [frame["decision"] for frame in found]


# --- Watching ---


def test_a_watch_is_resumed_exactly_wherever_it_was_cut(url: str, company: Company) -> None:
    rng = Random(7)
    for _ in range(sized(20, 40, 200)):
        company.move(rng)
    table, person = company.path.rpartition("/")[2], company.people[1]
    known = decisions(person, table)
    for cut in range(len(known) + 1):
        with opened(url, person.token) as socket:
            assert socket.watch(table, after=cut) == {
                "type": "watched",
                "table": table,
                "after": cut,
                "version": len(known),
            }
            # Whatever comes while it is resumed comes once, in its place.
            if cut % 5 == 0:
                company.move(rng)
                known = decisions(person, table)
            assert [frame["decision"] for frame in socket.frames(len(known) - cut)] == known[cut:]
            assert_quiet(socket)


def test_a_watch_above_the_version_is_reset_to_it_and_goes_on(socket: Socket, table: str, ada: Person) -> None:
    socket.watch(table, after=40)
    assert socket.frame() == {"type": "reset", "table": table, "version": 1}
    ada.post(path_of(table, "seats"))
    assert socket.frame()["version"] == 2


def test_a_table_is_watched_through_other_eyes_once_play_has_ended(company: Company, url: str) -> None:
    table, bob = company.path.rpartition("/")[2], company.people[1]
    with opened(url, bob.token) as socket:
        socket.watch(table, 6)
        for eyes in ("0", "all"):
            socket.say({"watch": {"table": table, "as": eyes}})
            assert socket.until(lambda frame: frame["type"] == "error")["problem"]["code"] == "not_ended"
        for eyes in ("1", "spectator"):
            socket.say({"watch": {"table": table, "as": eyes}})
            assert socket.until(lambda frame: frame["type"] == "watched")["after"] == 0
    for person in company.people[1:]:
        assert person.post(f"{company.path}/commands", {"type": "table.resign"}).status_code == 201
    with opened(url, bob.token) as socket:
        socket.say({"watch": {"table": table, "as": "all"}})
        assert socket.frame()["type"] == "watched"
        shown = bob.get(f"{company.path}/events?as=all").json()["decisions"]
        assert [frame["decision"] for frame in socket.frames(len(shown))] == shown


def test_a_table_that_ended_is_told_and_ended_again(socket: Socket, table: str, ada: Person) -> None:
    ada.post(path_of(table), {"type": "table.abandon"})
    for _ in range(2):
        socket.watch(table, after=1)
        assert [frame["type"] for frame in socket.frames(2)] == ["decision", "ended"]


def test_to_watch_again_begins_anew_and_ends_the_watch_before(socket: Socket, table: str, ada: Person) -> None:
    for after in (0, 0, 1):
        socket.watch(table, after=after)
    ada.post(path_of(table, "seats"))
    last = socket.until(lambda frame: frame.get("version") == 2)
    assert last["type"] == "decision"
    assert_quiet(socket)
    assert [frame["version"] for frame in socket.early if frame["type"] == "decision"] in ([], [1], [1, 1])


def test_what_is_unwatched_comes_no_more(socket: Socket, table: str, ada: Person) -> None:
    socket.watch(table)
    socket.say({"unwatch": {"table": table}})
    socket.until(lambda frame: frame == {"type": "unwatched", "table": table})
    ada.post(path_of(table, "seats"))
    assert_quiet(socket)
    assert [frame["version"] for frame in socket.early] in ([], [1])
    # Nor is it an error to unwatch what is not watched.
    socket.say({"unwatch": {"table": NO_TABLE}})
    assert socket.until(lambda frame: frame.get("table") == NO_TABLE)["type"] == "unwatched"


def test_there_is_no_watching_a_table_that_is_not_there(socket: Socket) -> None:
    refused = socket.watch(NO_TABLE)
    assert (refused["type"], refused["problem"]["status"], refused["table"]) == ("error", 404, NO_TABLE)


def test_a_socket_watches_256_tables_and_no_more(socket: Socket, ada: Person) -> None:
    names = [socket.send("/v1/chinkway/tables", {"seats": 5}) for _ in range(257)]
    tables = [socket.answer(name)["body"]["table"] for name in names]
    for table in tables:
        socket.say({"watch": {"table": table, "after": 1}})
    words = socket.frames(257)
    assert sorted(frame["type"] for frame in words) == ["error"] + ["watched"] * 256
    (refused,) = (frame for frame in words if frame["type"] == "error")
    assert refused["problem"]["code"] == "too_many_requests"
    assert refused["headers"]["ratelimit-policy"] == '"watched-tables";q=256'
    other = next(table for table in tables if table != refused["table"])
    socket.say({"unwatch": {"table": other}})
    assert socket.until(lambda frame: frame["type"] == "unwatched")
    assert socket.watch(refused["table"])["type"] == "watched"
    ada.post(path_of(refused["table"], "seats"))
    assert socket.until(lambda frame: frame.get("version") == 2)["table"] == refused["table"]


def test_two_sockets_and_a_stream_of_one_token_are_told_the_same(url: str, ada: Person, table: str) -> None:
    with opened(url, ada.token) as one, opened(url, ada.token) as other, line(url) as stream:
        stream.send(request(path_of(table, "events?after=1"), bearing(ada), "Accept: text/event-stream"))
        assert stream.head()[0] == 200
        for socket in (one, other):
            socket.watch(table, after=1)
        ada.post(path_of(table, "seats"), {"nonce": "luck"})
        data = next(each for each in stream.lines() if each.startswith("data: ")).removeprefix("data: ")
        for socket in (one, other):
            # Not decoded on its way: the bytes are the same too.
            assert socket.frame()["version"] == 2
            assert socket.raw == f'{{"type":"decision","table":"{table}","version":2,"decision":{data}}}'


def test_who_watches_is_seen_again_and_again(
    url: str, unmoved: Company, valkey_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process tells so, which knows it from the store alone."""
    monkeypatch.setattr(service.presence, "FRESH_MS", 0)
    host, guest = unmoved.people[:2]
    with (
        served(valkey_url, tmp_path) as other,
        somebody(other, None) as there,
        asking(valkey_url) as client,
        opened(url, guest.token) as socket,
    ):
        there.http.headers["Authorization"] = host.http.headers["Authorization"]
        socket.watch(unmoved.path.rpartition("/")[2])
        for _ in range(2):
            client.delete(f"presence:{guest.id}")
            await_that(lambda: there.get(f"{unmoved.path}/presence").json()["seats"][1]["present"] is True)


# --- Commands ---


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


# --- What is no message ---

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


# --- The end of a token ---


@pytest.mark.parametrize("by", ["a token", "a ticket"])
def test_a_socket_ends_with_its_token_within_two_seconds(url: str, ada: Person, table: str, by: str) -> None:
    issued = ada.post("/v1/tokens", {"scopes": ["play"]}).json()
    own = {"Authorization": f"Bearer {issued['token']}"}
    if by == "a ticket":
        ticket = httpx.post(f"{url}/v1/tickets", json={"path": PATH}, headers=own).json()["ticket"]
        door = opened(url, query=f"?ticket={ticket}")
    else:
        door = opened(url, issued["token"])
    with door as socket, opened(url, ada.token) as other:
        socket.watch(table)
        assert ada.delete(f"/v1/tokens/{issued['id']}").status_code == 204
        revoked = time.monotonic()
        assert socket.closed() == 4401
        assert time.monotonic() - revoked < 2.5
        assert other.watch(table)["type"] == "watched"


def test_a_token_that_has_ended_commands_nothing_any_more(url: str, ada: Person, table: str) -> None:
    issued = ada.post("/v1/tokens", {"scopes": ["play"]}).json()
    with opened(url, issued["token"]) as socket:
        ada.delete(f"/v1/tokens/{issued['id']}")
        answer = socket.post(path_of(table, "seats"), {"seat": 1})
        assert (answer["status"], answer["body"]["code"]) == (401, "unauthenticated")


def test_pages_of_origins_that_are_not_named_open_none(valkey_url: str, tmp_path: Path) -> None:
    with served(valkey_url, tmp_path, origins=("https://cards.example.org",)) as url, somebody(url) as ada:
        for origin, status in (("https://cards.example.org", 101), (url, 101), ("https://evil.example.org", 403)):
            with line(url) as raw:
                raw.send(handshake(bearing(ada), f"Origin: {origin}", host=url.rpartition("/")[2]))
                assert raw.head()[0] == status


# --- The page ---

PAGE = pages()["sockets"]
TRANSCRIPT = re.findall(r"^([→←]) (.+)$", PAGE, re.MULTILINE)
SHOWN = "zwyrd6z1rv0whe6m1110rdv1ew"


def plain(frame: Json) -> str:
    """Write a frame without what differs by nature."""
    text = json.dumps({**frame, "headers": sorted(frame.get("headers", ()))}, sort_keys=True)
    return re.sub(r"\b([0-9a-f]{64}|[0-9a-hjkmnp-tv-z]{26}|1[0-9]{12})\b", "<>", text)


def test_what_the_page_shows_is_what_happens(socket: Socket, table: str) -> None:
    """Of what comes after one message the order is not promised."""
    assert len(TRANSCRIPT) > 10
    said = [number for number, (who, _) in enumerate(TRANSCRIPT) if who == "→"]
    for first, following in zip(said, [*said[1:], len(TRANSCRIPT)], strict=True):
        message = TRANSCRIPT[first][1].replace(SHOWN, table)
        right = "bodies" not in message
        assert judge_of_messages().is_valid(json.loads(message)) is right
        socket.line.send(message)
        expected = [plain(json.loads(shown)) for _, shown in TRANSCRIPT[first + 1 : following]]
        assert sorted(map(plain, socket.frames(len(expected)))) == sorted(expected)


def test_the_page_names_the_bounds_and_codes_that_there_are() -> None:
    bounds = Bounds()
    assert f"A socket watches up to {MAX_WATCHED} tables." in PAGE
    assert f"Up to {UNDER_WAY} messages are\nunder way" in PAGE
    assert f"more than {bounds.message // 1_024} KiB. A body in it holds {bounds.body // 1_024} KiB" in PAGE
    assert f"a ping within {bounds.pong_s:g} seconds; there is one every {bounds.ping_s:g}." in PAGE
    assert f"took nothing for {bounds.stall_s:g} seconds" in PAGE
    assert {TOKEN_ENDED, RESTART} <= {int(code) for code in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)}


# --- What is told of it ---


def test_sockets_and_their_frames_are_counted(url: str, ada: Person, table: str) -> None:
    def number(name: str) -> float:
        found = re.search(rf"^{re.escape(name)} ([0-9.e+]+)$", ada.get("/metrics").text, re.MULTILINE)
        return float(found[1]) if found else 0

    decided = number('evenfold_socket_frames_total{type="decision"}')
    posted = number(
        'evenfold_http_requests_total{method="POST",route="/v1/chinkway/tables/{table}/seats",status="201"}'
    )
    with opened(url, ada.token) as socket, opened(url, ada.token):
        assert number("evenfold_sockets") == 2
        socket.watch(table)
        socket.frame()
        socket.post(path_of(table, "seats"), {"seat": 0})
        assert number('evenfold_socket_frames_total{type="decision"}') >= decided + 1
    assert (
        number('evenfold_http_requests_total{method="POST",route="/v1/chinkway/tables/{table}/seats",status="201"}')
        == posted + 1
    )
    await_that(lambda: number("evenfold_sockets") == 0)


def test_the_log_tells_of_its_end_and_of_nothing_that_was_said(
    url: str, ada: Person, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    table = ada.post("/v1/chinkway/tables").json()["table"]
    ticket = ada.post("/v1/tickets", {"path": PATH}).json()["ticket"]
    with opened(url, query=f"?ticket={ticket}") as socket:
        socket.watch(table)
        socket.frame()
        socket.post(path_of(table, "seats"), {"nonce": "my-secret-nonce"})
        socket.line.send("my-secret-garbage")
        socket.frame()
        mine = caplog.text
    await_that(lambda: "a socket was closed with 1000" in caplog.text)
    text = "\n".join(
        line.getMessage()
        for line in caplog.records
        if not line.name.startswith(("websockets.client", "httpx", "httpcore"))
    )
    assert mine
    for secret in (ticket, ada.token, "my-secret", '{"', "chinkway.created"):
        assert secret not in text, secret


# --- Help ---


@contextmanager
def somebody(url: str, name: str | None = "Ada") -> Iterator[Person]:
    """Give somebody on a server for a block, with an account under this name."""
    person = Person(url, name)
    with closing(person.http):
        yield person


def masked(text: bytes) -> bytes:
    """Write a text message as a client does, masked by zeros."""
    assert len(text) < 126
    return bytes((0x81, 0x80 | len(text), 0, 0, 0, 0)) + text


def assert_quiet(socket: Socket) -> None:
    """Hold that nothing of a table is on its way: an answer asked for now comes next."""
    socket.say({"unwatch": {"table": "1" * 26}})
    before = len(socket.early)
    socket.until(lambda frame: frame.get("table") == "1" * 26)
    assert [frame for frame in list(socket.early)[before:] if frame["type"] == "decision"] == []


def await_that(holds: Callable[[], bool], found: Callable[[], object] = str) -> None:
    """Wait until something holds; tell what is found instead if it never does."""
    until = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < until, found()
        time.sleep(0.02)
