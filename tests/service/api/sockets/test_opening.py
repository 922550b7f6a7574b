"""Who opens a WebSocket, by what handshake or ticket, and what whoever may not is told."""

import json
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import InvalidStatus

from service.api.websocket import PATH
from service.settings import NO_LIMITS
from tests.raw import judge, line, request
from tests.served import Person, served
from tests.service.api.conftest import Company
from tests.service.api.sockets.conftest import bearing, handshake, masked, path_of, somebody
from tests.sockets import opened


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


def test_pages_of_origins_that_are_not_named_open_none(valkey_url: str, tmp_path: Path) -> None:
    with served(valkey_url, tmp_path, origins=("https://cards.example.org",)) as url, somebody(url) as ada:
        for origin, status in (("https://cards.example.org", 101), (url, 101), ("https://evil.example.org", 403)):
            with line(url) as raw:
                raw.send(handshake(bearing(ada), f"Origin: {origin}", host=url.rpartition("/")[2]))
                assert raw.head()[0] == status
