"""Scenes of Chinkway: what a case gives, told as events, so that moves can be decided on a state folded from them.

What a case leaves open (other hands, earlier tricks) is filled with cards it does not name.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, get_args

import msgspec

from events.base import By, Event
from events.cards import FRENCH
from events.games.chinkway import (
    Captured,
    DealerDrawn,
    DealScored,
    Dealt,
    Declared,
    Discarded,
    Options,
    Played,
    QuestReduced,
    QuestShuffled,
    QuestTurned,
    Shares,
    TrickTaken,
    Trump,
)
from events.table import TableEvent
from projections.games.chinkway import SEATS, begin, evolve
from service.chance import Chance
from service.game import Ask, Refused
from service.games.chinkway import GAME, quests
from service.rules import tricks
from tests.cases.chinkway_given import Move, Situation
from tests.cases.chinkway_layout import Layout
from tests.cases.chinkway_words import Card, cards_of

CHANCE = Chance(bytes(32), "table:cases", ("",) * SEATS)
NEUTRAL = get_args(TableEvent)
EVENT = TypeVar("EVENT", bound=Event)


class Scene:
    """A match at the moment of which a case speaks; `events` are all that decisions have brought since it opened.

    The first `begun` of them are what the case gives.
    """

    def __init__(self, given: Mapping[str, Any], options: Options, moves: Sequence[Move] = ()) -> None:
        self.options = options
        self.situation = Situation(given, options, moves)
        self.seating = self.situation.seating
        self.state = begin(options, SEATS, tuple(range(SEATS)))
        self.events: list[Event] = []
        self._open(self.situation)
        layout = Layout(self.situation, _earlier(self.situation) if self.situation.phase == "play" else [])
        dealt = tuple(tuple(sorted(hand, key=FRENCH.index)) for hand in layout.dealt)
        self.add(Dealt(self.seating.deal, self.seating.dealer, self.seating.sides, dealt))
        if self.situation.phase != "discard":
            self.add(Discarded(self.seating.dealer, (layout.discards[0], layout.discards[1])))
        if self.situation.phase == "play":
            self._play(layout)
        self.begun = len(self.events)

    def add(self, *events: Event) -> None:
        """Fold events, as facts."""
        for event in events:
            self.events.append(event)
            if not isinstance(event, NEUTRAL):
                evolve(self.state, event)  # type: ignore[arg-type] # it is none of the neutral events

    def decide(self, seat: int, body: dict[str, Any]) -> str | None:
        """Ask for a command and fold what it brings; return the reason of a refusal, which changes nothing."""
        before = msgspec.json.encode(self.state)
        try:
            command = msgspec.convert(body, GAME.commands)
            decided = tuple(GAME.decide(self.state, Ask(By(seat=seat), command, 0, CHANCE)))
        except msgspec.ValidationError:
            return "malformed"
        except Refused as refused:
            assert msgspec.json.encode(self.state) == before
            return refused.reason
        self.add(*decided)
        return None

    def last(self, kind: type[EVENT]) -> EVENT:
        """Return the last event of a kind; StopIteration if there was none."""
        return next(event for event in reversed(self.events) if isinstance(event, kind))

    def all(self, kind: type[EVENT]) -> list[EVENT]:
        return [event for event in self.events if isinstance(event, kind)]

    def _open(self, situation: Situation) -> None:
        """Tell what came before the deal: the first dealer, the quest pack as it lies, the totals."""
        left = situation.told.get("quest_pack_left")
        told = situation.told.get("removed")
        named = cards_of(told) if isinstance(told, list) and all(len(word) <= 3 for word in told) else []
        spare = [card for card in quests.COURT_CARDS if card not in situation.quest and card not in named]
        # A pack of which all 52 are left has lost none.
        whole = self.options.quest_removed == "none" or left == len(FRENCH)
        removed = [] if whole else [*named, *spare][:2]
        pack = [*situation.quest, *(card for card in FRENCH if card not in {*situation.quest, *removed})]
        self.add(DealerDrawn(self.seating.first))
        if len(removed) == 2:
            self.add(QuestReduced((removed[0], removed[1])))
        ready = left if left is None or situation.phase != "play" else left + 5
        self.add(QuestShuffled(tuple(pack[:ready])))
        if "before" in situation.told:
            nothing, totals = (0,) * SEATS, tuple(situation.per_seat("before"))
            self.add(DealScored(self.seating.deal - 1, nothing, nothing, totals))

    def _play(self, layout: Layout) -> None:
        situation, dealer = self.situation, self.seating.dealer
        a, b, c, d, e = situation.quest or (self.state.pack or [])[:5]
        wanted = Shares(**quests.count((a, b, c, d, e), self.options.aces))
        first = (dealer + 1) % SEATS if layout.earlier else situation.leader
        self.add(Declared(dealer, self._trump()), QuestTurned((a, b, c, d, e), wanted, first))
        for (taker, captured), played in zip(layout.earlier, layout.played, strict=True):
            self._earlier_trick(taker, captured, played)
        for seat, card in situation.trick[:4]:
            self.add(Played(seat, card, (seat + 1) % SEATS))
        # The product itself decides the card that completes the trick, and so who takes it and what may be captured.
        for seat, card in situation.trick[4:]:
            assert self.decide(seat, {"type": "chinkway.play", "card": card}) is None
            taker = self.last(TrickTaken).seat
            assert situation.winner == taker, f"seat {taker} takes the trick, not {situation.winner}"

    def _trump(self) -> Trump:
        """Return the trumps told or, where none are, those with which the winner told takes the trick."""
        trick, winner = self.situation.trick, self.situation.winner
        if self.situation.trump is not None or len(trick) < SEATS:
            return self.situation.trump or "NT"
        cards = [card for _, card in trick]
        return next((trump for trump in get_args(Trump) if trick[tricks.taker(cards, trump)][0] == winner), "NT")

    def _earlier_trick(self, taker: int, captured: Card | None, played: Sequence[Card]) -> None:
        leader = self.state.leader
        for place in range(SEATS):
            seat = (leader + place) % SEATS
            self.add(Played(seat, played[seat], (seat + 1) % SEATS if place < SEATS - 1 else None))
        if captured is None:
            self.add(TrickTaken(taker, (), ()))
            return
        category = quests.CATEGORY[self.options.aces][captured]
        scorers = (taker,) if self.options.team_scoring == "sum" else self.seating.side_of(taker)
        lacking = self.state.met[taker][category] < self.state.wanted[category]
        self.add(
            TrickTaken(taker, (captured,), (captured,) if lacking else ()),
            Captured(taker, captured, category, scorers if lacking else ()),
        )


def _earlier(situation: Situation) -> list[tuple[int, Card | None]]:
    """Return the earlier tricks of the deal: who took each, and what that seat captured of it."""
    leader = situation.leader
    # Whoever leads now took the last trick.
    earlier: list[tuple[int, Card | None]] = sorted(situation.captures, key=lambda taken: taken[0] == leader)
    played = situation.tricks_played()
    count = len(earlier) + bool(earlier and earlier[-1][0] != leader) if played is None else played
    assert count >= len(earlier), f"{len(earlier)} captures in {count} tricks"
    earlier += [(leader, None)] * (count - len(earlier))
    assert not earlier or earlier[-1][0] == leader, f"seat {leader} leads without having taken the last trick"
    return earlier
