"""The lines that make moves, each decided on a state folded from the events that its `given` stands for."""

import re
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import pytest

from events.games.chinkway import Captured, DealScored, Options, TrickTaken
from events.table import Ended
from projections.games.chinkway import SEATS, Capturing, Declaring, Discarding, Playing
from projections.table import Table
from service.game import REASONS
from service.games.chinkway import GAME, Capture, Play, quests, score
from tests.cases.answers import Answer, Is, aligned, check_answer, is_accepted
from tests.cases.chinkway_answers import Cards, Hauls, PerSeat, Seat, Seats, Seen, Sides
from tests.cases.chinkway_given import Move, move_of, options_of
from tests.cases.chinkway_scene import Scene
from tests.cases.chinkway_words import Card, card_of, trump_of
from tests.cases.lines import Line, read

# Whose value a word is: {"switch": "partners", "court": "aces", …}.
OPTION_OF = {
    value: name for name, hint in get_type_hints(Options).items() for value in get_args(hint) if isinstance(value, str)
}

# Words by which a line says why a move is refused, and the reasons of the product that they may mean.
WHY = (
    (r"discards? (must )?(come|first)|trumps? (is|are) named|before|after|already|yet|first|phase", "now turn"),
    (r"exactly|only one card|two cards|three cards", "malformed now"),
    (r"twice|same card|must differ|different cards", "same_card_twice"),
    (r"not (be )?held|not in (the |his |her |their )?hand|n't (hold|have)|not hold|own hand", "card_not_held"),
    (r"follow|led suit|suit led|holds? a", "must_follow_suit must_trump"),
    (r"trump", "must_trump must_follow_suit now turn malformed"),
    (r"categor|quest|no (spade|heart|diamond|club|court)", "category_not_in_quest part_already_met now turn"),
    (r"\bmet\b|surplus|complete|no longer needed|not needed", "part_already_met now"),
    (r"not (a card )?(in|of|from) (the|this) trick", "card_not_in_trick"),
    (r"turn|only the|not the (winner|dealer|leader)|leads|another|partner", "turn now"),
)  # fmt: skip
SHORT = {"now": "not_now", "turn": "not_your_turn"}

LINES = [line for line in read("chinkway") if line.asks is None and line.fault is None]


def body_of(move: Move) -> dict[str, Any]:
    """Return the command that a move stands for; what names no card or trumps is sent as it is told."""
    match move.do:
        case "discard":
            return {"type": "chinkway.discard", "cards": [sent(card) for card in move.cards]}
        case "declare":
            return {"type": "chinkway.declare", "trump": sent_trump(move.trump)}
        case "play" | "capture":
            return {"type": f"chinkway.{move.do}", "card": sent(*move.cards)}
        case do:
            return {"type": f"chinkway.{do}"}


def sent(word: str) -> str:
    try:
        return card_of(word)
    except ValueError:
        return word


def sent_trump(word: Any) -> Any:  # noqa: ANN401 a line may name anything
    try:
        return trump_of("NT" if word is None else word)
    except ValueError:
        return word


def looked_at_quest(scene: Scene, seat: int | None) -> bool:
    """Return whether this seat sees a quest."""
    table = Table(id="t", options=scene.options, status="playing", play=scene.state)
    return GAME.projection.view(table, seat).quest is not None  # type: ignore[attr-defined] # Chinkway's own view


def answer(scene: Scene, move: Move) -> str | None:
    """Make one move; return the reason of its refusal, None if it was accepted."""
    seat = scene.seating.seat(move.by)
    if move.do == "look":
        return None if looked_at_quest(scene, seat) else "not_now"
    return scene.decide(seat, body_of(move))


def told_moves(line: Line, expected: dict[str, Any]) -> list[Move]:
    """Return a line's moves, each with how it is to be answered, as far as the line says so."""
    moves = [move_of(raw) for raw in line.moves]
    accepted, why = expected.get("accepted"), expected.get("why", expected.get("reason"))
    if isinstance(accepted, bool) and (accepted or len(moves) == 1):
        accepted = [accepted] * len(moves)
    if isinstance(accepted, list) and len(accepted) == len(moves):
        moves = [move._replace(accepted=verdict) for move, verdict in zip(moves, accepted, strict=True)]
    whys = aligned(why, [move.accepted is False for move in moves])
    return [move._replace(why=said or move.why) for move, said in zip(moves, whys, strict=True)]


def says(why: str, reason: str) -> bool:
    """Return whether words may mean a reason: where they are recognised, it is one that they may mean."""
    if why in {**REASONS, **GAME.reasons}:
        return why == reason
    meant = [SHORT.get(name, name) for words, names in WHY if re.search(words, why.lower()) for name in names.split()]
    return not meant or reason in meant


def played_out() -> Iterator[Any]:
    for line in LINES:
        for number, (options, expected) in enumerate(line.variants(OPTION_OF)):
            told = expected if isinstance(expected, dict) else {"accepted": expected}
            yield pytest.param(line, options, told, id=f"{line.id}-{number}")


@pytest.mark.parametrize(("line", "options", "expected"), list(played_out()))
def test_moves_are_answered_as_the_line_says(line: Line, options: dict[str, Any], expected: dict[str, Any]) -> None:
    moves = told_moves(line, expected)
    scene = Scene(line.given, options_of(options, line.given), moves)
    reasons = [answer(scene, move) for move in moves]
    refused = [reason is not None for reason in reasons]
    why = expected.get("why", expected.get("reason"))
    default = expected["refused"] is not True if "refused" in expected else not why
    assert is_accepted(expected.get("accepted", default), refused), reasons
    assert all(move.accepted in {None, reason is None} for move, reason in zip(moves, reasons, strict=True)), reasons
    for said, reason in zip(aligned(why, refused), reasons, strict=True):
        assert said is None or says(said, str(reason)), f"{reason} is not {said!r}"
    rest = {key: value for key, value in expected.items() if key not in {"accepted", "refused", "why", "reason"}}
    if rest:
        check_answer(rest, shown(scene, scene.seating.seat(moves[-1].by)), "nothing")


def shown(scene: Scene, actor: int) -> dict[str, Answer]:
    """Return what a line may expect to be so after its moves; a number alone is meant for the seat that moved last."""
    return shown_trick(scene, actor) | shown_deal(scene, actor) | shown_score(scene, actor)


def shown_trick(scene: Scene, actor: int) -> dict[str, Answer]:
    state, seating = scene.state, scene.seating
    taken = scene.all(TrickTaken)
    took = taken[-1] if taken else None
    winner = took.seat if took else None
    leader = winner if is_over(scene) else lead(scene)
    latest = [event.card for event in scene.events[scene.begun :] if isinstance(event, Captured)]
    hauls = [[event.card for event in scene.all(Captured) if event.seat == seat] for seat in range(SEATS)]
    between = isinstance(state.phase, Capturing)
    return {
        "choices capture_choices": Cards(took.choices if took else ()),
        "needed": Cards(took.needed if took else ()),
        "captured captures captured_card": Hauls(seating, hauls, actor, latest),
        "next_leader leader to_lead": Seat(seating, leader),
        "winner taker trick_winner": Seat(seating, winner),
        "winner_side winning_side": Seats(seating, () if winner is None else seating.side_of(winner)),
        "to_act to_play next on_turn next_player": Seat(seating, state.phase.seat),
        "legal legal_cards": Cards(legal(scene)),
        "trick plays": Cards(state.trick),
        "led_suit": Is(state.trick[0][0] if state.trick else None),
        "trick_number": Is(len(taken) + (not between and not is_over(scene))),
        "tricks_played": Is(len(taken)),
        "tricks tricks_won": PerSeat(seating, [sum(e.seat == seat for e in taken) for seat in range(SEATS)], actor),
    }


def shown_deal(scene: Scene, actor: int) -> dict[str, Answer]:
    state, seating = scene.state, scene.seating
    seen = state.quest if looked_at_quest(scene, actor) else None
    held = [0] * SEATS if is_over(scene) else state.held
    hand = () if is_over(scene) else state.hands[actor] or ()
    return {
        "hand_size hand_sizes dealer_hand_size cards_left": PerSeat(seating, held, actor),
        "hand cards_in_hand": Cards(hand),
        "discards discarded": Cards(state.discards[-1].cards or () if state.discards else ()),
        "trump trumps declared": Is(state.trump, ("none", "no_trumps") if state.trump == "NT" else ()),
        "phase next_phase": phase(scene),
        "quest quest_cards quest_turned visible quest_visible": Seen(seen),
        "quest_left quest_pack_left left_in_pack left": Is(len(state.pack or ())),
        "dealer": Seat(seating, state.dealer),
        "next_dealer": Seat(seating, seating.seat("P2")),
        "deal": Is(state.deal),
        "sides": Sides(seating, state.sides),
        "scored deal_over": Is(is_over(scene)),
        "ended over match_over finished": Is(bool(scene.all(Ended))),
    }


def shown_score(scene: Scene, actor: int) -> dict[str, Answer]:
    state, seating = scene.state, scene.seating
    hauls: list[list[Card]] = [[] for _ in range(SEATS)]
    for event in scene.all(Captured):
        hauls[event.seat].append(event.card)
    wanted = state.wanted or dict.fromkeys(quests.CATEGORIES, 0)
    parts, points = score(hauls, seating.sides, wanted, scene.options)
    if is_over(scene):
        parts, points = scene.last(DealScored).parts, scene.last(DealScored).points
    places = scene.last(Ended).places if scene.all(Ended) else (None,) * SEATS
    return {
        "parts parts_of_side_after parts_of_side parts_after side_parts met": PerSeat(seating, parts, actor),
        "points points_of_side score scores": PerSeat(seating, points, actor),
        "totals final total": PerSeat(seating, state.totals, actor, lettered=True),
        "winners match_winner match_winners": Seats(seating, [s for s, place in enumerate(places) if place == 1]),
        "places": PerSeat(seating, places, actor, lettered=True),
        "nothing": Is(None),
    }


def is_over(scene: Scene) -> bool:
    """Return whether the deal of the case has been scored."""
    return any(event.deal == scene.seating.deal for event in scene.all(DealScored))


def lead(scene: Scene) -> int | None:
    """Return who leads the trick on the table or, where it is full or none has begun, the next one."""
    between = isinstance(scene.state.phase, Capturing) or not scene.state.trick
    return scene.state.phase.seat if between else scene.state.leader


def legal(scene: Scene) -> list[Card]:
    seat = scene.state.phase.seat
    commands = GAME.legal(scene.state, seat) if seat is not None else ()
    return [command.card for command in commands if isinstance(command, Play | Capture)]


def phase(scene: Scene) -> Is:
    """Return the phase by its name in a view; between deals it is also over, before a trick it is the lead."""
    between = ("over", "deal_over", "scored", "score", "scoring", "next_deal", "deal") if is_over(scene) else ()
    match scene.state.phase:
        case Discarding():
            return Is("discard", ("discard_two", "discarding", *between))
        case Declaring():
            return Is("declare", ("declare_trump", "declaring", "trump"))
        case Playing():
            return Is("play", ("playing", "trick", *(() if scene.state.trick else ("lead", "next_trick", "next_lead"))))
        case Capturing():
            return Is("capture", ("capturing",))
        case _:
            return Is("over", ("ended", "finished", "match_over", *between))
