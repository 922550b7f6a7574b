"""Facts about sets, runs, layouts and laying off, by hand and against trying everything."""

from collections.abc import Iterator, Sequence
from itertools import combinations, combinations_with_replacement
from random import Random

import pytest

from events.cards import SPANISH, SPANISH_40
from service.rules.melds import Fault, Layout, Melds, NoLayout
from tests.service.rules.naive import Naive
from tests.sizes import FULL

PACK_40: Sequence[str] = SPANISH_40
PACK_48: Sequence[str] = SPANISH
COUNTS_40 = {card: int(card[1:]) if int(card[1:]) <= 7 else int(card[1:]) - 2 for card in PACK_40}
COUNTS_48 = {card: int(card[1:]) for card in PACK_48}

FORTY = Melds(PACK_40, COUNTS_40)
FORTY_EIGHT = Melds(PACK_48, COUNTS_48)
TWO_PACKS = Melds(PACK_40, COUNTS_40, packs=2)
DISTINCT = Melds(PACK_40, COUNTS_40, packs=2, distinct_suits=True)


# Where every card counts the same, what comes after the points tells layouts apart.
LEVEL = Melds(PACK_40, dict.fromkeys(PACK_40, 1))
LEVEL_TWO_PACKS = Melds(PACK_40, dict.fromkeys(PACK_40, 1), packs=2)


def cards(names: str) -> tuple[str, ...]:
    return tuple(names.split())


@pytest.mark.parametrize(
    ("named", "melds"),
    [
        ("O7 C7 E7", FORTY),
        ("O7 C7 E7 B7", FORTY),
        ("B7 O7 E7", FORTY),
        ("O5 O5 C5", TWO_PACKS),
        ("O5 O5 C5 C5 E5 E5 B5 B5", TWO_PACKS),
        ("O5 C5 E5", DISTINCT),
        ("O5 C5 E5 B5", DISTINCT),
    ],
)
def test_three_cards_or_more_of_one_rank_are_a_set(named: str, melds: Melds[str]) -> None:
    assert melds.is_set(cards(named))
    assert melds.is_combination(cards(named))
    assert melds.can_combine(cards(named))
    assert not melds.is_run(cards(named))


@pytest.mark.parametrize(
    ("named", "melds"),
    [
        ("O1 O2 O3", FORTY),
        ("O3 O1 O2", FORTY),
        ("O6 O7 O10", FORTY),
        ("B1 B2 B3 B4 B5 B6 B7 B10 B11 B12", FORTY),
        ("O7 O8 O9 O10", FORTY_EIGHT),
        ("E4 E5 E6", DISTINCT),
    ],
)
def test_three_cards_or_more_of_one_suit_that_follow_one_another_are_a_run(named: str, melds: Melds[str]) -> None:
    assert melds.is_run(cards(named))
    assert melds.is_combination(cards(named))
    assert melds.can_combine(cards(named))
    assert not melds.is_set(cards(named))


@pytest.mark.parametrize(
    ("named", "melds"),
    [
        ("", FORTY),
        ("O7", FORTY),
        ("O7 C7", FORTY),
        ("O6 O7", FORTY),
        ("O6 O7 O10", FORTY_EIGHT),
        ("O11 O12 O1", FORTY),
        ("O12 O1 O2", FORTY),
        ("O12 C1 C2", FORTY),
        ("O4 C5 O6", FORTY),
        ("O4 O5 C5 E5", FORTY),
        ("O5 O5 O6 O7", TWO_PACKS),
        ("O5 O6 O6", TWO_PACKS),
        ("O5 O5 C5", DISTINCT),
        ("O5 O5 C5 E5", DISTINCT),
    ],
)
def test_other_cards_are_no_combination(named: str, melds: Melds[str]) -> None:
    assert not melds.is_combination(cards(named))
    assert not melds.is_set(cards(named))
    assert not melds.is_run(cards(named))


@pytest.mark.parametrize(
    ("hand", "layout"),
    [
        ("O5 C5 E5 B5 B6 B7 O12", Layout((cards("O5 C5 E5"), cards("B5 B6 B7")), cards("O12"), 10)),
        ("C3 C4 C5 C6 C7 O7 E7", Layout((cards("O7 C7 E7"), cards("C3 C4 C5 C6")), (), 0)),
        ("O1 C2 E4 B6 O7 C10 E12", Layout((), cards("O1 O7 C2 C10 E4 E12 B6"), 38)),
        ("C4 C5 C6 C7 C10 C11 C12", Layout((cards("C4 C5 C6 C7 C10 C11 C12"),), (), 0)),
        ("", Layout((), (), 0)),
    ],
)
def test_the_best_layout_leaves_the_fewest_points(hand: str, layout: Layout[str]) -> None:
    assert FORTY.best(cards(hand)) == layout
    assert FORTY.best(cards(hand)[::-1]) == layout


def test_a_long_run_comes_before_the_two_it_can_be_cut_into() -> None:
    assert FORTY.best(cards("O1 O2 O3 O4 O5 O6")).combinations == (cards("O1 O2 O3 O4 O5 O6"),)


def test_of_as_many_points_the_fewest_loose_cards_come_first() -> None:
    worthless = Melds(PACK_40, COUNTS_40 | {"O4": 0, "O1": 0})
    assert worthless.best(cards("O1 O2 O3 O4")).loose == ()


def test_of_as_many_combinations_the_cards_printed_first_are_laid_out() -> None:
    assert LEVEL.best(cards("O2 C2 E2 E3 E4")).combinations == (cards("O2 C2 E2"),)
    assert LEVEL.best(cards("B2 C2 E2 C3 C4")).combinations == (cards("C2 C3 C4"),)


def test_of_as_many_cards_the_fewest_combinations_are_laid_out() -> None:
    assert LEVEL.best(cards("O3 E3 C1 C2 C3 C4 C5 C6")).combinations == (cards("C1 C2 C3 C4 C5 C6"),)


def test_of_the_same_cards_the_combinations_printed_first_are_laid_out() -> None:
    assert FORTY.best(cards("O7 C7 E7 B7 C4 C5 C6")).combinations == (cards("O7 C7 E7 B7"), cards("C4 C5 C6"))


def test_two_packs_hold_a_run_twice() -> None:
    hand = cards("O5 O6 O7 O5 O6 O7 E1 E1")
    assert TWO_PACKS.best(hand) == Layout((cards("O5 O6 O7"), cards("O5 O6 O7")), cards("E1 E1"), 2)


def test_nine_cards_are_laid_out_in_three_combinations() -> None:
    hand = cards("O1 O2 O3 C5 E5 B5 E10 E11 E12")
    assert FORTY.best(hand).combinations == (cards("O1 O2 O3"), cards("C5 E5 B5"), cards("E10 E11 E12"))


def test_a_card_out_of_the_pack_is_a_bug() -> None:
    with pytest.raises(KeyError):
        FORTY.best(cards("O8 O9 O10"))


def test_a_suit_may_lack_a_rank() -> None:
    melds = Melds([card for card in PACK_40 if card != "C7"], COUNTS_40)
    assert melds.best(cards("C5 C6 C10 C11")).combinations == ()
    assert melds.best(cards("O7 E7 B7")).combinations == (cards("O7 E7 B7"),)
    assert melds.best(cards("O5 O6 O7 O10")).combinations == (cards("O5 O6 O7 O10"),)


def test_layouts_of_four_of_a_rank_are_each_once_whole_first() -> None:
    assert [layout.combinations[0] for layout in FORTY.layouts(cards("O5 C5 E5 B5"))] == [
        cards("O5 C5 E5 B5"),
        cards("O5 C5 E5"),
        cards("O5 C5 B5"),
        cards("O5 E5 B5"),
        cards("C5 E5 B5"),
    ]
    twins = [layout.combinations[0] for layout in TWO_PACKS.layouts(cards("O5 O5 C5 C5"))]
    assert twins == [cards("O5 O5 C5 C5"), cards("O5 O5 C5"), cards("O5 C5 C5")]


def test_without_combinations_the_one_layout_is_the_hand() -> None:
    assert list(FORTY.layouts(cards("O5 C4"))) == [Layout((), cards("O5 C4"), 9)]


def test_a_layout_is_arranged_as_the_player_names_it() -> None:
    hand = cards("O5 C5 E5 B5 B6 B7 O12")
    assert FORTY.arrange(hand, [cards("B7 B5 B6"), cards("E5 O5 C5")]) == Layout(
        (cards("B5 B6 B7"), cards("O5 C5 E5")), cards("O12"), 10
    )
    # The fourth five may stay, for it is no combination more.
    assert FORTY.arrange(hand, [cards("C5 E5 B5")]).points == 5 + 10 + 6 + 7
    assert FORTY.arrange(cards("O1 C2"), []) == Layout((), cards("O1 C2"), 3)


@pytest.mark.parametrize(
    ("hand", "groups", "fault"),
    [
        ("O5 C5 E5 B7", ["O5 C5 B5"], "not_held"),
        ("O5 C5 E5 B7", ["O5 O5 C5"], "not_held"),
        ("O5 C5 E5 B5", ["O5 C5 E5", "E5 B5 O5"], "not_held"),
        ("O5 C5 E5 B7", ["O5 C5 O8"], "not_held"),
        ("O5 C5 E5 B7", ["O5 C5 E5", ""], "no_combination"),
        ("O5 C5 E5 B7", ["O5 C5 B7"], "no_combination"),
        ("O5 C5 E5 B7", ["O5 C5"], "no_combination"),
        ("O5 C5 E5 B7", [], "combines_further"),
        ("O5 C5 E5 B5 B6 B7", ["O5 C5 E5"], "combines_further"),
        ("O1 O2 O3 O4 O5 O6", ["O1 O2 O3"], "combines_further"),
    ],
)
def test_what_is_no_layout_is_told_by_its_fault(hand: str, groups: Sequence[str], fault: Fault) -> None:
    with pytest.raises(NoLayout) as raised:
        FORTY.arrange(cards(hand), map(cards, groups))
    assert raised.value.fault == fault


@pytest.mark.parametrize(
    ("combination", "card", "longer"),
    [
        ("C4 C5 C6", "C7", "C4 C5 C6 C7"),
        ("C4 C5 C6", "C3", "C3 C4 C5 C6"),
        ("C5 C6 C7", "C10", "C5 C6 C7 C10"),
        ("O7 C7 B7", "E7", "O7 C7 E7 B7"),
        ("C4 C5 C6", "C10", None),
        ("C4 C5 C6", "C5", None),
        ("C4 C5 C6", "O7", None),
        ("C10 C11 C12", "C1", None),
        ("O7 C7 B7", "B6", None),
    ],
)
def test_a_card_is_laid_off_where_a_combination_stays_one(combination: str, card: str, longer: str | None) -> None:
    assert FORTY.extended(cards(combination), card) == (longer and cards(longer))


def test_a_set_takes_a_card_again_unless_its_suits_are_distinct() -> None:
    assert TWO_PACKS.extended(cards("O7 C7 B7"), "C7") == cards("O7 C7 C7 B7")
    assert DISTINCT.extended(cards("O7 C7 B7"), "C7") is None
    assert DISTINCT.extended(cards("O7 C7 B7"), "E7") == cards("O7 C7 E7 B7")


@pytest.mark.parametrize(
    ("hand", "table", "laid"),
    [
        ("C7 C10 O1 E1 B2 B4 E12", ["C4 C5 C6"], "C7 C10"),
        ("B7 O1 C2 E4 O6 B10 C12", ["O7 C7 E7"], "B7"),
        ("O5 C5 E5 B5 B6 C1 O12", ["B2 B3 B4"], "B5 B6"),
        ("C3 C7 O1 E2 B4 E10 O12", ["C4 C5 C6"], "C3 C7"),
        ("C1 C2 C3 O7", ["C4 C5 C6"], "C3 C2 C1"),
        ("C2 C3 O7", ["C4 C5 C6"], "C3 C2"),
        ("C10 O7", ["C4 C5 C6"], ""),
    ],
)
def test_what_is_laid_off_and_what_is_laid_out_of_the_rest_are_best_together(
    hand: str, table: Sequence[str], laid: str
) -> None:
    plan = FORTY.lay_offs(cards(hand), [cards(each) for each in table], one_a_run=False)
    assert plan == tuple((card, 0) for card in cards(laid))


def test_a_card_that_fits_twice_goes_to_the_first_combination() -> None:
    table = [cards("O7 C7 E7"), cards("B4 B5 B6")]
    assert FORTY.lay_offs(["B7"], table, one_a_run=False) == (("B7", 0),)
    assert FORTY.lay_offs(["B7"], table[::-1], one_a_run=False) == (("B7", 0),)
    assert FORTY.lay_offs(["B7", "B10"], table, one_a_run=False) == (("B7", 1), ("B10", 1))


def test_where_a_run_takes_one_card_it_takes_the_dearest() -> None:
    table = [cards("C4 C5 C6"), cards("O1 C1 E1")]
    hand = cards("C3 C7 C10 B1 O1")
    assert TWO_PACKS.lay_offs(hand, table, one_a_run=True) == (("O1", 1), ("C7", 0), ("B1", 1))
    assert TWO_PACKS.lay_offs(hand, table, one_a_run=True, closed=[0]) == (("O1", 1), ("B1", 1))
    assert TWO_PACKS.lay_offs(hand, table, one_a_run=False, closed=[1]) == (("C3", 0), ("C7", 0), ("C10", 0))


def test_of_as_many_points_the_fewest_loose_cards_are_left_by_laying_off() -> None:
    worthless = Melds(PACK_40, COUNTS_40 | {"B7": 0})
    assert worthless.lay_offs(["B7"], [cards("O7 C7 E7")], one_a_run=False) == (("B7", 0),)


def test_of_as_many_cards_laid_off_the_fewest_combinations_are_left() -> None:
    # With the E1 laid off instead the threes would be a set, and E4 to E6 a run.
    hand, table = cards("O3 C3 E1 E2 E3 E4 E5 E6"), [cards("O4 O5 O6"), cards("O1 C1 B1")]
    assert LEVEL.lay_offs(hand, table, one_a_run=False) == (("O3", 0),)


def test_of_as_many_combinations_the_cards_not_loose_that_are_printed_first_are_left() -> None:
    # Either the B11 goes and the B10 stays loose, or the C11 goes and the C10 does, which is printed before it.
    hand, table = cards("O7 O7 C7 C10 C11 B7 B10 B11"), [cards("O11 C11 E11 B11")]
    assert LEVEL_TWO_PACKS.lay_offs(hand, table, one_a_run=False) == (("B11", 0),)


def test_a_whole_run_goes_onto_another_for_that_leaves_no_combination() -> None:
    run = cards("C4 C5 C6 C7 C10 C11 C12")
    plan = TWO_PACKS.lay_offs(run, [cards("C1 C2 C3"), cards("O7 E7 B7")], one_a_run=False)
    assert plan == tuple((card, 0) for card in run)


def hands(pack: Sequence[str], packs: int, size: int) -> Iterator[tuple[str, ...]]:
    """Yield every hand of a size, once by names."""
    if packs == 1:
        yield from combinations(pack, size)
        return
    for hand in combinations_with_replacement(pack, size):
        if all(hand[place] != hand[place + packs] for place in range(size - packs)):
            yield hand


# The sevens are followed by the sotas here, as in a pack of 40.
RANKS = ("5", "6", "7", "10", "11")


def reduced(suits: str, ranks: int) -> tuple[str, ...]:
    return tuple(suit + rank for suit in suits for rank in RANKS[:ranks])


@pytest.mark.parametrize(
    ("pack", "packs", "distinct"),
    [
        (reduced("OCE", 4), 1, False),
        (reduced("OC", 5), 1, False),
        (reduced("OC", 4), 2, False),
        (reduced("OCE", 2), 2, True),
        *(
            [
                (reduced("OCE", 5), 1, False),
                (reduced("OCEB", 4), 1, False),
                (reduced("OC", 5), 2, False),
                (reduced("OCE", 3), 2, False),
                (reduced("OCE", 3), 2, True),
                (reduced("OCEB", 2), 2, True),
            ]
            if FULL
            else []
        ),
    ],
)
@pytest.mark.parametrize("size", [6, 7, 8])
def test_every_hand_of_a_small_pack_is_laid_out_as_trying_everything_does(
    pack: Sequence[str], packs: int, size: int, *, distinct: bool
) -> None:
    values = {card: int(card[1:]) for card in pack}
    melds, naive = Melds(pack, values, packs=packs, distinct_suits=distinct), Naive(pack, values, distinct)
    for hand in hands(pack, packs, size):
        layouts = naive.layouts(hand)
        assert melds.best(hand) == layouts[0]
        assert list(melds.layouts(hand)) == naive.finished(layouts)
        assert melds.can_combine(hand) == (len(layouts) > 1)


@pytest.mark.parametrize(("packs", "distinct"), [(1, False), (2, False), (2, True)])
def test_hands_of_large_packs_are_laid_out_as_trying_everything_does(packs: int, *, distinct: bool) -> None:
    rng = Random(5)
    values = {card: rng.choice([1, 2]) for card in PACK_48}
    melds, naive = Melds(PACK_48, values, packs=packs, distinct_suits=distinct), Naive(PACK_48, values, distinct)
    for _ in range(3_000 if FULL else 150):
        # Of few ranks, so that most hands combine.
        first = rng.randint(1, 8)
        ranks = range(first, first + 5)
        hand = rng.sample([card for card in PACK_48 if int(card[1:]) in ranks] * packs, rng.randint(3, 9))
        layouts = naive.layouts(hand)
        assert melds.best(hand) == layouts[0]
        assert list(melds.layouts(hand)) == naive.finished(layouts)


@pytest.mark.parametrize("melds", [FORTY, TWO_PACKS, DISTINCT])
def test_points_without_a_card_are_those_of_the_best_layout_without_it(melds: Melds[str]) -> None:
    rng = Random(6)
    for _ in range(20_000 if FULL else 1_000):
        ranks = rng.sample(range(1, 8), 4)
        copies = 1 if melds is FORTY else 2
        hand = rng.sample([card for card in PACK_40 if int(card[1:]) in ranks] * copies, 8)
        expected = [melds.best(hand[:place] + hand[place + 1 :]).points for place in range(8)]
        assert list(melds.points_without(hand)) == expected


@pytest.mark.parametrize("one_a_run", [False, True])
@pytest.mark.parametrize(("packs", "distinct"), [(1, False), (2, False), (2, True)])
def test_cards_are_laid_off_as_trying_everything_does(packs: int, *, distinct: bool, one_a_run: bool) -> None:
    rng = Random(7)
    pack = reduced("OCEB", 5)
    values = {card: rng.choice([1, 2]) for card in pack}
    melds, naive = Melds(pack, values, packs=packs, distinct_suits=distinct), Naive(pack, values, distinct)
    played = 0
    while played < (1_500 if FULL else 100):
        stock = rng.sample(list(pack) * packs, len(pack) * packs)
        table = melds.best(stock[:8]).combinations
        if table:
            played += 1
            hand = stock[8 : 8 + rng.randint(2, 6)]
            assert melds.lay_offs(hand, table, one_a_run=one_a_run) == naive.best_plan(
                naive.sort(hand), table, one_a_run=one_a_run
            )
