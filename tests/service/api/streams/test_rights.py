"""A stream shows what its reader may see today, and an account has so many of them."""

from pathlib import Path
from random import Random

import pytest

from service.api.eventstream import EVENT_STREAM, NDJSON, Streams
from service.app import create
from service.errors import TooManyStreams
from service.settings import NO_LIMITS, Settings
from tests.raw import line, request
from tests.served import Person, running
from tests.service.api.conftest import Company
from tests.service.api.streams.conftest import OPEN, Inside, Table, ids
from tests.service.cli.processes import until
from tests.streamed import streamed


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
