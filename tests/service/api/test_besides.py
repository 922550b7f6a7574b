"""What streams and sockets tell besides play to who asks for it: what rulings bring after the end, and checkpoints."""

from pathlib import Path
from typing import Any

import pytest

from service.api.eventstream import EVENT_STREAM, NDJSON
from tests.served import Person
from tests.service.api.conftest import Company
from tests.service.api.test_dispute_story import PEEKED, posted, verified
from tests.sockets import opened
from tests.streamed import lined, streamed


@pytest.fixture
def ended(company: Company) -> Company:
    """Give a table at which play has ended: all but one have resigned."""
    for person in company.people[1:]:
        posted(person, f"{company.path}/commands", {"type": "table.resign"})
    return company


def newest(company: Company) -> int:
    """Return the version that a table is at."""
    version: int = company.people[0].get(company.path).json()["version"]
    return version


def dispute_and_rule(company: Company, arbiter: Person) -> list[dict[str, Any]]:
    """Have a dispute of an ended table ruled, and return the decisions that this brought."""
    before = newest(company)
    number = posted(company.people[1], f"{company.path}/disputes", PEEKED)["dispute"]
    ruling = {"verdict": "corrected", "places": [5, 4, 3, 2, 1]}
    posted(arbiter, f"{company.path}/disputes/{number}/ruling", ruling)
    brought: list[dict[str, Any]] = company.people[0].get(f"{company.path}/events?after={before}").json()["decisions"]
    assert len(brought) == 2
    return brought


# --- Rulings ---


def test_events_go_on_with_what_rulings_bring_and_resume(ended: Company, url: str, arbiter: Person) -> None:
    token, end = ended.people[2].token, newest(ended)
    events = f"{ended.path}/events?rulings=true"
    with streamed(url, events, token, f"Last-Event-ID: {end}") as stream:
        assert stream.status == 200
        (told,) = stream.events(1)
        assert (told.id, told.event, told.data) == (end, "ended", {"version": end})
        brought = dispute_and_rule(ended, arbiter)
        assert [(event.event, event.data) for event in stream.events(2)] == [("decision", each) for each in brought]
        brought = dispute_and_rule(ended, arbiter)
        assert [event.data for event in stream.events(2)] == brought
    with streamed(url, events, token, f"Last-Event-ID: {end + 3}") as stream:
        assert [(event.id, event.event) for event in stream.events(2)] == [(end + 4, "decision"), (end + 4, "ended")]


def test_lines_go_on_with_what_rulings_bring(ended: Company, url: str, arbiter: Person) -> None:
    end = newest(ended)
    path = f"{ended.path}/events?follow=true&rulings=true&after={end - 1}"
    with lined(url, path, ended.people[0].token) as stream:
        assert stream.lines(2)[1] == {"type": "ended", "version": end}
        brought = dispute_and_rule(ended, arbiter)
        assert stream.lines(2) == brought


def test_a_socket_goes_on_with_what_rulings_bring(ended: Company, url: str, arbiter: Person) -> None:
    table, end = ended.path.rpartition("/")[2], newest(ended)
    with opened(url, ended.people[0].token) as socket:
        socket.say({"watch": {"table": table, "after": end, "rulings": True}})
        assert [frame["type"] for frame in socket.frames(2)] == ["watched", "ended"]
        brought = dispute_and_rule(ended, arbiter)
        assert [frame["decision"] for frame in socket.frames(2)] == brought


def test_without_that_nothing_comes_after_the_end(ended: Company, url: str, arbiter: Person) -> None:
    dispute_and_rule(ended, arbiter)
    end = newest(ended)
    for query in ("", "&rulings=false"):
        with streamed(url, f"{ended.path}/events?after={end}{query}", ended.people[0].token) as stream:
            assert [event.event for event in stream.rest()] == ["ended"]
    answer = ended.people[0].get(f"{ended.path}/events?rulings=false", Accept=EVENT_STREAM, Last_Event_ID=f"{end}")
    assert answer.status_code == 204


@pytest.mark.parametrize("name", ["rulings", "checkpoints"])
@pytest.mark.parametrize("media", ["application/json", NDJSON])
def test_what_ends_has_nothing_besides(company: Company, media: str, name: str) -> None:
    answer = company.people[0].get(f"{company.path}/events?{name}=true", Accept=media)
    assert (answer.status_code, answer.json()["field"]) == (400, name)


# --- Checkpoints ---


def test_checkpoints_of_a_stream_hold_a_record_to_what_was_told(
    company: Company, url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("service.watched.VOUCH_S", 0)
    ada, before = company.people[0], newest(company)
    kept: list[dict[str, Any]] = []
    with streamed(url, f"{company.path}/events?checkpoints=true&after={before - 1}", ada.token) as stream:
        decision, checkpoint = stream.events(2)
        assert (decision.event, checkpoint.event, checkpoint.id) == ("decision", "checkpoint", 0)
        assert checkpoint.data["version"] == decision.id == before
        assert checkpoint.data["head"] == decision.data["head"]
        told = ada.get(f"{company.path}/checkpoint").json()
        timeless = {"stream", "version", "head", "key"}
        assert [*checkpoint.data] == [*told]
        assert {name: checkpoint.data[name] for name in timeless} == {name: told[name] for name in timeless}
        kept.append(checkpoint.data)
        for person in company.people[1:]:
            posted(person, f"{company.path}/commands", {"type": "table.resign"})
        *_, last, end = rest = stream.rest()
    assert (last.event, end.event, last.data["version"]) == ("checkpoint", "ended", end.id)
    kept += [event.data for event in rest if event.event == "checkpoint"]
    report = verified(url, ada, company, kept, tmp_path)
    assert report["checkpoints"] == len(kept) > 1
    assert kept[-1]["version"] == report["versions"]


def test_lines_are_taken_by_verify_as_they_are(ended: Company, url: str, tmp_path: Path) -> None:
    ada = ended.people[0]
    with lined(url, f"{ended.path}/events?follow=true&checkpoints=true", ada.token) as stream:
        *_, last, end = stream.rest_of_lines()
    assert (last["type"], end["type"], last["version"]) == ("checkpoint", "ended", end["version"])
    assert verified(url, ada, ended, [last], tmp_path)["checkpoints"] == 1


def test_a_socket_tells_checkpoints_of_each_table(company: Company, url: str) -> None:
    table, version = company.path.rpartition("/")[2], newest(company)
    with opened(url, company.people[0].token) as socket:
        socket.say({"watch": {"table": table, "after": version - 1, "checkpoints": True}})
        _, decision, told = socket.frames(3)
    assert (told["type"], told["table"], told["version"]) == ("checkpoint", table, version)
    head = decision["decision"]["head"]
    stated = told["checkpoint"]
    assert (stated["stream"], stated["version"], stated["head"]) == (f"table:{table}", version, head)
