"""Coverings are whole, few and allowed, of games of any number of options."""

from collections.abc import Callable
from itertools import combinations, product
from random import Random

import pytest

from service.game import AnyGame
from tests.laws.covering import Row, Values, completed, cover, pieces
from tests.laws.setups import GAMES, Setup, covering, is_allowed, setups, sittings, unlawful, values_of

Rule = Callable[[Row], bool]

# As many options as a game may have, one of them of six values; two thousand million combinations.
MANY: Values = {f"option{number}": tuple(range(2 + number % 3)) for number in range(19)} | {"wide": tuple("abcdef")}
SMALL: Values = {"a": (0, 1, 2), "b": (0, 1, 2), "c": (False, True), "d": ("x", "y"), "e": (0, 1)}


def anything(_: Row) -> bool:
    return True


def five_deals_go_with_five(row: Row) -> bool:
    return (row["a"] == 2) == (row["b"] == 2)


def only_in_a_corner(row: Row) -> bool:
    """With `a=2` goes but one of all combinations, which differs from the usual one everywhere."""
    return row["a"] != 2 or [*row.values()] == [2, 1, True, "y", 1]


def usual(values: Values) -> Row:
    return {name: among[0] for name, among in values.items()}


def allowed_pieces(rule: Rule, together: int) -> set[frozenset[tuple[str, object]]]:
    rows = [dict(zip(SMALL, chosen, strict=True)) for chosen in product(*SMALL.values())]
    return {frozenset(piece) for row in rows if rule(row) for piece in combinations(row.items(), together)}


@pytest.mark.parametrize("together", [1, 2, 3])
@pytest.mark.parametrize("rule", [anything, five_deals_go_with_five, only_in_a_corner])
def test_whatever_may_come_up_together_does_and_nothing_else(rule: Rule, together: int) -> None:
    rows = cover(SMALL, usual(SMALL), rule, together)
    assert rows[0] == usual(SMALL)
    assert all(map(rule, rows))
    held = {frozenset(piece) for row in rows for piece in combinations(row.items(), together)}
    assert held == allowed_pieces(rule, together)


def test_a_game_of_many_options_is_covered_by_few_rows() -> None:
    rows = cover(MANY, usual(MANY), anything, 2)
    held = {frozenset(piece) for row in rows for piece in combinations(row.items(), 2)}
    assert held == {*pieces(MANY, 2)}
    assert len(rows) < 2 * 6 * 4
    assert len(cover(MANY, usual(MANY), anything, 1)) <= 6 + 1


def test_a_small_covering_is_hardly_longer_than_it_must_be() -> None:
    rows = cover(SMALL, usual(SMALL), anything, 2)
    assert 9 <= len(rows) <= 12


def test_what_can_not_be_is_found_out() -> None:
    piece = frozenset({("a", 2), ("b", 0)})
    assert completed(piece, SMALL, usual(SMALL), five_deals_go_with_five, Random(1)) is None
    assert completed(piece, SMALL, usual(SMALL), anything, Random(1)) == {**usual(SMALL), "a": 2}


def test_the_rows_are_the_same_each_time() -> None:
    assert cover(MANY, usual(MANY), anything, 2) == cover(MANY, usual(MANY), anything, 2)


@pytest.mark.parametrize("game", list(GAMES), ids=lambda game: game.name)
def test_every_two_options_that_go_together_are_played_together(game: AnyGame) -> None:
    rows = [{name: getattr(options, name) for name in values_of(game)} for options in covering(game, 2)]
    held = {frozenset(piece) for row in rows for piece in combinations(row.items(), 2)}
    contradicting = {*pieces(values_of(game), 2)} - held
    for piece in contradicting:
        options = game.projection.options(**{**rows[0], **dict(piece)})
        assert not is_allowed(game, options), f"{options} is allowed and not played"


def test_contradictions_are_found_where_there_are_some() -> None:
    """Or else the law that they are refused would hold of nothing."""
    toy = next(game for game in GAMES if game.name == "toy")
    assert [options.wins for options in unlawful(toy)] == ["low"]


@pytest.mark.parametrize("game", list(GAMES), ids=lambda game: game.name)
def test_every_sitting_is_one_that_the_game_allows(game: AnyGame) -> None:
    for seats, bots, untaken in sittings(game, 2):
        assert game.seats.least <= seats - untaken <= seats <= game.seats.most
        assert 0 <= bots <= seats - untaken
        assert untaken == 0 or bots < seats, "somebody opens the table and starts it"


def test_setups_differ_by_their_seeds() -> None:
    tables: list[Setup] = [*setups()]
    assert len({str(setup) for setup in tables}) == len(tables)
