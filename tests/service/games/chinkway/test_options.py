"""Facts about what stands for silent players of Chinkway, and about its options."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, Literal

import msgspec
import pytest

from events.base import Event
from events.cards import FrenchCard
from events.games.chinkway import (
    Captured,
    Dealt,
    Options,
    Played,
    TrickTaken,
)
from events.table import Ended, Shuffled
from projections.games.chinkway import SEATS, Capturing
from service.game import REASONS, Command, Refused
from service.games.chinkway import GAME, Capture, Declare, Decline, Discard, Play
from tests.cases.chinkway_scene import Scene
from tests.service.games.chinkway.match import (
    EVERY_OPTION,
    Match,
    chance,
    idle,
    scene,
)

QUEST = ["3C", "AH", "JC", "QD", "9D"]


class TestIdle:
    def test_the_dealer_discards_the_two_lowest_clubs_before_spades(self) -> None:
        hand = ["2S", "2H", "2C", "3D", "AS", "AH", "AD", "AC", "KS", "KH", "KD", "KC"]
        match = Scene({"hand": hand, "phase": "discard"}, Options())
        assert GAME.idle(match.state, 0) == Discard(("C2", "H2"))

    def test_no_trumps_are_named(self) -> None:
        match = Scene({"dealer_hand_size": 10}, Options())
        assert GAME.idle(match.state, 0) == Declare("NT")

    @pytest.mark.parametrize(
        ("void", "hand", "card"),
        [
            ("free", ["3H", "3D", "TC"], "D3"),
            ("must_trump", ["3H", "2H", "2D"], "H2"),
            ("free", ["9S", "2D", "TS"], "S9"),
        ],
    )
    def test_the_lowest_legal_card_is_played(self, void: str, hand: list[str], card: str) -> None:
        match = Scene(
            {"hand": hand, "led_suit": "S", "trump": "H"},
            msgspec.convert({"void": void}, Options),
        )
        assert GAME.idle(match.state, 2) == Play(msgspec.convert(card, FrenchCard))

    def test_a_capture_is_declined_or_is_the_first_that_meets_a_part(self) -> None:
        given: dict[str, Any] = {"quest_cards": QUEST, "winner": "P2", "partner_has": ["4C"]}
        # Two cards would meet a part: of those it is the one played first.
        given |= {"trick": ["5C", "JH", "KH", "TS", "4S"]}
        assert GAME.idle(scene(**given).state, 1) == Decline()
        assert GAME.idle(scene(Options(capture_timeout="first_needed"), **given).state, 1) == Capture("HJ")
        given |= {"trick": ["5C", "7C", "2S", "TS", "4S"], "winner": "P3"}
        surplus = scene(Options(capture_timeout="first_needed"), **given)
        assert isinstance(surplus.state.phase, Capturing)
        assert GAME.idle(surplus.state, 2) == Decline()


class TestOptions:
    @pytest.mark.parametrize("partners", ["switch", "fixed", "five"])
    @pytest.mark.parametrize("deals", [5, 10, 11])
    def test_five_deals_and_partners_five_go_together(
        self, partners: Literal["switch", "fixed", "five"], deals: Literal[5, 10, 11]
    ) -> None:
        options = Options(partners=partners, deals=deals)
        if (partners == "five") == (deals == 5):
            GAME.check(options)
        else:
            with pytest.raises(Refused, match="options_conflict"):
                GAME.check(options)

    @pytest.mark.parametrize(
        ("options", "changed"),
        [
            (Options(partners="fixed"), (Dealt, {"sides"})),
            (Options(partners="five", deals=5), (Dealt, {"sides"})),
            (Options(deals=11), (Ended, None)),
            (Options(void="must_trump"), (Played, {"card"})),
            (Options(quest_removed="two_any"), (Shuffled, {"order"})),
            (Options(quest_removed="none"), (Shuffled, {"c", "order"})),
            (Options(quest_pack="reshuffle"), (Shuffled, {"c", "order"})),
            (Options(aces="court"), (TrickTaken, {"choices"})),
            (Options(surplus="refuse"), (TrickTaken, {"choices"})),
            (Options(team_scoring="sum"), (Captured, {"credited"})),
            (Options(capture_timeout="first_needed"), None),
        ],
    )
    def test_an_option_changes_its_own_matter_first(
        self, options: Options, changed: tuple[type[Event], set[str] | None] | None
    ) -> None:
        assert options in [*EVERY_OPTION, Options(quest_removed="none")]
        pairs = zip_longest(played(Options()), played(options))
        first = next(((one, other) for one, other in pairs if one != other), None)
        if changed is None:
            assert first is None
            return
        assert first is not None
        one, other = first
        kind, fields = changed
        assert type(one) is kind
        if fields is not None:
            assert type(other) is kind
            assert {name for name in one.__struct_fields__ if getattr(one, name) != getattr(other, name)} == fields


def played(options: Options) -> Iterator[Event]:
    """Yield all events of one match in which everybody plays alike: hearts, low cards, and every capture."""
    match = Match(options, chance(6))

    def choose(legal: Sequence[Command]) -> Command:
        match legal[0]:
            case Declare():
                return Declare("H")
            case Capture():
                return legal[0]
            case _:
                return idle(match)

    for _ in match.play(choose):
        pass
    for entry in match.entries[1:]:
        yield from entry.events


def test_no_seat_but_the_five_can_play() -> None:
    assert GAME.seats == (SEATS, SEATS, SEATS)


def test_every_reason_of_the_game_has_a_sentence_and_hides_none_of_the_tables() -> None:
    assert all(sentence.endswith(".") for sentence in GAME.reasons.values())
    assert not set(GAME.reasons) & set(REASONS)
