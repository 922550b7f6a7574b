"""The lines that ask a question, each answered by the product's own rules: its test of a hand, its deals, its views.

One test a kind of question. An answer is compared with everything that the line expects, key by key.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import pytest

from events.games.kowah import DealScored, Dealt, Declared, Options, Won
from projections.games.kowah import begin
from service.game import Refused
from service.games.kowah import GAME, Checki, Discard, DrawStock, ready
from service.games.kowah.deals import PACK
from tests.cases import kowah_reckoning as reckoning
from tests.cases.answers import Answer, Each, Is, PerSeat, Seat, check_answer
from tests.cases.kowah_answers import (
    CASH,
    TOTAL,
    Cards,
    Hidden,
    Live,
    Multiplier,
    Outcome,
    Pair,
    Result,
    Results,
    Untold,
    Why,
)
from tests.cases.kowah_answers import Declared as Told
from tests.cases.kowah_census import Census
from tests.cases.kowah_given import EIGHT, Move, Situation, move_of, options_of, variants
from tests.cases.kowah_notation import Card, card_of, cards_of, names_of
from tests.cases.kowah_scene import AsTheyLie, Scene
from tests.cases.lines import Line, read
from tests.service.games.kowah.test_counts import waits

LINES = read("kowah")
KINDS: set[str] = set()
WORDS = ("two", "three", "four", "five", "six")


class Case:
    """A question of a line under some options, and what is expected of the answer."""

    def __init__(self, line: Line, options: dict[str, Any], expected: Any) -> None:  # noqa: ANN401 a line holds any JSON
        self.line = line
        self.given = line.given
        self.expected = expected
        self.told_options = options

    @cached_property
    def options(self) -> Options:
        return options_of(self.told_options, self.given)

    @cached_property
    def situation(self) -> Situation:
        return Situation(self.line, self.told_options)

    def given_too(self, **told: Any) -> "Case":  # noqa: ANN401 a line holds any JSON
        """Return the same question where this is given besides."""
        raw = {"id": self.line.id, "given": {**told, **self.given}, "options": self.line.options}
        line = Line({**raw, "action": self.line.asks, "expected": self.expected}, "?")
        return Case(line, self.told_options, self.expected)


def asked(question: str) -> pytest.MarkDecorator:
    """Run a test for each line, and each option value that it names, that asks a question of this pattern."""
    KINDS.add(question)
    cases = [
        pytest.param(Case(line, options, expected), id=f"{line.id}-{number}")
        for line in LINES
        if line.fault is None and re.fullmatch(question, kind_of(line) or "")
        for number, (options, expected) in enumerate(variants(line))
    ]
    return pytest.mark.parametrize("case", cases)


def kind_of(line: Line) -> str | None:
    """Return the question that a line asks, None where it makes moves."""
    return None if line.asks is None else line.asks.lower().replace("_", " ").rstrip(" ?.")


@asked(r"count")
def test_count(case: Case) -> None:
    told = case.given.get("players", 3)
    deals = {count: first_deal(case.options, count) for count in (told if isinstance(told, list) else [told])}
    pack = Counter(cards_dealt(first_deal(case.options, 3)))
    full = len(reckoning.SUITS) * len(reckoning.RANKS) + len(reckoning.HONOURS) + len(reckoning.EXTRAS)
    suits = {kind[0] for kind in pack if kind[1].isdigit()}
    ranks = {kind[1] for kind in pack if kind[1].isdigit()}
    answers: dict[str, Answer] = {
        "cards pack total": Is(pack.total()),
        "kinds": Is(len(pack)),
        "copies": Is(min(pack.values()) if len({*pack.values()}) == 1 else None),
        "excluded": Is(full * reckoning.COPIES - pack.total()),
        "suits": Is(len(suits)),
        "ranks": Is(len(ranks)),
        "suited suited_cards": Is(sum(count for kind, count in pack.items() if kind[1].isdigit())),
        "honours honour_kinds": Is(len([kind for kind in pack if not kind[1].isdigit()])),
        "honour_cards": Is(sum(count for kind, count in pack.items() if not kind[1].isdigit())),
        "hand_size cards_each each": per_table(deals, lambda deal: len(deal.hands[0] or ())),
        "dealt in_hands cards_dealt": per_table(deals, in_hands),
        "stock stock_after_deal": per_table(deals, lambda deal: deal.left),
    }
    for count, word in enumerate(WORDS, 2):
        deal = first_deal(case.options, count)
        answers[f"dealt_to_{word} dealt_to_{count}"] = Is(in_hands(deal))
        answers[f"stock_with_{word} stock_for_{word} stock_with_{count} stock_after_deal_to_{word}"] = Is(deal.left)
    check_answer(case.expected, answers, "cards")


def first_deal(options: Options, players: int) -> Dealt:
    started = GAME.start(begin(options, players, tuple(range(players))), AsTheyLie())
    return next(event for event in started if isinstance(event, Dealt))


def cards_dealt(deal: Dealt) -> list[str]:
    return [*(card for hand in deal.hands for card in hand or ()), *(deal.stock or ())]


def in_hands(deal: Dealt) -> int:
    return sum(len(hand or ()) for hand in deal.hands)


def per_table(deals: Mapping[int, Dealt], count: Callable[[Dealt], int]) -> Each:
    """Return a number for each table, told in order or by how many play there."""
    return Each({str(players): count(deal) for players, deal in deals.items()})


@asked(r"may declare checki\?? on which pair|may declare checki|on which pair")
def test_may_declare_checki(case: Case) -> None:
    """A hand is asked of the test of hands and of a table at which its player has just thrown a card."""
    hand = cards_of(case.given.get("hand") or case.situation.hands[case.situation.actor])
    told = case.situation.told
    if told.get("discarded") in hand and len(hand) > EIGHT:
        hand.remove(card_of(told["discarded"]))
    pairs = ready.pairs(hand)
    assert list(pairs) == reckoning.waits(hand)
    early = {"dealt", "turn", "first_turn", "to_move"} & told.keys()
    situation = Situation(case.line, case.told_options, () if early else (Move("checki"),))
    scene = Scene(situation)
    listed_now = [command.kind for command in scene.legal(situation.actor) if isinstance(command, Checki)]
    assert early or "declared" in told or listed_now == list(pairs)
    asked_of = [card_of(told["wait"])] if isinstance(told.get("wait"), str) else [c for c in hand if hand.count(c) > 1]
    reasons = {kind: why_not(hand, kind) for kind in asked_of}
    may = listed_now if early or "declared" in told else list(pairs)
    if isinstance(told.get("wait"), str):
        may = [kind for kind in may if kind == told["wait"]]
    missing = [why for why in reasons.values() if why is not None] or ([] if pairs else ["no_pair"])
    answers: dict[str, Answer] = {
        "ready": Is(bool(pairs)),
        "waits wait pairs on": Cards(pairs),
        "accepted may_declare declare": Is(bool(may)),
        "two_possible_waits": Is(len(pairs) == 2),
        "reason why": Why([] if may else missing),
    }
    check_answer(case.expected, answers, "ready")


def why_not(hand: Sequence[Card], kind: Card) -> str | None:
    try:
        ready.check(hand, kind)
    except Refused as refused:
        return refused.reason
    return None


@asked(r"live copies( of (a|the) wait)?")
def test_live_copies(case: Case) -> None:
    """What has gone by is what a player's view says, who counts the rest."""
    told = case.given.get("seen") or []
    each = told if any(isinstance(cards, list) for cards in told) else [told]
    counts = [live_of(case, cards) for cards in each]
    most = max(count for kinds in counts for count in kinds.values())
    answers: dict[str, Answer] = {
        "live live_copies copies": Live(counts),
        "most at_most": Is(most),
        "dead dead_wait": Each({str(place): not any(kinds.values()) for place, kinds in enumerate(counts)}),
    }
    check_answer(case.expected, answers, "live")


def live_of(case: Case, seen: Sequence[str]) -> dict[Card, int]:
    given = {key: value for key, value in case.given.items() if key != "seen"}
    line = Line({"id": "?", "action": "?", "expected": 1, "given": {**given, "seen": list(seen)}}, "?")
    situation = Situation(line, case.told_options)
    wait = situation.told.get("wait")
    if wait is not None and not situation.declared:
        situation.declared[situation.actor] = card_of(wait)
    seat = situation.actor if situation.actor in {*situation.declared, *situation.hands} else min(situation.declared)
    scene = Scene(situation)
    view = scene.view(seat)
    kinds = view.waits or ready.pairs(view.hand or ())
    assert kinds, f"seat {seat} waits for nothing"
    counts = {kind: 4 - (view.hand or ()).count(kind) - view.seen.count(kind) for kind in kinds}
    assert counts == {kind: reckoning.live(kind, scene.state.hands[seat] or (), cards_of(seen)) for kind in kinds}
    return counts


@asked(r"(public )?view of (p[1-6]|[a-f])( \(public\))?|what (do|does) .*see of (p[1-6]|[a-f])")
def test_public_view_of_a_player(case: Case) -> None:
    """What spectators and all other players see of a player, which is the same."""
    (name,) = re.findall(r"\b(p[1-6]|[a-f])\b", kind_of(case.line) or "")[-1:]
    situation = case.given_too(actor=name.upper()).situation
    seat, wait = situation.seating.seat(name.upper()), situation.told.get("wait")
    if isinstance(wait, str):
        situation.declared.setdefault(seat, card_of(wait))
    scene = Scene(situation)
    others = [viewer for viewer in scene.viewers if viewer != seat]
    view = scene.view(None)
    kind, hand = view.declared[seat], view.shown[seat]
    for viewer in others:
        seen = scene.view(viewer)
        assert (seen.declared, seen.shown, seen.held) == (view.declared, view.shown, view.held)
        assert seen.hand is None or viewer is not None
        told = [GAME.projection.redact(event, viewer) for event in declared_before(scene)]
        assert all(isinstance(event, Declared) and event.waits is None for event in told)
    known = scene.public_cards(seat)
    kinds = {other: pair for other, pair in enumerate(view.declared) if pair is not None}
    answers: dict[str, Answer] = {
        "shown pair shown_pair public_pair public wait waits kind waiting_pair": Pair(kind, hand),
        "visible visible_cards known cards": Cards(known),
        "hidden hidden_cards hidden_count others_hidden other_six others": Hidden(view.held[seat] - len(known)),
        "declared": Told(scene.seating, kinds, seat),
        "hand full_hand": Is(None) if hand is None else Cards(hand),
        "hand_size cards_in_hand held": Is(view.held[seat]),
        "hand_visible hand_shown": Is(hand is not None),
    }
    check_answer(case.expected, answers, "shown")


def declared_before(scene: Scene) -> list[Declared]:
    """Return the declarations that lead to the case, as its players know them."""
    state = scene.state
    kinds = [(seat, kind) for seat, kind in enumerate(state.declared) if kind is not None]
    return [Declared(seat, kind, state.waits[seat], state.shown[seat]) for seat, kind in kinds]


@asked(r"enumerate( all 8-card multisets)?")
def test_enumerate(case: Case) -> None:
    strict: bool = case.given.get("strict", True)
    check_answer(case.expected, {"census": Census(strict=strict)}, "census")


@asked(r"pass without declaring|pass")
def test_pass_without_declaring(case: Case) -> None:
    """The next player acts without a declaration; it may come after a discard as before."""
    situation = Situation(case.line, case.told_options, (Move("checki"),))
    scene = Scene(situation)
    seat = situation.actor
    before = [command for command in scene.legal(seat) if isinstance(command, Checki)]
    count = scene.seating.count
    accepted = scene.decide((seat + 1) % count, {"type": "kowah.draw_stock"}) is None
    declared = scene.state.declared[seat]
    too_late = [command for command in scene.legal(seat) if isinstance(command, Checki)]
    while (scene.table.to_act[0] - seat) % count != 0:
        idle(scene)
    idle(scene)
    with_it = [command for command in scene.legal(seat) if isinstance(command, Discard) and command.checki is not None]
    idle(scene)
    later = [command for command in scene.legal(seat) if isinstance(command, Checki)]
    assert bool(with_it) == bool(later)
    answers: dict[str, Answer] = {
        "accepted": Is(accepted),
        "declared": Is(declared is not None),
        "may_declare_now may_declare_before": Is(bool(before)),
        "may_declare_after_next_player may_declare_after_the_next_player_acts": Is(bool(too_late)),
        "may_declare_after_a_later_discard may_declare_later": Is(bool(later)),
        "waits": Cards([command.kind for command in later]),
        "shown": Pair(scene.view(None).declared[seat]),
        "winner": Seat(scene.seating, scene.all(Won)[-1].seat if scene.all(Won) else None),
    }
    check_answer(case.expected, answers, "accepted")


def idle(scene: Scene) -> None:
    """Have whoever must act draw from the stock, or throw what was drawn."""
    (seat,) = scene.table.to_act
    command = DrawStock() if scene.state.drawn is None else Discard(scene.state.drawn)
    assert GAME.idle(scene.state, seat) == command
    reason = scene.decide(seat, {"type": "kowah.draw_stock"} if scene.state.drawn is None else thrown(scene))
    assert reason is None, reason


def thrown(scene: Scene) -> dict[str, Any]:
    return {"type": "kowah.discard", "card": scene.state.drawn}


@asked(r"prove")
def test_prove(case: Case) -> None:
    """Of each kind that the product lets a ready hand wait for, it holds two copies; the one claimed is a third."""
    held = min(hand.count(kind) for hand in waits("each") for kind in ready.pairs(hand))
    needed, available = 2 * held + 1, min(Counter(PACK).values())
    assert case.given.get("copies", available) == available
    answers: dict[str, Answer] = {
        "needed copies_needed": Is(needed),
        "available copies copies_available": Is(available),
        "simultaneous_claims_possible possible": Is(needed <= available),
        "held_by_each each_holds": Is(held),
        "most_claims max_claims": Is((available - 1) // held),
    }
    check_answer(case.expected, answers, "simultaneous_claims_possible")


@asked(r"what is shown( at the end)?")
def test_what_is_shown(case: Case) -> None:
    """A deal of this result is played; of a series the last one, after the others."""
    situation = case.situation
    told, seating = situation.told, situation.seating
    results = told.get("results") or [{key: told[key] for key in ("winner", "multiplier", "how") if key in told}]
    scene = ended_with(case, results)
    (deal,) = scene.all(DealScored)
    view = scene.view(None)
    shown = [Result(seating, one.winner, one.multiplier, one.how, one.deal) for one in view.results]
    assert shown[-1] == (seating, deal.winner, deal.multiplier, deal.how, deal.deal)
    answers: dict[str, Answer] = {
        "shown result_shown": Shown(shown),
        "results list": Results(shown),
        "winner": Seat(seating, deal.winner),
        "multiplier": Multiplier(deal.multiplier),
        "how": Is(deal.how),
        "result": Outcome(seating, over=True, winner=deal.winner),
        "cash": Untold(view, CASH),
        "match_total match_totals total": Untold(view, TOTAL),
        "scores points": PerSeat(seating, dict(enumerate(view.scores)), deal.winner or 0),
        "places": PerSeat(seating, dict(enumerate(view.places or ())), deal.winner or 0),
    }
    check_answer(case.expected, answers, "shown")


class Shown(Results):
    """The results of deals, or the last of them alone."""

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        return super().agrees(value) if isinstance(value, list) else self.results[-1].agrees(value)


def ended_with(case: Case, results: Sequence[Any]) -> Scene:
    """Play a deal that ends with the last of these results, after deals with the others."""
    *earlier, last = results
    seating = case.situation.seating
    result: dict[str, Any] = last if isinstance(last, dict) else {}
    given: dict[str, Any] = {"players": seating.count, "results": earlier, "first": case.given.get("first", "P1")}
    if result.get("winner") is None:
        # Nobody has declared, so that no card wins.
        moves = [Move("draw_stock", accepted=True)]
        given |= {"stock": 1}
        del given["first"]
    else:
        winner = seating.seat(result["winner"])
        how = result.get("how") or {3: "self_draw", 2: "opponent_discard", 1: "opponent_draw"}[result["multiplier"]]
        mover = winner if how == "self_draw" else (winner + 1) % seating.count
        moves = [Move("discard" if how == "opponent_discard" else "draw_stock", card="C2", accepted=True)]
        given |= {"declared": {str(names_of(winner)[0]): "C2"}, "to_move": names_of(mover)[0]}
    line = Line({"id": "?", "given": given, "action": "?", "expected": 1}, "?")
    scene = Scene(Situation(line, case.told_options, moves))
    assert [scene.make(move) for move in moves] == [None]
    return scene


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.id)
def test_a_line_can_be_run(line: Line) -> None:
    assert line.fault is None, f"{line.id}: {line.fault}"
    kind = kind_of(line)
    fitting = [question for question in KINDS if kind is not None and re.fullmatch(question, kind)]
    assert kind is None or len(fitting) == 1, f"{line.id} asks {line.asks!r}, which {len(fitting)} tests do"
    for options, _ in variants(line):
        Situation(line, options, [move_of(raw) for raw in line.moves])


@pytest.mark.parametrize(
    ("given", "expected", "message"),
    [
        ({"hand": ["C1"] * 8, "weather": "fine"}, {"ready": False}, "the given 'weather'"),
        ({"hand": ["C5", "S5", "M5", "C7", "C7", "S7", "C2", "C2"]}, {"ready": True, "luck": 7}, "ready"),
        ({"hand": ["C5", "S5", "M5", "C7", "C7", "S7", "C2", "C2"]}, {"ready": False}, "ready"),
        ({"hand": ["C5", "C5", "C5", "C5", "C5", "S7", "C2", "C2"]}, {"ready": False}, "more than four C5"),
        ({"hand": ["C5", "S5"]}, {"ready": False}, "holds 2 cards"),
    ],
)
def test_what_nobody_understands_fails_its_line(given: dict[str, Any], expected: object, message: str) -> None:
    line = Line({"id": "?", "given": given, "action": "may declare checki?", "expected": expected}, "?")
    ((options, told),) = variants(line)
    with pytest.raises((AssertionError, ValueError), match=message):
        test_may_declare_checki(Case(line, options, told))
