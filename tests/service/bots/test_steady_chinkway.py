"""What `steady` does at Chinkway where one move is plainly best: seat 0 with a view made up card by card."""

from events.games.chinkway import Shares, Trump
from projections.games.chinkway.state import Trick
from service.games.chinkway.commands import Capture, Declare, Decline, Discard, Play
from tests.service.bots.steady import cards, choice, seen

NOTHING = Shares(**dict.fromkeys(("spades", "hearts", "diamonds", "clubs", "court"), 0))
HEARTS = Shares(spades=0, hearts=5, diamonds=0, clubs=0, court=0)
SEATS = 5


def best_play(trick: str, hand: str, *, leader: int = 1, wanted: Shares = HEARTS, trump: Trump = "NT") -> str:
    """Return the card that is played of a hand to a trick; seats 0 and 1 are partners, 4 deals."""
    played, held = cards(trick), cards(hand)
    view = seen(
        "chinkway",
        SEATS,
        phase="play",
        dealer=4,
        sides=((4,), (0, 1), (2, 3)),
        hand=held,
        held=(8,) * SEATS,
        trump=trump,
        quest=("H2", "H3", "H4", "H5", "H6"),
        wanted=wanted,
        met=(NOTHING,) * SEATS,
        trick=Trick(leader, played, None),
        seen=played,
    )
    chosen = choice(view, *map(Play, held))
    assert isinstance(chosen, Play)
    return chosen.card


def test_a_trick_with_a_part_in_it_is_taken_as_cheaply_as_it_can_be() -> None:
    assert best_play("H5 H7 H8 H9", "HQ HA H2") == "HQ"


def test_a_trick_without_a_part_in_it_is_not_worth_a_high_card() -> None:
    assert best_play("S5 S7 S8 S9", "SA SQ S2") == "S2"


def test_a_partner_is_given_the_card_that_the_side_lacks() -> None:
    assert best_play("SA S7 S8 S9", "D3 H3 C2") == "H3"


def test_others_are_not_given_the_card_that_they_lack() -> None:
    assert best_play("S5 SA S8 S9", "H3 D7 CT") != "H3"


def test_a_trump_takes_what_the_suit_can_not() -> None:
    assert best_play("H5 HA H8 H9", "D3 S2 C2", trump="D") == "D3"


def test_the_card_that_no_other_can_beat_is_led_with_a_part() -> None:
    assert best_play("", "HA S4 D5", leader=0) == "HA"
    assert best_play("", "H9 HA", leader=0) == "HA"


def best_capture(choices: str, needed: str, wanted: Shares, hand: str) -> object:
    """Return what is captured of these cards, or that none is."""
    offered = cards(choices)
    view = seen(
        "chinkway",
        SEATS,
        phase="capture",
        sides=((4,), (0, 1), (2, 3)),
        dealer=4,
        hand=cards(hand),
        wanted=wanted,
        met=(NOTHING,) * SEATS,
        choices=offered,
        needed=cards(needed),
        seen=offered,
    )
    return choice(view, *map(Capture, offered), Decline())


def test_a_needed_card_is_captured_before_one_that_meets_nothing() -> None:
    wanted = Shares(spades=1, hearts=0, diamonds=0, clubs=0, court=4)
    assert best_capture("HQ S5", "S5", wanted, "D2") == Capture("S5")


def test_what_is_asked_for_more_often_is_captured_first() -> None:
    wanted = Shares(spades=1, hearts=4, diamonds=0, clubs=0, court=0)
    assert best_capture("S5 H5", "S5 H5", wanted, "D2") == Capture("H5")
    assert best_capture("H5 S5", "H5 S5", wanted, "D2") == Capture("H5")


def test_the_long_strong_suit_is_trumps() -> None:
    trumps = [Declare(trump) for trump in ("S", "H", "D", "C", "NT")]
    strong = seen("chinkway", SEATS, phase="declare", hand=cards("D3 D5 D9 DJ DK DA S2 H4 C3 C7"))
    assert choice(strong, *trumps) == Declare("D")
    short = seen("chinkway", SEATS, phase="declare", hand=cards("S2 S5 S8 H3 HQ HA D4 D7 C3 C8"))
    assert choice(short, *trumps) == Declare("H")


def test_the_low_cards_of_a_short_suit_are_laid_away() -> None:
    hand = cards("S4 S8 SQ SA H5 H9 HJ HK HA D7 C2 C3")
    pairs = [Discard((one, other)) for place, one in enumerate(hand) for other in hand[place + 1 :]]
    assert choice(seen("chinkway", SEATS, phase="discard", hand=hand), *pairs) == Discard(("C2", "C3"))
