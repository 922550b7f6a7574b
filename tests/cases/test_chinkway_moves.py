"""The lines that make moves, each decided on a state folded from the events that its `given` stands for."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from events.games.chinkway import DealScored, Options, TrickTaken
from events.table import Ended
from projections.games.chinkway import SEATS, Capturing, Declaring, Discarding, Playing
from projections.table import Table
from service.games.chinkway import GAME, Capture, Play
from tests.cases.chinkway_scene import Scene, card_of, cards_of, written
from tests.cases.lines import Line, Told, read

# What a case may say of why a move is refused, for each reason that the product gives.
WHY = {
    "malformed": r"two|exactly|one card|three|no such|suit",
    "not_now": r"discard|first|before|after|already|capture|lead|declare|trump|quest|trick|once|gone|face down",
    "not_your_turn": r"turn|dealer|winner|leads?|partner|only|another|player|wait",
    "card_not_held": r"h[eo]ld|hand|own",
    "same_card_twice": r"twice|different|same",
    "must_follow_suit": r"follow|suit",
    "must_trump": r"trump",
    "card_not_in_trick": r"trick",
    "category_not_in_quest": r"categor|quest|match",
    "part_already_met": r"part|need|met|complete|surplus",
}

LINES = [line for line in read("chinkway") if line.asks is None]


def body_of(move: dict[str, Any]) -> dict[str, Any] | None:
    """Return the command that a move stands for; KeyError for a move nobody knows."""
    match move["do"].replace(" ", "_"):
        case "discard_two":
            return {"type": "chinkway.discard", "cards": cards_of(move["cards"])}
        case "declare_trump":
            return {"type": "chinkway.declare", "trump": move["trump"]}
        case "play":
            return {"type": "chinkway.play", "card": card_of(move["card"])}
        case "capture":
            return {"type": "chinkway.capture", "card": card_of(move["card"])}
        case "decline_capture":
            return {"type": "chinkway.decline"}
        case "look_at_quest":
            return None
        case unknown:
            raise KeyError(unknown)


def looked_at_quest(scene: Scene, seat: int | None) -> bool:
    """Return whether this seat sees a quest."""
    table = Table(id="t", options=scene.options, players=[None] * SEATS, status="playing", play=scene.state)
    return GAME.projection.view(table, seat).quest is not None  # type: ignore[attr-defined] # Chinkway's own view


def answer(scene: Scene, move: dict[str, Any]) -> str | None:
    """Make one move; return the reason of its refusal, None if it was accepted."""
    seat = scene.seating.seat(move["by"])
    body = body_of(move)
    if body is None:
        return None if looked_at_quest(scene, seat) else "not_now"
    return scene.decide(seat, body)


def played_out() -> Iterator[Any]:
    for line in LINES:
        for options, expected in line.variants():
            yield pytest.param(line, options, expected, id=f"{line.id}-{'-'.join(map(str, options.values()))}")


@pytest.mark.parametrize(("line", "options", "expected"), list(played_out()))
def test_moves_are_answered_as_the_line_says(line: Line, options: dict[str, Any], expected: dict[str, Any]) -> None:
    given = line.given()
    scene = Scene(given, msgspec.convert(options, Options), line.moves)
    given.done()
    reasons = [answer(scene, move) for move in line.moves]
    told = Told("expected", expected)
    accepted = told.get("accepted", True)
    accepted = [accepted] * len(reasons) if isinstance(accepted, bool) else accepted
    assert [reason is None for reason in reasons] == accepted, reasons
    actor = scene.seating.seat(line.moves[-1]["by"])
    for key, value in told.items():
        if key == "why":
            refusals = [reason for reason in reasons if reason is not None]
            whys = [value] * len(refusals) if isinstance(value, str) else [why for why in value if why]
            assert all(re.search(WHY[reason], why) for reason, why in zip(refusals, whys, strict=True)), refusals
        else:
            assert key in SHOWN, f"no test understands {key!r} in what {line.id} expects"
            assert SHOWN[key](scene, actor) == _seats(value, scene, key), key
    told.done()


def _seats(value: Any, scene: Scene, key: str) -> Any:  # noqa: ANN401 a line holds any JSON
    if isinstance(value, dict) and key != "parts":
        return {scene.seating.seat(name): points for name, points in value.items()}
    if key in {"next_leader", "leader", "winner", "to_act", "to_play"} and isinstance(value, str):
        return scene.seating.seat(value)
    if key == "winners":
        return sorted(scene.seating.seat(name) for name in value)
    return sorted(value) if isinstance(value, list) else value


def choices(scene: Scene, _: int) -> list[str]:
    return sorted(map(written, scene.last(TrickTaken).choices))


def captured(scene: Scene, actor: int) -> str | None:
    own = scene.state.captured[actor]
    return written(own[-1]) if own else None


def lead(scene: Scene, _: int) -> int | None:
    """Return who leads the trick on the table or, where it is full or none has begun, the next one."""
    between = isinstance(scene.state.phase, Capturing) or not scene.state.trick
    return scene.state.phase.seat if between else scene.state.leader


def legal(scene: Scene, _: int) -> list[str]:
    seat = scene.state.phase.seat
    commands = GAME.legal(scene.state, seat) if seat is not None else ()
    return sorted(written(command.card) for command in commands if isinstance(command, Play | Capture))


def parts_of_side(scene: Scene, actor: int) -> int:
    scored = [event for event in scene.events if isinstance(event, DealScored) and event.deal == scene.seating.deal]
    return scored[-1].parts[actor] if scored else sum(scene.state.met[actor].values())


def phase(scene: Scene, _: int) -> str:
    names = {Discarding: "discard", Declaring: "declare", Playing: "play", Capturing: "capture"}
    return names.get(type(scene.state.phase), "over")


def points(scene: Scene, _: int) -> dict[int, int]:
    return dict(enumerate(scene.last(DealScored).points))


def totals(scene: Scene, _: int) -> dict[int, int]:
    return dict(enumerate(scene.last(DealScored).totals))


SHOWN: dict[str, Callable[[Scene, int], Any]] = {
    "choices": choices,
    "captured": captured,
    "next_leader": lead,
    "leader": lead,
    "winner": lambda scene, _: scene.last(TrickTaken).seat,
    "to_act": lambda scene, _: scene.state.phase.seat,
    "to_play": lambda scene, _: scene.state.phase.seat,
    "legal": legal,
    "hand_size": lambda scene, actor: scene.state.held[actor],
    "parts_of_side_after": parts_of_side,
    "points": points,
    "totals": totals,
    "final": totals,
    "winners": lambda scene, _: [seat for seat, place in enumerate(scene.last(Ended).places) if place == 1],
    "trump": lambda scene, _: scene.state.trump,
    "phase": phase,
    "quest_turned": lambda scene, _: scene.state.quest is not None,
}
