"""Law 2 over HTTP, for every game, viewer and route: what one may not see changes no byte of any answer."""

from collections.abc import Iterator

import pytest

from tests.laws.pairs import nothing_hidden_is_told
from tests.laws.setups import GAMES, MODULES
from tests.laws.stages import Stage, staged, two_stores
from tests.laws.twins import Wanted, twins, wanted


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


@pytest.mark.parametrize("sought", [one for game in GAMES for one in wanted(game)], ids=str)
def test_what_is_hidden_changes_no_byte_of_any_answer(sought: Wanted, stages: tuple[Stage, Stage]) -> None:
    assert nothing_hidden_is_told(twins(sought), stages) > 100
