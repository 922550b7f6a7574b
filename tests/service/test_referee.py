"""What may be done at any table: sitting, starting, leaving, resigning, and what follows from it by itself."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeVar

import msgspec
import pytest
from msgspec import to_builtins

from events.base import By, Decision, Event
from events.table import (
    Answered,
    Created,
    Ended,
    Opened,
    Resigned,
    SeatLeft,
    SeatTaken,
    Seeded,
    Started,
    TableEvent,
    TurnBegan,
)
from projections import fold
from projections.table import Table
from service.chance import Shuffles
from service.game import AnyTable, Ask, Command, NotHost, NotSeated, Refused
from service.referee import Abandon, Create, Leave, Referee, Resign, Sit, Start, by_of, chance_of
from tests.toy.events.toy import Card, Held, Options, Pledged
from tests.toy.service.toy import GAME, Hold, Pledge

T = TypeVar("T")
Said = tuple[str, Command]

SEED = bytes(range(32))


class Printed(Shuffles):
    """Chance that leaves every pack in its printed order: the lowest seat comes first and is dealt R1 to R7."""

    def shuffle(self, pack: Sequence[T], c: int) -> tuple[T, ...]:  # noqa: ARG002 whichever shuffle it is
        """Return the pack as it is."""
        return tuple(pack)


REFEREE = Referee(lambda _: Printed())

_events: "msgspec.json.Decoder[tuple[Event, ...]]" = msgspec.json.Decoder(
    tuple[TableEvent | GAME.projection.events, ...]  # type: ignore[name-defined] # known at run time alone
)


def create(seats: int = 3, *, start: Literal["full", "host"] = "host", bots: int = 0, **chosen: str | bool) -> Create:
    """Return the command that opens a table of the toy, its options the usual ones but for those chosen."""
    options = to_builtins(Options()) | chosen
    return Create(game="toy", ruleset="toy/1", seats=seats, options=options, start=start, bots=("anyone/1",) * bots)


def opened(command: Create) -> tuple[Event, ...]:
    """Return what opening a table makes happen; Hal is the host."""
    return REFEREE.create(GAME, Table(id="a"), Ask(By(role="host", player="hal"), command, 1), SEED)


def add(table: AnyTable, events: tuple[Event, ...], by: By = By(), at: int = 1) -> None:  # noqa: B008 it is frozen
    """Fold one more decision."""
    fold.add(GAME.projection, table, Decision(table.version + 1, at, by, "", events), b"")


def say(table: AnyTable, who: str, command: Command, at: int = 1) -> tuple[Event, ...]:
    """Have somebody give a command; return what it made happen, which deciding it did not."""
    by = by_of(table, who, command)
    before = repr(table)
    events = REFEREE.decide(GAME, table, Ask(by, command, at))
    assert repr(table) == before
    assert _events.decode(msgspec.json.encode(events)) == events
    add(table, events, by, at)
    return events


def table_of(command: Create, *said: Said) -> AnyTable:
    """Return a table after these commands."""
    table: AnyTable = Table(id="a")
    add(table, opened(command))
    for who, commanded in said:
        say(table, who, commanded)
    return table


ADA, BOB, CY = (("ada", Sit()), ("bob", Sit()), ("cy", Sit()))
START: Said = ("hal", Start())
PLAYED = (ADA, BOB, CY, START)


def deal(first: int) -> tuple[Said, ...]:
    """Return the deal of three in which this seat comes first, and nobody lays anything."""
    cards: tuple[Card, ...] = ("R1", "R8", "G7")
    people = [("ada", "bob", "cy")[(first + place) % 3] for place in range(3)]
    pledges = [(who, Pledge(card=card)) for who, card in zip(people, cards, strict=True)]
    return (*pledges, *((who, Hold()) for who in people))


PLEDGED = (("ada", Pledge(card="R1")), ("bob", Pledge(card="R8")), ("cy", Pledge(card="G7")))
GIVEN_UP = (*PLAYED, ("ada", Resign()))
ENDED = (*GIVEN_UP, ("bob", Resign()))
LEFT = (ADA, BOB, ("ada", Leave()))

REFUSED: list[tuple[str, tuple[Said, ...], str, Command]] = [
    ("not_open", PLAYED, "dan", Sit()),
    ("not_open", PLAYED, "ada", Leave()),
    ("not_open", PLAYED, "hal", Start()),
    ("not_open", PLAYED, "hal", Abandon()),
    ("not_open", ENDED, "hal", Abandon()),
    ("not_host", (ADA, BOB), "ada", Start()),
    ("not_host", (ADA, BOB), "ada", Abandon()),
    ("not_host", (ADA,), "ada", Sit(bot="anyone/1")),
    ("bot_takes_no_nonce", (), "hal", Sit(bot="anyone/1", nonce="mine")),
    ("already_seated", (ADA,), "ada", Sit()),
    ("already_seated", (ADA,), "ada", Sit(seat=2)),
    ("already_seated", LEFT, "ada", Sit(seat=2)),
    ("seat_taken", (ADA,), "bob", Sit(seat=0)),
    ("seat_taken", (ADA,), "hal", Sit(seat=0, bot="anyone/1")),
    ("seat_taken", (*LEFT, ("cy", Sit())), "ada", Sit()),
    ("no_such_seat", (), "ada", Sit(seat=3)),
    ("table_full", (ADA, BOB, CY), "dan", Sit()),
    ("table_full", (ADA, BOB, CY), "hal", Sit(bot="anyone/1")),
    ("seats_missing", (ADA,), "hal", Start()),
    ("not_seated", (ADA,), "bob", Leave()),
    ("not_seated", LEFT, "ada", Leave()),
    ("not_seated", PLAYED, "dan", Hold()),
    ("not_seated", PLAYED, "dan", Resign()),
    ("not_started", (ADA, BOB), "ada", Hold()),
    ("not_started", (ADA, BOB), "ada", Resign()),
    ("resigned", GIVEN_UP, "ada", Pledge(card="R2")),
    ("resigned", GIVEN_UP, "ada", Resign()),
    ("ended", ENDED, "cy", Hold()),
    ("ended", ENDED, "cy", Resign()),
    ("turn_over", PLAYED, "ada", Pledge(card="R1", turn=1)),
    ("turn_over", PLAYED, "ada", Resign(turn=1)),
    ("not_now", PLAYED, "hal", create()),
    ("not_your_turn", (*PLAYED, ("ada", Pledge(card="R1"))), "ada", Pledge(card="R2")),
]

UNOPENED: list[tuple[str, Create]] = [
    ("seats_out_of_range", create(1)),
    ("seats_out_of_range", create(5)),
    ("table_full", create(2, bots=3)),
    ("options_conflict", create(bonus=True, wins="low")),
]


@pytest.mark.parametrize(("reason", "said", "who", "command"), REFUSED)
def test_what_may_not_be_done_is_refused_with_the_reason(
    reason: str, said: tuple[Said, ...], who: str, command: Command
) -> None:
    refused = refusal(said, who, command)
    assert refused.reason == reason
    assert isinstance(refused, {"not_seated": NotSeated, "not_host": NotHost}.get(reason, Refused))


def refusal(said: tuple[Said, ...], who: str, command: Command) -> Refused:
    """Return what refuses a command at a table where all this was said, and hold that it leaves the table as it was."""
    table = table_of(create(), *said)
    before = repr(table)
    with pytest.raises(Refused) as refused:
        say(table, who, command)
    assert repr(table) == before
    return refused.value


@pytest.mark.parametrize(("reason", "command"), UNOPENED)
def test_what_may_not_be_opened_is_refused_with_the_reason(reason: str, command: Create) -> None:
    with pytest.raises(Refused, match=reason):
        opened(command)


def test_a_new_table_is_committed_to_its_seed_and_bots_take_its_highest_seats() -> None:
    table, sealed, *seated = opened(create(4, bots=2))
    assert isinstance(table, Created)
    assert (table.host, table.seats, len(table.commitment)) == ("hal", 4, 64)
    assert sealed == Seeded(SEED.hex())
    assert seated == [
        SeatTaken(2, "bot:anyone/1#2", "", "anyone/1"),
        SeatTaken(3, "bot:anyone/1#3", "", "anyone/1"),
    ]


def test_a_table_whose_seats_are_all_bots_starts_at_once_unless_its_host_does_that() -> None:
    events = opened(create(3, start="full", bots=3))
    assert events[5] == Started((0, 1, 2))
    assert events[-1] == TurnBegan((0, 1, 2))
    assert isinstance(opened(create(3, bots=3))[-1], SeatTaken)


def test_the_last_seat_taken_starts_play() -> None:
    table = table_of(create(start="full"), ADA, BOB)
    assert say(table, "cy", Sit(nonce="mine"))[:2] == (SeatTaken(2, "cy", "mine", None), Started((0, 1, 2)))
    assert table.status == "playing"


def test_a_table_that_starts_when_full_is_not_started_with_a_seat_free() -> None:
    with pytest.raises(Refused, match="seats_missing"):
        say(table_of(create(start="full"), ADA, BOB), "hal", Start())


def test_a_host_starts_with_the_seats_taken() -> None:
    table = table_of(create(4), ("ada", Sit(seat=3)), ("bob", Sit(seat=1)))
    assert say(table, "hal", Start())[0] == Started((1, 3))
    assert table.to_act == (1, 3)
    assert table.scores == (None, 0, None, 0)


def test_the_lowest_free_seat_is_taken_if_none_is_named() -> None:
    table = table_of(create(), ("ada", Sit(seat=0)))
    assert say(table, "bob", Sit()) == (SeatTaken(1, "bob", "", None),)
    assert say(table, "hal", Sit(bot="anyone/1")) == (SeatTaken(2, "bot:anyone/1#2", "", "anyone/1"),)


def test_who_left_may_come_back_to_the_same_seat() -> None:
    table = table_of(create(), ADA, BOB)
    assert say(table, "ada", Leave()) == (SeatLeft(0, "ada"),)
    assert table.taken == (1,)
    assert say(table, "ada", Sit()) == (SeatTaken(0, "ada", "", None),)


def test_an_abandoned_table_opens_its_seed_alone() -> None:
    table = table_of(create(), ADA)
    assert say(table, "hal", Abandon()) == (Ended("abandoned", (None, None, None)), Opened(SEED.hex(), ()))
    assert (table.status, table.outcome) == ("ended", "abandoned")


def test_a_seat_given_up_while_prompted_moves_by_itself_at_once() -> None:
    table = table_of(create(), *PLAYED)
    assert say(table, "bob", Resign()) == (Resigned(1), Pledged(1, "R8"), Answered(1))
    assert table.to_act == (0, 2)


def test_a_seat_given_up_while_others_act_moves_when_its_turn_comes() -> None:
    table = table_of(create(), *PLAYED, *PLEDGED)
    assert table.to_act == (0,)
    assert say(table, "bob", Resign()) == (Resigned(1),)
    assert say(table, "ada", Hold()) == (Held(0, 1), Held(1, 2), TurnBegan((2,)))


def test_seats_given_up_leave_a_prompt_to_the_others_and_move_in_one_chain() -> None:
    dan: Said = ("dan", Sit())
    table = table_of(create(4), ADA, BOB, CY, dan, START, ("ada", Resign()), ("cy", Resign()))
    say(table, "bob", Pledge(card="R8"))
    # Seat 0 lays first: its prompt is not sent, and it holds; in the next deal seat 2's place is passed over too.
    assert say(table, "dan", Pledge(card="B6"))[-2:] == (Held(0, 1), TurnBegan((1,)))
    assert say(table, "bob", Hold()) == (Held(1, 2), Held(2, 3), TurnBegan((3,)))
    *_, prompt, first, _, second, _ = say(table, "dan", Hold())
    assert prompt == TurnBegan((1, 3))
    assert (first, second) == (Pledged(0, "B6"), Pledged(2, "R8"))
    assert table.to_act == (1, 3)


@pytest.mark.parametrize(
    ("seats", "bots", "leaving", "places"),
    [
        (2, 0, ["ada"], (2, 1)),
        (3, 0, ["ada", "bob"], (3, 2, 1)),
        (3, 0, ["bob", "ada"], (2, 3, 1)),
        (3, 1, ["bob", "ada"], (2, 3, 1)),
        (3, 2, ["ada"], (3, 1, 1)),
    ],
    ids=["one of two", "all but one", "the earlier lower", "but for a bot", "but for bots"],
)
def test_play_ends_when_one_seat_or_no_person_is_left(
    seats: int, bots: int, leaving: list[str], places: tuple[int, ...]
) -> None:
    people = (ADA, BOB, CY)[: seats - bots]
    table = table_of(create(seats, bots=bots), *people, START)
    for who in leaving[:-1]:
        say(table, who, Resign())
        assert table.status == "playing"
    events = say(table, leaving[-1], Resign())
    assert Ended("finished", places) in events
    assert events[-1] == Opened(SEED.hex(), tuple(table.orders))
    assert (table.status, table.places, table.to_act) == ("ended", places, ())


def test_play_ends_when_all_are_given_up_that_a_game_says_are_in_play() -> None:
    """Where players can be out, the rest could move silently for ever in one decision."""
    table = table_of(create(4), ADA, BOB, CY, ("dan", Sit()), START, ("ada", Resign()))
    two_are_in = replace(GAME, in_play=lambda _: (0, 1))
    for seat, ends in ((2, False), (1, True)):
        ask = Ask(By(seat=seat), Resign(), 1)
        assert (Ended("finished", (4, 3, 1, 1)) in REFEREE.decide(two_are_in, table, ask)) == ends
        assert not any(isinstance(event, Ended) for event in REFEREE.decide(GAME, table, ask))


def test_a_table_of_which_the_seed_is_not_known_has_no_chance() -> None:
    with pytest.raises(ValueError, match="folded from redacted decisions"):
        chance_of(Table(id="a"))
