"""`evenfold arena`: bots against one another in memory, on every seat with the same cards, whatever the game."""

import random
import re
import signal
import statistics
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import pytest

from service.bots import Bot, Bots, Choose, anyone
from service.chance import Draws
from service.cli import arena
from service.cli.arena import Arena, Options, Wanted
from service.game import AnyView, Command
from service.games.chinchon.commands import Reenter
from tests.laws.setups import TOY
from tests.service.cli.processes import ROOT, Called, command
from tests.toy.service.toy import HAND

SHORT = ("--option", "deals=5", "--option", "partners=five")
ESTIMATE = re.compile(r"(-?\d+\.\d{3}) ± (\d+\.\d{3}|–)")


def prepared(game: str, bots: dict[str, Choose], seats: int, options: Options, moves: int = 20_000) -> Arena:
    """Return an arena of bots that choose so."""
    known = Bots(Bot(name, 1, choose) for name, choose in bots.items())
    return arena.prepare(Wanted(game, tuple(bots), seats, options, 1, moves, None), known, [TOY])


def rows(printed: str) -> dict[str, list[str]]:
    """Return the numbers of each row, by what stands before them."""
    cells = ([cell.strip() for cell in line.strip("│").split("│")] for line in printed.splitlines())
    return {row[0]: row[1:] for row in cells if len(row) == 4}


def test_what_bots_made_of_their_deals_is_told_with_intervals(called: Called) -> None:
    told = called("arena", "chinkway", "anyone", "--deals", "12", "--seed", "3", *SHORT)
    assert told.code == 0, told.told
    (row,) = rows(told.printed).values()
    place, wins, points = (ESTIMATE.fullmatch(cell) for cell in row)
    assert place
    assert wins
    assert points
    assert 1 <= float(place[1]) <= 5
    assert wins.groups() == ("0.200", "–")
    assert "15 deals, 3 matches; 3 rounds, ± for 95%; --seed 3" in told.printed
    assert "A move took anyone/1 " in told.told
    assert "Deals" in told.told


def test_every_two_bots_are_compared(called: Called) -> None:
    asked = ("arena", "toy", "steady", "anyone", "--seats", "3", "--deals", "27", "--option", "deals=3")
    told = called(*asked, EVENFOLD_GAMES=TOY)
    assert told.code == 0, told.told
    assert rows(told.printed).keys() == {"steady/1", "anyone/1", "steady/1 − anyone/1"}


def test_a_seed_gives_the_same_deals_again(called: Called) -> None:
    asked = ("arena", "chinkway", "anyone", "--deals", "5", *SHORT)
    once, again, other = (called(*asked, "--seed", seed).printed for seed in ("1", "1", "2"))
    assert once == again
    assert rows(once) != rows(other)
    unsaid = called(*asked).printed
    assert called(*asked, "--seed", unsaid.split()[-1]).printed == unsaid


def test_each_bot_sits_on_every_seat_with_the_same_cards() -> None:
    lived: dict[str, set[tuple[object, ...]]] = defaultdict(set)

    def watched(name: str) -> Choose:
        def choose(view: AnyView, legal: Sequence[Command], _draws: Draws) -> Command:
            hand = getattr(view, "hand", ())
            if getattr(view, "deal", 0) == 1 and len(hand) == HAND:
                lived[name].add((view.you, view.table, *hand))
            return legal[0]

        return choose

    one = prepared("toy", {"one": watched("one"), "two": watched("two")}, 3, {"deals": 3})
    (played,) = islice(arena.rounds(one, seed=1), 1)
    assert played.matches == 3
    assert {you for you, *_ in lived["one"]} == {0, 1, 2}
    assert lived["one"] == lived["two"]


def test_bots_that_play_alike_do_as_well_as_each_other_to_the_last_point() -> None:
    alike = prepared("chinkway", {"one": anyone.choose, "two": anyone.choose}, 5, {"deals": 5, "partners": "five"})
    played = list(islice(arena.rounds(alike, seed=1), 3))
    for each in arena.of_pair(played, "one/1", "two/1"):
        assert abs(each.mean) < 1e-9
        assert each.within is None


def test_a_win_is_shared_by_those_who_share_the_first_place() -> None:
    def hold(_view: AnyView, legal: Sequence[Command], _draws: Draws) -> Command:
        return legal[-1]

    toy = prepared("toy", {"one": hold, "two": hold}, 3, {"deals": 3})
    (played,) = islice(arena.rounds(toy, seed=1), 1)
    assert {name: gain.place for name, gain in played.gains.items()} == {"one/1": 1, "two/1": 1}
    assert [gain.wins for gain in played.gains.values()] == [pytest.approx(1 / 3)] * 2


def test_a_deal_after_which_players_came_back_is_one_deal() -> None:
    last, back = 0, 0

    def choose(view: AnyView, legal: Sequence[Command], draws: Draws) -> Command:
        nonlocal last, back
        last = max(last, getattr(view, "deal", 0))
        chosen = anyone.choose(view, legal, draws)
        back += isinstance(chosen, Reenter)
        return chosen

    chinchon = prepared("chinchon", {"anyone": choose}, 3, {"limit": 70})
    assert arena.match(chinchon, "table", bytes(32)).deals == last
    assert back


def test_a_match_without_end_is_left_and_counts_as_it_stands(called: Called) -> None:
    told = called("arena", "toy", "anyone", "--games", TOY, "--deals", "3", "--moves", "60", "--seed", "1")
    assert told.code == 0, told.told
    assert "1 match, of which 1 did not end and counts as it stood; 1 round," in told.printed


def test_rounds_without_a_deal_do_not_end_the_others(called: Called) -> None:
    told = called("arena", "kowah", "steady", "--moves", "110", "--deals", "10", "--seed", "1")
    assert told.code == 0, told.told
    deals, rounds = (re.search(rf"(\d+) {what}", told.printed) for what in ("deals", "rounds"))
    assert deals
    assert rounds
    assert int(deals[1]) == 10
    assert int(rounds[1]) > 10


def test_where_no_deal_is_scored_for_long_that_is_told(called: Called) -> None:
    told = called("arena", "toy", "anyone", "--games", TOY, "--moves", "1")
    assert (told.code, told.printed) == (1, "")
    assert "evenfold: In 100 rounds in a row no deal was scored" in told.told


@pytest.fixture
def interrupted() -> Iterator[None]:
    """Press Ctrl-C after a second."""
    former = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 1)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, former)


@pytest.mark.usefixtures("interrupted")
def test_what_was_played_before_it_is_stopped_is_told(called: Called) -> None:
    told = called("arena", "toy", "anyone", "--games", TOY, "--deals", "1000000", "--option", "deals=3")
    assert told.code == 1
    assert rows(told.printed).keys() == {"anyone/1"}
    assert told.told.endswith("evenfold: It was stopped before 1000000 deals were played.\n")


@pytest.mark.usefixtures("interrupted")
def test_where_not_one_round_was_played_that_is_told(called: Called) -> None:
    told = called("arena", "toy", "anyone", "--games", TOY, "--moves", "1000000000")
    assert (told.code, told.printed) == (1, "")
    assert told.told.endswith("evenfold: It was stopped before a round was over.\n")


def test_an_output_without_room_is_told_in_a_sentence() -> None:
    asked = command("arena", "toy", "anyone", "--games", TOY, "--deals", "3", "--option", "deals=3")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(asked, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "evenfold: The output can't be written: No space left on device."


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("whist", "anyone"), "There is no game 'whist'; there are chinchon, chinkway"),
        (("chinkway", "nobody"), "There is no bot 'nobody'; there are anyone/1, steady/1"),
        (("chinkway", "anyone/9"), "There is no bot 'anyone/9'"),
        (("chinkway",), "Missing argument"),
        (("chinkway", "anyone", "--seats", "4"), "Chinkway is played by 5 to 5, not by 4"),
        (("chinkway", *["anyone"] * 6), "Chinkway is played by 5 to 5, not by 6"),
        (("chinchon", *["anyone"] * 3, "--seats", "2"), "3 bots can't sit on 2 seats"),
        (("chinkway", "anyone", "--option", "deals"), "write name=value"),
        (("chinkway", "anyone", "--option", "deals=12"), "Chinkway has no such options: Invalid enum value 12"),
        (("chinkway", "anyone", "--option", "colour=red"), "Object contains unknown field `colour`"),
        (("chinkway", "anyone", "--option", "deals=5"), "Two options contradict each other"),
        (("chinkway", "anyone", "--deals", "0"), "--deals"),
        (("chinkway", "anyone", "--moves", "0"), "--moves"),
        (("chinkway", "anyone", "--games", "tests.nothing"), "--games"),
    ],
)
def test_what_can_not_be_played_is_told(called: Called, arguments: tuple[str, ...], words: str) -> None:
    assert words in called("arena", *arguments).refusal


def test_an_interval_is_students() -> None:
    mean, within = arena.estimate([1, 2, 3, 4, 5])
    assert mean == 3
    assert within == pytest.approx(2.776 * statistics.stdev(range(5)) / 5**0.5, abs=0.002)
    assert arena.estimate([1, 2]) == (1.5, None)
    assert arena.estimate([2, 2, 2]) == (2, None)


def test_of_a_hundred_intervals_ninety_five_hold_the_mean() -> None:
    draws = random.Random(1)
    held = 0
    for _ in range(2_000):
        mean, within = arena.estimate([draws.gauss(10, 3) for _ in range(4)])
        assert within is not None
        held += abs(mean - 10) <= within
    assert held / 2_000 == pytest.approx(0.95, abs=0.015)
