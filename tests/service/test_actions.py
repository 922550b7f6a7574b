"""What a seat may do, as data: all of it, or one example where there is too much, and why the rest is refused."""

from dataclasses import replace
from typing import Annotated, Literal

import msgspec
import pytest
from msgspec import Meta

from events.base import By, Decision, Event
from projections import fold
from projections.table import Table
from service.actions import actions, legal_now, sample
from service.chance import Chance
from service.game import LISTED, AnyTable, Ask, Command, Refused
from service.games.chinchon import GAME as CHINCHON
from service.games.chinchon import DrawStock, LayOff
from service.referee import Create, Referee, Resign, Sit, Start
from tests.service.games.chinchon.match import HANDS, Match
from tests.toy.events.toy import Options
from tests.toy.service.toy import GAME, Hold, Lay, Pledge

REFEREE = Referee(lambda _: Chance(bytes(32), "table:a", ["", ""]))


def opened(row: Literal[3, 2] = 3) -> AnyTable:
    """Return a table of two seats, taken by ada and by bob, before play."""
    table: AnyTable = Table(id="a")
    command = Create(game="toy", ruleset="toy/1", seats=2, options=msgspec.to_builtins(Options(row=row)), start="host")
    add(table, REFEREE.create(GAME, table, Ask(By(role="host", player="ada"), command, 1), bytes(32)))
    for who in ("ada", "bob"):
        say(table, Ask(By(player=who), Sit(), 1))
    return table


def add(table: AnyTable, events: tuple[Event, ...]) -> None:
    fold.add(GAME.projection, table, Decision(table.version + 1, 1, By(), "", events), b"")


def say(table: AnyTable, ask: Ask) -> None:
    add(table, REFEREE.decide(GAME, table, ask))


def started(row: Literal[3, 2] = 3) -> AnyTable:
    """Return a table at which both must pledge."""
    table = opened(row)
    say(table, Ask(By(role="host", player="ada"), Start(), 1))
    return table


def laying(row: Literal[3, 2] = 3) -> tuple[AnyTable, int]:
    """Return a table at which both have pledged, and the seat that must lay."""
    table = started(row)
    for seat in (0, 1):
        say(table, Ask(By(seat=seat), legal_now(GAME, table, seat)[0], 1))
    return table, table.to_act[0]


def reasons(table: AnyTable, seat: int) -> dict[str, str]:
    return {refused.type: refused.reason for refused in actions(GAME, table, seat).refused}


def test_every_legal_command_is_listed_with_the_turn_it_answers() -> None:
    table = started()
    found = actions(GAME, table, 0)
    assert (found.version, found.seat, found.turn, found.complete, found.open) == (4, 0, 4, True, ())
    assert table.play is not None
    assert found.legal == tuple(Pledge(card=card, turn=4) for card in table.play.hands[0])
    assert reasons(table, 0) == {"toy.lay": "not_now", "toy.hold": "not_now"}


def test_of_a_type_with_too_many_bodies_one_is_listed_and_the_type_is_open() -> None:
    table, seat = laying(row=3)
    found = actions(GAME, table, seat)
    (one,) = found.open
    assert not found.complete
    assert one.type == "toy.lay"
    assert one.schema == msgspec.json.schema(Lay)
    assert set(found.legal) == {Hold(turn=table.turn), one.example}
    assert isinstance(one.example, Lay)
    assert one.example.turn == table.turn


def test_up_to_the_bound_all_bodies_of_a_type_are_listed() -> None:
    table, seat = laying(row=2)
    found = actions(GAME, table, seat)
    assert found.complete
    assert len(found.legal) == 6 * 5 + 1 <= LISTED


def test_who_must_wait_is_told_why() -> None:
    table, seat = laying()
    assert legal_now(GAME, table, 1 - seat) == ()
    assert actions(GAME, table, 1 - seat).legal == ()
    assert reasons(table, 1 - seat) == dict.fromkeys(("toy.pledge", "toy.lay", "toy.hold"), "not_your_turn")


def test_what_a_seat_may_do_unasked_is_listed_for_it_with_the_turn_that_stands() -> None:
    table, seat = laying()
    game = replace(GAME, legal=lambda _state, _seat: iter([Hold()]))
    assert table.to_act == (seat,)
    assert legal_now(game, table, 1 - seat) == (Hold(turn=table.turn),)
    table.resigned = (1 - seat,)
    assert legal_now(game, table, 1 - seat) == ()
    table.resigned, table.status = (), "paused"
    assert legal_now(game, table, 1 - seat) == legal_now(game, table, seat) == ()


@pytest.mark.parametrize("reason", ["not_started", "resigned", "ended"])
def test_before_play_after_it_and_of_a_seat_given_up_nothing_is_legal(reason: str) -> None:
    table = opened() if reason == "not_started" else started()
    if reason == "resigned":
        table.resigned, table.prompted = (0,), (1,)
    elif reason == "ended":
        say(table, Ask(By(seat=0), Resign(), 1))
    assert actions(GAME, table, 0).legal == ()
    assert set(reasons(table, 0).values()) == {reason}


def test_without_a_seat_nothing_is_listed() -> None:
    found = actions(GAME, started(), None)
    assert (found.seat, found.complete, found.legal, found.open, found.refused) == (None, True, (), (), ())


class Strange(Command, frozen=True, tag="strange"):
    """A command with a field of each shape."""

    count: Annotated[int, Meta(ge=3)]
    choice: Literal["that", "this"]
    pair: tuple[Literal["a"], Literal["b"]]
    some: Annotated[tuple[Literal["c"], ...], Meta(min_length=2)]
    either: Literal["d"] | None
    left_out: int = 9


class Stranger(Command, frozen=True, tag="stranger"):
    """A command of a shape of which no sample is known."""

    names: dict[str, str]


def test_a_sample_is_right_in_shape() -> None:
    expected = Strange(count=3, choice="that", pair=("a", "b"), some=("c", "c"), either=None)
    assert sample(Strange) == expected
    with pytest.raises(NotImplementedError, match="no sample is known"):
        sample(Stranger)


@pytest.mark.parametrize("kind", GAME.command_types)
def test_a_sample_can_be_decided(kind: type[Command]) -> None:
    with pytest.raises(Refused, match="not_started"):
        say(opened(), Ask(By(seat=0), sample(kind), 1))


def test_of_several_reasons_the_one_that_lies_deepest_is_told() -> None:
    """Most cards are not held; what keeps a player from closing is what their own cards count."""
    match = Match().deal(*HANDS[1:]).plays(DrawStock())
    assert refused(match)["chinchon.close"] == "deadwood_over_limit"
    match = Match().closed(*HANDS[:3])
    match.plays(LayOff("O1", 0))
    assert refused(match)["chinchon.lay_off"] == "does_not_fit"


def refused(match: Match) -> dict[str, str]:
    """Return why the seat that must act may not do what it may not do."""
    return {told.type: told.reason for told in actions(CHINCHON, match.table, match.to_act).refused}
