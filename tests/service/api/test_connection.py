"""HTTP/1.1 on the wire: what is no request, what is too large or too slow, and requests one after the other."""

import itertools
import select
import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from service.api.connection import Connection
from service.api.head import Bounds
from service.api.requests import MAX_BODY
from service.embedded import Embedded
from tests.logs import stopped
from tests.raw import exchanged, judge, line, request
from tests.served import Person, served
from tests.service.api.conftest import Company

HEALTH = request("/healthz")
LAST = request("/healthz", "Connection: close")
HEAD, TARGET = Bounds().head, Bounds().target

# --- What is no request ---

NONE = {
    "no method that there is": b"FLY / HTTP/1.1\r\nHost: a\r\n\r\n",
    "a method in lower case": b"get / HTTP/1.1\r\nHost: a\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a version to come": b"GET / HTTP/2.0\r\nHost: a\r\n\r\n",
    "a version long gone": b"GET /\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "nothing that is known": b"\x00\x01\x02\x03",
    "a space in the target": b"GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
    "a target that is no path": b"GET a HTTP/1.1\r\nHost: a\r\n\r\n",
    "no UTF-8 in the target": b"GET /\xff HTTP/1.1\r\nHost: a\r\n\r\n",
    "a fragment": b"GET /#a HTTP/1.1\r\nHost: a\r\n\r\n",
    "a star": b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
    "a tunnel": b"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "two hosts": b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "a header without a name": b"GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n",
    "a header without a colon": b"GET / HTTP/1.1\r\nHost: a\r\nb\r\n\r\n",
    "a space before the colon": b"GET / HTTP/1.1\r\nHost : a\r\n\r\n",
    "a folded header": b"GET / HTTP/1.1\r\nHost: a\r\nB: c\r\n d\r\n\r\n",
    "a zero in a header": b"GET / HTTP/1.1\r\nHost: a\r\nB: \x00\r\n\r\n",
    "lines that end in LF": b"GET / HTTP/1.1\nHost: a\n\n",
    "a length below zero": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
    "a length that is no number": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
    "a length beyond everything": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + b"9" * 30 + b"\r\n\r\n",
    "two lengths": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "another encoding": b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "a length and chunks": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
}


@pytest.mark.parametrize("case", NONE)
def test_what_is_no_request_is_told_so_and_the_connection_closed(url: str, case: str) -> None:
    (answer,) = exchanged(url, NONE[case])
    assert (answer.status, answer.code, answer.headers["connection"]) == (400, "malformed", "close")
    judge(answer, "GET", "/healthz")


def test_nothing_is_told_to_who_says_nothing(url: str) -> None:
    with line(url) as raw:
        raw.send(b"\r\n")
        raw.socket.shutdown(socket.SHUT_WR)
        assert raw.is_closed()


BAD_CHUNKS = [b"zz\r\n", b"3\r\nabcdef\r\n", b"-1\r\n"]


@pytest.mark.parametrize("chunks", BAD_CHUNKS)
def test_a_body_whose_chunks_are_none_is_malformed(url: str, chunks: bytes) -> None:
    head = request("/v1/players", "Transfer-Encoding: chunked", "Content-Type: application/json", method="POST")
    (answer,) = exchanged(url, head, chunks)
    assert (answer.status, answer.code, answer.headers["connection"]) == (400, "malformed", "close")


def test_an_answer_that_needs_no_body_is_given_whatever_its_chunks_are(url: str) -> None:
    (answer,) = exchanged(url, request("/healthz", "Transfer-Encoding: chunked"), b"zz\r\n")
    assert answer.status == 200


# --- What is too large ---


def padded(size: int) -> bytes:
    """Return a request whose headers' names and values hold so many bytes."""
    fixed = sum(len(name) + len(value) for name, value in (("host", "here"), ("connection", "close"), ("x", "")))
    return request("/healthz", "Connection: close", "X: " + "x" * (size - fixed))


def test_headers_may_hold_16_kib_and_no_more(url: str) -> None:
    (answer,) = exchanged(url, padded(HEAD))
    assert answer.status == 200
    (answer,) = exchanged(url, padded(HEAD + 1))
    assert (answer.status, answer.code) == (431, "headers_too_large")
    judge(answer, "GET", "/healthz")


def test_many_small_headers_count_as_one_large_one(url: str) -> None:
    headers = [f"X-{number}: {number}" for number in range(2_000)]
    (answer,) = exchanged(url, request("/healthz", *headers))
    assert (answer.status, answer.code) == (431, "headers_too_large")


def test_a_target_may_have_8_kib_and_no_more(url: str) -> None:
    (answer,) = exchanged(url, request("/v1/" + "x" * (TARGET - 4), "Connection: close"))
    assert answer.status == 404
    (answer,) = exchanged(url, request("/v1/" + "x" * (TARGET - 3)))
    assert (answer.status, answer.code) == (431, "headers_too_large")


@pytest.mark.parametrize("beginning", [b"GET / HTTP/1.1\r\nX: ", b"GET /", b"GET / HTTP/1.1\r\n"])
def test_a_head_without_end_is_refused_while_it_comes_in(url: str, beginning: bytes) -> None:
    with line(url) as raw:
        raw.send(beginning)
        sent = 0
        filler = b"Y: y\r\n" * 200 if beginning.endswith(b"\n") else b"x" * 1_024
        while not select.select([raw.socket], [], [], 0)[0] and sent < 2**22:
            raw.send(filler)
            sent += len(filler)
        answer = raw.answer()
    assert (answer.status, answer.code) == (431, "headers_too_large")


def test_a_huge_header_holds_nobody_up_and_gets_its_answer(url: str) -> None:
    with line(url) as raw:
        raw.socket.settimeout(30)
        raw.send(b"GET / HTTP/1.1\r\nX: " + b"x" * 2**20)
        assert raw.answer().code == "headers_too_large"


def test_a_stated_length_is_refused_before_the_body_comes(url: str) -> None:
    with line(url) as raw:
        raw.send(request("/v1/players", f"Content-Length: {MAX_BODY + 1}", method="POST"))
        answer = raw.answer()
        assert (answer.status, answer.code, answer.headers["connection"]) == (413, "too_large", "close")
        judge(answer, "POST", "/v1/players")
        raw.send(b"x" * (MAX_BODY + 1))
        assert raw.is_closed()


def test_a_body_of_chunks_is_refused_once_it_is_too_large(url: str) -> None:
    head = request("/v1/players", "Transfer-Encoding: chunked", "Content-Type: application/json", method="POST")
    with line(url) as raw:
        raw.send(head)
        sent = 0
        while not select.select([raw.socket], [], [], 0)[0] and sent < 2**22:
            raw.send(b"400\r\n" + b" " * 1_024 + b"\r\n")
            sent += 1_024
        answer = raw.answer()
    assert (answer.status, answer.code, answer.headers["connection"]) == (413, "too_large", "close")


@pytest.mark.parametrize("filler", [b"1\r\nx\r\n", b"1;" + b"x" * 64 + b"\r\nx\r\n"], ids=["tiny", "extended"])
def test_chunks_that_are_all_framing_are_refused_too(url: str, filler: bytes) -> None:
    head = request("/v1/players", "Transfer-Encoding: chunked", "Content-Type: application/json", method="POST")
    with line(url) as raw:
        raw.send(head)
        sent = 0
        while not select.select([raw.socket], [], [], 0)[0] and sent < 2**22:
            raw.send(filler * 50)
            sent += 50 * len(filler)
        assert raw.answer().code == "too_large"


# --- What is too slow ---


class Hasty(Connection):
    """Connections that wait for nothing long."""

    bounds = Bounds(head_s=0.3, body_s=0.3, idle_s=0.4, stall_s=0.4, linger_s=0.2, connections=3)


@pytest.fixture(scope="module")
def hasty(valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the address of a server that waits for nothing long."""
    with served(valkey_url, tmp_path_factory.mktemp("keys"), protocol=Hasty) as address:
        yield address


@pytest.mark.parametrize("beginning", [b"G", b"GET /healthz HTTP/1.1\r\nHost: a\r\n"])
def test_a_head_that_does_not_come_is_timed_out(hasty: str, beginning: bytes) -> None:
    (answer,) = exchanged(hasty, beginning)
    assert (answer.status, answer.code, answer.headers["connection"]) == (408, "timed_out", "close")
    judge(answer, "GET", "/healthz")


@pytest.mark.parametrize("beginning", [b"", b"{"])
def test_a_body_that_does_not_come_is_timed_out(hasty: str, beginning: bytes) -> None:
    (answer,) = exchanged(
        hasty,
        request("/v1/players", "Content-Length: 9", "Content-Type: application/json", method="POST"),
        beginning,
    )
    assert (answer.status, answer.code, answer.headers["connection"]) == (408, "timed_out", "close")
    judge(answer, "POST", "/v1/players")


def test_a_second_request_has_its_own_time(hasty: str) -> None:
    ok, late = exchanged(hasty, HEALTH + b"GET /healthz HTTP/1.1\r\n")
    assert (ok.status, late.status, late.code) == (200, 408, "timed_out")


@pytest.mark.parametrize("before", [b"", HEALTH], ids=["fresh", "used"])
def test_a_connection_that_lies_still_is_closed_silently(hasty: str, before: bytes) -> None:
    assert [answer.status for answer in exchanged(hasty, before)] == [200] * bool(before)


def test_a_body_that_nobody_reads_is_not_awaited_for_ever(hasty: str) -> None:
    (answer,) = exchanged(hasty, request("/healthz", "Content-Length: 9"))
    assert answer.status == 200


def test_an_answer_may_take_its_time(own_store: Callable[..., Embedded], tmp_path: Path) -> None:
    store = own_store()
    with served(store.url, tmp_path / "keys", protocol=Hasty) as address, line(address) as raw:
        raw.send(HEALTH)
        assert raw.answer().status == 200
        with stopped(store.pid):
            raw.send(request("/v1/me", "Authorization: Bearer evf_" + "a" * 43))
            # Two connections that lie still are closed meanwhile, one after the other.
            assert [*exchanged(address, b""), *exchanged(address, b"")] == []
        assert raw.answer().status == 401


def test_who_takes_no_answer_is_cut_off(hasty: str) -> None:
    with line(hasty) as raw:
        raw.send(request("/openapi.json") * 200)
        watch = select.poll()
        watch.register(raw.socket, select.POLLRDHUP)
        assert watch.poll(20_000)


def test_one_connection_too_many_is_told_so(hasty: str) -> None:
    busy = [request("/v1/players", "Content-Length: 9", method="POST")] * Hasty.bounds.connections
    with line(hasty) as one, line(hasty) as two, line(hasty) as three, line(hasty) as four:
        for raw, beginning in zip((one, two, three), busy, strict=True):
            raw.send(beginning)
        four.send(HEALTH)
        answer = four.answer()
    assert (answer.status, answer.code, answer.headers["retry-after"]) == (503, "overloaded", "1")
    judge(answer, "GET", "/healthz")


# --- Requests one after the other ---


def test_requests_sent_at_once_are_answered_in_their_order(url: str) -> None:
    sent = HEALTH + request("/v1/nothing") + request("/v1/games") + request("/v1/nothing", method="PUT") + LAST
    answers = exchanged(url, sent)
    assert [answer.status for answer in answers] == [200, 404, 200, 404, 200]
    assert b"games" in answers[2].body


def test_any_number_of_requests_may_come_at_once(url: str) -> None:
    answers = exchanged(url, HEALTH * 3_000 + LAST)
    assert [answer.status for answer in answers] == [200] * 3_001


def test_what_is_no_request_is_told_so_in_its_turn(url: str) -> None:
    answers = exchanged(url, HEALTH + request("/v1/games") + b"nonsense\r\n" + HEALTH)
    assert [answer.status for answer in answers] == [200, 200, 400]


def test_a_body_that_comes_byte_by_byte_is_one(url: str) -> None:
    body = b'{"name": "Ada"}'
    head = request("/v1/players", f"Content-Length: {len(body)}", "Content-Type: application/json", method="POST")
    with line(url) as raw:
        raw.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in head + body + HEALTH:
            raw.send(bytes([byte]))
        assert (raw.answer().status, raw.answer().status) == (201, 200)


def test_a_body_that_nobody_read_is_not_the_next_request(url: str) -> None:
    refused = request("/v1/chinkway/tables", method="POST", body=LAST)
    answers = exchanged(url, refused + LAST)
    assert [answer.status for answer in answers] == [401, 200]


def test_after_a_close_nothing_is_read(url: str) -> None:
    assert [answer.status for answer in exchanged(url, LAST + HEALTH)] == [200]


def test_who_hangs_up_on_its_requests_leaves_no_trace_in_the_log(url: str, caplog: pytest.LogCaptureFixture) -> None:
    for reset, requests in itertools.product([True, False], [1, 2, 5] * 5):
        raw = socket.create_connection((url.split(":")[1][2:], int(url.split(":")[2])))
        # The store is asked for these, so that the client is gone before they are answered.
        raw.sendall(
            request("/v1/players", "Content-Type: application/json", method="POST", body=b'{"name": "Ada"}') * requests
        )
        if reset:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raw.close()
    assert [answer.status for answer in exchanged(url, HEALTH * 50 + LAST)] == [200] * 51
    assert caplog.records == []


# --- Bodies that wait to be wanted ---


def test_who_asks_whether_to_go_on_is_told_so(url: str) -> None:
    body = b'{"name": "Ada"}'
    headers = ("Expect: 100-Continue", f"Content-Length: {len(body)}", "Content-Type: application/json")
    with line(url) as raw:
        raw.send(request("/v1/players", *headers, method="POST"))
        assert raw.head() == (100, {})
        raw.send(body)
        assert raw.answer().status == 201


@pytest.mark.parametrize(("path", "length", "status"), [("players", MAX_BODY + 1, 413), ("chinkway/tables", 2, 401)])
def test_who_asks_whether_to_go_on_with_what_is_refused_is_told_that(
    url: str, path: str, length: int, status: int
) -> None:
    headers = ("Expect: 100-continue", f"Content-Length: {length}", "Content-Type: application/json")
    (answer,) = exchanged(url, request(f"/v1/{path}", *headers, method="POST"))
    assert (answer.status, answer.headers["connection"]) == (status, "close")


# --- Other protocols and versions ---


@pytest.mark.parametrize("chunked", [False, True])
def test_a_wish_for_another_protocol_is_declined_by_answering_in_this_one(url: str, *, chunked: bool) -> None:
    wish = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk")
    body = b'{"name": "Ada"}'
    framed = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {len(body)}"
    post = request("/v1/players", *wish, framed, "Content-Type: application/json", method="POST")
    sent = b"f\r\n" + body + b"\r\n0\r\n\r\n" if chunked else body
    answers = exchanged(url, post + sent + request("/healthz", *wish) + LAST)
    assert [answer.status for answer in answers] == [201, 200, 200]


def test_a_trailer_is_no_header(url: str, ada: Person) -> None:
    post = request("/v1/chinkway/tables", "Transfer-Encoding: chunked", "Connection: close", method="POST")
    body = f"2\r\n{{}}\r\n0\r\nAuthorization: Bearer {ada.token}\r\nContent-Type: application/json\r\n\r\n"
    (answer,) = exchanged(url, post + body.encode())
    assert answer.status == 401


def test_a_client_of_http_1_0_gets_no_chunks(url: str, company: Company) -> None:
    headers = f"Authorization: Bearer {company.people[0].token}\r\nAccept: application/x-ndjson"
    with line(url) as raw:
        raw.send(f"GET {company.path}/events HTTP/1.0\r\n{headers}\r\n\r\n".encode())
        answer = raw.answer()
        assert raw.is_closed()
    assert "transfer-encoding" not in answer.headers
    assert len(answer.body.splitlines()) == 6
    with line(url) as raw:
        raw.send(request(f"{company.path}/events", *headers.split("\r\n")))
        assert raw.answer().body == answer.body


def test_an_absolute_target_is_its_path(url: str) -> None:
    (answer,) = exchanged(url, b"GET http://here/v1/games?x=1 HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n")
    assert (answer.status, answer.code) == (400, "malformed")
    (answer,) = exchanged(url, b"GET http://here/v1/games HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n")
    assert answer.status == 200


# --- Bytes out ---


class Counted:
    """A transport that counts its writes."""

    def __init__(self, transport: object) -> None:
        self._transport = transport
        self.written: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.written.append(data)
        self._transport.write(data)  # type: ignore[attr-defined] # whatever transport it is

    def __getattr__(self, name: str) -> object:
        return getattr(self._transport, name)


def test_an_answer_leaves_in_one_write(valkey_url: str, tmp_path: Path) -> None:
    transports: list[Counted] = []

    class Counting(Connection):
        def connection_made(self, transport: object) -> None:
            transports.append(Counted(transport))
            super().connection_made(transports[-1])  # type: ignore[arg-type] # it passes on all that it does not count

    with served(valkey_url, tmp_path / "keys", protocol=Counting) as address:
        transports.clear()
        exchanged(address, LAST)
    (transport,) = transports
    assert len(transport.written) == 1
    assert transport.written[0].endswith(b'{"status":"alive"}')
