"""The lines that make moves, each decided on a state folded from the events that its `given` stands for."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from events.games.chinchon import Closed, DealScored, Exposed, LaidOff, PotTaken, ReentryOffered, StockRecycled
from events.table import Ended
from projections.games.chinchon import Exposing, LayingOff, Turn
from service.game import REASONS
from service.games.chinchon import GAME
from service.games.chinchon.hands import melds_of
from service.rules import melds
from tests.cases.answers import Answer, Count, Happened, Is, PerSeat, Seat, Seats, aligned, check_answer, is_accepted
from tests.cases.chinchon_answers import Cards, Deadwood, Laid, Table
from tests.cases.chinchon_deals import closed, scored, table_after
from tests.cases.chinchon_given import Move, Situation, move_of, options_of, variants
from tests.cases.chinchon_layout import Layout
from tests.cases.chinchon_notation import CARD, Card, card_of, cards_of
from tests.cases.chinchon_scene import PROMPTS, Scene
from tests.cases.lines import Line, read

# Words by which a line says why a move is refused, and the reasons of the product that they may mean.
WHY = (
    (r"draw.*(first|before)|before.*draw|eight cards", "draw_first not_your_turn not_now"),
    (r"second draw|already drawn|drawn twice|two draws", "already_drawn drawn_twice"),
    (r"second discard|already (thrown|discarded)", "already_discarded not_your_turn"),
    (r"first (turn|round)", "first_round"),
    (r"irregular", "irregular_hand"),
    (r"deadwood|points|limit|more than|too much", "deadwood_over_limit"),
    (r"not (held|in)|n't hold", "card_not_held"),
    (r"fit|valid|combination", "does_not_fit no_combination combination_left card_not_held not_now"),
    (r"chinch", "not_now not_your_turn"),
    (r"stock|loop|in a row", "stock_must_be_drawn"),
    (r"turn", "not_your_turn not_now"),
)

EXPOSURE = {"expose", "lay_off", "auto", "pass"}
REENTRY = {"reenter", "stay_out"}

LINES = [line for line in read("chinchon") if line.asks is None and line.fault is None]


def scene_of(situation: Situation) -> Scene:
    """Return the match at the moment at which the moves of a line begin."""
    kinds = {move.do for move in situation.moves}
    if kinds & REENTRY:
        return scored(situation)
    if kinds <= EXPOSURE:
        scene, reason = closed(situation)
        assert reason is None, f"the closer can't close: {reason}"
        return scene
    scene = Scene(situation)
    scene.before(situation.per_seat("before"), pot=situation.told.get("pot"))
    scene.deal_out(Layout(situation))
    return scene


def reach(scene: Scene, moves: Sequence[Move]) -> None:
    """Have those lay out or pass of whom no more moves are told, up to the moment that the first of these is about."""
    move, later = moves[0], {scene.seating.seat(each.by) for each in moves if each.by is not None}
    on = owner_of(scene, move.on)
    for _ in range(PROMPTS):
        phase = scene.state.phase
        if not isinstance(phase, Exposing | LayingOff):
            return
        laying_off = isinstance(phase, LayingOff)
        open_to = phase.on if isinstance(phase, LayingOff) else None
        past = move.do != "expose" and scene.state.laid[on] is not None and open_to != on
        at = open_to == on if move.do != "expose" else not laying_off
        if past or move.by is None or (at and phase.seat in later):
            return
        table = scene.situation.tables.get(phase.seat)
        if laying_off:
            scene.must(phase.seat, "pass")
        else:
            scene.must(phase.seat, "expose", **({"combinations": table} if table else {}))


def owner_of(scene: Scene, on: Any) -> int:  # noqa: ANN401 a line may name anything
    """Return the seat on whose combinations a move lays cards, told by name or by cards there; the closer if untold."""
    if isinstance(on, list):
        wanted = sorted(cards_of(on))
        return next(s for s, table in scene.situation.tables.items() if wanted in [sorted(each) for each in table])
    return scene.situation.closer if on is None else scene.seating.seat(on)


def bodies_of(scene: Scene, move: Move) -> list[dict[str, Any]]:
    """Return the commands that a move stands for: several where it lays several cards off."""
    match move.do:
        case "discard":
            return [{"card": sent(move.cards[0]) if move.cards else spare(scene, move)}]
        case "close" | "expose":
            told = {"combinations": [[sent(card) for card in cards] for cards in move.combinations or ()]}
            face_down = {"face_down": sent(move.cards[0]) if move.cards else spare(scene, move)}
            return [(face_down if move.do == "close" else {}) | (told if move.combinations is not None else {})]
        case "lay_off":
            return [{"card": sent(card), "number": number_of(scene, move, sent(card))} for card in move.cards]
        case _:
            return [{}]


def spare(scene: Scene, move: Move) -> Card | None:
    """Return the card that is thrown where none is named: the one drawn last or, if it is gone, the last in hand."""
    hand = scene.state.hands[scene.situation.actor if move.by is None else scene.seating.seat(move.by)] or []
    return scene.state.drawn if scene.state.drawn in hand else hand[-1]


def sent(word: str) -> str:
    try:
        return card_of(word)
    except ValueError:
        return word


def number_of(scene: Scene, move: Move, card: str) -> int:
    """Return the number of the combination meant: the one named or, where none is, the first that the card fits."""
    if move.number is not None:
        return move.number
    table = scene.table_of(owner_of(scene, move.on))
    if isinstance(move.on, list):
        return next(number for number, cards in enumerate(table) if {*cards_of(move.on)} <= {*cards})
    known = melds_of(scene.state)
    return next((n for n, cards in enumerate(table) if card in CARD and known.extended(cards, CARD[card])), 0)


def answer(scene: Scene, moves: Sequence[Move]) -> str | None:
    """Make the first of these moves; return the reason of its refusal, None if it was accepted.

    What a move stands for happens up to the first refusal.
    """
    move = moves[0]
    if move.do in EXPOSURE:
        reach(scene, moves)
    seat = scene.to_act[0] if move.by is None else scene.seating.seat(move.by)
    for body in bodies_of(scene, move):
        reason = scene.decide(seat, {"type": f"chinchon.{move.do}", **body})
        if reason is not None:
            return reason
    return None


def told_moves(line: Line, expected: dict[str, Any]) -> list[Move]:
    """Return a line's moves, each with how it is to be answered, as far as the line says so."""
    moves = [move_of(raw) for raw in line.moves]
    accepted = expected.get("accepted")
    if isinstance(accepted, bool) and (accepted or len(moves) == 1):
        accepted = [accepted] * len(moves)
    if isinstance(accepted, list) and len(accepted) == len(moves):
        moves = [move._replace(accepted=verdict) for move, verdict in zip(moves, accepted, strict=True)]
    whys = aligned(expected.get("why", expected.get("reason")), [move.accepted is False for move in moves])
    return [move._replace(why=said or move.why) for move, said in zip(moves, whys, strict=True)]


def says(why: str, reason: str) -> bool:
    """Return whether words may mean a reason: where they are recognised, it is one that they may mean."""
    if why in {**REASONS, **GAME.reasons}:
        return why == reason
    meant = [name for words, names in WHY if re.search(words, why.lower()) for name in names.split()]
    return not meant or reason in meant


def played_out() -> Iterator[Any]:
    for line in LINES:
        for number, (options, expected) in enumerate(variants(line)):
            told = expected if isinstance(expected, dict) else {"accepted": expected}
            yield pytest.param(line, options, told, id=f"{line.id}-{number}")


@pytest.mark.parametrize(("line", "options", "expected"), list(played_out()))
def test_moves_are_answered_as_the_line_says(line: Line, options: dict[str, Any], expected: dict[str, Any]) -> None:
    moves = told_moves(line, expected)
    situation = Situation(line.given, options_of(options, line.given), moves)
    scene = scene_of(situation)
    reasons = [answer(scene, moves[place:]) for place in range(len(moves))]
    refused = [reason is not None for reason in reasons]
    why = expected.get("why", expected.get("reason"))
    default = expected["refused"] is not True if "refused" in expected else not why
    assert is_accepted(expected.get("accepted", default), refused), reasons
    assert all(move.accepted in {None, reason is None} for move, reason in zip(moves, reasons, strict=True)), reasons
    for said, reason in zip(aligned(why, refused), reasons, strict=True):
        assert said is None or says(said, str(reason)), f"{reason} is not {said!r}"
    rest = {key: value for key, value in expected.items() if key not in {"accepted", "refused", "why", "reason"}}
    if rest:
        actor = scene.situation.actor if moves[-1].by is None else scene.seating.seat(moves[-1].by)
        check_answer(rest, shown(scene, actor, rest), "nothing")


def shown(scene: Scene, actor: int, expected: dict[str, Any]) -> dict[str, Answer]:
    """Return what a line may expect to be so after its moves; a number alone is meant for the seat that moved last."""
    if {move.do for move in scene.situation.moves} & REENTRY:
        scene.answer({})
    answers = shown_turn(scene, actor) | shown_table(scene, actor)
    if expected.keys() & {"may_close", "deadwood_points", "deadwood"}:
        answers |= shown_closing(scene, actor)
    if not expected.keys() <= {name for names in answers for name in names.split()}:
        # Only what the end of the deal tells is left.
        answers |= shown_score(scene, actor)
    return answers


def shown_turn(scene: Scene, actor: int) -> dict[str, Answer]:
    state, seating = scene.state, scene.seating
    hand = state.hands[actor] or ()
    recycled = scene.all(StockRecycled)
    pile = state.discards
    return {
        "hand cards_in_hand": Cards(hand),
        "hand_size hand_sizes": PerSeat(seating, dict(enumerate(state.held)), actor),
        "card drawn": Cards([card for card in [state.drawn] if card]),
        "up_card top_discard": Cards(pile[-1:]),
        "discards_left discards pile discard_pile": Cards(pile),
        "stock stock_left stock_after": Is(state.stock_left),
        "event events": Happened([tag(event) for event in scene.events[scene.begun :]]),
        "recycled reshuffled count recycled_count new_stock": Count(recycled[-1].count if recycled else 0),
        "kept": Cards([event.kept for event in recycled if event.kept]),
        "to_move next next_to_move to_act next_player": Seats(seating, scene.to_act),
        "irregular irregular_hand": Seats(seating, state.irregular),
        "deal_over scored": Is(bool(scene.all(DealScored))),
        "closed": Is(bool(scene.all(Closed))),
        "nothing": Is(None),
    }


def tag(event: Any) -> str:  # noqa: ANN401 any event
    return str(event.__struct_config__.tag)


def shown_table(scene: Scene, actor: int) -> dict[str, Answer]:
    laid = [event for event in scene.all(LaidOff) if event.seat == actor]
    exposed = [event for event in scene.all(Exposed) if event.seat == actor]
    after = [event.combination for event in scene.all(LaidOff)[-1:]]
    state = scene.state
    return {
        "laid_off laid": Laid(scene.seating, list(scene.laid())),
        "laid_cards": Cards([event.card for event in laid]),
        "run_after set_after combination_after": Table(after),
        "table table_after": Table(table_after(scene, scene.situation.closer)),
        "combinations laid_out exposed": Table(exposed[-1].combinations if exposed else ()),
        "chinchon": Is(bool(exposed) and exposed[-1].chinchon),
        "pot": Is(state.pot),
    }


def shown_closing(scene: Scene, actor: int) -> dict[str, Answer]:
    """Return what the last attempt to close has left or would have left, and whether another would be taken."""
    state = scene.state
    attempt = next((move for move in reversed(scene.situation.moves) if move.do == "close"), None)
    left: melds.Layout[Card] | None = None
    if attempt is not None:
        hand: list[Card] = list(state.hands[actor] or ())
        for event in scene.all(Exposed):
            hand += [card for cards in event.combinations for card in cards if event.seat == actor]
        face_down = cards_of(attempt.cards)
        if not scene.all(Closed):
            hand = [card for place, card in enumerate(hand) if place != hand.index(face_down[0])]
        left = melds_of(state).best(hand)
    return {
        "deadwood_points deadwood": Is(None) if left is None else Deadwood(left.points, left.loose),
        "may_close": MayClose(scene, actor),
    }


class MayClose:
    """Whether a seat may close in its next turn, whichever card it lays down."""

    def __init__(self, scene: Scene, seat: int) -> None:
        self._scene = scene
        self._seat = seat

    def __repr__(self) -> str:
        return f"whether seat {self._seat} may close"

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        scene, seat = self._scene, self._seat
        for _ in range(4 * len(scene.state.order)):
            phase = scene.state.phase
            assert isinstance(phase, Turn), f"no turn comes after {phase}"
            if phase.seat == seat and phase.drew:
                break
            scene.add(*GAME.decide(scene.state, scene.ask(phase.seat, GAME.idle(scene.state, phase.seat))))
        hand = tuple(scene.state.hands[seat] or ())
        closable = any(scene.decide(seat, {"type": "chinchon.close", "face_down": card}) is None for card in hand)
        told: bool = value
        return closable == told


def shown_score(scene: Scene, actor: int) -> dict[str, Answer]:
    """Return what the score of the deal, which is played out if moves have not ended it, makes of the match."""
    seating, state = scene.seating, scene.state
    offered = [seat for event in scene.all(ReentryOffered) for seat in event.seats]
    if scene.all(Closed) and not scene.all(DealScored):
        scene.play_out()
    scene.answer({})
    totals, points = dict(enumerate(scene.state.totals)), dict(enumerate(scene.state.points))
    taken = scene.all(PotTaken)
    winners: Sequence[int] = taken[-1].seats if taken else ()
    return {
        "scores totals total score_after after": PerSeat(seating, totals, actor),
        "points": PerSeat(seating, points, actor),
        "pot": Is(scene.state.pot),
        "winner winners": Seats(seating, winners),
        "wins_pot": Is(taken[-1].shares[0] if taken else 0),
        "match_over over ended": Is(bool(scene.all(Ended))),
        "reentry_offered offered": Seats(seating, offered),
        "out": Seats(seating, [seat for seat in state.taken if seat not in scene.state.still_in]),
        "turn_order next_turn_order": Seats(seating, scene.state.order, ordered=True),
        "forehand next_forehand": Seat(seating, scene.state.forehand),
    }
