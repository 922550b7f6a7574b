"""A WebSocket on the wire: sizes, pings, who takes nothing, who goes away, and the end of the server."""

import asyncio
import json
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
import uvicorn
from litestar import Litestar
from uvicorn.server import ServerState

from service.api.connection import Connection
from service.api.head import Bounds
from service.api.websocket import FRAGMENTS, WebSocket
from service.embedded import Embedded
from service.live import Live
from tests.logs import stopped
from tests.raw import RawLine, line
from tests.served import Person, served
from tests.service.api.sockets.conftest import await_that, bearing, handshake, masked, path_of, somebody
from tests.sizes import sized
from tests.sockets import opened

TEXT, BINARY, CLOSE, PING, PONG = 0x1, 0x2, 0x8, 0x9, 0xA
USUAL = Bounds()
HASTY = Bounds(stall_s=0.6, linger_s=0.2, ping_s=0.2, pong_s=0.3)


class Seen:
    """A server, as it is from within."""

    def __init__(self) -> None:
        self.config: uvicorn.Config | None = None
        self.state: ServerState | None = None
        self.loop: asyncio.AbstractEventLoop | None = None

    def protocol(self, bounds: Bounds) -> type[Connection]:
        """Return the class of connections by which it is seen."""
        seen = self

        class Observed(Connection):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                seen.config, seen.state, seen.loop = self._config, self._state, self._loop
                # So that little is under way on the loopback, and who takes nothing is soon seen to take nothing.
                transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16_384)
                super().connection_made(transport)

        Observed.bounds = bounds
        return Observed

    def of(self, look: Callable[[], object]) -> Any:  # noqa: ANN401 whatever is looked at
        """Return what is seen in the server's own thread."""
        assert self.loop is not None

        async def looked() -> object:
            return look()

        return asyncio.run_coroutine_threadsafe(looked(), self.loop).result(20)

    def tasks(self) -> Counter[str]:
        """Return which tasks there are, by what they do, and how many of each."""
        found: Counter[str] = self.of(lambda: Counter(str(task.get_coro()).split()[2] for task in asyncio.all_tasks()))
        return found

    def live(self) -> Live:
        """Return what tables are read by."""
        assert self.config is not None
        app = self.config.loaded_app
        assert isinstance(app, Litestar)
        live: Live = app.state.live
        return live

    def connected(self) -> list[Any]:
        """Return the protocols of all connections."""
        assert self.state is not None
        return [*self.state.connections]

    def sockets(self) -> list[WebSocket]:
        """Return those that have become WebSockets."""
        return [each for each in self.connected() if isinstance(each, WebSocket)]

    def connections(self) -> int:
        """Return how many connections there are."""
        return len(self.connected())


@contextmanager
def observed(valkey_url: str, keys: Path, bounds: Bounds = USUAL) -> Iterator[tuple[str, Seen]]:
    """Serve, and let it be seen from within."""
    seen = Seen()
    with served(valkey_url, keys, protocol=seen.protocol(bounds)) as url:
        yield url, seen


@contextmanager
def raw_socket(url: str, person: Person) -> Iterator[RawLine]:
    """Open a WebSocket, frame by frame."""
    with line(url) as raw:
        raw.send(handshake(bearing(person)))
        assert raw.head()[0] == 101
        yield raw


def frame(kind: int, data: bytes = b"", *, fin: bool = True) -> bytes:
    """Write a frame as a client does, masked by zeros."""
    head = bytes(((0x80 if fin else 0) | kind,))
    size = len(data)
    if size < 126:
        return head + bytes((0x80 | size,)) + b"\0\0\0\0" + data
    return (
        head
        + struct.pack("!BH" if size < 65_536 else "!BQ", 0x80 | (126 if size < 65_536 else 127), size)
        + b"\0\0\0\0"
        + data
    )


def read(raw: RawLine) -> tuple[int, bytes]:
    """Read a frame of the server's, whole and unmasked: what it is, and its data."""
    first, second = raw.read(2)
    assert first & 0xF0 == 0x80
    assert second < 128
    size = second
    if second == 126:
        (size,) = struct.unpack("!H", raw.read(2))
    elif second == 127:
        (size,) = struct.unpack("!Q", raw.read(8))
    return first & 0xF, raw.read(size)


def code_of(raw: RawLine) -> int:
    """Read on to the server's close, and return its code."""
    while True:
        kind, data = read(raw)
        if kind == CLOSE:
            (code,) = struct.unpack("!H", data[:2])
            return int(code)


def watching(table: str) -> bytes:
    return json.dumps({"watch": {"table": table}}).encode()


# --- Frames ---


def test_what_comes_byte_by_byte_and_in_fragments_is_one_message(url: str, ada: Person, table: str) -> None:
    message = watching(table)
    with raw_socket(url, ada) as raw:
        whole = frame(TEXT, message[:9], fin=False) + frame(PING, b"?") + frame(0, message[9:])
        for at in range(len(whole)):
            raw.send(whole[at : at + 1])
        assert read(raw) == (PONG, b"?")
        assert b'"type":"watched"' in read(raw)[1]


def test_a_message_in_too_many_fragments_is_given_up(url: str, ada: Person) -> None:
    with raw_socket(url, ada) as raw:
        raw.send(frame(TEXT, b"", fin=False) + frame(0, b"", fin=False) * FRAGMENTS)
        kind, told = read(raw)
        assert (kind, int.from_bytes(told[:2], "big")) == (CLOSE, 1009)


def test_a_flood_of_frames_that_are_no_message_holds_up_nobody(url: str, ada: Person, table: str) -> None:
    with raw_socket(url, ada) as flooding, raw_socket(url, ada) as other:
        for _ in range(8):
            flooding.send(frame(PONG, b"") * 20_000)
        other.send(masked(watching(table)))
        assert b'"type":"watched"' in read(other)[1]
        flooding.send(masked(watching(table)))
        assert b'"type":"watched"' in read(flooding)[1]


def test_what_came_with_the_handshake_is_not_lost(url: str, ada: Person, table: str) -> None:
    with line(url) as raw:
        raw.send(handshake(bearing(ada)) + frame(PING, b"!") + masked(watching(table)))
        assert raw.head()[0] == 101
        assert read(raw) == (PONG, b"!")
        assert b'"type":"watched"' in read(raw)[1]


@pytest.mark.parametrize("size", [125, 126, 65_535, 65_536, 81_920])
def test_a_message_of_any_allowed_size_is_heard(url: str, ada: Person, size: int) -> None:
    with raw_socket(url, ada) as raw:
        raw.send(frame(TEXT, b"[" + b" " * (size - 2) + b"]"))
        assert b"Expected `object`, got `array`" in read(raw)[1]


@pytest.mark.parametrize("whole", [True, False])
def test_a_message_without_measure_is_not_even_read(url: str, ada: Person, *, whole: bool) -> None:
    with raw_socket(url, ada) as raw:
        parts = (
            [frame(TEXT, b" " * 81_921)] if whole else [frame(TEXT, b" " * 80_000, fin=False), frame(0, b" " * 1_921)]
        )
        for part in parts:
            raw.send(part)
        assert code_of(raw) == 1009


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (frame(TEXT, b"\xff"), 1007),
        (frame(0x3, b""), 1002),
        (frame(0, b"a"), 1002),
        (b"\x81\x01a", 1002),
        (b"\xf1\x80\0\0\0\0", 1002),
        (frame(PING, b"x" * 126), 1002),
        (frame(CLOSE, b"\x00"), 1002),
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", 1002),
    ],
)
def test_what_is_no_websocket_closes_it(url: str, ada: Person, sent: bytes, code: int) -> None:
    with raw_socket(url, ada) as raw:
        raw.send(sent)
        assert code_of(raw) == code


def test_noise_closes_sockets_and_does_no_harm(url: str, ada: Person, caplog: pytest.LogCaptureFixture) -> None:
    rng = Random(5)
    for _ in range(sized(40, 200, 2_000)):
        with raw_socket(url, ada) as raw:
            raw.send(rng.randbytes(rng.randrange(1, 200)))
            raw.socket.shutdown(socket.SHUT_WR)
            while raw.read(1_000):
                pass
    assert ada.get("/readyz").status_code == 200
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


def test_a_close_is_answered_by_a_close(url: str, ada: Person) -> None:
    with raw_socket(url, ada) as raw:
        raw.send(frame(CLOSE, struct.pack("!H", 1001)))
        assert read(raw) == (CLOSE, struct.pack("!H", 1001))
        assert raw.is_closed()


# --- Who takes nothing, or says nothing ---


def test_who_answers_no_ping_is_given_up(valkey_url: str, tmp_path: Path) -> None:
    with observed(valkey_url, tmp_path, HASTY) as (url, _), somebody(url) as ada, raw_socket(url, ada) as raw:
        kind, asked = read(raw)
        assert kind == PING
        raw.send(frame(PONG, asked))
        assert read(raw)[0] == PING
        assert code_of(raw) == 1011
        assert raw.is_closed()


def test_who_takes_nothing_is_cut_off_and_costs_the_others_nothing(valkey_url: str, tmp_path: Path) -> None:
    with observed(valkey_url, tmp_path, HASTY._replace(ping_s=60)) as (url, seen), somebody(url) as ada:
        table = ada.post("/v1/chinkway/tables").json()["table"]
        with raw_socket(url, ada) as raw, opened(url, ada.token) as other:
            raw.send(masked(watching(table)))
            other.watch(table)
            saying = threading.Thread(target=flood, args=(raw, frame(TEXT, b'{"%b": 1}' % (b"x" * 900))))
            saying.start()
            while saying.is_alive():
                assert other.post(path_of(table, "seats"), {"chair": 1})["status"] == 400
            assert other.post(path_of(table, "seats"), {"seat": 1})["status"] == 201
            assert other.until(lambda frame: frame.get("version") == 2)["type"] == "decision"
        await_that(lambda: seen.connections() == 1)


def flood(raw: RawLine, sent: bytes) -> None:
    """Send the same again and again, and take nothing, until the server cuts the line."""
    raw.socket.settimeout(20)
    with suppress(ConnectionError):
        while True:
            raw.socket.sendall(sent)


def test_who_takes_no_pongs_is_cut_off_as_well(valkey_url: str, tmp_path: Path) -> None:
    with observed(valkey_url, tmp_path, HASTY._replace(ping_s=60)) as (url, seen), somebody(url) as ada:
        with raw_socket(url, ada) as raw:
            flood(raw, frame(PING, b"x" * 100) * 100)
        await_that(lambda: seen.connections() == 1)


def test_who_takes_nothing_and_says_nothing_is_cut_off_too(valkey_url: str, tmp_path: Path) -> None:
    """Too little waits for it to be held up by: what is left is not waited for."""
    bounds = HASTY._replace(stall_s=60, ping_s=0.5)
    with (
        observed(valkey_url, tmp_path, bounds) as (url, seen),
        somebody(url) as ada,
        raw_socket(url, ada) as raw,
    ):

        def is_left_with_some() -> bool:
            raw.send(frame(TEXT, b'{"%b": 1}' % (b"x" * 900)) * 5)
            return any(seen.of(lambda: [each.transport.get_write_buffer_size() for each in seen.connected()]))

        await_that(is_left_with_some)
        await_that(lambda: seen.connections() == 1)


# --- Who goes away ---


def test_sockets_that_come_and_go_leave_no_task_and_no_watch(valkey_url: str, tmp_path: Path) -> None:
    with observed(valkey_url, tmp_path) as (url, seen), somebody(url) as ada:
        table = ada.post("/v1/chinkway/tables").json()["table"]
        with opened(url, ada.token) as first:  # Some tasks begin with the first who watches, and stay.
            first.watch(table)
            await_that(lambda: "Feeds._subscribe" in seen.tasks())
        await_that(lambda: seen.connections() == 1)
        few = seen.tasks()
        come_and_go(url, ada, table, sized(200, 1_000, 5_000))
        await_that(lambda: seen.connections() == 1)
        await_that(lambda: not seen.tasks() - few, lambda: seen.tasks() - few)
        # What it keeps by table, it keeps as long as that is read.
        assert seen.of(lambda: dict(seen.live()._watched)) == {}  # noqa: SLF001 nobody else asks
        assert "evenfold_sockets 0" in ada.get("/metrics").text


def come_and_go(url: str, person: Person, table: str, times: int) -> None:
    """Open sockets, ask something, and hang up: before the answer, amid it, after it, by a reset."""
    rng = Random(times)
    seat = json.dumps({"command": {"id": "x", "path": path_of(table, "seats"), "body": {"nonce": 1}}}).encode()
    for number in range(times):
        with line(url) as raw:
            raw.send(handshake(bearing(person)) + masked(watching(table)) + frame(TEXT, seat) * rng.randrange(3))
            if number % 4:
                raw.head()
            if number % 4 > 1:
                read(raw)
            if number % 4 > 2:
                raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


# --- The end of the server ---


def test_the_end_of_the_server_closes_sockets_after_what_is_under_way(
    own_store: Callable[..., Embedded], tmp_path: Path
) -> None:
    store = own_store()
    with ExitStack() as stack, ExitStack() as serving:
        url, seen = serving.enter_context(observed(store.url, tmp_path / "keys"))
        ada = stack.enter_context(somebody(url))
        table = ada.post("/v1/chinkway/tables").json()["table"]
        sockets = [stack.enter_context(opened(url, ada.token)) for _ in range(20)]
        for each in sockets:
            each.watch(table)
        ends = threading.Thread(target=serving.close)
        with stopped(store.pid):
            names = [each.send(path_of(table, "start")) for each in sockets]
            await_that(lambda: seen.tasks()["Socket._turn"] == len(sockets))
            ends.start()
            await_that(lambda: is_deaf(url))
        for each, name in zip(sockets, names, strict=True):
            assert each.answer(name)["status"] == 409
            assert each.closed() == 1012
        ends.join(20)
        assert not ends.is_alive()


def test_the_end_of_the_server_waits_for_nobody_who_takes_nothing(valkey_url: str, tmp_path: Path) -> None:
    with ExitStack() as stack, ExitStack() as serving:
        bounds = HASTY._replace(stall_s=600, ping_s=600)
        url, seen = serving.enter_context(observed(valkey_url, tmp_path, bounds))
        ada = stack.enter_context(somebody(url))
        raw = stack.enter_context(raw_socket(url, ada))

        def is_held_up() -> bool:
            raw.send(frame(TEXT, b"{}") * 1_000)  # So many at once that the server is still at them.
            held_up = seen.of(lambda: [not each.writable.is_set() for each in seen.sockets()])
            return bool(held_up == [True])

        await_that(is_held_up)
        ends = threading.Thread(target=serving.close)
        ends.start()
        ends.join(20)
        assert not ends.is_alive()


def is_deaf(url: str) -> bool:
    """Tell whether a server takes no connections any more."""
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.socket() as caller:
        return caller.connect_ex((host, int(port))) != 0
