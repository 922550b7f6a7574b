"""The lines that make moves, each decided on a state folded from the events that its `given` stands for."""

from collections.abc import Iterator
from typing import Any

import pytest

from events.games.kowah import DealScored, Dealt, Discarded, Won
from events.table import Ended, Shuffled
from projections.games.kowah import must_draw_stock
from service.games.kowah import Checki, Discard, DrawStock, TakeDiscard, ready
from tests.cases.answers import Answer, Happened, Is, PerSeat, Seat, Seats, aligned, check_answer, is_accepted
from tests.cases.kowah_answers import (
    CASH,
    TOTAL,
    Audience,
    Cards,
    Declared,
    Hidden,
    Live,
    Multiplier,
    Outcome,
    Pair,
    Result,
    Results,
    Untold,
    says,
)
from tests.cases.kowah_given import Move, Situation, move_of, variants
from tests.cases.kowah_notation import card_of, cards_of, names_of
from tests.cases.kowah_scene import Scene
from tests.cases.lines import Line, read

ANSWERED = {"accepted", "refused", "why", "reason", "reasons"}
COPIES = 4

LINES = [line for line in read("kowah") if line.asks is None and line.fault is None]


def played_out() -> Iterator[Any]:
    for line in LINES:
        for number, (options, expected) in enumerate(variants(line)):
            told = expected if isinstance(expected, dict) else {"accepted": expected}
            yield pytest.param(line, options, told, id=f"{line.id}-{number}")


def told_moves(line: Line, expected: dict[str, Any]) -> list[Move]:
    """Return a line's moves, each with how it is to be answered, as far as the line says so."""
    moves = [move_of(raw) for raw in line.moves]
    accepted = expected.get("accepted")
    if isinstance(accepted, bool) and (accepted or len(moves) == 1):
        accepted = [accepted] * len(moves)
    if isinstance(accepted, list) and len(accepted) == len(moves):
        moves = [move._replace(accepted=verdict) for move, verdict in zip(moves, accepted, strict=True)]
    whys = aligned(why_of(expected), [move.accepted is False for move in moves])
    return [move._replace(why=said or move.why) for move, said in zip(moves, whys, strict=True)]


def why_of(expected: dict[str, Any]) -> Any:  # noqa: ANN401 a line holds any JSON
    return expected.get("why", expected.get("reason", expected.get("reasons")))


@pytest.mark.parametrize(("line", "options", "expected"), list(played_out()))
def test_moves_are_answered_as_the_line_says(line: Line, options: dict[str, Any], expected: dict[str, Any]) -> None:
    moves = told_moves(line, expected)
    scene = Scene(Situation(line, options, moves))
    reasons = [scene.make(move) for move in moves]
    refused = [reason is not None for reason in reasons]
    default = expected["refused"] is not True if "refused" in expected else not why_of(expected)
    assert is_accepted(expected.get("accepted", default), refused), reasons
    assert all(move.accepted in {None, reason is None} for move, reason in zip(moves, reasons, strict=True)), reasons
    for said, reason in zip(aligned(why_of(expected), refused), reasons, strict=True):
        assert said is None or says(said, str(reason)), f"{reason} is not {said!r}"
    for move, reason in zip(moves, reasons, strict=True):
        assert move.why is None or says(move.why, str(reason)), f"{reason} is not {move.why!r}"
    rest = {key: value for key, value in expected.items() if key not in ANSWERED}
    if rest:
        actor = scene.situation.actor if moves[-1].by is None else scene.seating.seat(moves[-1].by)
        check_answer(rest, shown(scene, actor), "nothing")


def shown(scene: Scene, actor: int) -> dict[str, Answer]:
    """Return what a line may expect to be so after its moves; what names no seat is told of the one that moved last."""
    answers = shown_deal(scene) | shown_table(scene) | {"nothing": Is(None)} | shown_seat(scene, actor, "{}")
    if draws := scene.draws():
        answers["visible_to draw_visible_to drawn_visible_to card_visible_to"] = Audience(
            scene.seating, scene.audience(draws[-1])
        )
        answers["drawn_card card_drawn"] = Cards([draws[-1].card] if draws[-1].card is not None else [])
    elif scene.all(Discarded):
        answers["visible_to"] = Audience(scene.seating, scene.viewers)
    for seat in range(scene.seating.count):
        for name in names_of(seat):
            answers |= shown_seat(scene, seat, f"{name}_{{}}")
    return answers


def shown_deal(scene: Scene) -> dict[str, Answer]:
    """Return whether the deal is over, who has won it, and what comes after."""
    seating, won, scored, dealt = scene.seating, scene.all(Won), scene.all(DealScored), scene.all(Dealt)
    winner = won[-1].seat if won else None
    ended = scene.all(Ended)
    state = scene.state
    results = [Result(seating, e.winner, e.multiplier, e.how, e.deal) for e in state.results]
    return {
        "winner winners": Seat(seating, winner),
        "multiplier": Multiplier(scored[-1].multiplier if scored else None),
        "how": Is(won[-1].how if won else None, ("draw", "drawn", "none") if scored and not won else ()),
        "thrown_by drawn_by from": Seat(seating, won[-1].by if won else None),
        "winning_card": Cards([won[-1].card] if won else []),
        "claims simultaneous_claims": Is(len(won)),
        "result": Outcome(seating, bool(scored), winner),
        "results": Results(results),
        "deal_over over": Is(bool(scored)),
        "drawn deal_drawn": Is(bool(scored) and winner is None),
        "match_over ended table_ended": Is(bool(ended)),
        "places": PerSeat(seating, dict(enumerate(ended[-1].places if ended else ())), winner or 0),
        "scores points": PerSeat(seating, dict(enumerate(scene.table.scores)), winner or 0),
        "discard_phase_reached discard_reached": Is(scene.reached_discard()),
        "next_first next_first_player first_of_next_deal": Seat(seating, dealt[-1].order[0] if dealt else None),
        "next_deal deal": Is(dealt[-1].deal if dealt else None),
        "reshuffled": Is(len(scene.all(Shuffled)) > len(dealt)),
        "cash": Untold(scene.view(None), CASH),
        "match_total total": Untold(scene.view(None), TOTAL),
    }


def shown_table(scene: Scene) -> dict[str, Answer]:
    """Return what lies on the table, and who acts next."""
    state, seating, view = scene.state, scene.seating, scene.view(None)
    pile = state.discards
    return {
        "to_move next next_to_move to_act next_player": Seats(seating, scene.table.to_act),
        "stock stock_left stock_after": Is(state.stock_left),
        "discards discard_pile pile": Cards(pile),
        "latest_discard last_discard top_discard": Cards([view.discard] if view.discard else []),
        "seen": Cards(cards_of(view.seen)),
        "event events": Happened([str(e.__struct_config__.tag) for d in scene.decisions for e in d.events]),
        "must_draw_stock": Is(must_draw_stock(state)),
        "phase": Is(view.phase),
        "hand_sizes": PerSeat(seating, dict(enumerate(state.held)), 0),
    }


def shown_seat(scene: Scene, seat: int, key: str) -> dict[str, Answer]:
    """Return what is so of one seat; `key` tells under which name."""
    state, seating, legal = scene.state, scene.seating, scene.legal(seat)
    hand, kind = list(state.hands[seat] or ()), state.declared[seat]
    kinds = {other: pair for other, pair in enumerate(state.declared) if pair is not None}
    won = [event for event in scene.all(Won) if event.seat == seat]
    draws = scene.draws(seat)
    pairs = ready.pairs(hand) if len(hand) == 8 else ()
    waits = scene.view(seat).waits
    live = {wait: COPIES - hand.count(wait) - state.seen.count(wait) for wait in waits}
    answers: dict[str, Answer] = {
        "declared": Declared(seating, kinds, seat),
        "hand hand_after": Cards(hand),
        "hand_size cards_in_hand": Is(state.held[seat]),
        "hand_hidden hidden hidden_cards": Hidden(state.held[seat] - len(scene.public_cards(seat))),
        "hand_visible visible known": Cards(scene.public_cards(seat)),
        "shown shown_pair": Pair(kind, scene.view(None).shown[seat]),
        "waits wait": Cards(waits),
        "live": Live([live]),
        "ready": Is(bool(pairs)),
        "wins won": Is(bool(won)),
        "locked hand_locked": Locked(scene, seat),
        "may_declare may_declare_now": MayDeclare([command for command in legal if _declares(command)]),
        "may_take may_take_discard": Is(TakeDiscard() in legal),
        "may_draw may_draw_stock": Is(DrawStock() in legal),
        "may_discard": Cards(
            [command.card for command in legal if isinstance(command, Discard) and not command.checki]
        ),
        "draw_visible_to": Audience(seating, scene.audience(draws[-1]) if draws else []),
    }
    return {" ".join(key.format(name) for name in names.split()): answer for names, answer in answers.items()}


def _declares(command: Any) -> bool:  # noqa: ANN401 any command
    return isinstance(command, Checki) or (isinstance(command, Discard) and command.checki is not None)


class MayDeclare:
    """Whether a seat may declare now, told so or by the pairs with which it may."""

    def __init__(self, legal: list[Any]) -> None:
        self._kinds = {command.kind if isinstance(command, Checki) else command.checki for command in legal}

    def __repr__(self) -> str:
        return f"may declare {sorted(self._kinds)}"

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        return value == bool(self._kinds) if isinstance(value, bool) else set(map(card_of, value)) == self._kinds


class Locked:
    """Whether a hand can't change, told so or by its cards: in a turn of its player the card drawn alone may go."""

    def __init__(self, scene: Scene, seat: int) -> None:
        state, legal = scene.state, scene.legal(seat)
        self._hand = list(state.hands[seat] or ())
        self._locked = state.declared[seat] is not None
        thrown = [command for command in legal if isinstance(command, Discard)]
        if thrown and self._locked:
            assert state.drawn is not None
            assert thrown == [Discard(state.drawn)]
            self._hand.remove(state.drawn)

    def __repr__(self) -> str:
        return f"{self._hand} locked: {self._locked}"

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        return value == self._locked if isinstance(value, bool) else self._locked and Cards(self._hand).agrees(value)


@pytest.mark.parametrize(
    ("given", "moves", "expected", "message"),
    [
        ({"weather": "fine"}, [{"by": "P1", "do": "draw_stock"}], {"accepted": True}, "the given 'weather'"),
        ({}, [{"by": "P1", "do": "dance"}], {"accepted": True}, "dance"),
        ({}, [{"by": "P1", "do": "draw_stock", "luck": 7}], {"accepted": True}, "luck"),
        ({}, [{"by": "P1", "do": "draw_stock"}], {"accepted": True, "luck": 7}, "luck"),
        ({"hand": ["C0"]}, [{"by": "P1", "do": "draw_stock"}], {"accepted": True}, "'C0' names no card"),
    ],
)
def test_what_nobody_understands_fails_its_line(
    given: dict[str, Any], moves: list[dict[str, Any]], expected: dict[str, Any], message: str
) -> None:
    line = Line({"id": "?", "given": given, "action": moves, "expected": expected}, "?")
    with pytest.raises((AssertionError, ValueError), match=message):
        test_moves_are_answered_as_the_line_says(line, {}, expected)
