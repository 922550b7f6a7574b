"""A deal that a ruling has played again: in each game the same dealer, sides and place, and other cards."""

from random import Random
from typing import Any, TypeVar

import pytest

from events.base import By, Event
from events.games import chinchon, chinkway, kowah
from events.table import Scored, Shuffled
from projections.table import Table
from service.disputes import Dispute, Rule
from service.game import AnyGame
from service.ids import new_id
from service.referee import Resign
from tests.laws.matches import Asked, Driver
from tests.laws.setups import GAMES, Setup

EVENT = TypeVar("EVENT", bound=Event)

CHINCHON, CHINKWAY, KOWAH = GAMES.named("chinchon"), GAMES.named("chinkway"), GAMES.named("kowah")


class Match(Driver):
    """A match in which all are silent but for those who contest it."""

    @property
    def state(self) -> Any:  # noqa: ANN401 whichever game's
        """The state of the game."""
        return self.table.play

    def until(self, deal: int, moves: int = 0) -> "Match":
        """Play on to this deal, and so many decisions into it."""
        while self.state.deal < deal or (moves := moves - 1) >= 0:
            self.decide(self.move())
        return self

    def silent(self, moves: int) -> None:
        """Play on for so many decisions."""
        for _ in range(moves):
            self.decide(self.move())

    def again(self, deal: int) -> None:
        """Have a deal played again."""
        self.decide(self.of(0, Dispute(first=1, last=self.table.version, reason="mistake")))
        ruling = Rule(dispute=len(self.table.disputes), verdict="replayed", deal=deal)
        self.decide(Asked(By(role="arbiter", player="ruth"), ruling))

    def seen(self, seat: int | None) -> Any:  # noqa: ANN401 whichever game's
        """Return what a seat sees, None for a spectator."""
        return self.game.projection.view(self.table, seat)

    def events(self, kind: type[EVENT]) -> list[EVENT]:
        """Return all events of a kind so far."""
        return [event for events in self.decided for event in events if isinstance(event, kind)]


def begun(game: AnyGame | None, seats: int, silence: float = 1.0, **chosen: Any) -> Match:  # noqa: ANN401 any option
    """Return a match of which the first deal has begun."""
    assert game is not None
    options = game.projection.options(**chosen)
    setup = Setup(game.name, options, seats, 0, 0, seed=1, silence=silence, resigning=0.0, longest=100_000)
    random = Random(repr(setup))
    match = Match(setup, game, random, Table(id=new_id(random.randbytes)))
    match.create()
    for sitting in match.sittings():
        match.decide(sitting)
    return match


@pytest.mark.parametrize("deal", [1, 2])
def test_kowah_keeps_the_turn_order_and_deals_other_cards(deal: int) -> None:
    match = begun(KOWAH, 4, series=3).until(deal, 5)
    before = match.events(kowah.Dealt)[-1]
    match.again(deal)
    after = match.events(kowah.Dealt)[-1]
    assert (after.deal, after.order, after.left) == (before.deal, before.order, before.left)
    assert after.hands != before.hands
    assert match.state.results == match.state.results[: deal - 1]


@pytest.mark.parametrize("deal", [1, 3])
def test_chinchon_keeps_forehand_pot_and_who_is_in_and_deals_other_cards(deal: int) -> None:
    match = begun(CHINCHON, 4, recycles=0).until(deal, 5)
    before, pot = match.events(chinchon.Dealt)[-1], match.state.pot
    match.again(deal)
    after = match.events(chinchon.Dealt)[-1]
    assert (after.deal, after.order) == (before.deal, before.order)
    assert after.hands != before.hands
    assert match.state.pot == pot == 4


def test_who_went_out_by_a_deal_of_chinchon_is_in_when_it_is_played_again() -> None:
    match = begun(CHINCHON, 4, silence=0.0, limit=70, reentries=0)
    while not match.events(chinchon.WentOut):
        match.decide(match.move())
    assert match.table.status == "playing"
    scores = match.events(Scored)
    match.again(scores[-1].deal)
    assert match.state.deal == scores[-1].deal
    assert match.state.went_out == [None] * 4
    assert match.table.scores == scores[-2].scores


@pytest.mark.parametrize("deal", [1, 2, 10])
@pytest.mark.parametrize("quest_pack", ["use_up", "reshuffle"])
def test_chinkway_keeps_dealer_sides_and_the_quest_that_was_turned(deal: int, quest_pack: str) -> None:
    match = begun(CHINKWAY, 5, quest_pack=quest_pack).until(deal, 6)
    before, quest = match.events(chinkway.Dealt)[-1], match.events(chinkway.QuestTurned)[-1]
    shuffled = len(match.events(chinkway.QuestShuffled))
    match.again(deal)
    after = match.events(chinkway.Dealt)[-1]
    assert (after.deal, after.dealer, after.sides) == (before.deal, before.dealer, before.sides)
    assert after.hands != before.hands
    assert match.events(chinkway.QuestKept) == [chinkway.QuestKept(quest.cards)]
    for seen in (match.seen(seat) for seat in (None, *range(5))):
        assert (seen.phase, seen.quest, seen.quest_kept) == ("discard", None, quest.cards)
    # Nor is it lost where the deal is played again before it is turned once more.
    match.silent(1)
    match.again(deal)
    match.silent(2)
    assert match.events(chinkway.QuestTurned)[-1] == quest
    assert (match.seen(None).quest, match.seen(None).quest_kept) == (quest.cards, None)
    assert len(match.events(chinkway.QuestKept)) == 2
    assert len(match.events(chinkway.QuestShuffled)) == shuffled


def test_the_quest_of_an_eleventh_deal_is_kept_too() -> None:
    match = begun(CHINKWAY, 5, deals=11, final="rotation").until(11, 4)
    quest = match.events(chinkway.QuestTurned)[-1]
    match.again(11)
    match.silent(2)
    assert match.events(chinkway.QuestTurned)[-1] == quest


@pytest.mark.parametrize("quest_pack", ["use_up", "reshuffle"])
def test_the_deal_before_is_played_again_with_its_own_quest_and_the_next_follows(quest_pack: str) -> None:
    match = begun(CHINKWAY, 5, quest_pack=quest_pack).until(3, 6)
    first, second, third = match.events(chinkway.QuestTurned)
    match.again(2)
    match.until(3, 3)
    assert [turned.cards for turned in match.events(chinkway.QuestTurned)[3:4]] == [second.cards]
    assert [event.c for event in match.events(Shuffled) if event.c % 65_536 == 0] == [65_536 * d for d in range(6)]
    followed = match.events(chinkway.QuestTurned)[4]
    # A pack that is used up gives the quest that came before; one that is shuffled for each deal gives another.
    assert (followed.cards == third.cards) == (quest_pack == "use_up")
    assert first.cards not in {second.cards, followed.cards}


def test_a_quest_that_nobody_has_seen_is_not_kept() -> None:
    match = begun(CHINKWAY, 5, quest_pack="reshuffle").until(1, 1)
    match.again(1)
    match.silent(2)
    assert match.events(chinkway.QuestKept) == []
    assert [event.c for event in match.events(Shuffled)][-1] == 65_536 * 2 + 1


def test_who_gave_up_since_moves_by_itself_in_the_deal_played_again() -> None:
    match = begun(CHINKWAY, 5).until(2, 4)
    seat = match.state.dealer or 1
    match.decide(match.of(seat, Resign()))
    match.again(2)
    assert seat not in match.table.to_act
    assert match.table.to_act
