"""How a stream ends: with its token, its table or its connection; and how its heart beats meanwhile."""

import asyncio
import time
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

import pytest

from service.api.eventstream import BEAT_S, EVENT_STREAM, NDJSON, Streams
from tests.raw import line, request
from tests.served import Person, served
from tests.service.api.streams.conftest import Table, ids
from tests.streamed import lined, streamed

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
