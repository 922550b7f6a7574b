"""Facts about what each viewer may see of a table of Kowah."""

from collections.abc import Iterator
from typing import get_args

import pytest

from events.base import Event
from events.games.kowah import (
    DealScored,
    Dealt,
    Declared,
    Discarded,
    DiscardTaken,
    FirstDrawn,
    KowahEvent,
    Opened,
    Options,
    StockDrawn,
    StockEnded,
    StockTurned,
    Won,
)
from projections.games.kowah import PROJECTION, Over, Result, State, begin, must_draw_stock
from projections.table import Table
from service.games.kowah import Checki, Discard, DrawStock, TakeDiscard
from tests.service.games.kowah.match import DULL, NINES, TWOS, Match, cards

HANDS = (cards(TWOS), None, cards(NINES))

PUBLIC = [
    FirstDrawn(1),
    StockTurned(0, "C1", 12),
    DiscardTaken(0, "C1"),
    Discarded(0, "C1", 1),
    Won(0, "C2", "opponent_draw", 1, 1),
    StockEnded(),
    DealScored(1, None, None, 0),
    Opened(()),
]


def shown() -> Iterator[tuple[Event, dict[int | None, Event]]]:
    """Yield events of which each viewer sees a part, and what that is."""
    drawn, hidden = StockDrawn(2, "C1", 12), StockDrawn(2, None, 12)
    yield drawn, {2: drawn, 0: hidden, None: hidden}
    dealt = Dealt(1, (0, 2), HANDS, cards("C1 WF"), 2)
    yield (
        dealt,
        {
            0: Dealt(1, (0, 2), (HANDS[0], None, None), None, 2),
            1: Dealt(1, (0, 2), (None, None, None), None, 2),
            2: Dealt(1, (0, 2), (None, None, HANDS[2]), None, 2),
            None: Dealt(1, (0, 2), (None, None, None), None, 2),
        },
    )
    declared = Declared(0, "C2", cards("C2 S5"), cards(TWOS))
    yield declared, {0: declared, 1: Declared(0, "C2", None, cards(TWOS)), None: Declared(0, "C2", None, cards(TWOS))}


@pytest.mark.parametrize("event", PUBLIC)
def test_what_happened_openly_is_the_same_for_all(event: KowahEvent) -> None:
    for viewer in (None, 0, 1):
        assert PROJECTION.redact(event, viewer) == event


@pytest.mark.parametrize(("event", "seen"), [*shown()])
def test_of_what_is_hidden_each_sees_their_own(event: KowahEvent, seen: dict[int | None, Event]) -> None:
    for viewer, part in seen.items():
        assert PROJECTION.redact(event, viewer) == part


def test_every_kind_of_event_is_here() -> None:
    assert {type(event) for event in (*PUBLIC, *(event for event, _ in shown()))} == set(get_args(KowahEvent))


def test_before_play_a_view_is_empty() -> None:
    table: Table[State, Options] = Table(id="t", options=Options(series=3), players=[None, None])
    view = PROJECTION.view(table, None)
    assert isinstance(view, type(Match().view(None)))
    assert (view.phase, view.deal, view.deals, view.first, view.order, view.hand) == (None, 0, 0, None, (), None)
    assert (view.held, view.stock, view.declared, view.results) == ((0, 0), 0, (None, None), ())
    state = begin(Options(), 2, (0, 1))
    assert isinstance(state.phase, Over)
    assert not must_draw_stock(state)
    with pytest.raises(ValueError, match="version 0"):
        PROJECTION.view(Table(id="t"), None)


def test_a_deal_that_begins_shows_each_player_their_hand_and_counts_the_rest() -> None:
    match = Match(seats=4, taken=(0, 1, 3)).deal(TWOS)
    view = match.view(3)
    assert (view.phase, view.deal, view.deals, view.first, view.order) == ("draw", 1, 1, 0, (0, 1, 3))
    assert (view.hand, view.held, view.stock) == (cards(DULL[2]), (8, 8, 0, 8), 96)
    assert match.view(None).hand is match.view(2).hand is None
    assert (view.discard, view.thrown_by, view.discards, view.seen) == (None, None, (), ())


def test_each_card_is_seen_once_however_it_goes_on() -> None:
    """A discard that was taken and is thrown again is no other card; nor is one that was turned up and is thrown."""
    match = Match().deal(TWOS, stock="S9 S8 M2").plays(DrawStock(), Discard("S9", "C2"))
    match.plays(DrawStock(), Discard("S8"), TakeDiscard(), Discard("S8"), DrawStock(), Discard("M2"))
    view = match.view(1)
    assert view.seen == cards("S9 S8 M2")
    assert view.discards == cards("S9 S8 M2")
    assert (view.discard, view.thrown_by) == ("M2", 0)


def test_a_card_from_the_hand_that_looks_like_one_that_all_saw_may_be_that_one() -> None:
    match = Match(seats=2).deal("C1 C1 C6 S1 S4 S6 S9 M4", stock="C1").plays(DrawStock(), Discard("C1"), TakeDiscard())
    assert match.view(None).seen == ("C1",)
    match.plays(Discard("C1"), TakeDiscard(), Discard("C1"))
    assert match.view(None).seen == ("C1",)
    match.plays(DrawStock(), Discard("C3"), DrawStock(), Discard("C1"))
    assert match.view(None).seen == cards("C1 C3 C1")


def test_the_card_of_a_turn_is_shown_until_it_is_over() -> None:
    match = Match().deal(TWOS, stock="S9 S8").plays(DrawStock())
    assert [match.view(viewer).drawn for viewer in match.viewers] == [None, "S9", None, None]
    match.plays(Discard("C5"))
    assert match.view(0).drawn is None
    match.plays(TakeDiscard())
    assert [match.view(viewer).drawn for viewer in match.viewers] == ["C5"] * 4


def test_what_lies_below_a_discard_that_was_taken_is_no_discard_to_take() -> None:
    match = Match().deal(stock="S9 S8").silent(4)
    assert (match.view(None).discard, match.view(None).thrown_by) == ("S8", 1)
    match.plays(TakeDiscard())
    view = match.view(None)
    assert (view.discard, view.thrown_by, view.discards) == (None, None, ("S9",))


def test_who_has_declared_must_draw_from_the_stock() -> None:
    match = Match().deal(TWOS, stock="S9 S8 S8").plays(DrawStock(), Discard("S9", "C2"))
    assert not match.view(None).must_draw_stock
    match.silent(4)
    assert match.view(None).must_draw_stock


def test_results_are_listed_deal_by_deal() -> None:
    match = Match(Options(series=2)).deal(TWOS, stock="S9 C2").plays(DrawStock(), Discard("S9"))
    match.do(Checki("C2"), 0)
    match.plays(DrawStock())
    assert match.view(None).results == (Result(1, 0, "opponent_draw", 1),)
    assert (match.view(None).deal, match.view(None).deals) == (2, 2)


def test_hands_stay_hidden_until_play_has_ended() -> None:
    match = Match().deal(TWOS, stock="S9 C2").declared(0, "C2")
    assert match.view(0).final_hands == ()
    match.plays(DrawStock())
    for viewer in match.viewers:
        (final,) = match.view(viewer).final_hands
        assert final.hands[0] == cards(TWOS)
        assert [len(hand or ()) for hand in final.hands] == [8, 9, 8]
        assert match.view(viewer).phase == "over"
