"""Facts about a deal of Chinkway up to its tricks: the lot, the packs, discard, trumps, quest and plays.

Ids such as CW-R8 name the rulings that the rules of the game list.
"""

from typing import Literal

import msgspec
import pytest

from events.cards import FRENCH, FrenchCard
from events.games.chinkway import (
    DealerDrawn,
    Dealt,
    Declared,
    Discarded,
    Options,
    Played,
    QuestReduced,
    QuestShuffled,
    QuestTurned,
    TrickTaken,
)
from events.table import Shuffled, TurnBegan
from projections.games.chinkway import SEATS, Declaring, Playing
from service.chance import number
from service.games.chinkway import GAME, Declare, Decline, Discard, Play, playable, quests
from tests.cases.chinkway_scene import Scene
from tests.service.games.chinkway.match import (
    PRINTED,
    QUEST_PACK,
    Match,
    chance,
    events_of,
    idle,
    opening,
    reason,
    started,
)
from tests.stated import Stated


class TestStart:
    def test_the_lot_decides_who_deals_first(self) -> None:
        events = started(Options(), PRINTED | {2: QUEST_PACK})
        assert events[:2] == [Shuffled(0, (3, 0, 1, 2, 4)), DealerDrawn(3)]

    def test_two_court_cards_leave_the_quest_pack_and_the_rest_is_shuffled_once(self) -> None:
        events = started(Options(), PRINTED | {2: QUEST_PACK})
        assert events[2:6] == [
            Shuffled(1, quests.COURT_CARDS),
            QuestReduced(("SJ", "SQ")),
            Shuffled(2, QUEST_PACK),
            QuestShuffled(QUEST_PACK),
        ]

    def test_two_any_takes_two_of_all_52(self) -> None:
        left = [card for card in FRENCH if card not in {"CA", "CK"}]
        events = started(Options(quest_removed="two_any"), PRINTED | {1: FRENCH[::-1], 2: left})
        assert events[3] == QuestReduced(("CA", "CK"))
        assert events[5] == QuestShuffled(tuple(left))

    def test_none_removes_nothing_and_leaves_shuffle_1_unused(self) -> None:
        events = started(Options(quest_removed="none"), {**PRINTED, 2: FRENCH})
        assert [event.c for event in events if isinstance(event, Shuffled)] == [0, 2, number(1)]
        assert not any(isinstance(event, QuestReduced) for event in events)

    def test_a_pack_reshuffled_for_every_deal_is_not_shuffled_before_the_first(self) -> None:
        events = started(Options(quest_pack="reshuffle"), PRINTED)
        assert [event.c for event in events if isinstance(event, Shuffled)] == [0, 1, number(1)]

    def test_hands_come_off_the_pack_whole_the_dealers_twelve_last(self) -> None:
        *_, dealt, prompt = started(Options(), PRINTED | {2: QUEST_PACK})
        hands = (FRENCH[10:20], FRENCH[20:30], FRENCH[30:40], FRENCH[40:], FRENCH[:10])
        assert dealt == Dealt(1, 3, ((3,), (4, 0), (1, 2)), hands)
        assert prompt == TurnBegan((3,))

    def test_hands_lie_in_printed_order_however_they_were_dealt(self) -> None:
        events = started(Options(), PRINTED | {2: QUEST_PACK, number(1): FRENCH[::-1]})
        dealt = next(event for event in events if isinstance(event, Dealt))
        assert dealt.hands[4] == FRENCH[42:]
        assert dealt.hands[3] == FRENCH[:12]


class TestDiscard:
    """CW-R8: two cards, face down, before trumps are named."""

    def test_two_cards_in_any_order_are_laid_out_of_play(self) -> None:
        match = opening()
        hand = match.state.hands[3] or []
        first, last = hand[0], hand[-1]
        assert events_of(match, Discard((last, first))) == [Discarded(3, (first, last)), TurnBegan((3,))]
        match.do(Discard((last, first)))
        assert match.state.held == [10] * SEATS
        assert match.state.phase == Declaring(3)

    def test_all_pairs_are_listed_once_in_printed_order(self) -> None:
        match = opening()
        pairs = [command.cards for command in match.legal() if isinstance(command, Discard)]
        assert len(pairs) == len(set(pairs)) == 66
        assert all(FRENCH.index(first) < FRENCH.index(second) for first, second in pairs)

    def test_a_card_twice_or_not_held_is_refused(self) -> None:
        match = opening()
        held = (match.state.hands[3] or [])[0]
        assert reason(match, Discard((held, held))) == "same_card_twice"
        assert reason(match, Discard((held, "S2"))) == "card_not_held"
        assert reason(match, Discard(("S2", held))) == "card_not_held"

    @pytest.mark.parametrize("cards", [[], ["S2"], ["S2", "S3", "S4"], ["S2", "2S"], "S2"])
    def test_another_number_of_cards_is_no_command(self, cards: object) -> None:
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert({"type": "chinkway.discard", "cards": cards}, GAME.commands)

    def test_trumps_and_plays_must_wait_for_it(self) -> None:
        match = opening()
        assert reason(match, Declare("H")) == "not_now"
        assert reason(match, Play((match.state.hands[3] or [])[0])) == "not_now"


class TestDeclare:
    def declaring(self, options: Options | None = None) -> Match:
        orders = PRINTED | {2: QUEST_PACK} if options is None else PRINTED | {number(1, 1): QUEST_PACK}
        match = Match(options or Options(), Stated(orders))
        match.do(match.legal()[0])
        return match

    def test_five_trumps_may_be_named(self) -> None:
        assert self.declaring().legal() == [Declare(trump) for trump in ("S", "H", "D", "C", "NT")]

    def test_the_next_five_quest_cards_are_turned_at_once_and_player_2_leads(self) -> None:
        match = self.declaring()
        declared, turned, prompt = match.do(Declare("C"))
        assert declared == Declared(3, "C")
        assert isinstance(turned, QuestTurned)
        assert turned.cards == QUEST_PACK[:5] == ("CA", "CK", "CQ", "CJ", "CT")
        assert (turned.wanted.clubs, turned.wanted.court, turned.leader) == (2, 3, 4)
        assert prompt == TurnBegan((4,))
        assert match.state.phase == Playing(4)

    def test_a_pack_reshuffled_for_every_deal_is_shuffled_when_the_quest_is_turned(self) -> None:
        match = self.declaring(Options(quest_pack="reshuffle"))
        _, shuffled, quest, turned, _ = match.do(Declare("NT"))
        assert shuffled == Shuffled(number(1, 1), QUEST_PACK)
        assert quest == QuestShuffled(QUEST_PACK)
        assert isinstance(turned, QuestTurned)
        assert turned.cards == QUEST_PACK[:5]

    def test_nobody_sees_the_quest_before(self) -> None:
        match = self.declaring()
        assert {match.view(seat).quest for seat in (None, *range(SEATS))} == {None}

    def test_plays_must_wait_for_it(self) -> None:
        match = self.declaring()
        assert reason(match, Play((match.state.hands[3] or [])[0])) == "not_now"
        assert reason(match, Discard(("CA", "CK"))) == "not_now"
        assert reason(match, Declare("H"), 4) == "not_your_turn"


class TestQuestPack:
    """CW-R7: used up five cards a deal, or shuffled whole."""

    @pytest.mark.parametrize(("removed", "size"), [("two_court", 50), ("none", 52), ("two_any", 50)])
    def test_an_eleventh_deal_shuffles_all_that_were_not_removed(
        self, removed: Literal["two_court", "two_any", "none"], size: int
    ) -> None:
        match = Match(Options(deals=11, quest_removed=removed), chance(1))
        for _ in match.play(lambda _: idle(match)):
            pass
        early, late = (event for event in match.events(QuestShuffled))
        assert len(early.cards or ()) == len(late.cards or ()) == size
        assert sorted(early.cards or ()) == sorted(late.cards or ())
        assert [event.c for event in match.events(Shuffled) if event.c % 65536][-1] == number(11, 1)
        assert match.events(QuestTurned)[-1].cards == (late.cards or ())[:5]

    def test_a_reshuffled_pack_is_shuffled_whole_in_each_deal(self) -> None:
        match = Match(Options(quest_pack="reshuffle"), chance(1))
        for _ in match.play(lambda _: idle(match)):
            pass
        shuffles = match.events(QuestShuffled)
        assert [len(event.cards or ()) for event in shuffles] == [50] * 10
        assert [event.c for event in match.events(Shuffled) if event.c % 65536 == 1][1:] == [
            number(deal, 1) for deal in range(1, 11)
        ]


class TestPlay:
    HAND: tuple[FrenchCard, ...] = ("H2", "HK", "DA", "C7")

    @pytest.mark.parametrize("void", ["free", "must_trump"])
    def test_the_leader_may_lead_anything_and_who_can_follow_must(self, void: str) -> None:
        assert playable(self.HAND, [], "H", void) == self.HAND
        assert playable(self.HAND, ["HQ"], "H", void) == ["H2", "HK"]
        assert playable(self.HAND, ["DQ"], "H", void) == ["DA"]

    def test_who_cannot_follow_plays_anything_or_where_agreed_any_trump(self) -> None:
        assert playable(self.HAND, ["S9"], "H", "free") == self.HAND
        assert playable(self.HAND, ["S9", "HQ"], "H", "must_trump") == ["H2", "HK"]
        assert playable(self.HAND, ["S9"], "S", "must_trump") == self.HAND
        assert playable(self.HAND, ["S9"], "NT", "must_trump") == self.HAND

    def test_a_refusal_says_whether_suit_or_trump_was_owed(self) -> None:
        free = Scene(
            {"hand": ["2S", "AD", "2H"], "led_suit": "S", "trump": "H"},
            Options(),
        )
        assert reason(free, Play("DA")) == "must_follow_suit"
        assert reason(free, Play("H2")) == "must_follow_suit"
        assert reason(free, Play("CA")) == "card_not_held"
        trump = Scene(
            {"hand": ["2C", "AD", "2H"], "led_suit": "S", "trump": "H"},
            Options(void="must_trump"),
        )
        assert reason(trump, Play("DA")) == "must_trump"
        assert reason(trump, Play("H2"), 4) == "not_your_turn"
        assert reason(trump, Decline()) == "not_now"

    def test_the_next_seat_plays_after_each_card_and_the_taker_leads(self) -> None:
        match = Match(Options(), chance(2))
        for events in match.play(lambda _: idle(match)):
            for event in events:
                if isinstance(event, Played):
                    assert event.next in {None, (event.seat + 1) % SEATS}
            taken = [event.seat for event in events if isinstance(event, TrickTaken)]
            if taken and isinstance(match.state.phase, Playing):
                assert match.state.phase.seat == match.state.leader == taken[0]
