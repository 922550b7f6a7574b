"""Who comes again gets what comes after the last event, whatever that was."""

import pytest

from service.api.eventstream import EVENT_STREAM, NDJSON
from tests.raw import line, request
from tests.service.api.streams.conftest import Table, ids
from tests.streamed import Event, lined, streamed


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
