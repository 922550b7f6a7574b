"""Nobody who streams costs anybody else anything: neither who breaks off, nor who takes nothing."""

import asyncio
import socket
import struct
import time
from pathlib import Path
from random import Random
from typing import cast

import pytest

from service.api.connection import Connection
from service.api.eventstream import EVENT_STREAM
from service.app import create
from service.settings import NO_LIMITS, Settings
from tests.raw import line, request
from tests.served import Person, running
from tests.service.api.streams.conftest import Inside, Table, ids
from tests.service.cli.processes import until
from tests.sizes import sized
from tests.streamed import Streamed, lined, streamed

KEPT = 60
"""So few decisions are kept where somebody is to fall behind them."""


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
