"""A fourth game costs three code files, a rules page and a catalogue; all else picks the toy up by its module."""

import asyncio
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from service import games
from service.cli.replay import Wanted, from_store
from service.game import AnyTable
from service.games import rules_pages
from service.parts import service
from service.reactors.run import run
from service.settings import Place, Settings
from tests.laws.matches import play
from tests.laws.setups import TOY, Setup
from tests.served import Person, served
from tests.toy.events.toy import Options
from tests.toy.service.toy import GAME
from tests.tree import ROOT, tracked

FOLDER = Path(__file__).parent

TOYS = re.compile(rb"\btoys?\b", re.IGNORECASE)

# Who tells newcomers of it, who names its module to the laws, who measures by it. A test may show by it what it tests.
KNOWING = {"README.md", "tests/bench/processes.py", "tests/laws/setups.py"}

Json = dict[str, Any]


@dataclass
class Company:
    """A table of Toy without end: three seats of four are taken, by Ada, by Bob and by a bot; Ada is the host."""

    table: str
    people: list[Person]

    @property
    def path(self) -> str:
        """The table's path."""
        return f"/v1/toy/tables/{self.table}"

    def view(self, person: Person) -> Json:
        """Return the table as somebody sees it."""
        view: Json = person.get(self.path).json()
        return view

    def actions(self, person: Person) -> Json:
        """Return what somebody may do."""
        actions: Json = person.get(f"{self.path}/actions").json()
        return actions

    def command(self, person: Person, body: Json) -> Json:
        """Give a command that must be accepted."""
        answer = person.post(f"{self.path}/commands", body, Prefer="return=representation")
        assert answer.status_code == 201, answer.text
        done: Json = answer.json()
        return done

    def decisions(self, person: Person, after: int = 0) -> list[Json]:
        """Return all decisions after a version, as somebody may see them."""
        decisions: list[Json] = []
        while page := person.get(f"{self.path}/events?after={after}").json()["decisions"]:
            decisions += page
            after = page[-1]["version"]
        return decisions


@contextmanager
def reacting(settings: Settings) -> Iterator[None]:
    """Run every reactor in a thread with a loop of its own."""
    stopping: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
    started = threading.Event()

    async def react() -> None:
        async with service(settings) as parts:
            stop = asyncio.Event()
            stopping.append((asyncio.get_running_loop(), stop))
            started.set()
            await run(parts, stop)

    thread = threading.Thread(target=asyncio.run, args=(react(),))
    thread.start()
    try:
        assert started.wait(20)
        yield
    finally:
        for loop, stop in stopping:
            loop.call_soon_threadsafe(stop.set)
        thread.join()


@pytest.fixture(scope="module")
def url(valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the address of a server that was told the toy's module, with reactors beside it."""
    keys = tmp_path_factory.mktemp("keys")
    with served(valkey_url, keys, TOY) as address:
        settings = Settings(redis=valkey_url, keys=keys, games=(TOY,), bot_pause_ms=0)
        with reacting(settings):
            yield address


@pytest.fixture
def ann(url: str) -> Iterator[Person]:
    """Give somebody with an account who sits nowhere."""
    person = Person(url, "Ann")
    yield person
    person.http.close()


@pytest.fixture
def company(url: str) -> Iterator[Company]:
    """Give a table whose match has begun."""
    ada, bob = people = [Person(url, "Ada"), Person(url, "Bob")]
    table = ada.post("/v1/toy/tables", {"seats": 4, "start": "host"}).json()["table"]
    company = Company(table, people)
    assert ada.post(f"{company.path}/seats", {"seat": 0}).status_code == 201
    assert bob.post(f"{company.path}/seats", {"seat": 2, "nonce": "bobs"}).status_code == 201
    assert ada.post(f"{company.path}/seats", {"seat": 3, "bot": "anyone"}).status_code == 201
    assert ada.post(f"{company.path}/start").status_code == 201
    yield company
    for person in people:
        person.http.close()


def test_it_costs_three_code_files_a_rules_page_and_a_catalogue() -> None:
    ours = (path.relative_to(FOLDER) for path in tracked() if path.is_relative_to(FOLDER))
    files = {str(path) for path in ours if path.parts[0] != "replays"}  # those `make golden` writes
    code = {"events/toy.py", "projections/toy.py", "service/toy.py"}
    tests = {Path(__file__).name, "audiences/toy.json"}
    assert files == {*code, *tests, "service/toy.en.md", "service/toy.en.ftl"}


def test_no_other_file_has_to_know_it() -> None:
    naming = {path for path in tracked() if TOYS.search(path.read_bytes()) and not path.is_relative_to(FOLDER)}
    assert {str(path.relative_to(ROOT)) for path in naming if not path.name.startswith("test_")} == KNOWING


def test_it_is_found_by_the_name_of_its_module_alone() -> None:
    assert games.find().named("toy") is None
    assert games.find(TOY).named("toy") is GAME
    assert rules_pages(GAME).keys() == {"en"}


def test_it_is_listed_and_described(ann: Person) -> None:
    assert "toy" in [game["game"] for game in ann.get("/v1/games").json()["games"]]
    details = ann.get("/v1/games/toy").json()
    assert details["seats"] == {"least": 2, "most": 4, "usual": 3}
    assert [command["type"] for command in details["commands"]] == ["toy.pledge", "toy.lay", "toy.hold"]
    assert details["reasons"]["wrong_length"] == GAME.reasons["wrong_length"]
    assert ann.get("/v1/games/toy/rules").text.startswith("# Toy\n")


def test_the_document_types_its_routes_commands_and_events(ann: Person) -> None:
    document = ann.get("/openapi.json").json()
    assert "/v1/toy/tables/{table}/commands" in document["paths"]
    assert {"toy.Pledge", "toy.Shown", "toy.View"} <= document["components"]["schemas"].keys()


def test_options_that_contradict_each_other_open_no_table(ann: Person) -> None:
    answer = ann.post("/v1/toy/tables", {"options": {"bonus": True, "wins": "low"}})
    assert (answer.status_code, answer.json()["reason"]) == (409, "options_conflict")


def test_some_hundred_commands_are_played_by_people_who_know_no_rules(company: Company) -> None:
    random = Random(4)
    ada = company.people[0]
    for _ in range(100):
        # A bot that is prompted moves between any two requests.
        prompted: dict[Person, Json] = {}
        while not prompted:
            prompted = {p: acts for p in company.people if (acts := company.actions(p))["legal"]}
        person, acts = random.choice(list(prompted.items()))
        if not acts["complete"]:
            assert [one["type"] for one in acts["open"]] == ["toy.lay"]
            assert acts["open"][0]["example"] in acts["legal"]
        company.command(person, random.choice(acts["legal"]))
    view = company.view(ada)
    assert view["version"] > 125
    assert view["deal"] > 12
    versions = [decision["version"] for decision in company.decisions(ada)]
    assert versions == list(range(1, len(versions) + 1))
    assert len(versions) >= view["version"]


def test_who_has_answered_is_public_and_the_answer_sealed(company: Company) -> None:
    ada, bob = company.people
    pledges = company.actions(bob)["legal"]
    seen = company.command(bob, pledges[0])
    assert [event["type"] for event in seen["events"]] == ["toy.pledged", "table.answered"]
    assert seen["events"][0]["card"] == pledges[0]["card"]
    (got,) = (d for d in company.decisions(ada, seen["version"] - 1) if d["version"] == seen["version"])
    assert got["events"] == [
        {"type": "toy.pledged", "seat": 2, "card": None},
        {"type": "table.answered", "seat": 2},
    ]
    view = company.view(ada)
    assert view["turn"] == pledges[0]["turn"]
    assert 0 in view["to_act"]
    assert 2 not in view["to_act"]
    assert view["pledges"] == [None] * 4
    again = bob.post(f"{company.path}/commands", pledges[1])
    assert (again.status_code, again.json()["reason"]) == (409, "not_your_turn")
    company.command(ada, company.actions(ada)["legal"][0])


def test_a_match_without_end_ends_when_all_people_have_gone(company: Company) -> None:
    ada, bob = company.people
    company.command(bob, {"type": "table.resign"})
    done = company.command(ada, {"type": "table.resign"})
    assert [event["type"] for event in done["events"]][-3:] == ["table.ended", "toy.opened", "table.opened"]
    assert done["view"]["places"] == [2, None, 3, 1]


def test_the_lobby_lists_it_while_it_is_played(company: Company) -> None:
    ada = company.people[0]
    listed: list[Json] = []
    while company.table not in [table["table"] for table in listed]:  # the reactor has it within a second
        listed = ada.get("/v1/tables?game=toy").json()["tables"]


def test_its_log_is_told_in_words(company: Company, valkey_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    bob = company.people[1]
    pledge = company.actions(bob)["legal"][0]
    company.command(bob, pledge)
    place = Place(data=Path(), redis=valkey_url)
    from_store(place, Wanted(company.table), (TOY,))
    assert f"Bob pledges {pledge['card']}." in capsys.readouterr().out
    from_store(place, Wanted(company.table, seat=0), (TOY,))
    told = capsys.readouterr().out
    assert "Bob pledges a card, face down." in told
    assert pledge["card"] not in told.partition("Bob pledges")[2].partition("answered")[0]


def test_its_story_is_told_in_english_which_is_all_it_has(company: Company) -> None:
    told = company.people[0].get(f"{company.path}/story", Accept_Language="de, ru;q=0.5")
    assert (told.headers["Content-Language"], told.json()["language"]) == ("en", "en")
    assert told.json()["decisions"][1]["lines"][-1] == "Ada takes seat 0."


def test_its_state_is_as_small_after_hundreds_of_deals() -> None:
    """It serves to measure at version 10,000, where nothing but the log may have grown."""

    def state_after(versions: int) -> str:
        setup = Setup("toy", Options(), 4, 0, 0, seed=3, silence=0.1, resigning=0.0, longest=versions)
        match = play(setup)
        table: AnyTable = match.empty()
        for table, _, _ in match.versions():  # noqa: B007 the last one is wanted
            pass
        return repr(table.play)

    assert len(state_after(2_000)) < 1.5 * len(state_after(50))
