"""Facts about an empty stock of Chinchón: made anew of the discards, or the end of the deal.

Ids such as CC-R12 name the rulings that the rules of the game list.
"""

import pytest

from events.cards import SPANISH_40, SpanishCard
from events.games.chinchon import (
    Exposed,
    ExposureBegan,
    LayOffBegan,
    Options,
    StockDrawn,
    StockExhausted,
    StockRecycled,
)
from events.table import Shuffled, TurnBegan
from service.chance import number
from service.games.chinchon import DrawDiscard, DrawStock, Expose
from tests.service.games.chinchon.match import Match, Packs, laid


def emptied(options: Options | None = None) -> Match:
    """Return a match of four whose stock is empty, seat 3 at turn; all drew from it and threw what they drew."""
    return Match(options, 4).deal(stock="B12 O10").emptied()


def shuffled(match: Match, kept: int = 0, deal: int = 1, times: int = 1) -> tuple[SpanishCard, ...]:
    """State that the discards but for those kept are shuffled back to front; return them so."""
    pile = sorted(match.state.discards[: len(match.state.discards) - kept], key=SPANISH_40.index)
    match.orders[number(deal, times)] = tuple(reversed(pile))
    return tuple(reversed(pile))


class TestRecycle:
    def test_all_discards_are_shuffled_into_a_new_stock_once_somebody_chooses_it(self) -> None:
        match = emptied()
        order = shuffled(match)
        assert len(order) == 12
        assert match.do(DrawStock()) == (
            Shuffled(number(1, 1), order),
            StockRecycled(3, 12, None, order),
            StockDrawn(3, order[0], 11),
            TurnBegan((3,)),
        )
        assert match.view(None).discards == ()
        assert (match.view(None).stock, match.view(None).recycled) == (11, 1)

    def test_the_top_discard_stays_where_that_is_agreed(self) -> None:
        match = emptied(Options(recycle="keep_top"))
        top = match.state.discards[-1]
        order = shuffled(match, kept=1)
        _, recycled, drawn, _ = match.do(DrawStock())
        assert recycled == StockRecycled(3, 11, top, order)
        assert drawn == StockDrawn(3, order[0], 10)
        assert match.view(None).discards == (top,)

    def test_the_last_discard_may_still_be_taken_before(self) -> None:
        """CC-54."""
        match = emptied()
        top = match.state.discards[-1]
        match.do(DrawDiscard())
        assert match.state.drawn == top
        assert (match.view(None).stock, len(match.view(None).discards)) == (0, 11)

    def test_the_cards_lie_in_printed_order_before_they_are_shuffled(self) -> None:
        """Shuffle/1: a part of a pack does too, however it was gathered."""
        match = emptied()
        order = shuffled(match)
        assert list(match.state.discards) != sorted(match.state.discards, key=SPANISH_40.index)
        match.chance = chance = Packs({number(1, 1): order})
        match.do(DrawStock())
        assert chance.packs == {number(1, 1): order[::-1]}

    def test_each_shuffle_of_a_deal_has_the_next_number(self) -> None:
        match = emptied()
        for times in (1, 2, 3):
            shuffled(match, times=times)
            match.silent().emptied()
        assert [event.c for event in match.events(Shuffled)] == [number(1, 1), number(1, 2), number(1, 3)]
        match.totals(0, 0, 0, 0).deal(deal=2)
        assert match.view(None).recycled == 0

    def test_with_mistakes_a_second_draw_finds_no_discard_after_it(self) -> None:
        match = emptied(Options(mistakes="table"))
        shuffled(match)
        match.do(DrawStock())
        assert match.reason(DrawDiscard()) == "no_up_card"
        assert DrawDiscard() not in match.legal()
        assert DrawStock() in match.legal()


class TestExhausted:
    def test_after_the_last_new_stock_choosing_an_empty_one_ends_the_deal(self) -> None:
        match = emptied(Options(recycles=1))
        shuffled(match)
        match.silent().emptied()
        seat = match.to_act
        assert match.do(DrawStock()) == (StockExhausted(seat), ExposureBegan(seat), TurnBegan((seat,)))

    def test_or_the_first_where_none_is_made(self) -> None:
        match = emptied(Options(recycles=0))
        assert DrawStock() in match.legal()
        assert match.do(DrawStock()) == (StockExhausted(3), ExposureBegan(3), TurnBegan((3,)))
        assert match.view(None).closer is None
        assert match.view(None).closing_cards == ()

    def test_the_last_discard_may_be_taken_instead(self) -> None:
        assert DrawDiscard() in emptied(Options(recycles=0)).legal()

    def test_all_lay_out_in_turn_order_from_who_chose_it(self) -> None:
        match = emptied(Options(recycles=0)).plays(DrawStock())
        asked = [match.to_act]
        for _ in range(3):
            match.do(Expose())
            asked.append(match.to_act)
        assert asked == [3, 0, 1, 2]

    @pytest.mark.parametrize(("layoff", "asked"), [("phases", True), ("closer", False), ("none", False)])
    def test_cards_are_laid_off_on_everybodys_combinations_or_where_it_is_the_closers_alone_on_none(
        self, layoff: str, asked: bool
    ) -> None:
        options = Options(recycles=0, layoff=layoff)  # type: ignore[arg-type] # one of its values
        hands = ("O1 O3 C5 C7 E2 E4 B7", "O2 O4 O10 C1 C3 E5 E7", "O11 O12 C2 C10 E1 E6 B3", "O5 O6 O7 C4 C6 E3 B1")
        match = Match(options, 4).deal(*hands).emptied().plays(DrawStock())
        exposed, following, *_ = match.do(Expose())
        assert exposed == Exposed(3, laid("O5 O6 O7"), 4, chinchon=False)
        assert following == (LayOffBegan(0, 3) if asked else ExposureBegan(0))

    def test_with_mistakes_a_second_draw_from_it_ends_the_deal_with_eight_cards_in_hand(self) -> None:
        match = emptied(Options(recycles=0, mistakes="table"))
        match.plays(DrawDiscard(), DrawStock())
        assert match.view(None).phase == "expose"
        assert match.view(None).held[3] == 8
