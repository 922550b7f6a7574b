"""An inbox and what is to be done, as clients live by them: five players who look at nothing else."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import islice
from random import Random
from typing import Any, NamedTuple

import httpx
import pytest

from service.embedded import Embedded
from tests.reacting import reacting
from tests.served import Person, served
from tests.service.api.conftest import appoint
from tests.stores import asking

EVENTS, TODO = "/v1/me/events", "/v1/me/todo"

TURNS = 8
"""How many turns somebody plays."""

Notice = dict[str, Any]


class House(NamedTuple):
    """Two workers and the reactors, on a store of their own."""

    store: str
    url: str
    other_url: str


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Give a house, one a process."""
    folder = tmp_path_factory.mktemp("house")
    with (
        Embedded(folder / "store", what="a house") as store,
        served(store.url, folder / "keys") as url,
        served(store.url, folder / "keys") as other_url,
        reacting(store.url, folder / "keys"),
    ):
        yield House(store.url, url, other_url)


@pytest.fixture
def people(house: House) -> Iterator[list[Person]]:
    """Give six people."""
    with ExitStack() as stack:
        found = [Person(house.url, f"Player {number}") for number in range(6)]
        for person in found:
            stack.callback(person.http.close)
        yield found


class Sent(NamedTuple):
    """A server-sent event as a browser takes it."""

    id: str
    event: str
    data: Any


@contextmanager
def streaming(person: Person, query: str = "", **headers: str) -> Iterator[Iterator[Sent]]:
    """Open somebody's inbox as server-sent events."""
    named = {"Accept": "text/event-stream"} | {name.replace("_", "-"): value for name, value in headers.items()}
    with person.http.stream("GET", EVENTS + query, headers=named) as answer:
        assert answer.status_code == 200
        yield _sent(answer)


def _sent(answer: httpx.Response) -> Iterator[Sent]:
    fields: dict[str, str] = {}
    for line in answer.iter_lines():
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif "data" in fields:
            yield Sent(fields["id"], fields["event"], json.loads(fields["data"]))
            fields = {}


def opened(host: Person, game: str, *sitting: Person) -> str:
    """Open a table with as many seats as sit down at it, and return its path."""
    path: str = host.post(f"/v1/{game}/tables", {"seats": len(sitting), "bots": []}).headers["Location"]
    for person in sitting:
        assert person.post(f"{path}/seats").status_code == 201
    return path


def abandoned(host: Person, count: int = 1) -> None:
    """Open tables and give them up, each of which tells the host one thing."""
    for _ in range(count):
        path = host.post("/v1/chinkway/tables").headers["Location"]
        assert host.post(f"{path}/commands", {"type": "table.abandon"}).status_code == 201


def told(person: Person, count: int) -> list[Notice]:
    """Return somebody's whole inbox once it holds so much."""
    with streaming(person) as stream:
        return [sent.data for sent in islice(stream, count)]


def play_by_inbox(person: Person) -> list[Notice]:
    """Act on each turn that is told, and on nothing else, until the table has ended; return all that was told.

    After a few turns of one's own one has had enough.
    """
    rng, notices = Random(person.id), []
    with streaming(person) as stream:
        for sent in stream:
            assert (sent.event, sent.id) == ("notice", str(sent.data["number"]))
            notices.append(sent.data)
            path = f"/v1/{sent.data['game']}/tables/{sent.data['table']}"
            if sent.data["type"] == "table_ended":
                return notices
            if sent.data["type"] == "your_turn":
                legal = person.get(f"{path}/actions").json()["legal"]
                command = rng.choice(legal) if len(notices) < 2 + TURNS else {"type": "table.resign"}
                assert person.post(f"{path}/commands", command).status_code == 201
    raise AssertionError("the stream ended before the table")


def test_five_players_play_by_what_they_are_told_and_are_told_each_turn_of_theirs_and_nothing_else(
    people: list[Person],
) -> None:
    *players, bystander = people
    with ThreadPoolExecutor(6) as clients:
        playing = [clients.submit(play_by_inbox, person) for person in players]
        path = opened(players[0], "kowah", *players)
        abandoned(bystander)
        inboxes = [client.result() for client in playing]
    view = players[0].get(path).json()
    assert view["status"] == "ended"
    decisions = players[0].get(f"{path}/events").json()["decisions"]
    prompts = [
        (seat, decision["version"])
        for decision in decisions
        for event in decision["events"]
        if event["type"] == "table.turn_began"
        for seat in event["seats"]
    ]
    assert len(prompts) > 20
    for seat, notices in enumerate(inboxes):
        assert {notice["table"] for notice in notices} == {view["table"]}
        assert [notice["number"] for notice in notices] == list(range(1, len(notices) + 1))
        seated, started, *turns, ended = notices
        assert (seated["type"], seated["seat"], seated["version"]) == ("seated", seat, seat + 2)
        assert (started["type"], started["seat"], started["version"]) == ("table_started", seat, 6)
        assert [(turn["type"], turn["seat"], turn["turn"]) for turn in turns] == [
            ("your_turn", prompted, version) for prompted, version in prompts if prompted == seat
        ]
        assert (ended["type"], ended["outcome"], ended["version"]) == ("table_ended", "finished", view["version"])
        assert (ended["seat"], ended["place"]) == (seat, view["places"][seat])
        at = {decision["version"]: decision["at"] for decision in decisions}
        assert all(notice["at"] == at[notice["version"]] for notice in notices)
    assert [notice["type"] for notice in told(bystander, 1)] == ["table_ended"]
    assert [person.get(TODO).json()["tasks"] for person in people] == [[]] * 6


def test_a_page_the_lines_and_the_stream_tell_the_same(people: list[Person]) -> None:
    ada = people[0]
    abandoned(ada, 3)
    notices = told(ada, 3)
    assert [notice["number"] for notice in notices] == [1, 2, 3]
    assert ada.get(EVENTS).json() == {"notices": notices, "next": None, "reset": None}
    assert ada.get(f"{EVENTS}?limit=2").json() == {"notices": notices[:2], "next": 2, "reset": None}
    assert ada.get(f"{EVENTS}?after=2").json() == {"notices": notices[2:], "next": None, "reset": None}
    assert ada.get(f"{EVENTS}?after=3").json() == {"notices": [], "next": None, "reset": None}
    lines = ada.get(f"{EVENTS}?after=1", Accept="application/x-ndjson").text.splitlines()
    assert [json.loads(line) for line in lines] == notices[1:]
    with streaming(ada, "?after=0", Last_Event_ID="2") as stream:
        assert next(stream) == Sent("3", "notice", notices[2])


def test_a_number_that_was_never_given_gets_all_that_is_kept_and_is_told_so(people: list[Person]) -> None:
    ada = people[0]
    abandoned(ada, 2)
    notices = told(ada, 2)
    assert ada.get(f"{EVENTS}?after=3").json() == {"notices": notices, "next": None, "reset": 0}
    lines = ada.get(f"{EVENTS}?after=3", Accept="application/x-ndjson").text.splitlines()
    assert [json.loads(line) for line in lines] == [{"type": "reset", "number": 0}, *notices]
    with streaming(ada, Last_Event_ID="3") as stream:
        assert next(stream) == Sent("0", "reset", {"number": 0})
        assert [sent.data for sent in islice(stream, 2)] == notices


def test_lines_that_are_followed_go_on_with_what_happens_at_another_worker(house: House, people: list[Person]) -> None:
    ada, other = people[0], Person(house.other_url, None)
    other.http.headers["Authorization"] = f"Bearer {ada.token}"
    named = {"Accept": "application/x-ndjson"}
    with ada.http.stream("GET", f"{EVENTS}?follow=true", headers=named) as answer:
        lines = (json.loads(line) for line in answer.iter_lines() if line)
        for number in (1, 2, 3):
            abandoned(other)
            assert next(lines)["number"] == number
    other.http.close()


@pytest.mark.parametrize(
    ("query", "accept", "status"),
    [
        ("?after=-1", "application/json", 400),
        ("?after=x", "application/json", 400),
        ("?limit=1001", "application/json", 400),
        ("?follow=true", "application/json", 400),
        ("?number=1", "application/json", 400),
        ("", "text/html", 406),
    ],
)
def test_what_is_outside_the_contract_is_refused(people: list[Person], query: str, accept: str, status: int) -> None:
    assert people[0].get(EVENTS + query, Accept=accept).status_code == status


@pytest.mark.parametrize("header", ["", "x", "01", "-1", "1.0", "99999999999999999"])
def test_an_event_id_that_is_none_is_refused(people: list[Person], header: str) -> None:
    assert people[0].get(EVENTS, Last_Event_ID=header).status_code == 400


def test_after_a_command_of_ones_own_every_worker_knows_what_waits(house: House, people: list[Person]) -> None:
    """Every command is posted to one worker, and the other is asked at once."""
    ada, bob = people[:2]
    players = {person.id: [person, Person(house.other_url, None)] for person in (ada, bob)}
    for here, there in players.values():
        there.http.headers["Authorization"] = f"Bearer {here.token}"
    paths = [opened(ada, "kowah", ada, bob) for _ in range(3)]
    rng = Random(8)
    for _ in range(60):
        path = rng.choice(paths)
        view = ada.get(path).json()
        if view["status"] == "ended":
            continue
        posting, asked = rng.sample(players[view["seats"][view["to_act"][0]]["player"]], 2)
        legal = posting.get(f"{path}/actions").json()["legal"]
        done = posting.post(f"{path}/commands", rng.choice(legal), Prefer="return=representation").json()["view"]
        tasks = [task for task in asked.get(TODO).json()["tasks"] if task["table"] == done["table"]]
        waits = done["you"] in done["to_act"]
        assert [(task["version"], task["turn"], task["seat"], task["due"]) for task in tasks] == [
            (done["version"], done["turn"], done["you"], None)
        ] * waits
    for _, there in players.values():
        there.http.close()


def test_who_is_erased_has_no_stream_and_no_inbox_any_more(house: House, people: list[Person]) -> None:
    ada, bob = people[:2]
    path = opened(bob, "kowah", ada, bob)
    with streaming(ada) as stream:
        assert [sent.data["type"] for sent in islice(stream, 2)] == ["seated", "table_started"]
        assert ada.delete("/v1/me").status_code == 204
        list(stream)  # ends
    assert bob.get(path).json()["status"] == "ended"
    with streaming(bob) as stream:
        assert "table_ended" in (sent.data["type"] for sent in stream)
    with asking(house.store) as client:
        assert client.exists(f"inbox:{bob.id}")
        assert not client.exists(f"inbox:{ada.id}")


def test_a_pause_and_its_end_are_told_and_meanwhile_nothing_is_to_be_done(house: House, people: list[Person]) -> None:
    *players, arbiter = people
    appoint(house.store, arbiter, "arbiter")
    path = opened(players[0], "chinkway", *players)
    view = players[0].get(path).json()
    (seat,) = view["to_act"]
    prompted = players[seat]
    assert [task["turn"] for task in prompted.get(TODO).json()["tasks"]] == [view["turn"]]
    dispute = {"first": 1, "last": view["version"], "reason": "conduct"}
    assert players[0].post(f"{path}/disputes", dispute).status_code == 201
    assert arbiter.post(f"{path}/pause").status_code == 201
    assert prompted.get(TODO).json()["tasks"] == []
    assert arbiter.post(f"{path}/disputes/1/looks", {"first": 1, "last": 2}).status_code == 201
    assert arbiter.post(f"{path}/disputes/1/ruling", {"verdict": "upheld"}).status_code == 201
    assert [task["turn"] for task in prompted.get(TODO).json()["tasks"]] == [view["turn"]]
    contest = ["dispute", "pause", "look", "ruling", "resume"]
    for person in players:
        turn = ["your_turn"] if person is prompted else []
        expected = ["seated", "table_started", *turn, *contest, *turn]
        notices = told(person, len(expected))
        assert [notice["type"] for notice in notices] == expected
        assert all(notice["turn"] == view["turn"] for notice in notices if notice["type"] == "your_turn")
