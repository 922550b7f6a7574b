"""Facts about the score of a deal of Chinchón: points, bonuses, totals, who is out, who has the forehand next.

Ids such as CC-R7 name the rulings that the rules of the game list.
"""

from typing import Literal

import pytest

from events.cards import SpanishCard
from events.games.chinchon import DealScored, Dealt, Options, PotTaken, Staked, WentOut
from events.table import Ended, Scored
from projections.games.chinchon import Turn
from service.games.chinchon import Close, DrawDiscard, DrawStock, LayOff, Pass, value_of
from tests.service.games.chinchon.match import CHINCHON, FIVE_LEFT, HANDS, Match
from tests.service.games.chinchon.test_exposure import eight_of_which_one_is_laid_off

LINKED = "O5 C5 E5 B1 B2 B3 B4"


class TestValues:
    @pytest.mark.parametrize(
        ("pack", "courts", "expected"),
        [
            (40, "ranked", [1, 7, 8, 9, 10]),
            (40, "ten", [1, 7, 10, 10, 10]),
            (48, "ranked", [1, 7, 10, 11, 12]),
            (48, "ten", [1, 7, 10, 10, 10]),
        ],
    )
    def test_cards_count_their_rank_and_courts_as_agreed(
        self, pack: Literal[40, 48], courts: Literal["ranked", "ten"], expected: list[int]
    ) -> None:
        """CC-R4, CC-04."""
        options = Options(pack=pack, courts=courts)
        named: list[SpanishCard] = ["E1", "E7", "E10", "E11", "E12"]
        assert [value_of(options, card) for card in named] == expected

    def test_eight_and_nine_count_so_too(self) -> None:
        assert [value_of(Options(pack=48), card) for card in ("B8", "B9")] == [8, 9]


class TestPoints:
    def test_everybody_writes_what_stays_in_hand_the_closer_too(self) -> None:
        match = Match().closed(*HANDS[:3])
        assert match.scored() == DealScored(1, (5, 24, 40), (5, 24, 40), (), ())
        assert match.events(Scored) == [Scored(1, (5, 24, 40), (5, 24, 40))]

    def test_what_was_laid_off_counts_nothing(self) -> None:
        match = Match().closed(*HANDS[:3]).plays(LayOff("O1", 0))
        assert match.scored().points == (5, 23, 40)

    def test_totals_add_up(self) -> None:
        assert Match().totals(10, 20, 30).closed(*HANDS[:3]).scored().totals == (15, 44, 70)

    def test_untaken_seats_and_players_who_are_out_write_nothing(self) -> None:
        match = Match(seats=5, taken=(0, 2, 3, 4)).totals(10, 101, 20, 30).given(WentOut((2,)))
        told = match.closed(*HANDS[:3]).scored()
        assert told.points == (5, None, None, 24, 40)
        assert told.totals == (15, None, 101, 44, 70)


class TestChinchon:
    def test_it_takes_ten_points_off(self) -> None:
        """CC-21."""
        told = Match().totals(35, 0, 0).closed(CHINCHON).scored()
        assert (told.points[0], told.totals[0], told.chinchon, told.linked) == (-10, 25, (0,), ())

    @pytest.mark.parametrize(("whose", "points", "chinchon"), [("any", -10, (1,)), ("closer", 0, ())])
    def test_of_any_player_or_of_the_closer_alone(
        self, whose: Literal["any", "closer"], points: int, chinchon: tuple[int, ...]
    ) -> None:
        told = Match(Options(chinchon_for=whose)).closed(FIVE_LEFT, CHINCHON).scored()
        assert (told.points[1], told.chinchon) == (points, chinchon)

    def test_a_total_may_fall_below_zero_or_where_agreed_not(self) -> None:
        """CC-R16."""
        assert Match().closed(CHINCHON).scored().totals[0] == -10
        told = Match(Options(floor_zero="on")).totals(4, 0, 0).closed(CHINCHON).scored()
        assert (told.points[0], told.totals[0]) == (-10, 0)


class TestLinked:
    """CC-R8: seven cards that all combine without being Chinchón."""

    def test_they_count_nothing_or_where_agreed_take_ten_off(self) -> None:
        """CC-24."""
        told = Match().closed(LINKED).scored()
        assert (told.points[0], told.linked) == (0, ())
        told = Match(Options(linked_bonus=10)).closed(LINKED).scored()
        assert (told.points[0], told.linked) == (-10, (0,))

    @pytest.mark.parametrize(("whose", "linked"), [("any", (1,)), ("closer", ())])
    def test_of_whom_chinchon_may_be(self, whose: Literal["any", "closer"], linked: tuple[int, ...]) -> None:
        options = Options(linked_bonus=10, chinchon_for=whose)
        told = Match(options).closed(FIVE_LEFT, "E5 E6 E7 B4 B5 B6 B7").scored()
        assert told.linked == linked
        assert told.points[1] == (-10 if linked else 0)

    def test_chinchon_is_not_counted_twice(self) -> None:
        told = Match(Options(linked_bonus=10)).closed(CHINCHON).scored()
        assert (told.points[0], told.chinchon, told.linked) == (-10, (0,), ())

    def test_what_is_chinchon_to_the_closer_alone_is_nothing_to_others(self) -> None:
        options = Options(linked_bonus=10, chinchon_for="closer")
        told = Match(options).closed(FIVE_LEFT, CHINCHON).scored()
        assert (told.points[1], told.linked) == (0, ())

    def test_a_set_of_seven_is_linked_where_chinchon_is_a_run(self) -> None:
        options = Options(linked_bonus=10, chinchon="run_only")
        told = Match(options, seats=5).closed("O5 O5 C5 C5 E5 E5 B5").scored()
        assert (told.points[0], told.chinchon, told.linked) == (-10, (), (0,))

    def test_cards_laid_off_elsewhere_are_no_part_of_it(self) -> None:
        match = Match(Options(linked_bonus=10)).closed(FIVE_LEFT, "O7 E5 E6 E7 B4 B5 B6")
        told = match.plays(LayOff("O7", 0), Pass()).scored()
        assert (told.points[1], told.linked) == (0, ())

    def test_nor_are_seven_of_an_irregular_eight(self) -> None:
        told = eight_of_which_one_is_laid_off(Options(linked_bonus=10, mistakes="table")).scored()
        assert (told.points[1], told.chinchon, told.linked) == (0, (), ())

    def test_nor_are_seven_of_eight_with_which_a_second_draw_ends_the_deal(self) -> None:
        """CC-R7: always seven cards."""
        options = Options(linked_bonus=10, mistakes="table", recycles=0)
        match = Match(options, seats=2).deal(LINKED, HANDS[1]).emptied()
        match.plays(DrawDiscard()).silent(2).plays(DrawDiscard(), DrawStock())
        loose = match.state.drawn
        assert loose is not None
        assert match.to_act == 0
        told = match.scored()
        assert (told.points[0], told.linked) == (value_of(options, loose), ())


class TestOut:
    @pytest.mark.parametrize("limit", [70, 100])
    @pytest.mark.parametrize(("elimination", "out"), [("over", (2,)), ("reach", (1, 2))])
    def test_who_is_above_the_limit_is_out_and_where_agreed_who_reaches_it(
        self, limit: Literal[70, 100], elimination: Literal["over", "reach"], out: tuple[int, ...]
    ) -> None:
        """CC-R3."""
        options = Options(limit=limit, elimination=elimination, reentries=0)
        match = Match(options, seats=4).totals(0, limit - 24, limit + 1 - 40, 0).closed(*HANDS)
        match.scored()
        assert match.events(WentOut) == [WentOut(out)]

    def test_of_several_the_lowest_total_is_named_first(self) -> None:
        match = Match(Options(reentries=0), seats=4).totals(0, 110 - 24, 105 - 40, 0).closed(*HANDS)
        match.scored()
        assert match.events(WentOut) == [WentOut((2, 1))]

    def test_of_the_same_total_the_first_in_turn_order(self) -> None:
        match = Match(Options(reentries=0), seats=4).totals(0, 110 - 24, 110 - 40, 0).closed(*HANDS)
        match.scored()
        assert match.events(WentOut) == [WentOut((1, 2))]

    def test_a_deal_that_puts_nobody_out_says_nothing_of_it(self) -> None:
        match = Match().closed(*HANDS[:3])
        match.scored()
        assert match.events(WentOut) == []


class TestChinchonWins:
    """CC-R7, chinchon_wins=on: the match ends at once."""

    OPTIONS = Options(chinchon_wins="on")

    def test_the_player_takes_the_pot_and_the_match_is_over(self) -> None:
        match = Match(self.OPTIONS).given(Staked((0, 1, 2), 3)).totals(50, 30, 0)
        match.closed(CHINCHON).scored()
        assert match.events(PotTaken) == [PotTaken((0,), (3,))]
        assert match.events(Ended) == [Ended("finished", (1, 3, 2))]

    def test_it_does_not_where_that_is_not_agreed(self) -> None:
        match = Match().closed(CHINCHON)
        match.scored()
        assert match.events(PotTaken) == []
        assert match.state.deal == 2

    def test_being_over_the_limit_does_not_matter(self) -> None:
        match = Match(self.OPTIONS).totals(150, 30, 99).closed(CHINCHON)
        match.scored()
        assert match.events(PotTaken) == [PotTaken((0,), (0,))]
        assert match.events(WentOut) == [WentOut((2,))]
        assert match.table.places == (1, 2, 3)

    def test_of_several_the_closer_wins(self) -> None:
        match = Match(self.OPTIONS).deal("B1 B2 B3 B4 B5 B6 B7", CHINCHON, stock="O12 B12").silent(2)
        match.plays(DrawStock(), Close("B12")).scored()
        assert match.view(None).chinchon == (0, 1)
        assert match.events(PotTaken)[0].seats == (1,)

    def test_else_the_first_in_turn_order(self) -> None:
        match = Match(self.OPTIONS).closed(FIVE_LEFT, "B1 B2 B3 B4 B5 B6 B7", CHINCHON)
        match.scored()
        assert match.events(PotTaken)[0].seats == (1,)

    def test_that_is_from_the_forehand_on_whoever_closed(self) -> None:
        hands = ("B1 B2 B3 B4 B5 B6 B7", CHINCHON, FIVE_LEFT.replace("C1", "E1"))
        match = Match(self.OPTIONS).deal(*hands, stock="O12 O11 B12").silent(4).plays(DrawStock(), Close("B12"))
        match.scored()
        assert match.view(None).chinchon == (0, 1)
        assert match.events(PotTaken)[0].seats == (0,)

    def test_after_a_deal_that_nobody_closed_too(self) -> None:
        match = (
            Match(Options(chinchon_wins="on", recycles=0))
            .deal("O1 O4 O7 E1 E3 B6 B10", CHINCHON)
            .emptied()
            .plays(DrawStock())
        )
        match.scored()
        assert match.events(PotTaken)[0].seats == (1,)


class TestNextDeal:
    """CC-R2: the forehand moves on, the old one deals; who is out is skipped."""

    def test_the_next_player_has_the_forehand_and_the_former_deals(self) -> None:
        match = Match().closed(*HANDS[:3])
        match.scored()
        (_, dealt) = match.events(Dealt)
        assert (dealt.deal, dealt.order) == (2, (1, 2, 0))
        assert match.state.phase == Turn(1, 0, 0)

    @pytest.mark.parametrize(
        ("out", "order"), [((1,), (2, 3, 0)), ((0,), (1, 2, 3)), ((1, 2), (3, 0)), ((0, 3), (1, 2)), ((0, 1), (2, 3))]
    )
    def test_who_is_out_is_skipped(self, out: tuple[int, ...], order: tuple[int, ...]) -> None:
        match = Match(Options(reentries=0), seats=4).totals(*(99 if seat in out else 0 for seat in range(4)))
        match.closed(*HANDS).scored()
        assert match.state.order == order
        assert match.view(None).dealer == order[-1]
        assert match.view(None).out == out

    def test_after_the_last_deal_that_has_a_number_the_match_ends_as_it_stands(self) -> None:
        match = Match().given(Staked((0, 1, 2), 3)).totals(50, 0, 0)
        match.deal(*HANDS[:3], stock="B12", deal=65_535).plays(DrawStock(), Close("B12")).scored()
        assert match.events(Ended) == [Ended("finished", (3, 1, 2))]
