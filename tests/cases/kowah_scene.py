"""Scenes of Kowah: what a case gives, told as events, so that moves can be decided on a state folded from them.

The deal, and what came before it, are facts; every turn after that is decided by the product itself.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from events.base import By, Entry, Event
from events.games.kowah import DealScored, Dealt, Discarded, DiscardTaken, How, StockDrawn, StockTurned
from events.table import Created, Scored, SeatTaken, Seeded, Started, TurnBegan
from projections import fold
from projections.games.kowah import Phase, State, View, points_of
from projections.table import Table
from service.chance import Shuffles
from service.game import Ask, Refused
from service.games.kowah import GAME, KowahCommand
from tests.cases import kowah_reckoning as reckoning
from tests.cases.kowah_given import EIGHT, OWN_PAIR, Move, Situation
from tests.cases.kowah_layout import Layout
from tests.cases.kowah_notation import CARD, Card, in_order

T = TypeVar("T")
EVENT = TypeVar("EVENT", bound=Event)
Draw = StockDrawn | StockTurned | DiscardTaken
Viewer = int | None
HOW: dict[int, How | None] = {0: None, 1: "opponent_draw", 2: "opponent_discard", 3: "self_draw"}


class AsTheyLie(Shuffles):
    """Shuffles that leave every pack as it lies, for deals after that of the case."""

    def shuffle(self, pack: Sequence[T], c: int) -> tuple[T, ...]:  # noqa: ARG002 the same for every number
        return tuple(pack)


class Decided(NamedTuple):
    """A decision of the case, and the phase that it left the table in."""

    events: tuple[Event, ...]
    phase: Phase


class Scene:
    """A table at the moment of which a case speaks; `decisions` are those of its moves."""

    def __init__(self, situation: Situation) -> None:
        self.situation = situation
        self.seating = situation.seating
        self.table: Table[State, Any] = Table(id="t")
        self.decisions: list[Decided] = []
        seats = range(self.seating.count)
        stated = {name: getattr(situation.options, name) for name in situation.options.__struct_fields__}
        created = Created("kowah", "kowah/1", len(seats), stated, "host", "p0", "0" * 64)
        people = [SeatTaken(seat, f"p{seat}", "", None) for seat in seats]
        self.add(created, Seeded("0" * 64), *people, Started(tuple(seats)))
        self._earlier()
        self._deal_out(Layout(situation))
        self.decisions.clear()

    @property
    def state(self) -> State:
        state = self.table.play
        assert state is not None
        return state

    def add(self, *events: Event) -> None:
        """Fold one decision, and hold that no card is lost or made."""
        entry: Entry[Any, Event] = Entry(1, "table:t", self.table.version + 1, 0, By(), None, None, None, "", events)
        fold.add(GAME.projection, self.table, entry, b"")
        self.decisions.append(Decided(events, self.state.phase))
        assert not self.state.order or Counter(GAME.projection.cards(self.state)) == Counter(reckoning.PACK)

    def decide(self, seat: int, body: dict[str, Any]) -> str | None:
        """Ask for a command and fold what it brings; return the reason of a refusal, which changes nothing."""
        before = msgspec.json.encode(self.state)
        try:
            command = msgspec.convert(body, KowahCommand)
        except msgspec.ValidationError:
            return "malformed"
        try:
            decided = tuple(GAME.decide(self.state, Ask(By(seat=seat), command, 0, AsTheyLie())))
        except Refused as refused:
            assert msgspec.json.encode(self.state) == before
            assert command not in self.legal(seat), f"{command} is listed and refused"
            return refused.reason
        assert command in self.legal(seat), f"{command} is decided, but not listed"
        self.add(*decided)
        return None

    def legal(self, seat: int) -> list[Any]:
        """Return every command that the product lists for a seat."""
        return list(GAME.legal(self.state, seat))

    def must(self, seat: int, do: str, **told: Any) -> None:  # noqa: ANN401 a command's own fields
        """Ask for a command that leads to the moment of the case, so that it must be taken."""
        reason = self.decide(seat, {"type": f"kowah.{do}", **told})
        assert reason is None, f"seat {seat} can't {do} {told}, which leads to the case: {reason}"

    def make(self, move: Move) -> str | None:
        """Make a move of a line; return the reason of its refusal, None if it was accepted."""
        seat = self._mover(move)
        match move.do:
            case "discard":
                body = {"card": self._spare(seat) if move.card is None else move.card}
                if move.kind is not None:
                    body["checki"] = self._kind(seat, move.kind, body["card"])
            case "checki":
                body = {"kind": self._kind(seat, move.kind or OWN_PAIR)}
            case _:
                body = {}
        reason = self.decide(seat, {"type": f"kowah.{move.do}", **body})
        if reason is None and move.card is not None and move.do in {"draw_stock", "take_discard"}:
            came = next(event.card for event in self.events() if isinstance(event, Draw))
            assert came == move.card, f"{came} came, not {move.card}"
        return reason

    def _mover(self, move: Move) -> int:
        if move.by is not None:
            return self.seating.seat(move.by)
        if move.do == "checki":
            return self.situation.actor
        (seat,) = self.table.to_act
        return seat

    def _spare(self, seat: int) -> Card:
        """Return the card that is thrown where none is named: the one drawn last or else the last in hand."""
        hand = self.state.hands[seat] or []
        return self.state.drawn if self.state.drawn is not None else hand[-1]

    def _kind(self, seat: int, kind: str, thrown: str | None = None) -> str:
        """Return the pair named or, where it is only said to be one's own, one that the hand is ready with."""
        if kind != OWN_PAIR:
            return kind
        hand = list(self.state.hands[seat] or ())
        if thrown in CARD and CARD[thrown] in hand:
            hand.remove(CARD[thrown])
        pairs = reckoning.waits(hand)
        assert pairs, f"{hand} is ready with no pair"
        return pairs[0]

    def events(self) -> list[Event]:
        """Return the events of the last decision of the case."""
        return list(self.decisions[-1].events)

    def all(self, kind: type[EVENT]) -> list[EVENT]:
        """Return the events of a kind since the case began."""
        return [event for decided in self.decisions for event in decided.events if isinstance(event, kind)]

    def draws(self, seat: int | None = None) -> list[Draw]:
        """Return the cards drawn or taken since the case began, of one seat or of all."""
        drawn = [event for decided in self.decisions for event in decided.events if isinstance(event, Draw)]
        return [event for event in drawn if seat is None or event.seat == seat]

    def reached_discard(self) -> bool:
        """Return whether a card must be or was thrown after the last draw of the case."""
        phases = [decided.phase for decided in self.decisions if any(isinstance(e, Draw) for e in decided.events)]
        return bool(phases) and type(phases[-1]).__name__ == "Discarding"

    @property
    def viewers(self) -> tuple[Viewer, ...]:
        """Everybody who may look: each seat, and None for spectators."""
        return (*range(self.seating.count), None)

    def audience(self, draw: Draw) -> list[Viewer]:
        """Return who sees which card was drawn: in the event and, as long as it is held, in the view."""
        seeing = [viewer for viewer in self.viewers if self._sees(draw, viewer)]
        if draw is self.draws()[-1] and self.state.drawn is not None:
            assert seeing == [viewer for viewer in self.viewers if self.view(viewer).drawn is not None]
        return seeing

    def _sees(self, draw: Draw, viewer: Viewer) -> bool:
        event = GAME.projection.redact(draw, viewer)
        return isinstance(event, Draw) and event.card is not None

    def view(self, viewer: Viewer) -> View:
        """Return the table as a viewer may see it."""
        view = GAME.projection.view(self.table, viewer)
        assert isinstance(view, View)
        return view

    def public_cards(self, seat: int) -> list[Card]:
        """Return the cards in a hand that all have seen since the case began, or in the turn that it begins in."""
        known: list[Card] = []
        for decided in self.decisions:
            for event in decided.events:
                redacted = GAME.projection.redact(event, None) if isinstance(event, Draw) else event
                if isinstance(redacted, Draw) and redacted.seat == seat and redacted.card is not None:
                    known.append(redacted.card)
                elif isinstance(redacted, Discarded) and redacted.seat == seat and redacted.card in known:
                    known.remove(redacted.card)
        shown, kind = self.view(None).shown[seat], self.state.declared[seat]
        return [*known, *(shown or ([kind, kind] if kind is not None else []))]

    def _earlier(self) -> None:
        """Tell the deals of a series before that of the case: with the results told, else all of them drawn."""
        results = self.situation.told.get("results") or []
        for place in range(self.situation.deal - 1):
            told = results[place] if place < len(results) and isinstance(results[place], dict) else {}
            winner = None if told.get("winner") is None else self.seating.seat(told["winner"])
            multiplier = 0 if winner is None else told["multiplier"]
            how = told.get("how") or HOW[multiplier]
            points = points_of(self.state, winner, multiplier)
            self.add(DealScored(place + 1, winner, how, multiplier), Scored(place + 1, points, points))

    def _deal_out(self, layout: Layout) -> None:
        """Deal as the layout has it, and play its turns; then the case begins."""
        hands = tuple([in_order(layout.hands[seat]) for seat in range(self.seating.count)])
        order, stock = tuple(layout.order), tuple(layout.stock)
        self.add(
            Dealt(self.situation.deal, order, hands, stock, len(stock)),
            TurnBegan((order[0],)),
        )
        for turn in layout.turns:
            self.must(turn.seat, "draw_stock" if turn.card is not None else "take_discard")
            card = self.state.drawn
            assert turn.card in {None, card}
            self.must(turn.seat, "discard", card=card, **({"checki": turn.declares} if turn.declares else {}))
        if self.situation.moment == "drawn":
            self.must(self.situation.actor, "take_discard" if layout.drawn is None else "draw_stock")
        kinds = {seat: kind for seat, kind in enumerate(self.state.declared) if kind is not None}
        assert kinds == self.situation.declared
        assert self.state.held[self.situation.actor] == EIGHT + (self.situation.moment == "drawn")
