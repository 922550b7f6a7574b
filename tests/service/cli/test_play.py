"""`evenfold play`: a match over HTTP, by the API alone, whatever the game."""

import re
from pathlib import Path

import pytest

from service.cli.play import option
from tests.laws.setups import TOY
from tests.served import served
from tests.service.cli.processes import Called, Server, person, processes, run
from tests.stores import free_port

GONE = "It was played on a server of its own, which is gone; with --url it stays."
SHORT = ("--option", "partners=five", "--option", "deals=5")


def rows(printed: str) -> list[list[str]]:
    """Return the numbers of the score sheet, row by row."""
    cells = ([cell.strip() for cell in re.split("[│┃]", line)[1:-1]] for line in printed.splitlines())
    return [row for row in cells if len(row) > 1 and re.fullmatch(r"\d+|score|place", row[0])]


def test_a_match_is_played_to_its_end_on_a_server_of_its_own() -> None:
    before = processes().keys()
    foreign = {
        "EVENFOLD_DURABILITY": "replicated",
        "EVENFOLD_REDIS_URL": "redis://127.0.0.1:1",
        "EVENFOLD_KEYS": "/dev/null",
        "EVENFOLD_SECRET": "none",
    }
    played = run("play", "chinkway", "--seed", "1", *SHORT, **foreign)
    assert played.returncode == 0, played.stderr
    *deals, scores, places = rows(played.stdout)
    assert [row[0] for row in deals] == ["1", "2", "3", "4", "5"]
    assert [sum(int(deal[seat]) for deal in deals) for seat in range(1, 6)] == [int(score) for score in scores[1:]]
    assert places[0] == "place"
    assert "1" in places
    assert re.search(r"Table [0-9a-z]{26}: finished", played.stdout)
    assert played.stdout.splitlines()[-1] == GONE
    left = {pid: line for pid, (_, line) in processes().items() if pid not in before and "evenfold-play-" in line}
    assert left == {}


def test_any_game_is_played_on_a_server_that_runs(called: Called, valkey_url: str, tmp_path: Path) -> None:
    with served(valkey_url, tmp_path, TOY) as url:
        played = called("play", "toy", "--option", "deals=3", "--option", "bonus=true", "--seats", "3", "--url", url)
    assert played.code == 0, played.told
    assert GONE not in played.printed
    assert [row[0] for row in rows(played.printed)] == ["1", "2", "3", "score", "place"]


def test_the_accounts_of_tokens_take_the_first_seats(called: Called, valkey_url: str, tmp_path: Path) -> None:
    with served(valkey_url, tmp_path, TOY) as url, person(url) as ada:
        chosen = ("--option", "deals=3", "--seats", "2", "--url", url, "--token", ada.token)
        played = called("play", "toy", *chosen)
        assert played.code == 0, played.told
        table = re.search(r"Table (\w{26})", played.printed)
        assert table
        view = ada.get(f"/v1/toy/tables/{table[1]}").json()
    assert (view["you"], view["seats"][0]["player"]) == (0, ada.id)


def test_without_sign_up_every_seat_needs_a_token(called: Called, valkey_url: str, tmp_path: Path) -> None:
    with served(valkey_url, tmp_path, sign_up=False) as url:
        told = called("play", "chinkway", "--url", url)
    assert told.code == 1
    assert "No account can be opened" in told.told
    assert "Give a token for each seat with --token" in told.told


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("play", "whist"), "There is no game 'whist' at this server; it has chinchon, chinkway, kowah"),
        (("play", "chinkway", "--option", "deals"), "write name=value"),
        (("play", "chinkway", "--seats", "9"), "--seats"),
    ],
)
def test_what_can_not_be_played_is_told(called: Called, server: Server, arguments: tuple[str, ...], words: str) -> None:
    assert words in called(*arguments, "--url", server.url).refusal


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--option", "deals=12"), "The server refuses:"),
        (("--option", "deals=5"), "The server refuses: Two options contradict each other;"),
        (("--seats", "4"), "The server refuses: The game is not played by so many seats;"),
    ],
)
def test_what_the_server_refuses_is_told(
    called: Called, server: Server, arguments: tuple[str, ...], words: str
) -> None:
    told = called("play", "chinkway", "--url", server.url, *arguments)
    assert told.code == 1
    assert words in told.told


def test_a_server_that_is_not_there_is_told(called: Called) -> None:
    told = called("play", "chinkway", "--url", f"http://127.0.0.1:{free_port()}")
    assert told.code == 1
    assert "can't be reached" in told.told
    assert "is not the address of a server" in called("play", "chinkway", "--url", "localhost").refusal
    assert "name it with --url" in called("play", "chinkway", "--token", "evf_x").refusal


@pytest.mark.parametrize(
    ("text", "value"),
    [("deals=5", 5), ("bonus=true", True), ("partners=five", "five"), ("name=a=b", "a=b"), ("empty=", "")],
)
def test_a_value_is_a_number_or_a_boolean_where_it_reads_as_one(text: str, value: object) -> None:
    assert option(text) == (text.partition("=")[0], value)
