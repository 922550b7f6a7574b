"""What the page, the metrics and the log tell of WebSockets is what there is."""

import json
import logging
import re

import pytest

from service.api.head import Bounds
from service.api.socket import MAX_WATCHED, TOKEN_ENDED, UNDER_WAY
from service.api.websocket import PATH, RESTART
from service.web import pages
from tests.served import Person
from tests.service.api.sockets.conftest import await_that, path_of
from tests.sockets import Json, Socket, judge_of_messages, opened

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
