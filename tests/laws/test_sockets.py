"""Law 2 over WebSockets, for every game; and it notices what a game leaks that way."""

from collections.abc import Iterator
from itertools import islice

import pytest

from service.game import AnyGame
from tests.laws.matches import play
from tests.laws.setups import MODULES, SERVED
from tests.laws.sockets import nothing_hidden_is_sent
from tests.laws.stages import Stage, staged, two_stores
from tests.laws.test_http_secrecy_bites import LEAKS, SETUP, Turncoat, serving
from tests.laws.twins import chosen, twins
from tests.sizes import sized
from tests.toy.service.toy import GAME

FOUND = sized(2, 4, 1_000)
"""How many twins of each game are played."""

# What is told in frames: events, reasons, and lists of what is legal. A view comes with nobody's refusal.
TOLD = [leak for leak in LEAKS if leak.startswith(("events", "a reason", "the order"))]


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
def test_what_is_hidden_changes_no_byte_of_any_frame(game: AnyGame, stages: tuple[Stage, Stage]) -> None:
    sent = sum(nothing_hidden_is_sent(found, stages, *MODULES) for found in islice(chosen(game, 0), FOUND))
    assert sent > 50 * min(FOUND, 2)


@pytest.fixture(scope="module")
def turned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Turncoat, tuple[Stage, Stage], str]]:
    """Give stages that serve a game which can be had to leak."""
    with serving(tmp_path_factory.mktemp("stages")) as found:
        yield found


def test_the_toy_as_it_is_sends_nothing(turned: tuple[Turncoat, tuple[Stage, Stage], str]) -> None:
    turncoat, stages, module = turned
    turncoat.now = GAME
    assert nothing_hidden_is_sent(twins(play(SETUP), 2, 1), stages, module) > 50


@pytest.mark.parametrize("leak", TOLD)
def test_a_game_that_leaks_is_noticed_over_sockets(
    leak: str, turned: tuple[Turncoat, tuple[Stage, Stage], str]
) -> None:
    turncoat, stages, module = turned
    turncoat.now = LEAKS[leak]
    with pytest.raises(AssertionError, match="what lies hidden"):
        nothing_hidden_is_sent(twins(play(SETUP, turncoat.now), 2, 1), stages, module)
