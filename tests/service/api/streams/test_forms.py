"""Events and lines come as they happen, and are what a page shows."""

import pytest

from service.api.eventstream import EVENT_STREAM, NDJSON
from tests.raw import judge, line, request
from tests.service.api.streams.conftest import Table
from tests.streamed import BEGINNING, Event, lined, streamed


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
