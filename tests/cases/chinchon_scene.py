"""Scenes of Chinchón: what a case gives, told as events, so that moves can be decided on a state folded from them.

The deal, and what came before it, are facts; every turn after that is decided by the product itself.
"""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar, get_args

import msgspec

from events.base import By, Event
from events.games.chinchon import (
    Closed,
    DealScored,
    Dealt,
    Exposed,
    ExposureBegan,
    ForehandDrawn,
    LaidOff,
    LayOffBegan,
    ReentriesClosed,
    ReentryAnswered,
    ReentryOffered,
    Staked,
    WentOut,
)
from events.table import Answered, Ended, TableEvent, TurnBegan
from projections.games.chinchon import begin, evolve
from service.chance import Shuffles
from service.game import Ask, Refused
from service.games.chinchon import GAME
from tests.cases import chinchon_reckoning as reckoning
from tests.cases.chinchon_given import Situation
from tests.cases.chinchon_layout import Layout
from tests.cases.chinchon_notation import Card, in_order

T = TypeVar("T")
EVENT = TypeVar("EVENT", bound=Event)
NEUTRAL = get_args(TableEvent)


class Stated(Shuffles):
    """Shuffles that leave every pack as it lies, but for those whose orders are stated, top first."""

    def __init__(self, orders: Sequence[Sequence[Card | int]] = ()) -> None:
        self._orders = [list(map(str, order)) for order in orders]

    def shuffle(self, pack: Sequence[T], c: int) -> tuple[T, ...]:  # noqa: ARG002 the same for every number
        if not self._orders:
            return tuple(pack)
        order = self._orders.pop(0)
        assert sorted(map(str, pack)) == sorted(order), f"{pack} was to be shuffled to {order}"
        return tuple(sorted(pack, key=lambda card: order.index(str(card))))


class Scene:
    """A match at the moment of which a case speaks; `events` are all since play began.

    The first `begun` of them are what the case gives. `to_act` are the seats that were asked and have not answered.
    """

    def __init__(self, situation: Situation) -> None:
        self.situation = situation
        self.seating = situation.seating
        self.options = situation.options
        self.state = begin(situation.options, self.seating.count, tuple(range(self.seating.count)))
        self.events: list[Event] = []
        self.to_act: tuple[int, ...] = ()
        self.begun = 0
        self.chance = Stated()

    def add(self, *events: Event) -> None:
        """Fold events, as facts."""
        for event in events:
            self.events.append(event)
            match event:
                case TurnBegan(seats):
                    self.to_act = seats
                case Answered(seat):
                    self.to_act = tuple(other for other in self.to_act if other != seat)
                case Ended():
                    self.to_act = ()
                case _:
                    pass
            if not isinstance(event, NEUTRAL):
                self.state = evolve(self.state, event)  # type: ignore[arg-type] # it is none of the neutral events

    def decide(self, seat: int, body: dict[str, Any]) -> str | None:
        """Ask for a command and fold what it brings; return the reason of a refusal, which changes nothing."""
        before = msgspec.json.encode(self.state)
        try:
            command = msgspec.convert(body, GAME.commands)
            decided = tuple(GAME.decide(self.state, self.ask(seat, command)))
        except msgspec.ValidationError:
            return "malformed"
        except Refused as refused:
            assert msgspec.json.encode(self.state) == before
            return refused.reason
        self.add(*decided)
        return None

    def ask(self, seat: int, command: object) -> Ask:
        return Ask(By(seat=seat), command, 0, self.chance)

    def must(self, seat: int, do: str, **told: Any) -> None:  # noqa: ANN401 a command's own fields
        """Ask for a command that leads to the moment of the case, so that it must be taken."""
        reason = self.decide(seat, {"type": f"chinchon.{do}", **told})
        assert reason is None, f"seat {seat} can't {do} {told}, which leads to the case: {reason}"

    def all(self, kind: type[EVENT]) -> list[EVENT]:
        """Return the events of a kind since the case began."""
        return [event for event in self.events[self.begun :] if isinstance(event, kind)]

    def last(self, kind: type[EVENT]) -> EVENT:
        return self.all(kind)[-1]

    def before(self, totals: dict[int, int], *, pot: int | None) -> None:
        """Tell the match up to the deal of the case: stakes, forehand, who is out, who came back, the totals."""
        seats, seating = tuple(range(self.seating.count)), self.seating
        pot = self.options.stake * len(seats) if pot is None else pot
        self.add(Staked(seats, pot), ForehandDrawn(seating.forehand))
        reentered = self._reentered()
        for number in range(max(reentered.values(), default=0)):
            back = tuple(seat for seat in seats if reentered.get(seat, 0) > number)
            self._score(1 + number, dict.fromkeys(back, self.options.limit + 1))
            self.add(WentOut(back), ReentryOffered(back, 0), *(ReentryAnswered(seat, reenter=True) for seat in back))
            self.add(ReentriesClosed(back, (), 0), Staked(back, pot))
        if totals or seating.out:
            self._score(self.deal - 1, totals)
            if seating.out:
                self.add(WentOut(seating.out))

    @property
    def deal(self) -> int:
        """The number of the deal of the case."""
        earlier = max(self._reentered().values(), default=0)
        told = self.situation.told
        return self.situation.number("deal", earlier + 1 + bool({"before", "after", "own_before"} & told.keys()))

    def _reentered(self) -> dict[int, int]:
        return {seat: count for seat, count in self.situation.per_seat("reentries_so_far").items() if count}

    def _score(self, deal: int, totals: dict[int, int]) -> None:
        seats = range(self.seating.count)
        over = [self.options.limit + 1 if seat in self.seating.out else 0 for seat in seats]
        told = tuple(totals.get(seat, over[seat]) for seat in seats)
        self.add(DealScored(max(deal, 0), told, told, (), ()))

    def deal_out(self, layout: Layout) -> None:
        """Deal as the layout has it, and play its turns; then the case begins."""
        hands = tuple(in_order(layout.hands[s]) if s in layout.hands else None for s in range(self.seating.count))
        stock = tuple(layout.stock)
        order = tuple(layout.order)
        self.add(Dealt(self.deal, order, hands, layout.up, stock, len(stock)), TurnBegan((order[0],)))
        self.chance = Stated(layout.orders)
        for turn in layout.turns:
            for do, card in turn.steps:
                self.must(turn.seat, do, **({"card": card} if do == "discard" else {}))
            if self.options.mistakes == "table" and turn.done:
                self.must(turn.seat, "end_turn")
        self.begun = len(self.events)

    def close(self, layout: Layout, face_down: Card) -> str | None:
        """Have the closer close: with the combinations told, if any, else as the product chooses."""
        seat, table = layout.actor, layout.tables.get(layout.actor)
        body: dict[str, Any] = {"type": "chinchon.close", "face_down": face_down}
        if table and seat in self.situation.tables:
            body["combinations"] = table
        return self.decide(seat, body)

    def close_as_fact(self, layout: Layout, face_down: Card) -> None:
        """Tell that a hand was closed which the rules would not let close, and who is asked next."""
        seat, hand = layout.actor, layout.hands[layout.actor]
        best, _ = min(reckoning.layouts(hand, self.options), key=lambda layout: layout[1])
        table = layout.tables.get(seat) or [tuple(hand[place] for place in places) for places in best]
        left = len(hand) - sum(map(len, table))
        following = self.seating.after(seat)[0]
        self.add(Closed(seat, face_down), Exposed(seat, tuple(sorted(map(in_order, table))), left, chinchon=False))
        asked = LayOffBegan(following, seat) if table and self.options.layoff != "none" else ExposureBegan(following)
        self.add(asked, TurnBegan((following,)))

    def play_out(self) -> None:
        """Have everybody lay out and lay off as the product chooses, until the deal is scored."""
        for _ in range(PROMPTS):
            if self.all(DealScored):
                return
            (seat,) = self.to_act
            command = GAME.idle(self.state, seat)
            self.add(*GAME.decide(self.state, self.ask(seat, command)))
        raise AssertionError(f"the end of a deal does not come: {self.events[-1]}")

    def answer(self, answers: dict[int, bool]) -> None:
        """Have everybody who is still asked answer whether they come back, no if nothing is told."""
        while self._is_offered():
            seat = self.to_act[0]
            self.must(seat, "reenter" if answers.get(seat) else "stay_out")

    def _is_offered(self) -> bool:
        offers = [isinstance(event, ReentryOffered) for event in self.events if isinstance(event, OFFERS)]
        return bool(self.to_act) and bool(offers) and offers[-1]

    def table_of(self, seat: int) -> list[tuple[Card, ...]]:
        """Return the combinations that a seat laid out, with what was laid off on them, after the deal too."""
        table: list[tuple[Card, ...]] = []
        for event in self.events[self.begun :]:
            if isinstance(event, Exposed) and event.seat == seat:
                table = list(event.combinations)
            elif isinstance(event, LaidOff) and event.on == seat:
                table[event.number] = event.combination
        return table

    def laid(self) -> Iterator[tuple[int, int, list[Card]]]:
        """Yield who has laid off on whose combinations which cards, one opportunity after another."""
        latest: tuple[int, int, list[Card]] | None = None
        for event in self.all(LaidOff):
            if latest is None or latest[:2] != (event.seat, event.on):
                if latest is not None:
                    yield latest
                latest = (event.seat, event.on, [])
            latest[2].append(event.card)
        if latest is not None:
            yield latest


# The end of a deal asks eight players at most to lay out and, for each, all others to lay off.
PROMPTS = 8 * 8 + 1
OFFERS = (ReentryOffered, ReentriesClosed, Dealt)
