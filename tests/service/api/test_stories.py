"""Replay over HTTP: any version through any eyes once play has ended, before that through one's own, and in words."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import Any

import httpx
import pytest

from service.api.eventstream import EVENT_STREAM, NDJSON
from tests.served import Person
from tests.service.api.conftest import Company, seated
from tests.service.cli.processes import run

MOVES = 9

LOOKS = ("", "/events", "/story")
"""The routes that take `as`."""


@dataclass
class Ended:
    """A table of Kowah that ended by resignation, and what each seat, and who looked on, was shown at each version."""

    url: str
    path: str
    seats: list[Person]
    onlooker: Person
    version: int = 0
    views: dict[tuple[str, int], bytes] = field(default_factory=dict)
    events: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    @property
    def eyes(self) -> dict[str, Person]:
        """Who looked through which eyes."""
        return {"0": self.seats[0], "1": self.seats[1], "spectator": self.onlooker}

    def keep(self) -> None:
        """Keep what everybody is shown now."""
        for eyes, person in self.eyes.items():
            answer = person.get(self.path)
            self.version = answer.json()["version"]
            self.views[eyes, self.version] = answer.content


@pytest.fixture(scope="module")
def ended(url: str) -> Iterator[Ended]:
    """Give a table that has ended."""
    seats, onlooker, random = [Person(url, "Ada"), Person(url, "Bo")], Person(url, "Onlooker"), Random(3)
    opened = seats[0].post("/v1/kowah/tables", {"seats": 2, "bots": []}).json()
    table = Ended(url, f"/v1/kowah/tables/{opened['table']}", seats, onlooker)
    for seat, person in enumerate(seats):
        assert person.post(f"{table.path}/seats", {"seat": seat}).status_code == 201
    table.keep()
    for _ in range(MOVES):
        mover = seats[seats[0].get(table.path).json()["to_act"][0]]
        command = random.choice(mover.get(f"{table.path}/actions").json()["legal"])
        assert mover.post(f"{table.path}/commands", command).status_code == 201
        table.keep()
    table.events = {eyes: decisions(person, table.path) for eyes, person in table.eyes.items()}
    assert seats[1].post(f"{table.path}/commands", {"type": "table.resign"}).status_code == 201
    yield table
    for person in (*seats, onlooker):
        person.http.close()


def decisions(person: Person, path: str, query: str = "") -> list[dict[str, Any]]:
    answer = person.get(f"{path}/events{query}")
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["decisions"]
    return found


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


# --- Through any eyes, when play has ended ---


def test_any_version_is_seen_through_any_eyes_as_it_was_seen_then(ended: Ended) -> None:
    for (eyes, version), seen in ended.views.items():
        for person in (*ended.seats, ended.onlooker):
            assert person.get(f"{ended.path}?at={version}&as={eyes}").content == seen


def test_all_hands_of_a_version_are_the_views_of_its_seats(ended: Ended) -> None:
    for version in {version for _, version in ended.views}:
        answer = ended.onlooker.get(f"{ended.path}/views?at={version}")
        views = b",".join(ended.views[seat, version] for seat in ("0", "1"))
        assert answer.content == b'{"version":%d,"views":[%b]}' % (version, views)
    newest = ended.onlooker.get(f"{ended.path}/views").json()
    assert newest["version"] == ended.version + 1
    assert [view["you"] for view in newest["views"]] == [0, 1]


def test_events_are_seen_through_any_eyes_as_they_were_sent_then(ended: Ended) -> None:
    for eyes, sent in ended.events.items():
        for person in (*ended.seats, ended.onlooker):
            assert decisions(person, ended.path, f"?as={eyes}")[:-1] == sent


def test_all_eyes_see_every_hand_and_nothing_that_nobody_saw(ended: Ended) -> None:
    events = [event for decision in decisions(ended.onlooker, ended.path, "?as=all") for event in decision["events"]]
    dealt = next(event for event in events if event["type"] == "kowah.dealt")
    first = min(version for _, version in ended.views)
    hands = [view["hand"] for view in ended.onlooker.get(f"{ended.path}/views?at={first}").json()["views"]]
    assert dealt["hands"] == hands
    assert dealt["stock"] is None
    assert all(event["card"] for event in events if event["type"] == "kowah.stock_drawn")
    assert [event["seed"] for event in events if event["type"] == "table.seeded"] == [None]


def test_a_stream_goes_through_any_eyes_to_its_end(ended: Ended) -> None:
    for eyes, sent in ended.events.items():
        answer = ended.onlooker.get(f"{ended.path}/events?follow=true&as={eyes}", Accept=NDJSON)
        *shown, opened, end = [line for line in answer.text.splitlines() if line]
        whole = ended.onlooker.get(f"{ended.path}/events?as={eyes}", Accept=NDJSON).text.splitlines()
        assert [*shown, opened] == whole
        assert len(shown) == len(sent)
        assert '"ended"' in end
        events = ended.onlooker.get(f"{ended.path}/events?as={eyes}", Accept=EVENT_STREAM).text
        assert re.findall(r"^event: decision\ndata: (.*)$", events, re.MULTILINE) == whole


@pytest.mark.parametrize(("eyes", "refusal"), [("2", (409, "no_such_seat")), ("7", (409, "no_such_seat"))])
@pytest.mark.parametrize("route", LOOKS)
def test_eyes_of_a_seat_that_the_table_has_not_are_refused(
    ended: Ended, route: str, eyes: str, refusal: tuple[int, str]
) -> None:
    answer = ended.onlooker.get(f"{ended.path}{route}?as={eyes}")
    assert code(answer) == refusal
    assert answer.json()["version"] == ended.version + 1


@pytest.mark.parametrize(("route", "eyes"), [*product(LOOKS, ("8", "-1", "me", "", "0&as=1")), ("", "all")])
def test_eyes_of_nobody_are_outside_the_contract(ended: Ended, route: str, eyes: str) -> None:
    answer = ended.onlooker.get(f"{ended.path}{route}?as={eyes}")
    assert (code(answer), answer.json()["field"]) == ((400, "malformed"), "as")


@pytest.mark.parametrize("eyes", ["0", "1", "all"])
@pytest.mark.parametrize("route", LOOKS)
def test_the_token_of_a_bot_sees_with_its_own_eyes_alone(ended: Ended, route: str, eyes: str) -> None:
    token = ended.seats[0].post("/v1/tokens", {"scopes": ["bot"]}).json()["token"]
    bearer = {"Authorization": f"Bearer {token}"}
    assert httpx.get(f"{ended.url}{ended.path}{route}", headers=bearer).status_code == 200
    assert httpx.get(f"{ended.url}{ended.path}{route}?as=spectator", headers=bearer).status_code == 200
    asked = f"{route}?as={eyes}" if route or eyes != "all" else "/views"
    assert code(httpx.get(f"{ended.url}{ended.path}{asked}", headers=bearer)) == (403, "forbidden")


def test_two_who_look_through_different_eyes_at_once_see_what_each_sees_alone(ended: Ended) -> None:
    version = ended.version // 2 + 1
    asked = [
        *(f"?at={at}&as={eyes}" for at, eyes in product((version, ended.version), ("0", "1", "spectator"))),
        *(f"{route}?as={eyes}" for route, eyes in product(("/events", "/story"), ("0", "1", "all", "spectator"))),
        f"/views?at={version}",
    ]
    alone = {path: ended.onlooker.get(ended.path + path).content for path in asked}
    mixed = [path for path in asked for _ in range(3)]
    Random(7).shuffle(mixed)
    with ThreadPoolExecutor(4) as viewers:
        people = [person for person, _ in zip(ended.seats * len(mixed), mixed, strict=False)]
        answers = viewers.map(lambda who, path: who.get(ended.path + path).content, people, mixed)
        assert all(answer == alone[path] for path, answer in zip(mixed, answers, strict=True))


# --- Before that, through one's own ---


@pytest.fixture
def playing(company: Company) -> Company:
    """Give a table in play, whose dealer has laid two cards face down."""
    random = Random(4)
    for _ in range(3):
        company.move(random)
    return company


@pytest.mark.parametrize("route", LOOKS)
def test_before_the_end_another_seats_eyes_are_refused(playing: Company, route: str, ada: Person) -> None:
    for person, eyes in ((playing.people[0], "1"), (ada, "0"), (ada, "7")):
        answer = person.get(f"{playing.path}{route}?as={eyes}")
        assert code(answer) == (409, "not_ended")
        assert answer.json()["version"] == person.get(playing.path).json()["version"]
        if route == "/events":
            for media in (NDJSON, EVENT_STREAM):
                assert code(person.get(f"{playing.path}{route}?as={eyes}", Accept=media)) == (409, "not_ended")
            assert code(person.get(f"{playing.path}{route}?as=all")) == (409, "not_ended")
    assert code(playing.people[0].get(f"{playing.path}/views")) == (409, "not_ended")


@pytest.mark.parametrize("route", LOOKS)
def test_before_the_end_ones_own_eyes_and_a_spectators_are_there(playing: Company, route: str, ada: Person) -> None:
    public = ada.get(f"{playing.path}{route}").content
    for seat, person in enumerate(playing.people):
        own = person.get(f"{playing.path}{route}").content
        assert own != public
        assert person.get(f"{playing.path}{route}?as={seat}").content == own
        assert person.get(f"{playing.path}{route}?as=spectator").content == public


def test_the_tag_of_a_view_is_told_of_the_eyes_that_see_it_too(playing: Company, ada: Person) -> None:
    tag = ada.get(f"{playing.path}?as=spectator").headers["ETag"]
    assert ada.get(f"{playing.path}?as=spectator", If_None_Match=tag).status_code == 304
    assert code(ada.get(f"{playing.path}?as=1", If_None_Match=tag)) == (409, "not_ended")


def test_who_reads_through_a_seat_and_gives_it_up_reads_on_as_a_spectator(url: str) -> None:
    with seated(url) as company:
        person = company.people[4]
        with person.http.stream("GET", f"{company.path}/events?follow=true&as=4", headers={"Accept": NDJSON}) as answer:
            lines = filter(None, answer.iter_lines())
            dealt = next(line for line in lines if "chinkway.dealt" in line)
            assert '"hands":[null,null,null,null,[' in dealt
            assert person.post(f"{company.path}/commands", {"type": "table.resign"}).status_code == 201
            assert "table.resigned" in next(lines)
        assert code(person.get(f"{company.path}?as=4")) == (409, "not_ended")
        assert person.get(f"{company.path}?as=spectator").json()["hand"] is None


# --- In words ---


def story(person: Person, path: str, query: str = "", language: str = "en") -> dict[str, Any]:
    answer = person.get(f"{path}/story{query}", Accept_Language=language)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    assert answer.headers["Content-Language"] == found["language"]
    return found


def lines(told: dict[str, Any]) -> list[str]:
    return [line for decision in told["decisions"] for line in decision["lines"]]


@pytest.mark.parametrize(
    ("asked", "language", "line"),
    [
        ("en", "en", "Bo takes seat 1."),
        ("de", "de", "Bo nimmt Platz 1 ein."),
        ("ru-RU, en;q=0.8", "ru", "Bo занимает место 1."),
        ("fr, sv;q=0.5", "sv", "Bo tar plats 1."),
        ("es-419", "es", "Bo ocupa el asiento 1."),
        ("fr", "en", "Bo takes seat 1."),
        ("de;q=0, en", "en", "Bo takes seat 1."),
    ],
)
def test_a_story_is_told_in_the_language_that_its_reader_likes(
    ended: Ended, asked: str, language: str, line: str
) -> None:
    told = story(ended.onlooker, ended.path, language=asked)
    assert (told["game"], told["language"]) == ("kowah", language)
    assert line in lines(told)


def test_a_story_tells_each_decision_with_its_version_its_moment_and_who_asked(ended: Ended) -> None:
    told = story(ended.onlooker, ended.path)["decisions"]
    sent = decisions(ended.onlooker, ended.path)
    assert [(one["version"], one["at"]) for one in told] == [(one["version"], one["at"]) for one in sent]
    assert [told[0]["by"], told[1]["by"], told[-1]["by"]] == ["Ada as host", "Ada", "Bo"]
    assert told[-1]["lines"][0] == "Bo resigns."


def test_a_story_tells_of_hidden_cards_to_whom_they_were_shown(ended: Ended) -> None:
    hands = {
        eyes: [line for line in lines(story(ended.onlooker, ended.path, f"?as={eyes}")) if " holds " in line]
        for eyes in ("0", "1", "spectator", "all")
    }
    assert hands["spectator"] == []
    assert [len(hands["0"]), len(hands["1"])] == [1, 1]
    assert hands["all"] == hands["0"] + hands["1"]


def test_pages_of_a_story_are_the_story(ended: Ended) -> None:
    whole, pages = story(ended.onlooker, ended.path), []
    after: int | None = 0
    while after is not None:
        page = story(ended.onlooker, ended.path, f"?limit=3&after={after}")
        assert len(page["decisions"]) <= 3
        pages += page["decisions"]
        after = page["next"]
    assert pages == whole["decisions"]
    assert story(ended.onlooker, ended.path, f"?after={ended.version + 1}") == {**whole, "decisions": [], "next": None}
    for outside in ("?limit=0", "?limit=101", "?after=-1", "?limit=x"):
        assert code(ended.onlooker.get(f"{ended.path}/story{outside}")) == (400, "malformed")


def test_a_story_as_text_is_what_the_command_line_prints(ended: Ended) -> None:
    for eyes in ("0", "1"):
        told = ended.onlooker.get(f"{ended.path}/story?as={eyes}", Accept="text/plain", Accept_Language="de")
        assert told.headers["Content-Type"] == "text/plain; charset=utf-8"
        asked = ("--url", ended.url, "--token", ended.onlooker.token, "--seat", eyes, "--language", "de")
        assert run("replay", ended.path.rpartition("/")[2], *asked).stdout == told.text
    assert code(ended.onlooker.get(f"{ended.path}/story", Accept="image/png")) == (406, "not_acceptable")


def test_the_command_line_is_refused_another_seats_eyes_before_the_end(playing: Company, url: str) -> None:
    table, token = playing.path.rpartition("/")[2], playing.people[0].token
    told = run("replay", table, "--url", url, "--token", token, "--seat", "1")
    assert (told.returncode, told.stdout) == (1, "")
    assert "The server refuses: Play has not ended yet" in told.stderr


def test_people_are_called_by_the_names_they_have_today_and_the_erased_by_their_ids(url: str) -> None:
    people = [Person(url, name) for name in ("Ada", "Bo", "Bo")]
    path = f"/v1/kowah/tables/{people[0].post('/v1/kowah/tables', {'seats': 3, 'bots': []}).json()['table']}"
    for person in people:
        assert person.post(f"{path}/seats").status_code == 201
    ada, bo, bob = people

    def called() -> str:
        return next(line for line in lines(story(ada, path, "?after=2")) if line.startswith("Play begins"))

    assert called() == f"Play begins with Ada, Bo ({bo.id[:6]}), and Bo ({bob.id[:6]})."
    assert bob.patch("/v1/me", {"name": "Bob"}).status_code == 200
    assert called() == "Play begins with Ada, Bo, and Bob."
    assert bo.delete("/v1/me").status_code == 204
    assert called() == f"Play begins with Ada, {bo.id}, and Bob."
    for person in people:
        person.http.close()
