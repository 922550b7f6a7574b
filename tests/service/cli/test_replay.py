"""`evenfold replay`: every decision of a table in words, and nothing that a seat may not see."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from service.appending import Appended
from service.cli.replay import of_environment
from service.log import PAGE, Log
from service.store import connect
from service.words import languages
from tests.laws.matches import Match, played
from tests.laws.setups import GAMES, setups
from tests.served import Person, served
from tests.service.cli.processes import Called, Server, person

SUITS = {"S": "♠", "H": "♥", "D": "♦", "C": "♣"}
GERMAN = {"T": "10", "J": "B", "Q": "D"}

LANGUAGES = ("en", "de", "es", "ru", "sv")
CHINKWAY = next(game for game in GAMES if game.name == "chinkway")


class Known(NamedTuple):
    """A table of Chinkway in its first deal: who sits there, its id, and its views by seat."""

    url: str
    redis: str
    people: list[Person]
    table: str
    views: list[dict[str, Any]]


@pytest.fixture
def known(valkey_url: str, tmp_path: Path) -> Iterator[Known]:
    """Give a table whose first trick has begun, on the shared store."""
    with served(valkey_url, tmp_path) as url:
        people = [Person(url, name) for name in ("Ada", "Bo [b]", "Cy", "Cy", "Eve")]
        table = people[0].post("/v1/chinkway/tables").json()["table"]
        path = f"/v1/chinkway/tables/{table}"
        for one in people:
            one.post(f"{path}/seats")
        for _ in range(4):
            act(people, path)
        views = [one.get(path).json() for one in people]
        yield Known(url, valkey_url, people, table, views)
        for one in people:
            one.http.close()


def act(people: list[Person], path: str) -> None:
    """Do the first legal thing."""
    [seat] = people[0].get(path).json()["to_act"]
    people[seat].post(f"{path}/commands", people[seat].get(f"{path}/actions").json()["legal"][0])


def written(card: str) -> str:
    return SUITS[card[0]] + card[1].replace("T", "10")


def hand(view: dict[str, Any]) -> str:
    return " ".join(written(card) for card in view["hand"])


def versions(printed: str) -> list[int]:
    return [int(found[1]) for found in re.finditer(r"^ {0,4}(\d+)  \d{4}-\d\d-\d\d ", printed, re.MULTILINE)]


def test_every_version_is_told_once_and_in_order(called: Called, known: Known) -> None:
    told = called("replay", known.table, "--redis", known.redis)
    assert told.code == 0
    assert versions(told.printed) == list(range(1, known.views[0]["version"] + 1))


def test_the_operator_sees_every_card(called: Called, known: Known) -> None:
    printed = called("replay", known.table, "--redis", known.redis).printed
    for view in known.views:
        assert view["hand"]
        assert all(written(card) in printed for card in view["hand"])
    dealer = known.views[0]["dealer"]
    first, second = known.views[dealer]["discards"][0]["cards"]
    assert f"lays {written(first)} {written(second)} out of play." in printed
    assert re.search(r"The seed of all shuffles is drawn: [0-9a-f]{64}\.", printed)


def test_the_operator_is_warned_while_the_table_has_not_ended(called: Called, known: Known) -> None:
    warned = called("replay", known.table, "--redis", known.redis).told
    assert warned.count("\n") == 1
    assert warned.startswith("WARNING: The table has not ended")
    assert called("replay", known.table, "--redis", known.redis, "--seat", "0").told == ""


def test_a_known_card_is_told_as_people_write_it(called: Called, known: Known) -> None:
    trick = known.views[0]["trick"]
    leader = ["Ada", "Bo [b]", "Cy", "Cy", "Eve"][trick["leader"]]
    printed = called("replay", known.table, "--redis", known.redis).printed
    assert re.search(rf"{re.escape(leader)}( \(\w{{6}}\))? plays {written(trick['cards'][0])}\.", printed)


def test_players_of_the_same_name_are_told_apart(called: Called, known: Known) -> None:
    printed = called("replay", known.table, "--redis", known.redis).printed
    for seat in (2, 3):
        assert f"Cy ({known.people[seat].id[:6]}) takes seat {seat}." in printed


def test_a_seat_is_shown_its_own_cards_alone(called: Called, known: Known) -> None:
    dealer = known.views[0]["dealer"]
    for seat in range(5):
        printed = called("replay", known.table, "--redis", known.redis, "--seat", str(seat)).printed
        assert versions(printed) == list(range(1, known.views[0]["version"] + 1))
        [held] = re.findall(r" holds (.*)\.", printed)
        assert set(map(written, known.views[seat]["hand"])) <= set(held.split())
        assert ("lays two cards out of play, face down." in printed) is (seat != dealer)
        assert "The seed of all shuffles is drawn and sealed." in printed
        assert "The quest pack is shuffled." in printed


def test_a_player_is_told_over_http_what_the_seat_is_shown(called: Called, known: Known) -> None:
    for seat in (0, known.views[0]["dealer"]):
        token = known.people[seat].token
        by_http = called("replay", known.table, "--url", known.url, EVENFOLD_TOKEN=token)
        assert by_http.code == 0, by_http.told
        assert by_http.printed == called("replay", known.table, "--redis", known.redis, "--seat", str(seat)).printed


def test_a_spectator_is_shown_no_hand_from_the_store_and_from_a_server_alike(called: Called, known: Known) -> None:
    told = called("replay", known.table, "--redis", known.redis, "--spectator")
    assert told.told == ""
    assert versions(told.printed) == list(range(1, known.views[0]["version"] + 1))
    assert not re.search(r" holds (.*)\.", told.printed)
    assert "lays two cards out of play, face down." in told.printed
    assert "The seed of all shuffles is drawn and sealed." in told.printed
    token = known.people[known.views[0]["dealer"]].token
    assert called("replay", known.table, "--url", known.url, "--token", token, "--spectator").printed == told.printed


def test_a_range_of_versions_is_told_as_it_is_within_the_whole(called: Called, known: Known) -> None:
    whole = called("replay", known.table, "--redis", known.redis).printed
    some = called("replay", known.table, "--redis", known.redis, "--after", "3", "--until", "6").printed
    assert versions(some) == [4, 5, 6]
    assert some in whole


def test_a_table_is_told_in_the_language_asked_for(called: Called, known: Known) -> None:
    leader = known.views[0]["trick"]["leader"]
    name = ["Ada", "Bo [b]", f"Cy ({known.people[2].id[:6]})", f"Cy ({known.people[3].id[:6]})", "Eve"][leader]
    card = known.views[0]["trick"]["cards"][0]
    german = SUITS[card[0]] + GERMAN.get(card[1], card[1])
    asked = ("replay", known.table, "--redis", known.redis)
    assert f"{name} spielt {german}.\n" in called(*asked, "--language", "de").printed
    assert f"{name} spielt {german}.\n" in called(*asked, LANG="de_AT.UTF-8").printed
    assert f"{name} plays {written(card)}.\n" in called(*asked, "--language", "en", LANG="de_AT.UTF-8").printed


@pytest.mark.parametrize(
    ("variables", "language"),
    [
        ({}, "en"),
        ({"LANG": "sv_SE.UTF-8"}, "sv"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
        ({"LANG": "sv_SE.UTF-8", "LC_MESSAGES": "es_ES@euro"}, "es"),
        ({"LANG": "sv_SE.UTF-8", "LC_MESSAGES": "es_ES", "LC_ALL": "ru"}, "ru"),
        ({"LANG": "sv_SE.UTF-8", "LC_ALL": ""}, "sv"),
        ({"LANG": "sv_SE.UTF-8", "LANGUAGE": "fr:de:sv"}, "de"),
        ({"LANG": "C", "LANGUAGE": "de"}, "en"),
    ],
)
def test_the_environment_names_a_language_as_for_other_programs(variables: dict[str, str], language: str) -> None:
    assert of_environment(languages(CHINKWAY), variables) == language


def test_the_help_names_every_language(called: Called) -> None:
    told = re.sub(r"[\s│]+", " ", called("replay", "--help", COLUMNS="200").printed)
    assert re.search(rf"{', '.join(LANGUAGES[:-1])} or {LANGUAGES[-1]}", told)
    assert languages(CHINKWAY) == LANGUAGES


def test_a_table_of_more_than_a_page_is_told_whole(called: Called, valkey_url: str) -> None:
    match = played(next(setup for setup in setups() if setup.game == "chinkway"))
    assert length(match) > PAGE
    asyncio.run(stored(match, valkey_url))
    told = called("replay", match.table, "--redis", valkey_url)
    assert versions(told.printed) == list(range(1, length(match) + 1))
    assert told.told == ""  # It has ended: there is nothing to warn of.


def length(match: Match) -> int:
    return len(match.stored)


async def stored(match: Match, url: str) -> None:
    """Append a match that was played without a store."""
    client = await connect(url)
    log = Log(client)
    for entry in match.stored:
        assert await log.append(f"table:{match.table}", entry.version - 1, entry.e, entry.h) == Appended(entry.version)
    await log.close()
    await client.aclose()


def test_a_running_server_shares_its_store(called: Called, server: Server) -> None:
    with person(server.url) as ada:
        table = ada.post("/v1/chinkway/tables", {"bots": ["anyone"]}).json()["table"]
    told = called("replay", table, "--data", str(server.data))
    assert told.code == 0, told.told
    assert "Ada opens a table of chinkway (chinkway/1) with 5 seats" in told.printed
    assert "anyone#4 takes seat 4. It is the bot anyone/1." in told.printed
    assert server.is_ready()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("queens",), "'queens' is not the id of a table"),
        (("0" * 26,), "The store has no table"),
        (("0" * 26, "--url", "http://127.0.0.1:1"), "give one token with --token"),
        (("0" * 26, "--after", "7", "--until", "7"), "Nothing lies after version 7 and up to version 7"),
        (("0" * 26, "--data", "/nowhere"), "The data folder /nowhere holds no store"),
        (("0" * 26, "--games", "json"), "the module json ends in no GAME"),
        (("0" * 26, "--seat", "8"), "--seat"),
        (("0" * 26, "--seat", "0", "--spectator"), "--spectator or --seat, not both"),
    ],
)
def test_what_can_not_be_told_is_refused(
    called: Called, server: Server, arguments: tuple[str, ...], words: str
) -> None:
    assert words in called("replay", *arguments, EVENFOLD_DATA=str(server.data)).refusal


def test_a_language_that_there_is_not_is_refused(called: Called, known: Known) -> None:
    refusal = called("replay", known.table, "--redis", known.redis, "--language", "tlh").refusal
    assert "Chinkway is not told in 'tlh', but in de, en, es, ru, sv" in refusal


def test_a_seat_that_the_table_has_not_is_refused(called: Called, known: Known) -> None:
    refusal = called("replay", known.table, "--redis", known.redis, "--seat", "5").refusal
    assert "The table has the seats 0 to 4, not 5" in refusal


def test_a_table_that_the_server_has_not_is_refused(called: Called, known: Known) -> None:
    asked = ("replay", "0" * 26, "--url", known.url, "--token", known.people[0].token)
    assert "The server has no table" in called(*asked).refusal
