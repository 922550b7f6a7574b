"""Law 2 over HTTP notices: it is held against games that leak on purpose, each by another way out."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from msgspec.structs import replace as changed

from events.base import Event
from projections.table import Table
from service.game import AnyGame, Ask, Command, Refused
from tests.laws.matches import play
from tests.laws.pairs import nothing_hidden_is_told
from tests.laws.setups import Setup
from tests.laws.stages import Stage, staged, two_stores
from tests.laws.twins import Twins, twins
from tests.toy.events.toy import Dealt, Drew, Options
from tests.toy.projections.toy import State, View, redact, view
from tests.toy.service.toy import GAME, REASONS, decide, legal

SETUP = Setup("toy", Options(deals=3, row=2), 3, 0, 0, seed=5, silence=0.1, resigning=0.0, longest=500)


def lucky(state: State | None) -> bool:
    """Tell whether an odd card lies on top of the stock, which nobody knows."""
    return bool(state and state.stock and int(state.stock[0][1]) % 2)


def shows_the_stock(table: Table[State, Options], seat: int | None) -> View:
    seen = view(table, seat)
    stock = table.play.stock if table.play is not None else None
    return changed(seen, seen=(*seen.seen, *(stock or ())[:1]))


def shows_anothers_hand_to_spectators(table: Table[State, Options], seat: int | None) -> View:
    hands = table.play.hands if table.play is not None else []
    seen = view(table, seat)
    return changed(seen, hand=tuple(hands[0] or ())) if seat is None and hands else seen


def grows_with_luck(table: Table[State, Options], seat: int | None) -> View:
    seen = view(table, seat)
    return changed(seen, left=10) if lucky(table.play) else changed(seen, left=9)


def tells_the_stock(event: Any, seat: int | None) -> Event:  # noqa: ANN401 any event of the toy
    told = redact(event, seat)
    return changed(told, stock=event.stock) if isinstance(event, Dealt) and isinstance(told, Dealt) else told


def tells_who_drew(event: Any, seat: int | None) -> Event:  # noqa: ANN401 any event of the toy
    return event if isinstance(event, Drew) and seat is not None else redact(event, seat)


def refuses_by_luck(state: State, ask: Ask) -> Iterator[Event]:
    try:
        return iter([*decide(state, ask)])
    except Refused:
        raise Refused("card_not_held" if lucky(state) else "wrong_length") from None


def lists_by_luck(state: State, seat: int) -> Iterator[Command]:
    commands = [*legal(state, seat)]
    return iter(commands[::-1] if lucky(state) else commands)


def with_projection(**parts: Any) -> AnyGame:  # noqa: ANN401 any part of a projection
    """Return the toy with another fold, view or redaction."""
    return replace(GAME, projection=replace(GAME.projection, **parts))


LEAKS = {
    "view of the stock": with_projection(view=shows_the_stock),
    "a spectator's view": with_projection(view=shows_anothers_hand_to_spectators),
    "a count": with_projection(view=grows_with_luck),
    "events of the deal": with_projection(redact=tells_the_stock),
    "events of a draw": with_projection(redact=tells_who_drew),
    "a reason": replace(GAME, decide=refuses_by_luck, reasons=REASONS),
    "the order of a list": replace(GAME, legal=lists_by_luck),
}

Held = Callable[[AnyGame, Twins], int]


@dataclass
class Turncoat:
    """One game that is served, and leaks now as one game does and now as another."""

    now: AnyGame = GAME

    def view(self, table: Table[State, Options], seat: int | None) -> View:
        seen: View = self.now.projection.view(table, seat)  # type: ignore[assignment] # it is one of the toy's
        return seen

    def redact(self, event: Any, seat: int | None) -> Event:  # noqa: ANN401 any event of the toy
        return self.now.projection.redact(event, seat)

    def decide(self, state: State, ask: Ask) -> Iterator[Event]:
        return self.now.decide(state, ask)

    def legal(self, state: State, seat: int) -> Iterator[Command]:
        return self.now.legal(state, seat)

    @property
    def game(self) -> AnyGame:
        """The game that is served."""
        projection = replace(GAME.projection, view=self.view, redact=self.redact)
        return replace(GAME, projection=projection, decide=self.decide, legal=self.legal)


@contextmanager
def serving(folder: Path) -> Iterator[tuple[Turncoat, tuple[Stage, Stage], str]]:
    """Give a game that can be had to leak, two stages that serve it, and the name of its module."""
    turncoat, module = Turncoat(), ModuleType("tests.laws.turncoat")
    module.__dict__["GAME"] = turncoat.game
    with (
        pytest.MonkeyPatch.context() as patch,
        two_stores(folder) as (one, other),
    ):
        patch.setitem(sys.modules, module.__name__, module)
        with (
            staged(one, folder / "keys", module.__name__) as first,
            staged(other, folder / "keys", module.__name__) as second,
        ):
            yield turncoat, (first, second), module.__name__


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Held]:
    """Give a way to hold the law against a game that is served in the place of the one the twins were found by."""
    with serving(tmp_path_factory.mktemp("stages")) as (turncoat, stages, _):

        def held(game: AnyGame, found: Twins) -> int:
            turncoat.now = game
            return nothing_hidden_is_told(found, stages)

        yield held


@pytest.fixture(scope="module", params=[None, 1], ids=["spectator", "seat"])
def found(request: pytest.FixtureRequest) -> Twins:
    """Give twins for a spectator, and for a seat."""
    return twins(play(SETUP), 2, request.param)


def test_the_toy_as_it_is_tells_nothing(told: Held, found: Twins) -> None:
    assert told(GAME, found) > 100


@pytest.mark.parametrize("leak", LEAKS)
def test_a_game_that_leaks_is_noticed(leak: str, told: Held) -> None:
    """Its twins are found by the game as it leaks, as those of a game that ships are."""
    viewer, game = None if "spectator" in leak else 1, LEAKS[leak]
    with pytest.raises(AssertionError, match="what lies hidden"):
        told(game, twins(play(SETUP, game), 2, viewer))
