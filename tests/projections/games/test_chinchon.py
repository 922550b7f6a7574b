"""Facts about what each viewer of a table of Chinchón may see."""

from collections import Counter
from typing import Any, get_args

import pytest

from events.base import Event
from events.cards import SPANISH_40, SpanishCard
from events.games.chinchon import (
    ChinchonEvent,
    Closed,
    ClosingCard,
    DealScored,
    Dealt,
    Discarded,
    Exposed,
    ExposureBegan,
    ForehandDrawn,
    HandIrregular,
    LaidOff,
    LayOffBegan,
    Opened,
    Options,
    Passed,
    PotTaken,
    ReentriesClosed,
    ReentryAnswered,
    ReentryOffered,
    Staked,
    StockDrawn,
    StockExhausted,
    StockRecycled,
    TurnEnded,
    UpCardTaken,
    WentOut,
)
from projections import fold
from projections.games.chinchon import PROJECTION, Exposing, State, View, must_draw_stock, redact
from projections.own import own
from projections.table import Table
from service.game import AnyTable

SEATS = 4
TAKEN = (0, 1, 3)
VIEWERS = (None, *range(SEATS))
HANDS: tuple[tuple[SpanishCard, ...] | None, ...] = (SPANISH_40[:7], SPANISH_40[7:14], None, SPANISH_40[14:21])
"""Of seat 0 O1 to O7; of seat 1 O10 O11 O12 C1 to C4; of seat 3 C5 C6 C7 C10 C11 C12 E1."""
DEAL = Dealt(1, (1, 3, 0), HANDS, "E2", SPANISH_40[22:], 18)
DEALT = (Staked(TAKEN, 3), ForehandDrawn(1), DEAL)
DREW = (*DEALT, StockDrawn(1, "E3", 17))
THREW = (*DREW, Discarded(1, "C4", 3))
TOOK = (*THREW, UpCardTaken(3, "C4"))
CLOSED = (*TOOK, Closed(3, "C12"))
EXPOSED = (*CLOSED, Exposed(3, (("C4", "C5", "C6", "C7", "C10", "C11"),), 1, chinchon=False))
LAYING = (*EXPOSED, LayOffBegan(0, 3))
LAID = (
    *LAYING,
    Passed(0),
    LayOffBegan(1, 3),
    LaidOff(1, "C3", 3, 0, ("C3", "C4", "C5", "C6", "C7", "C10", "C11"), True),
)
SCORED = (*LAID, Passed(1), DealScored(1, (28, 30, None, 1), (128, 130, None, 1), (), ()), WentOut((0, 1)))
OFFERED = (*SCORED, ReentryOffered((0, 1), 1))


def table(*events: Event, status: Any = "playing", viewer: int | str | None = "all") -> AnyTable:  # noqa: ANN401 one of the statuses
    """Return a table at which these events of the game have happened, as this viewer was sent them or as they were."""
    told: AnyTable = Table(id="t", options=Options(), players=[None] * SEATS, status=status)
    told.play = PROJECTION.begin(Options(), SEATS, TAKEN)
    for event in events:
        sent = event if isinstance(viewer, str) else fold.redact(PROJECTION, event, viewer)
        fold.evolve(PROJECTION, told, sent)
    return told


def view(viewer: int | None, *events: Event, status: Any = "playing") -> View:  # noqa: ANN401 one of the statuses
    seen = PROJECTION.view(table(*events, status=status), viewer)
    assert isinstance(seen, View)
    assert seen == PROJECTION.view(table(*events, status=status, viewer=viewer), viewer)
    return seen


def state(*events: Event) -> State:
    play = table(*events).play
    assert isinstance(play, State)
    return play


_NEUTRAL = set(View.__mro__[1].__struct_fields__)  # type: ignore[attr-defined] # the neutral view is a struct


class TestBefore:
    def test_nothing_of_the_games_own_is_there(self) -> None:
        empty = PROJECTION.view(Table(id="t", options=Options(), players=[None] * SEATS), None)
        assert isinstance(empty, View)
        said = {name: getattr(empty, name) for name in View.__struct_fields__ if name not in _NEUTRAL}
        assert {name for name, value in said.items() if value} == {"points", "reentries"}
        assert (empty.points, empty.reentries) == ((None,) * SEATS, (0,) * SEATS)

    def test_a_table_without_options_has_no_view(self) -> None:
        with pytest.raises(ValueError, match="version 0"):
            PROJECTION.view(Table(id="t"), None)


class TestHands:
    def test_each_player_sees_their_own_and_how_many_cards_the_others_hold(self) -> None:
        for viewer in VIEWERS:
            seen = view(viewer, *DEALT)
            assert seen.hand == (None if viewer is None else HANDS[viewer])
            assert seen.held == (7, 7, 0, 7)

    def test_a_card_drawn_is_seen_by_who_drew_it(self) -> None:
        assert view(1, *DREW).hand == (*(HANDS[1] or ()), "E3")
        assert view(0, *DREW).hand == HANDS[0]
        assert view(0, *DREW).held == (7, 8, 0, 7)
        assert redact(StockDrawn(1, "E3", 17), 0) == StockDrawn(1, None, 17)

    def test_who_is_out_sees_none_from_then_on(self) -> None:
        assert view(0, *SCORED[:-1]).hand == HANDS[0]
        for viewer in (0, 1, None):
            assert view(viewer, *SCORED).hand is None
        assert view(3, *SCORED).hand == ("E1",)
        assert view(0, *SCORED).out == (0, 1)

    def test_what_is_left_is_never_shown_to_others(self) -> None:
        loose = {"E1", *(HANDS[0] or ()), "O10", "O11", "O12", "C1", "C2", "E3"}
        shown = view(None, *OFFERED)
        assert not loose & {*shown.seen, *shown.discards}


class TestPiles:
    def test_the_stock_is_a_number_and_the_discards_lie_open(self) -> None:
        for viewer in VIEWERS:
            seen = view(viewer, *THREW)
            assert (seen.stock, seen.discards, seen.up_card) == (17, ("E2", "C4"), "C4")
            assert view(viewer, *TOOK).up_card == "E2"
        assert redact(DEAL, None) == Dealt(1, (1, 3, 0), (None,) * SEATS, "E2", None, 18)
        assert redact(DEAL, 0) == Dealt(1, (1, 3, 0), (HANDS[0], None, None, None), "E2", None, 18)

    def test_a_new_stock_is_made_of_the_discards_but_for_one_that_is_kept(self) -> None:
        recycled = StockRecycled(3, 1, "C4", ("E2",))
        seen = view(0, *THREW, recycled)
        assert (seen.stock, seen.discards, seen.recycled) == (1, ("C4",), 1)
        assert redact(recycled, 3) == StockRecycled(3, 1, "C4", None)
        whole = view(0, *THREW, StockRecycled(3, 2, None, ("E2", "C4")))
        assert (whole.stock, whole.discards, whole.up_card) == (2, (), None)

    def test_the_closing_card_is_seen_by_who_laid_it_until_it_is_opened(self) -> None:
        for viewer in VIEWERS:
            card: SpanishCard | None = "C12" if viewer == 3 else None
            assert view(viewer, *CLOSED).closing_cards == (ClosingCard(1, 3, card),)
            assert redact(Closed(3, "C12"), viewer) == Closed(3, card)
            opened = Opened((ClosingCard(1, 3, "C12"),))
            assert view(viewer, *CLOSED, opened).closing_cards == opened.closing_cards
        assert "C12" not in view(3, *CLOSED).discards

    def test_and_no_longer_once_that_player_is_out(self) -> None:
        assert view(3, *CLOSED, WentOut((3,))).closing_cards == (ClosingCard(1, 3, None),)


class TestSeen:
    """What was turned up in the deal, each card once."""

    def test_it_is_the_first_discard_and_all_that_is_thrown_laid_out_and_laid_off(self) -> None:
        for viewer in VIEWERS:
            assert view(viewer, *DEALT).seen == ("E2",)
            assert view(viewer, *LAID).seen == ("E2", "C4", "C5", "C6", "C7", "C10", "C11", "C3")

    def test_a_card_that_is_taken_and_thrown_again_comes_once(self) -> None:
        assert view(None, *TOOK, Discarded(3, "C4", 0)).seen == ("E2", "C4")

    def test_of_two_alike_a_second_one_comes_again(self) -> None:
        twice = Dealt(1, (1, 3, 0), (("O1", "C4"), ("O1", "C4"), None, ("C4",)), "E2", (), 0)
        thrown = (twice, Discarded(1, "C4", 3), UpCardTaken(3, "C4"), Discarded(3, "C4", 0))
        assert view(None, *thrown).seen == ("E2", "C4")
        assert view(None, *thrown, Discarded(3, "C4", 0)).seen == ("E2", "C4", "C4")
        assert view(None, *thrown, Discarded(0, "C4", 1)).seen == ("E2", "C4", "C4")

    def test_one_that_went_back_into_the_stock_may_be_the_one_that_comes(self) -> None:
        again = (*THREW, StockRecycled(3, 2, None, ("E2", "C4")), StockDrawn(3, "E2", 1), Discarded(3, "E2", 0))
        assert view(None, *again).seen == ("E2", "C4")

    def test_a_new_deal_begins_it_anew(self) -> None:
        assert view(None, *LAID, DEAL).seen == ("E2",)


class TestPhases:
    def test_they_have_names(self) -> None:
        told = [DEALT, CLOSED, (*EXPOSED, ExposureBegan(0)), LAYING, SCORED, OFFERED]
        assert [view(None, *events).phase for events in told] == [
            "turn",
            "expose",
            "expose",
            "lay_off",
            "over",
            "reentry",
        ]
        assert view(None, *THREW, StockExhausted(3)).phase == "expose"

    @pytest.mark.parametrize("events", [DREW, LAID, OFFERED])
    def test_when_play_has_ended_nothing_is_asked(self, events: tuple[Event, ...]) -> None:
        seen = view(0, *events, status="ended")
        assert seen.phase == "over"
        asked = (seen.on, seen.closed, seen.drew, seen.threw, seen.offered, seen.offered_total, seen.answered)
        assert asked == (None, (), 0, 0, (), None, ())

    def test_a_turn_counts_draws_and_discards(self) -> None:
        told = [
            DEALT,
            DREW,
            (*DREW, Discarded(1, "C4", None)),
            THREW,
            (*DREW, Discarded(1, "C4", None), TurnEnded(1, 3)),
        ]
        assert [(view(None, *events).drew, view(None, *events).threw) for events in told] == [
            (0, 0),
            (1, 0),
            (1, 1),
            (0, 0),
            (0, 0),
        ]

    def test_at_an_opportunity_all_see_on_whose_combinations_and_which_are_closed(self) -> None:
        for viewer in VIEWERS:
            assert (view(viewer, *LAYING).on, view(viewer, *LAYING).closed) == (3, ())
            assert (view(viewer, *LAID).on, view(viewer, *LAID).closed) == (3, (0,))
        assert view(None, *LAID, Passed(1), LayOffBegan(0, 3)).closed == ()

    def test_answers_are_hidden_until_all_have_answered(self) -> None:
        answered = (*OFFERED, ReentryAnswered(1, True))
        for viewer in VIEWERS:
            seen = view(viewer, *answered)
            assert (seen.offered, seen.offered_total, seen.answered) == ((0, 1), 1, (1,))
            assert redact(answered[-1], viewer) == ReentryAnswered(1, True if viewer == 1 else None)
        closed = view(0, *answered, ReentryAnswered(0, False), ReentriesClosed((1,), (0,), 1))
        assert (closed.offered, closed.out, closed.reentries) == ((), (0,), (0, 1, 0, 0))


class TestDeal:
    def test_the_order_of_turns_begins_with_the_forehand_and_ends_with_the_dealer(self) -> None:
        seen = view(None, *DEALT)
        assert (seen.deal, seen.forehand, seen.dealer, seen.order) == (1, 1, 0, (1, 3, 0))

    def test_combinations_lie_by_seat_none_before_a_seat_has_laid_out(self) -> None:
        seen = view(None, *LAID)
        assert seen.combinations == (None, None, None, (("C3", "C4", "C5", "C6", "C7", "C10", "C11"),))
        assert (seen.closer, seen.held) == (3, (7, 6, 0, 1))
        assert view(None, *LAID, Exposed(0, (), 7, chinchon=False)).combinations[0] == ()

    def test_who_has_chinchon_and_who_erred_is_told(self) -> None:
        run = (*CLOSED, Exposed(3, (("C4", "C5", "C6", "C7", "C10", "C11", "E1"),), 0, chinchon=True))
        assert view(None, *run).chinchon == (3,)
        assert view(None, *DREW, HandIrregular(3, 8), HandIrregular(1, 6)).irregular == (1, 3)

    def test_a_new_deal_clears_the_table(self) -> None:
        seen = view(0, *SCORED, Dealt(2, (3, 0, 1), HANDS, "E2", SPANISH_40[22:], 18))
        assert (seen.closer, seen.chinchon, seen.irregular, seen.recycled) == (None, (), (), 0)
        assert seen.combinations == (None,) * SEATS
        assert seen.points == (28, 30, None, 1)
        assert seen.closing_cards == (ClosingCard(1, 3, None),)

    def test_points_pot_and_shares_are_told(self) -> None:
        seen = view(None, *SCORED)
        assert (seen.points, seen.pot, seen.shares) == ((28, 30, None, 1), 3, None)
        assert view(None, *SCORED, PotTaken((3, 0), (2, 1))).shares == (1, 0, 0, 2)

    def test_turns_begun_from_the_discards_are_counted(self) -> None:
        taking: list[Event] = []
        for seat, following in ((1, 3), (3, 0), (0, 1)) * 3:
            assert not must_draw_stock(state(*DEALT, *taking))
            taking += [UpCardTaken(seat, "E2"), Discarded(seat, "E2", following)]
        for viewer in VIEWERS:
            assert view(viewer, *DEALT, *taking).must_draw_stock
        assert not view(None, *DEALT, *taking, StockDrawn(1, "E3", 17)).must_draw_stock
        assert not view(None, *DEALT, *taking, StockDrawn(1, "E3", 17), Discarded(1, "E3", 3)).must_draw_stock
        assert not view(None, *DEALT, *taking, DEAL).must_draw_stock


def test_no_card_is_lost_or_made() -> None:
    for end in range(len(DEALT), len(OFFERED) + 1):
        assert Counter(PROJECTION.cards(state(*OFFERED[:end]))) == Counter(SPANISH_40)


def test_a_copy_folds_on_alone() -> None:
    told = state(*LAYING)
    before = repr(told)
    copied = own(told)
    assert copied == told
    for event in LAID[len(LAYING) :]:
        PROJECTION.evolve(copied, event)
    PROJECTION.evolve(copied, Opened(()))
    assert repr(told) == before
    assert isinstance(state(*CLOSED).phase, Exposing)


def test_every_other_event_is_shown_whole() -> None:
    hidden = (Dealt, StockRecycled, StockDrawn, Closed, ReentryAnswered)
    public = [
        *(event for event in OFFERED if not isinstance(event, hidden)),
        HandIrregular(1, 6),
        TurnEnded(1, 3),
        StockExhausted(3),
        ExposureBegan(3),
        ReentriesClosed((1,), (0,), 1),
        PotTaken((3,), (3,)),
        Opened((ClosingCard(1, 3, "C12"),)),
    ]
    assert {type(event) for event in public} == set(get_args(ChinchonEvent)) - set(hidden)
    for event in public:
        assert all(PROJECTION.redact(event, viewer) == event for viewer in VIEWERS)
