"""The lines that ask a question, each answered by the product's own rules functions.

One test a kind of question. An answer is compared with everything that the line expects, key by key.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import combinations
from operator import add
from typing import Any, TypeVar

import pytest

from events.cards import FRENCH
from events.games.chinkway import Category, Dealt, Options, QuestShuffled, QuestTurned
from projections.games.chinkway import SEATS, begin
from service.game import Refused
from service.games.chinkway import GAME, capturable, partners, playable, quests, score
from service.rules import standing, tricks
from tests.cases.answers import Answer, Is, check_answer
from tests.cases.chinkway_answers import (
    Cards,
    Census,
    Drawn,
    Pairs,
    PerSeat,
    Points,
    Schedule,
    Seat,
    Seats,
    Seen,
    Sides,
)
from tests.cases.chinkway_given import Move, Situation, options_of
from tests.cases.chinkway_packs import ready, removals
from tests.cases.chinkway_scene import CHANCE, Scene
from tests.cases.chinkway_words import LETTERS, Card, Seating, cards_of
from tests.cases.lines import Line, read
from tests.cases.test_chinkway_moves import OPTION_OF, looked_at_quest

T = TypeVar("T")

LINES = read("chinkway")
KINDS: set[str] = set()


class Case:
    """A question of a line under some options, and what is expected of the answer."""

    def __init__(self, line: Line, options: dict[str, Any], expected: Any) -> None:  # noqa: ANN401 a line holds any JSON
        self.given = line.given
        self.expected = expected
        self._options = options

    @cached_property
    def options(self) -> Options:
        return options_of(self._options, self.given)

    @cached_property
    def situation(self) -> Situation:
        return Situation(self.given, self.options)

    @property
    def told(self) -> dict[str, Any]:
        return self.situation.told

    def expects(self, key: str) -> Any:  # noqa: ANN401 a line holds any JSON
        return self.expected.get(key) if isinstance(self.expected, dict) else None


def asked(question: str) -> pytest.MarkDecorator:
    """Run a test for each line, and each option value that it names, that asks this question."""
    KINDS.add(question)
    cases = [
        pytest.param(Case(line, options, expected), id=f"{line.id}-{number}")
        for line in LINES
        if line.fault is None and kind_of(line) == question
        for number, (options, expected) in enumerate(line.variants(OPTION_OF))
    ]
    return pytest.mark.parametrize("case", cases)


def kind_of(line: Line) -> str | None:
    """Return the question that a line asks, None where it makes moves."""
    return None if line.asks is None else line.asks.lower().replace("_", " ").rstrip(" ?.")


@asked("deal")
def test_deal(case: Case) -> None:
    players, deck = case.told.get("players", SEATS), case.told.get("deck", len(FRENCH))
    dealt = next(event for event in GAME.start(begin(case.options, SEATS, ()), CHANCE) if isinstance(event, Dealt))
    seating = Seating({"dealer": LETTERS[dealt.dealer]}, case.options)
    sizes = [len(hand or ()) for hand in dealt.hands]
    assert case.told.get("decks", 2) in {1, 2}
    answers: dict[str, Answer] = {
        "hand_sizes hand_sizes_P1_to_P5 hands sizes hand_size": PerSeat(seating, sizes),
        "left_in_pack left left_over in_pack": Is(deck - sum(sizes)),
        "accepted": Is(GAME.seats.least <= players <= GAME.seats.most),
        "dealer dealer_hand_size": Is(sizes[dealt.dealer]),
        "others other_hand_sizes each_other": Is(sizes[seating.seat("P2")]),
        "total dealt": Is(sum(sizes)),
    }
    check_answer(case.expected, answers, "hand_sizes")


@asked("look at quest")
def test_look_at_quest(case: Case) -> None:
    scene = Scene(case.given, case.options, [Move("P1", "look")])
    viewer = scene.situation.seat("to_play")
    (visible,) = {looked_at_quest(scene, seat) for seat in ([None, *range(SEATS)] if viewer is None else [viewer])}
    seen = scene.state.quest if visible else None
    answers: dict[str, Answer] = {
        "visible seen accepted may_look quest quest_cards cards turned quest_turned face_up allowed": Seen(seen),
        "hidden face_down refused": Seen(seen, inverse=True),
        "count": Is(len(seen or ())),
    }
    check_answer(case.expected, answers, "visible")


@asked("legal cards")
def test_legal_cards(case: Case) -> None:
    situation = case.situation
    hand = situation.hands.get(situation.actor) or next(iter(situation.hands.values()))
    trick = [card for _, card in situation.trick]
    legal = playable(hand, trick, situation.trump or "NT", case.options.void)
    refused = [card for card in hand if card not in legal]
    answers: dict[str, Answer] = {
        "legal legal_cards cards playable allowed": Cards(legal),
        "illegal refused forbidden illegal_cards": Cards(refused),
        "count": Is(len(legal)),
        "hand_size": Is(len(hand)),
    }
    check_answer(case.expected, answers, "legal")


@asked("trick winner")
def test_trick_winner(case: Case) -> None:
    situation = case.situation
    cards = [card for _, card in situation.trick]
    seat, card = situation.trick[tricks.taker(cards, situation.trump or "NT")]
    winner = Seat(situation.seating, seat)
    answers: dict[str, Answer] = {
        "winner next_leader taker next_to_lead to_lead": winner,
        "leader led_by": Seats(situation.seating, (situation.leader,)),
        "card winning_card": Cards([card]),
        "winner_side side winning_side": Seats(situation.seating, situation.seating.side_of(seat)),
        "led_suit": Is(cards[0][0]),
    }
    is_card = isinstance(case.expected, str) and case.expected[0] not in f"P{LETTERS}"
    check_answer(case.expected, answers, "card" if is_card else "winner")


@asked("quest categories")
def test_quest_categories(case: Case) -> None:
    counts = quests.count(case.situation.quest, case.options.aces)
    answers: dict[str, Answer] = {
        "parts categories quest wanted": Census([counts]),
        "total count": Is(sum(counts.values())),
        "different distinct kinds": Is(sum(count > 0 for count in counts.values())),
    }
    check_answer(case.expected, answers, "parts")


@asked("cards per category")
def test_cards_per_category(case: Case) -> None:
    turned = {
        card
        for entry in case.told.get("turned") or ()
        for card in cards_of([entry] if isinstance(entry, str) else entry)
    }
    turned |= {*case.situation.quest}
    censuses: list[dict[Category, int]] = [
        quests.count([card for card in FRENCH if card not in {*gone, *turned}], case.options.aces)
        for gone in removals(case.told.get("removed"), case.options)
        if turned.isdisjoint(gone)
    ]
    totals = {sum(census.values()) for census in censuses}
    answers: dict[str, Answer] = {
        "counts categories per_category parts": Census(censuses, whole=False),
        "total size left cards pack": Is(max(totals)),
    }
    check_answer(case.expected, answers, "counts")


@asked("capture choices")
def test_capture_choices(case: Case) -> None:
    situation = case.situation
    trick = [card for _, card in situation.trick]
    if situation.trump is not None and "leader" in case.told:
        assert situation.trick[tricks.taker(trick, situation.trump)][0] == situation.winner
    winner = situation.seating.seat("P2") if situation.winner is None else situation.winner
    counted = (winner,) if case.options.team_scoring == "sum" else situation.seating.side_of(winner)
    met = quests.count([card for seat, card in situation.captures if seat in counted], case.options.aces)
    wanted = quests.count(situation.quest, case.options.aces)
    choices, needed = capturable(trick, wanted, met, case.options)
    answers: dict[str, Answer] = {
        "choices capturable legal cards may_capture": Cards(choices),
        "needed": Cards(needed),
        "surplus": Cards([card for card in choices if card not in needed]),
        "count": Is(len(choices)),
        "phase": Is("capture" if choices else "skipped", ("play", "next_trick", "lead") if not choices else ()),
        "skipped phase_skipped": Is(not choices),
        "may_decline": Is(bool(choices)),
        "winner next_leader chooser": Seat(situation.seating, winner),
    }
    check_answer(case.expected, answers, "choices")


def scored(case: Case) -> tuple[Sequence[int], Sequence[int]]:
    """Return the parts and points of each seat, from the quest and what was captured."""
    hauls: list[list[Card]] = [[] for _ in range(SEATS)]
    for seat, card in case.situation.captures:
        hauls[seat].append(card)
    wanted = quests.count(case.situation.quest, case.options.aces)
    return score(hauls, case.situation.seating.sides, wanted, case.options)


def totalled(case: Case, subject: int | None = None) -> dict[str, Answer]:
    """Return what a deal, as it is told or as it was captured, makes of the totals before."""
    seating = case.situation.seating
    parts, points = scored(case)
    if "deal_points" in case.told:
        points = case.situation.per_seat("deal_points")
    totals = list(map(add, case.situation.per_seat("before"), points))
    forfeits = [seating.seat(name) for name in case.told.get("resigned") or ()]
    places = standing.highest_wins(totals, forfeits)
    winners = [seat for seat, place in enumerate(places) if place == 1]
    best = {seat for side in seating.sides for seat in side if points[side[0]] == max(points)}
    return {
        "points deal_points score scores": PerSeat(seating, points, subject),
        "parts parts_met completed met": PerSeat(seating, parts, subject),
        "final totals total after": PerSeat(seating, totals, subject, lettered=True),
        "winners winner joint_winners match_winner match_winners leaders": Seats(seating, winners),
        "places ranks": PerSeat(seating, places, lettered=True),
        "shared joint tie tied": Is(len(winners) > 1),
        "count number_of_winners": Is(len(winners)),
        "highest best": Is(max(totals)),
        "winner_side winning_side best_side": Seats(seating, best),
        "next_dealer": Seat(seating, seating.seat("P2")),
        "dealer": Seat(seating, seating.dealer),
        "sides": Sides(seating, seating.sides),
    }


@asked("score the deal")
def test_score_the_deal(case: Case) -> None:
    takers = {seat for seat, _ in case.situation.captures}
    side = case.situation.seating.side_of(min(takers)) if takers else (0,)
    # A number alone is meant for the side that has captured something, where only one has.
    check_answer(case.expected, totalled(case, side[0] if takers <= {*side} else None), "points")


@asked("score the dealer")
def test_score_the_dealer(case: Case) -> None:
    dealer = case.situation.seating.dealer
    answers = totalled(case, dealer)
    answers["dealer"] = next(answer for names, answer in answers.items() if names.startswith("points "))
    check_answer(case.expected, answers, "points")


@asked("points")
def test_points(case: Case) -> None:
    if case.situation.quest:
        check_answer(case.expected, totalled(case), "points")
        return
    parts = case.told.get("parts")
    answers: dict[str, Answer] = {
        "points score": Points(parts, quests.points),
        "max most highest": Is(quests.points(5)),
    }
    check_answer(case.expected, answers, "points")


@asked("totals after the deal")
def test_totals_after_the_deal(case: Case) -> None:
    check_answer(case.expected, totalled(case), "final")


@asked("match result")
def test_match_result(case: Case) -> None:
    check_answer(case.expected, totalled(case), "winners")


def agreed(options: Options) -> bool:
    """Return whether the options go together."""
    try:
        GAME.check(options)
    except Refused:
        return False
    return True


@asked("schedule")
def test_schedule(case: Case) -> None:
    first, deals = case.situation.seating.first, case.told.get("deals", case.options.deals)
    sides = [
        partners.sides_of(case.options.partners, deal, partners.dealer_of(first, deal)) for deal in range(1, deals + 1)
    ]
    pairs = Counter("".join(LETTERS[seat] for seat in sorted(pair)) for _, *both in sides for pair in both)
    alone = Counter(LETTERS[dealer] for ((dealer,), *_) in sides)
    answers: dict[str, Answer] = {
        "schedule deals rounds": Schedule(sides),
        "each_pair_partners pairs each_pair": Pairs({a + b: pairs[a + b] for a, b in combinations(LETTERS, 2)}),
        "each_player_deals each_deals deals_each": Pairs({letter: alone[letter] for letter in LETTERS}),
        "dealers": Is([LETTERS[dealer] for ((dealer,), *_) in sides]),
        "count number_of_deals": Is(len(sides)),
        "accepted": Is(agreed(case.options)),
    }
    check_answer(case.expected, answers, "schedule")


@asked("schedule of the deal")
def test_schedule_of_the_deal(case: Case) -> None:
    seating = case.situation.seating
    next_dealer = partners.dealer_of(seating.first, seating.deal + 1)
    answers: dict[str, Answer] = {
        "dealer alone": Seat(seating, seating.dealer),
        "sides pairs partners partnerships": Sides(seating, seating.sides),
        "leader first_leader to_lead": Seat(seating, seating.seat("P2")),
        "next_dealer": Seat(seating, next_dealer),
        "deal": Is(seating.deal),
        "schedule": Schedule([seating.sides]),
    }
    check_answer(case.expected, answers, "schedule" if is_entry(case.expected) else "sides")


def is_entry(expected: Any) -> bool:  # noqa: ANN401 a line holds any JSON
    """Return whether this is a deal as a schedule lists it: the dealer, then both sides."""
    return isinstance(expected, list) and len(expected) == 3 and expected[0] in {*LETTERS}


@asked("turn five quest cards")
def test_turn_five_quest_cards(case: Case) -> None:
    scene = Scene(ready(case.told, case.options), case.options)
    pack, removed = list(scene.state.pack or ()), scene.state.removed or ()
    assert scene.decide(scene.seating.dealer, {"type": "chinkway.declare", "trump": "NT"}) is None
    shuffled, turned = scene.all(QuestShuffled)[1:], scene.last(QuestTurned).cards
    assert shuffled or list(turned) == pack[:5]
    size = len(shuffled[-1].cards or ()) if shuffled else len(FRENCH) - len(removed)
    left = len(scene.state.pack or ())
    answers: dict[str, Answer] = {
        "source": Drawn(len(pack), size, anew=bool(shuffled)),
        "shuffled reshuffled shuffled_again reshuffle anew": Is(bool(shuffled)),
        "left quest_pack_left left_after quest_left left_in_pack": Is(left),
        "turned count": Cards(turned),
        "cards quest_cards quest": Cards(turned),
        "from pack_size from_pack size": Is(size if shuffled else len(pack)),
        "accepted": Is(value=True),
    }
    check_answer(case.expected, answers, "source")


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.id)
def test_a_line_can_be_run(line: Line) -> None:
    assert line.fault is None, f"{line.id}: {line.fault}"
    assert kind_of(line) in {None, *KINDS}, f"{line.id} asks {line.asks!r}, which no test does"
