"""Law 2 over HTTP, for every game, viewer and route: what one may not see changes no byte of any answer."""

from collections.abc import Iterator

import pytest

from service.game import AnyGame, tag_of
from tests.laws.pairs import nothing_hidden_is_told
from tests.laws.setups import MODULES, SERVED
from tests.laws.stages import Stage, staged, two_stores
from tests.laws.twins import chosen
from tests.sizes import sized

REACHING = (3, 11)
TURNS = sized(REACHING[:1], REACHING, (*range(4), *REACHING[1:]))
"""Turns at looking through matches; in those of CI seats of every kind see every kind of command come up."""


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stage, Stage]]:
    """Give two servers, each with a store of its own."""
    folder = tmp_path_factory.mktemp("stages")
    with (
        two_stores(folder) as (one, other),
        staged(one, folder / "keys", *MODULES) as first,
        staged(other, folder / "keys", *MODULES) as second,
    ):
        yield first, second


@pytest.mark.parametrize("game", SERVED, ids=lambda game: game.name)
def test_what_is_hidden_changes_no_byte_of_any_answer(game: AnyGame, stages: tuple[Stage, Stage]) -> None:
    told, reached = 0, set()
    for turn in TURNS:
        for found in chosen(game, turn):
            told += nothing_hidden_is_told(found, stages)
            reached |= {mark for mark in found.reached if mark.kind == "to be done"}
    assert told > 200
    tags = {*map(tag_of, game.command_types)}
    assert {mark.tag for mark in reached if mark.eyes == "another's"} == tags
    assert {mark.tag for mark in reached if mark.eyes == "out"} in (set(), tags)
