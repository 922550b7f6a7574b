"""Tables that a WebSocket watches: each decision once and in order, wherever it was cut, until it is unwatched."""

from pathlib import Path
from random import Random

import pytest

import service.presence
from tests.raw import line, request
from tests.served import Person, served
from tests.service.api.conftest import Company
from tests.service.api.sockets.conftest import NO_TABLE, await_that, bearing, decisions, path_of, somebody
from tests.sizes import sized
from tests.sockets import Socket, opened
from tests.stores import asking


def test_a_watch_is_resumed_exactly_wherever_it_was_cut(url: str, company: Company) -> None:
    rng = Random(7)
    for _ in range(sized(20, 40, 200)):
        company.move(rng)
    table, person = company.path.rpartition("/")[2], company.people[1]
    known = decisions(person, table)
    for cut in range(len(known) + 1):
        with opened(url, person.token) as socket:
            assert socket.watch(table, after=cut) == {
                "type": "watched",
                "table": table,
                "after": cut,
                "version": len(known),
            }
            # Whatever comes while it is resumed comes once, in its place.
            if cut % 5 == 0:
                company.move(rng)
                known = decisions(person, table)
            assert [frame["decision"] for frame in socket.frames(len(known) - cut)] == known[cut:]
            assert_quiet(socket)


def test_a_watch_above_the_version_is_reset_to_it_and_goes_on(socket: Socket, table: str, ada: Person) -> None:
    socket.watch(table, after=40)
    assert socket.frame() == {"type": "reset", "table": table, "version": 1}
    ada.post(path_of(table, "seats"))
    assert socket.frame()["version"] == 2


def test_a_table_is_watched_through_other_eyes_once_play_has_ended(company: Company, url: str) -> None:
    table, bob = company.path.rpartition("/")[2], company.people[1]
    with opened(url, bob.token) as socket:
        socket.watch(table, 6)
        for eyes in ("0", "all"):
            socket.say({"watch": {"table": table, "as": eyes}})
            assert socket.until(lambda frame: frame["type"] == "error")["problem"]["code"] == "not_ended"
        for eyes in ("1", "spectator"):
            socket.say({"watch": {"table": table, "as": eyes}})
            assert socket.until(lambda frame: frame["type"] == "watched")["after"] == 0
    for person in company.people[1:]:
        assert person.post(f"{company.path}/commands", {"type": "table.resign"}).status_code == 201
    with opened(url, bob.token) as socket:
        socket.say({"watch": {"table": table, "as": "all"}})
        assert socket.frame()["type"] == "watched"
        shown = bob.get(f"{company.path}/events?as=all").json()["decisions"]
        assert [frame["decision"] for frame in socket.frames(len(shown))] == shown


def test_a_table_that_ended_is_told_and_ended_again(socket: Socket, table: str, ada: Person) -> None:
    ada.post(path_of(table), {"type": "table.abandon"})
    for _ in range(2):
        socket.watch(table, after=1)
        assert [frame["type"] for frame in socket.frames(2)] == ["decision", "ended"]


def test_to_watch_again_begins_anew_and_ends_the_watch_before(socket: Socket, table: str, ada: Person) -> None:
    for after in (0, 0, 1):
        socket.watch(table, after=after)
    ada.post(path_of(table, "seats"))
    last = socket.until(lambda frame: frame.get("version") == 2)
    assert last["type"] == "decision"
    assert_quiet(socket)
    assert [frame["version"] for frame in socket.early if frame["type"] == "decision"] in ([], [1], [1, 1])


def test_what_is_unwatched_comes_no_more(socket: Socket, table: str, ada: Person) -> None:
    socket.watch(table)
    socket.say({"unwatch": {"table": table}})
    socket.until(lambda frame: frame == {"type": "unwatched", "table": table})
    ada.post(path_of(table, "seats"))
    assert_quiet(socket)
    assert [frame["version"] for frame in socket.early] in ([], [1])
    # Nor is it an error to unwatch what is not watched.
    socket.say({"unwatch": {"table": NO_TABLE}})
    assert socket.until(lambda frame: frame.get("table") == NO_TABLE)["type"] == "unwatched"


def test_there_is_no_watching_a_table_that_is_not_there(socket: Socket) -> None:
    refused = socket.watch(NO_TABLE)
    assert (refused["type"], refused["problem"]["status"], refused["table"]) == ("error", 404, NO_TABLE)


def test_a_socket_watches_256_tables_and_no_more(socket: Socket, ada: Person) -> None:
    names = [socket.send("/v1/chinkway/tables", {"seats": 5}) for _ in range(257)]
    tables = [socket.answer(name)["body"]["table"] for name in names]
    for table in tables:
        socket.say({"watch": {"table": table, "after": 1}})
    words = socket.frames(257)
    assert sorted(frame["type"] for frame in words) == ["error"] + ["watched"] * 256
    (refused,) = (frame for frame in words if frame["type"] == "error")
    assert refused["problem"]["code"] == "too_many_requests"
    assert refused["headers"]["ratelimit-policy"] == '"watched-tables";q=256'
    other = next(table for table in tables if table != refused["table"])
    socket.say({"unwatch": {"table": other}})
    assert socket.until(lambda frame: frame["type"] == "unwatched")
    assert socket.watch(refused["table"])["type"] == "watched"
    ada.post(path_of(refused["table"], "seats"))
    assert socket.until(lambda frame: frame.get("version") == 2)["table"] == refused["table"]


def test_two_sockets_and_a_stream_of_one_token_are_told_the_same(url: str, ada: Person, table: str) -> None:
    with opened(url, ada.token) as one, opened(url, ada.token) as other, line(url) as stream:
        stream.send(request(path_of(table, "events?after=1"), bearing(ada), "Accept: text/event-stream"))
        assert stream.head()[0] == 200
        for socket in (one, other):
            socket.watch(table, after=1)
        ada.post(path_of(table, "seats"), {"nonce": "luck"})
        data = next(each for each in stream.lines() if each.startswith("data: ")).removeprefix("data: ")
        for socket in (one, other):
            # Not decoded on its way: the bytes are the same too.
            assert socket.frame()["version"] == 2
            assert socket.raw == f'{{"type":"decision","table":"{table}","version":2,"decision":{data}}}'


def test_who_watches_is_seen_again_and_again(
    url: str, unmoved: Company, valkey_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process tells so, which knows it from the store alone."""
    monkeypatch.setattr(service.presence, "FRESH_MS", 0)
    host, guest = unmoved.people[:2]
    with (
        served(valkey_url, tmp_path) as other,
        somebody(other, None) as there,
        asking(valkey_url) as client,
        opened(url, guest.token) as socket,
    ):
        there.http.headers["Authorization"] = host.http.headers["Authorization"]
        socket.watch(unmoved.path.rpartition("/")[2])
        for _ in range(2):
            client.delete(f"presence:{guest.id}")
            await_that(lambda: there.get(f"{unmoved.path}/presence").json()["seats"][1]["present"] is True)


def assert_quiet(socket: Socket) -> None:
    """Hold that nothing of a table is on its way: an answer asked for now comes next."""
    socket.say({"unwatch": {"table": "1" * 26}})
    before = len(socket.early)
    socket.until(lambda frame: frame.get("table") == "1" * 26)
    assert [frame for frame in list(socket.early)[before:] if frame["type"] == "decision"] == []
