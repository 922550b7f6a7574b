"""An arbiter's look: all cards of some versions for an hour, for that arbiter alone, and for nobody else's token."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from service.parts import Sources
from tests.served import Person, served
from tests.service.api.conftest import Company, appoint, seated
from tests.sockets import opened

HOUR_MS = 60 * 60 * 1_000
FIRST, LAST = 4, 6
NDJSON = "application/x-ndjson"


@dataclass
class Clock:
    """A clock that is put on by hand (UTC ms)."""

    now: int = 1_700_000_000_000

    def __call__(self) -> int:
        return self.now


@dataclass
class Contested:
    """A table in play with a dispute, an arbiter who looks at versions FIRST to LAST of it, and one who does not."""

    url: str
    company: Company
    clock: Clock
    ruth: Person
    rob: Person

    @property
    def path(self) -> str:
        return self.company.path

    def looks(self) -> httpx.Response:
        """Let the arbiter look."""
        return self.ruth.post(f"{self.path}/disputes/1/looks", {"first": FIRST, "last": LAST})

    def hands(self, seat: int, version: int) -> Any:  # noqa: ANN401 any JSON
        """Return the table as a seat sees it at a version, by its own token."""
        return self.company.people[seat].get(f"{self.path}?at={version}").json()


@pytest.fixture
def contested(valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Contested]:
    clock = Clock()
    keys = tmp_path_factory.mktemp("keys")
    with served(valkey_url, keys, sources=Sources(clock=clock)) as url, seated(url) as company:
        dispute = {"first": 1, "last": 2, "reason": "conduct"}
        assert company.people[0].post(f"{company.path}/disputes", dispute).status_code == 201
        ruth, rob = Person(url, "Ruth"), Person(url, "Rob")
        for arbiter in (ruth, rob):
            appoint(valkey_url, arbiter, "arbiter")
        yield Contested(url, company, clock, ruth, rob)
        for arbiter in (ruth, rob):
            arbiter.http.close()


def asked_of(path: str, version: int) -> tuple[str, ...]:
    """Return the requests that show all cards of one version."""
    after = version - 1
    return (
        f"{path}?as=1&at={version}",
        f"{path}/views?at={version}",
        f"{path}/events?as=1&after={after}",
        f"{path}/events?as=all&after={after}",
        f"{path}/story?as=all&after={after}",
    )


def told(person: Person, path: str, version: int) -> set[tuple[int, str]]:
    """Return how all of these requests are answered."""
    answers = [person.get(asked) for asked in asked_of(path, version)]
    return {(said.status_code, said.json().get("code", "")) for said in answers}


REFUSED = {(409, "not_ended")}
SHOWN = {(200, "")}


def test_an_arbiter_sees_the_versions_of_a_look_through_all_eyes_and_no_others(contested: Contested) -> None:
    ruth, path = contested.ruth, contested.path
    assert told(ruth, path, FIRST) == REFUSED
    looked = contested.looks().json()
    assert looked["events"][0]["until"] == contested.clock.now + HOUR_MS
    for version in range(FIRST, LAST + 1):
        assert told(ruth, path, version) == SHOWN
    for version in (FIRST - 1, LAST + 1):
        assert told(ruth, path, version) == REFUSED
    assert ruth.get(f"{path}?as=1").status_code == 409


def test_what_is_shown_is_what_the_seats_see(contested: Contested) -> None:
    contested.looks()
    ruth, path = contested.ruth, contested.path
    views = ruth.get(f"{path}/views?at={LAST}").json()["views"]
    assert views == [contested.hands(seat, LAST) for seat in range(5)]
    assert ruth.get(f"{path}?as=3&at={LAST}").json() == contested.hands(3, LAST)
    assert views[3] != ruth.get(f"{path}?at={LAST}").json()


def test_a_look_ends_with_its_last_version_in_pages_lines_and_stories(contested: Contested) -> None:
    contested.looks()
    ruth, events = contested.ruth, f"{contested.path}/events?as=all&after={FIRST - 1}"
    page = ruth.get(events).json()
    assert ([each["version"] for each in page["decisions"]], page["next"]) == ([4, 5, 6], None)
    assert ruth.get(events, Accept=NDJSON).text.count("\n") == LAST - FIRST + 1
    story = ruth.get(f"{contested.path}/story?as=all&after={FIRST - 1}").json()
    assert [each["version"] for each in story["decisions"]] == [4, 5, 6]
    assert ruth.get(f"{events}&limit=2").json()["next"] == FIRST + 1
    assert ruth.get(f"{contested.path}/events?as=all").status_code == 409


def test_a_look_is_over_after_an_hour_and_a_further_one_shows_more(contested: Contested) -> None:
    contested.looks()
    contested.clock.now += HOUR_MS - 1
    assert told(contested.ruth, contested.path, LAST) == SHOWN
    contested.clock.now += 1
    assert told(contested.ruth, contested.path, LAST) == REFUSED
    contested.looks()
    assert told(contested.ruth, contested.path, LAST) == SHOWN


def test_a_look_is_one_arbiters_and_needs_an_arbiters_token(contested: Contested, valkey_url: str) -> None:
    contested.looks()
    for person in (contested.rob, *contested.company.people):
        assert (409, "not_ended") in told(person, contested.path, LAST)
    assert told(contested.rob, contested.path, LAST) == REFUSED
    appoint(valkey_url, contested.ruth, "play", "admin")
    assert told(contested.ruth, contested.path, LAST) == REFUSED


def test_what_an_arbiter_has_seen_is_not_confirmed_once_the_look_is_over(contested: Contested) -> None:
    assert contested.ruth.post(f"{contested.path}/disputes/1/looks", {"first": 1, "last": 7}).status_code == 201
    newest = contested.ruth.post(f"{contested.path}/disputes/1/looks", {"first": 1, "last": 8}).json()["version"]
    seen = contested.ruth.get(f"{contested.path}?as=1&at=8")
    assert (seen.status_code, "ETag" in seen.headers) == (200, False)
    assert "no-cache" in seen.headers["Cache-Control"]
    assert contested.ruth.get(f"{contested.path}?as=1", If_None_Match=f'"{newest}"').status_code == 409


@pytest.mark.parametrize("media", [NDJSON, "text/event-stream"])
def test_a_stream_shows_nothing_by_a_look(contested: Contested, media: str) -> None:
    contested.looks()
    following = f"{contested.path}/events?as=1&after={FIRST - 1}&follow=true"
    assert (
        contested.ruth.get(
            following.removesuffix("&follow=true") if "event" in media else following, Accept=media
        ).status_code
        == 409
    )


def test_a_socket_shows_nothing_by_a_look_either(contested: Contested) -> None:
    contested.looks()
    table = contested.path.rpartition("/")[2]
    with opened(contested.url, contested.ruth.token) as socket:
        for eyes in ("1", "all"):
            socket.say({"watch": {"table": table, "after": FIRST - 1, "as": eyes}})
            assert socket.frame()["problem"]["code"] == "not_ended"


def test_everybody_is_told_of_a_look_at_once_and_an_arbiter_who_plays_gets_none(
    contested: Contested, valkey_url: str
) -> None:
    version = contested.looks().json()["version"]
    events = contested.company.people[2].get(f"{contested.path}/events?after={version - 1}").json()
    (event,) = events["decisions"][0]["events"]
    assert (event["type"], event["first"], event["last"]) == ("table.looked", FIRST, LAST)
    assert events["decisions"][0]["by"] == {"role": "arbiter", "player": contested.ruth.id}
    player = contested.company.people[1]
    appoint(valkey_url, player, "arbiter", "play", "host")
    refused = player.post(f"{contested.path}/disputes/1/looks", {"first": FIRST, "last": LAST})
    assert (refused.status_code, refused.json()["code"]) == (409, "arbiter_concerned")
