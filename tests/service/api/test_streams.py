"""Streams over HTTP: what a client gets, whatever it asks for, and whatever becomes of it or of the server."""

import asyncio
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, cast

import pytest
import uvicorn
from litestar import Litestar

from service.api.connection import Connection
from service.api.eventstream import BEAT_S, EVENT_STREAM, NDJSON, Streams
from service.app import create
from service.errors import TooManyStreams
from service.settings import NO_LIMITS, Settings
from tests.raw import judge, line, request
from tests.served import Person, running, served
from tests.service.api.conftest import Company
from tests.sizes import sized
from tests.streamed import BEGINNING, Event, Streamed, lined, streamed

KEPT = 60
"""So few decisions are kept where somebody is to fall behind them."""

OPEN = "/v1/chinkway/tables"


class Table:
    """An open table at which its host lets things happen."""

    def __init__(self, host: Person, url: str) -> None:
        self.host = host
        self.url = url
        self.path = host.post(OPEN, {"start": "host"}).headers["Location"]
        self.events = f"{self.path}/events"
        self._seated = False

    def happen(self, count: int = 1) -> None:
        """Let the host sit down, stand up, and so on, so many times."""
        for _ in range(count):
            seats = f"{self.path}/seats"
            done = self.host.delete(f"{seats}/me") if self._seated else self.host.post(seats, {"seat": 0})
            assert done.is_success, done.text
            self._seated = not self._seated

    def end(self) -> None:
        """End play."""
        assert self.host.post(f"{self.path}/commands", {"type": "table.abandon"}).status_code == 201

    def decisions(self, person: Person | None = None) -> list[dict[str, Any]]:
        """Return what a page shows."""
        found: list[dict[str, Any]] = (person or self.host).get(self.events).json()["decisions"]
        return found


@pytest.fixture
def table(url: str, ada: Person) -> Table:
    return Table(ada, url)


def ids(events: list[Event]) -> list[int]:
    return [event.id for event in events]


class Inside(NamedTuple):
    """A server, and what it holds."""

    url: str
    app: Litestar
    server: uvicorn.Server

    def counted(self) -> tuple[int, int, int, float]:
        """Return how many connections, tasks, tables that are watched, and streams there are."""

        async def count() -> tuple[int, int, int, float]:
            held = self.server.server_state
            streams = self.app.state.streams._open  # noqa: SLF001 nothing else shows it
            watched = self.app.state.live._watched  # noqa: SLF001 nothing else shows it
            return len(held.connections), len(asyncio.all_tasks()), len(watched), streams

        loop: asyncio.AbstractEventLoop = self.app.state.log._loop  # noqa: SLF001 that of the server's thread
        return asyncio.run_coroutine_threadsafe(count(), loop).result()

    def holds_no_more_than(self, before: tuple[float, ...]) -> bool:
        """Return whether there is nothing more than `counted` returned before, when something may have been going."""
        return all(now <= then for now, then in zip(self.counted(), before, strict=True))


def until(fact: Callable[[], object]) -> None:
    """Return when a fact holds; fail where it does not within half a minute."""
    deadline = time.monotonic() + 30
    while not fact():
        assert time.monotonic() < deadline, fact
        time.sleep(0.01)


# --- Events and lines ---


def test_events_come_as_they_happen_and_are_what_a_page_shows(table: Table) -> None:
    table.happen(2)
    with streamed(table.url, table.events, table.host.token) as stream:
        assert (stream.status, stream.headers["content-type"]) == (200, EVENT_STREAM)
        assert stream.read(len(BEGINNING)) == BEGINNING
        events = stream.events(3)
        table.happen(2)
        events += stream.events(2)
        table.end()
        events += stream.rest()
    decisions = table.decisions()
    assert [event.data for event in events[:-1]] == decisions
    assert [(event.id, event.event) for event in events[:-1]] == [(d["version"], "decision") for d in decisions]
    assert events[-1] == Event(6, "ended", {"version": 6})


def test_lines_come_as_they_happen_and_are_what_a_page_shows(table: Table) -> None:
    with lined(table.url, f"{table.events}?follow=true", table.host.token) as stream:
        assert (stream.status, stream.headers["content-type"]) == (200, NDJSON)
        assert stream.read(1) == b"\n"
        lines = stream.lines(1)
        table.happen(3)
        lines += stream.lines(3)
        table.end()
        lines += stream.rest_of_lines()
    assert lines == [*table.decisions(), {"type": "ended", "version": 5}]


def test_lines_that_are_not_followed_end_at_the_newest(table: Table) -> None:
    table.happen(3)
    for query in ("", "?follow=false"):
        with lined(table.url, f"{table.events}{query}", table.host.token) as stream:
            assert stream.rest_of_lines() == table.decisions()


def test_no_cache_and_no_proxy_keeps_a_stream_back(table: Table) -> None:
    with streamed(table.url, table.events, table.host.token) as stream:
        assert stream.headers["cache-control"] == "private, no-store"
        assert stream.headers["x-accel-buffering"] == "no"
        assert stream.headers["vary"] == "Authorization, Accept"


def test_every_frame_is_as_documented(table: Table) -> None:
    table.happen()
    table.end()
    for accept, query in ((EVENT_STREAM, ""), (NDJSON, "?follow=true"), (NDJSON, "?follow=true&after=9")):
        with line(table.url) as raw:
            bearer = f"Authorization: Bearer {table.host.token}"
            raw.send(request(f"{table.events}{query}", bearer, f"Accept: {accept}"))
            judge(raw.answer(), "GET", table.events)


def test_who_takes_anything_and_asks_to_follow_gets_lines(table: Table) -> None:
    table.end()
    for accept in ("*/*", ""):
        answer = table.host.get(f"{table.events}?follow=true", Accept=accept)
        assert answer.headers["Content-Type"] == NDJSON
        assert answer.text.endswith('{"type":"ended","version":2}\n')


@pytest.mark.parametrize("follow", ["1", "yes", "True", "", "true&follow=true"])
def test_whether_to_follow_is_true_or_false(table: Table, follow: str) -> None:
    answer = table.host.get(f"{table.events}?follow={follow}", Accept=NDJSON)
    assert (answer.status_code, answer.json()["field"]) == (400, "follow")


def test_a_page_can_not_be_followed(table: Table) -> None:
    answer = table.host.get(f"{table.events}?follow=true", Accept="application/json")
    assert (answer.status_code, answer.json()["field"]) == (400, "follow")


# --- Coming again ---


def test_a_stream_is_resumed_exactly_after_the_last_event(table: Table) -> None:
    table.happen(9)
    for last in range(10):
        with streamed(table.url, f"{table.events}?after=3", table.host.token, f"Last-Event-ID: {last}") as stream:
            assert ids(stream.events(10 - last)) == list(range(last + 1, 11))
    with streamed(table.url, f"{table.events}?after=7", table.host.token) as stream:
        assert ids(stream.events(3)) == [8, 9, 10]
    with lined(table.url, f"{table.events}?after=3", table.host.token, "Last-Event-ID: 8") as stream:
        assert [decision["version"] for decision in stream.rest_of_lines()] == [9, 10]
    page = table.host.get(f"{table.events}?after=3", Last_Event_ID="8").json()
    assert [decision["version"] for decision in page["decisions"]] == [9, 10]


@pytest.mark.parametrize("last", ["", "x", "-1", "1.0", "01", "+1", "1 2", "9" * 17, "é"])
@pytest.mark.parametrize("accept", [EVENT_STREAM, NDJSON, "application/json"])
def test_an_id_that_no_event_has_is_malformed(table: Table, last: str, accept: str) -> None:
    bearer = f"Authorization: Bearer {table.host.token}"
    with line(table.url) as raw:
        raw.send(request(table.events, bearer, f"Accept: {accept}", f"Last-Event-ID: {last}"))
        answer = raw.answer()
    assert (answer.status, answer.code) == (400, "malformed")
    assert b'"field":"Last-Event-ID"' in answer.body


def test_a_cursor_above_the_version_is_reset_and_resumes_right_from_there(table: Table) -> None:
    table.happen()
    with streamed(table.url, table.events, table.host.token, "Last-Event-ID: 40") as stream:
        assert stream.events(1) == [Event(2, "reset", {"version": 2})]
        table.happen()
        assert ids(stream.events(1)) == [3]
    with streamed(table.url, table.events, table.host.token, "Last-Event-ID: 2") as stream:
        assert [(event.id, event.event) for event in stream.events(1)] == [(3, "decision")]
    with lined(table.url, f"{table.events}?follow=true&after=40", table.host.token) as stream:
        assert stream.lines(1) == [{"type": "reset", "version": 3}]


def test_who_has_been_told_the_end_is_told_to_come_no_more(table: Table) -> None:
    table.happen()
    table.end()
    answer = table.host.get(table.events, Accept=EVENT_STREAM, Last_Event_ID="3")
    assert (answer.status_code, answer.content) == (204, b"")
    # Who has not, or holds what there never was, is told; and so is who asks for the first time.
    with streamed(table.url, table.events, table.host.token, "Last-Event-ID: 2") as stream:
        assert [(event.id, event.event) for event in stream.rest()] == [(3, "decision"), (3, "ended")]
    with streamed(table.url, table.events, table.host.token, "Last-Event-ID: 4") as stream:
        assert [(event.id, event.event) for event in stream.rest()] == [(3, "reset"), (3, "ended")]
    with streamed(table.url, f"{table.events}?after=3", table.host.token) as stream:
        assert [(event.id, event.event) for event in stream.rest()] == [(3, "ended")]


def test_a_stream_that_is_opened_after_an_answer_has_what_was_answered(table: Table) -> None:
    with streamed(table.url, table.events, table.host.token, "Last-Event-ID: 1") as early:
        for version in range(2, 12):
            table.happen()
            with streamed(table.url, table.events, table.host.token, f"Last-Event-ID: {version - 1}") as stream:
                assert ids(stream.events(1)) == [version]
        assert ids(early.events(10)) == list(range(2, 12))


# --- Who may see what ---


def test_a_stream_shows_what_the_seat_of_today_may_see(url: str, ada: Person) -> None:
    people = [Person(url, f"Player {number}") for number in range(5)]
    path = people[0].post(OPEN, {"options": {"deals": 5, "partners": "five"}}).headers["Location"]
    streams = [streamed(url, f"{path}/events", person.token) for person in (*people, ada)]
    for seat, person in enumerate(people):
        assert person.post(f"{path}/seats", {"seat": seat}).status_code == 201
    company, rng = Company(path, people), Random(4)
    for _ in range(12):
        company.move(rng)
    version = people[0].get(path).json()["version"]
    sent = [[event.data for event in stream.events(version)] for stream in streams]
    for person, events in zip((*people, ada), sent, strict=True):
        assert events == person.get(f"{path}/events").json()["decisions"]
    assert all(events != sent[-1] for events in sent[:-1])
    for stream in streams:
        stream.close()
    for person in people:
        person.http.close()


def test_nothing_comes_to_who_is_not_let_in(table: Table, nobody: Person) -> None:
    lines = []
    for bearer in ("", "Authorization: Bearer evf_" + "x" * 43, "Authorization: Basic YTpi"):
        raw = line(table.url)
        one = raw.__enter__()
        lines.append((raw, one))
        one.send(request(table.events, *filter(None, [bearer]), f"Accept: {EVENT_STREAM}"))
        answer = one.answer()
        assert (answer.status, answer.code) == (401, "unauthenticated")
    missing = nobody.get(f"{OPEN}/{'0' * 26}/events", Accept=EVENT_STREAM, Authorization=f"Bearer {table.host.token}")
    assert missing.status_code == 404
    table.happen(3)
    for raw, one in lines:
        # The connection is as good as any: what comes on it is the answer to what is asked next, and nothing else.
        one.send(request("/healthz"))
        assert one.answer().body == b'{"status":"alive"}'
        raw.__exit__(None, None, None)


def test_a_token_has_at_least_five_streams_and_they_all_get_everything(table: Table) -> None:
    streams = [streamed(table.url, table.events, table.host.token) for _ in range(8)]
    table.happen(3)
    for stream in streams:
        assert ids(stream.events(4)) == [1, 2, 3, 4]
        stream.close()


def test_an_account_above_its_number_of_streams_is_refused_until_one_is_closed(valkey_url: str, tmp_path: Path) -> None:
    app = create(Settings(redis=valkey_url, keys=tmp_path, limits=NO_LIMITS._replace(streams=6)))
    with running(app) as (url, server):
        ada, bob = Person(url), Person(url, "Bob")
        table = Table(ada, url)
        streams = [streamed(url, table.events, ada.token) for _ in range(6)]
        answer = ada.get(table.events, Accept=EVENT_STREAM)
        assert (answer.status_code, answer.json()["code"]) == (429, "too_many_streams")
        assert answer.headers["RateLimit-Policy"] == '"open-streams";q=6'
        assert ada.get(f"{table.events}?follow=true", Accept=NDJSON).status_code == 429
        assert ada.get(table.events).status_code == 200
        streamed(url, table.events, bob.token).close()
        streams.pop().close()
        until_taken(url, table, ada)
        for stream in streams:
            stream.close()
        # What was refused left nothing behind.
        until(lambda: Inside(url, app, server).counted()[2:] == (0, 0))
        for person in (ada, bob):
            person.http.close()


def until_taken(url: str, table: Table, person: Person) -> None:
    """Open a stream as soon as the server has seen that another was closed."""
    for _ in range(1_000):
        with streamed(url, table.events, person.token) as stream:
            if stream.status == 200:
                return
    raise AssertionError


def test_the_number_of_streams_is_that_of_an_account() -> None:
    streams = Streams(2)
    with streams.opened("ada", int), streams.opened("bob", int), streams.opened("ada", int):
        streams.admit("bob")
        with pytest.raises(TooManyStreams):
            streams.admit("ada")
    streams.admit("ada")


# --- How it ends ---


SLACK_S = 3.0
"""What a machine that does much else may add to what must come within two seconds."""


def test_the_streams_of_a_token_end_when_it_is_revoked_wherever_that_is(
    url: str, valkey_url: str, tmp_path: Path, ada: Person
) -> None:
    table = Table(ada, url)
    issued = ada.post("/v1/tokens", {"scopes": ["play"]}).json()
    with served(valkey_url, tmp_path) as elsewhere:
        streams = [streamed(at, table.events, issued["token"]) for at in (url, elsewhere, url, elsewhere)]
        lines = [lined(at, f"{table.events}?follow=true", issued["token"]) for at in (url, elsewhere)]
        others = [streamed(at, table.events, ada.token) for at in (url, elsewhere)]
        assert [ids(stream.events(1)) for stream in (*streams, *others)] == [[1]] * 6
        revoked = time.monotonic()
        assert ada.delete(f"/v1/tokens/{issued['id']}").status_code == 204
        assert [stream.rest() for stream in streams] == [[]] * 4
        assert [len(stream.rest_of_lines()) for stream in lines] == [1, 1]
        assert time.monotonic() - revoked < 2 + SLACK_S
        table.happen()
        assert [ids(stream.events(1)) for stream in others] == [[2], [2]]
        for stream in (*streams, *lines, *others):
            stream.close()


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_a_stream_to_an_old_client_ends_with_its_connection(table: Table, version: str) -> None:
    with streamed(table.url, table.events, table.host.token, version=version) as stream:
        assert ("transfer-encoding" in stream.headers) is (version == "1.1")
        table.happen()
        table.end()
        assert [(event.id, event.event) for event in stream.rest()] == [
            (1, "decision"),
            (2, "decision"),
            (3, "decision"),
            (3, "ended"),
        ]


def test_the_connection_serves_on_after_a_stream(table: Table) -> None:
    table.end()
    bearer = f"Authorization: Bearer {table.host.token}"
    with line(table.url) as raw:
        for _ in range(3):
            raw.send(request(table.events, bearer, f"Accept: {EVENT_STREAM}"))
            assert raw.answer().body.endswith(b'id: 2\nevent: ended\ndata: {"version":2}\n\n')


def test_head_of_a_stream_is_answered_at_once(table: Table) -> None:
    bearer = f"Authorization: Bearer {table.host.token}"
    with line(table.url) as raw:
        for accept, query in ((EVENT_STREAM, ""), (NDJSON, "?follow=true")):
            raw.send(request(f"{table.events}{query}", bearer, f"Accept: {accept}", method="HEAD"))
            answer = raw.answer(bodiless=True)
            assert (answer.status, answer.headers["content-type"]) == (200, accept)
        raw.send(request("/healthz"))
        assert raw.answer().status == 200


@pytest.mark.anyio
async def test_a_heart_beats_every_fifteen_seconds_and_not_all_at_once() -> None:
    seconds = 0
    beats: list[list[int]] = []

    async def sleep(waited: float) -> None:
        nonlocal seconds
        seconds += int(waited)
        if seconds > 4 * BEAT_S:
            raise asyncio.CancelledError
        if seconds <= BEAT_S:
            moments: list[int] = []
            beats.append(moments)
            open_.enter_context(streams.opened("ada", lambda: moments.append(seconds)))

    streams = Streams(sleep=sleep)
    with ExitStack() as open_, pytest.raises(asyncio.CancelledError):
        await streams.beat()
    assert len(beats) == BEAT_S
    for moments in beats:
        assert len(moments) >= 3
        assert {after - before for before, after in pairwise(moments)} == {BEAT_S}
    assert len({moments[0] for moments in beats}) == BEAT_S


# --- Nobody costs anybody else anything ---


@pytest.fixture
def inside(valkey_url: str, tmp_path: Path) -> Iterator[Inside]:
    """Give a server whose insides can be looked at."""
    app = create(Settings(redis=valkey_url, keys=tmp_path / "keys", limits=NO_LIMITS))
    with running(app) as (url, server):
        yield Inside(url, app, server)


def test_clients_who_come_and_break_off_leave_no_task_and_no_connection(inside: Inside) -> None:
    ada = Person(inside.url)
    tables = [Table(ada, inside.url) for _ in range(4)]
    with streamed(inside.url, tables[0].events, ada.token) as stream:
        stream.events(1)
    until(lambda: inside.counted()[2:] == (0, 0))
    before = inside.counted()
    rng = Random(9)
    for number in range(sized(1_000, 1_000, 3_000)):
        table, lines = rng.choice(tables), number % 3 == 0
        events = f"{table.events}?follow=true" if lines else table.events
        one = (lined if lines else streamed)(inside.url, events, ada.token)
        if number % 2:
            one.piece()
        if number % 5 == 0:
            table.happen()
        if number % 4:
            # By a reset, as a process that is killed leaves.
            one.line.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        one.close()
    until(lambda: inside.holds_no_more_than(before))
    ada.http.close()


def test_who_breaks_off_before_the_answer_leaves_nothing_either(inside: Inside) -> None:
    ada = Person(inside.url)
    table = Table(ada, inside.url)
    with streamed(inside.url, table.events, ada.token) as stream:
        stream.events(1)
    until(lambda: inside.counted()[2:] == (0, 0))
    before = inside.counted()
    asked = request(table.events, f"Authorization: Bearer {ada.token}", f"Accept: {EVENT_STREAM}")
    for _ in range(sized(100, 300, 1_000)):
        with line(inside.url) as raw:
            raw.send(asked)
    until(lambda: inside.holds_no_more_than(before))
    ada.http.close()


class Narrow(Connection):
    """A connection that holds little, so that who takes nothing is soon noticed."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2_048)
        self.transport.set_write_buffer_limits(high=4_096)


def test_who_takes_nothing_costs_the_others_nothing_and_holds_no_more_than_its_buffer(
    valkey_url: str, tmp_path: Path
) -> None:
    app = create(Settings(redis=valkey_url, keys=tmp_path / "keys", limits=NO_LIMITS))
    with running(app, protocol=Narrow) as (url, server):
        connections = cast("set[Narrow]", server.server_state.connections)
        ada = Person(url)
        table = Table(ada, url)
        stalled = [stalling(table) for _ in range(3)]
        version = 1
        with streamed(url, table.events, ada.token) as quick:
            assert ids(quick.events(1)) == [1]
            # All that is held is full, and more than that has come since.
            while sum(one.is_blocked() for one in connections) < 3 or version < 150:
                table.happen()
                version += 1
                assert ids(quick.events(1)) == [version]
                assert version < 1_000
        assert max(one.transport.get_write_buffer_size() for one in tuple(connections)) < 4_096 + 1_024
        # Whoever takes again gets what is missing, each once.
        for raw in stalled:
            assert [event.id for event in raw.events(version)] == list(range(1, version + 1))
            raw.close()
        ada.http.close()


def stalling(table: Table) -> Streamed:
    """Open a stream that little fits into, and read no more of it than its head."""
    narrow = socket.socket()
    narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
    return streamed(table.url, table.events, table.host.token, on=narrow)


def test_who_stays_behind_for_too_long_is_sent_away_and_resumes(
    valkey_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.watched.KEPT", KEPT)
    app = create(Settings(redis=valkey_url, keys=tmp_path / "keys", limits=NO_LIMITS))
    with running(app, protocol=Narrow) as (url, _):
        ada = Person(url)
        table = Table(ada, url)
        with stalling(table) as slow:
            table.happen(KEPT + 200)
            events = slow.rest()
        last = events[-1]
        assert (last.event, last.data) == ("lagged", {"version": last.id})
        assert ids(events) == [*range(1, last.id + 1), last.id]
        with streamed(url, table.events, ada.token, f"Last-Event-ID: {last.id}") as again:
            assert ids(again.events(KEPT + 201 - last.id)) == list(range(last.id + 1, KEPT + 202))
        ada.http.close()


def test_neither_open_streams_nor_a_client_that_takes_nothing_hold_up_the_end(valkey_url: str, tmp_path: Path) -> None:
    app = create(Settings(redis=valkey_url, keys=tmp_path / "keys", limits=NO_LIMITS))
    with running(app, protocol=Narrow) as (url, server):
        connections = cast("set[Narrow]", server.server_state.connections)
        ada = Person(url)
        table = Table(ada, url)
        stalled = stalling(table)
        count = 1
        while not any(one.is_blocked() for one in connections):
            table.happen()
            count += 1
        # Opened not before: who takes all may be blocked for a moment too.
        quick = streamed(url, table.events, ada.token)
        lines = lined(url, f"{table.events}?follow=true", ada.token)
        assert ids(quick.events(count)) == list(range(1, count + 1))
        assert len(lines.lines(count)) == count
        ada.http.close()
        told_to_end = time.monotonic()
    # It was given no grace: it waits for ever, or until the client that takes nothing is given up.
    assert time.monotonic() - told_to_end < Narrow.bounds.stall_s / 2
    assert (quick.rest(), lines.rest_of_lines()) == ([], [])
    assert stalled.is_cut()
    for stream in (stalled, quick, lines):
        stream.close()
