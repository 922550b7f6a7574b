"""The lines that ask a question, each answered by the product's own rules functions.

One test a kind of question. An answer is compared with everything that the line expects, key by key.
"""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from operator import add
from typing import Any, NamedTuple

import msgspec
import pytest

from events.base import By, Event
from events.cards import FRENCH, FrenchCard
from events.games.chinkway import Dealt, Options, QuestShuffled, QuestTurned
from projections.games.chinkway import SEATS, begin, evolve
from service.game import Ask
from service.games.chinkway import GAME, capturable, partners, playable, quests, score
from service.rules import standing, tricks
from tests.cases.chinkway_scene import CHANCE, NEUTRAL, Scene, Seating, captures, card_of, cards_of, lettered, written
from tests.cases.lines import Told, read
from tests.cases.test_chinkway_moves import looked_at_quest

LETTERS = "ABCDE"
PLAYERS = ("P1", "P2", "P3", "P4", "P5")

LINES = [line for line in read("chinkway") if line.asks is not None]

KINDS: set[str] = set()


class Case(NamedTuple):
    """A question: its situation, its options and what is expected of the answer."""

    given: Told
    options: Options
    expected: Told


def asked(question: str, bare: str) -> pytest.MarkDecorator:
    """Run a test for each line, and each option value that it names, that asks this question.

    An expectation that is no object stands for one with the single key `bare`.
    """
    KINDS.add(question)
    cases = []
    for line in LINES:
        for number, (options, expected) in enumerate(line.variants() if line.asks == question else ()):
            wanted = Told("expected", expected if isinstance(expected, dict) else {bare: expected})
            case = Case(line.given(), msgspec.convert(options, Options), wanted)
            cases.append(pytest.param(case, id=f"{line.id}-{number}"))
    return pytest.mark.parametrize("case", cases)


def answered(given: Told, expected: Told, answers: dict[str, Any]) -> None:
    """Compare all that is expected with the answers of the same keys; both must be read out."""
    for key, value in expected.items():
        assert key in answers, f"no test understands the expected {key!r}"
        assert answers[key] == value, key
    given.done()
    expected.done()


def by_name(seating: Seating, values: Iterable[int], names: Iterable[str]) -> dict[str, int]:
    listed = list(values)
    return {name: listed[seating.seat(name)] for name in names}


def test_every_question_has_its_test() -> None:
    assert {line.asks for line in LINES} <= KINDS


@asked("deal", "hand_sizes_P1_to_P5")
def test_deal(case: Case) -> None:
    given, chosen, wanted = case
    players, deck = given.get("players", SEATS), given.get("deck", len(FRENCH))
    dealt = next(event for event in GAME.start(begin(chosen, SEATS, ()), CHANCE) if isinstance(event, Dealt))
    sizes = [len(dealt.hands[(dealt.dealer + place) % SEATS] or ()) for place in range(SEATS)]
    answers = {
        "hand_sizes_P1_to_P5": sizes,
        "left_in_pack": deck - sum(sizes),
        "accepted": GAME.seats.least <= players <= GAME.seats.most,
    }
    assert deck == len(FRENCH)
    answered(given, wanted, answers)


@asked("look at quest", "visible")
def test_look_at_quest(case: Case) -> None:
    given, chosen, wanted = case
    scene = Scene(Told("given", {}), chosen, [{"by": "P1", "do": "discard_two"}])
    viewer = given.get("by", given.get("viewer", given.get("seat")))
    assert scene.seating.seat(given.get("dealer", "P1")) == scene.seating.dealer
    phase = ("discard", "declare", "play", "capture").index(given.get("phase", "declare"))
    named = phase > 1 or given.get("declared", given.get("trump_declared", given.get("trump"))) not in {None, False, ""}
    size = given.get("dealer_hand_size", 12 if phase == 0 else 10)
    held = [written(card) for card in scene.state.hands[scene.seating.dealer] or ()]
    thrown = size == 10 and given.get("discarded", given.get("discards", True)) not in {None, False}
    if thrown or named:
        scene.decide(0, {"type": "chinkway.discard", "cards": cards_of(held[:2])})
    if named:
        trump = given.get("trump")
        scene.decide(0, {"type": "chinkway.declare", "trump": trump if isinstance(trump, str) else "NT"})
    viewers = [None, *range(SEATS)] if viewer is None else [scene.seating.seat(viewer)]
    (visible,) = {looked_at_quest(scene, seat) for seat in viewers}
    quest = [written(card) for card in scene.state.quest or ()] if visible else None
    told = {key: wanted[key] for key in wanted.named()}
    seen = {key: visible != (key in {"hidden", "face_down", "refused"}) for key in told if isinstance(told[key], bool)}
    for key in ("quest", "quest_cards", "cards"):
        if key in wanted:
            assert (wanted[key] or None) == quest
    if "why" in wanted:
        assert not visible
        assert re.search(r"trump|declare|discard|before|after|first|turned|face down", wanted["why"])
    answered(given, wanted, seen)


@asked("legal cards", "legal")
def test_legal_cards(case: Case) -> None:
    given, chosen, wanted = case
    hand, led = cards_of(given["hand"]), given.get("led_suit")
    trick = [card_of(card) for _, card in given.get("plays_so_far", given.get("plays", ()))]
    if led is not None and not trick:
        trick = [next(card for card in FRENCH if card[0] == led and card not in hand)]
    assert led == (trick[0][0] if trick else None) or "led_suit" not in given
    legal = [written(card) for card in playable(hand, trick, given.get("trump", "NT"), chosen.void)]
    assert sorted(wanted["legal"]) == sorted(legal)
    answered(given, wanted, {"count": len(legal)})


@asked("trick winner", "winner")
def test_trick_winner(case: Case) -> None:
    given, _, wanted = case
    plays = given["plays"]
    assert given.get("leader", plays[0][0]) == plays[0][0]
    assert given.get("led_suit", plays[0][1][1]) == plays[0][1][1]
    name, card = plays[tricks.taker(cards_of([card for _, card in plays]), given.get("trump") or "NT")]
    answered(given, wanted, {"winner": name, "next_leader": name, "card": card, "winning_card": card})


@asked("quest categories", "parts")
def test_quest_categories(case: Case) -> None:
    given, chosen, wanted = case
    counts = lettered(quests.count(cards_of(given["quest_cards"]), chosen.aces))
    named = set(wanted["parts"])
    parts = {category: count for category, count in counts.items() if count or category in named}
    answered(given, wanted, {"parts": parts})


@asked("cards per category", "court")
def test_cards_per_category(case: Case) -> None:
    given, chosen, wanted = case
    censuses = [
        lettered(quests.count([card for card in FRENCH if card not in gone], chosen.aces))
        for gone in _removals(given.get("removed"), chosen)
    ]
    ranges = {category: sorted({census[category] for census in censuses}) for category in censuses[0]}
    for category, value in wanted.items():
        least_most = value if isinstance(value, list) else [value, value]
        assert [ranges[category][0], ranges[category][-1]] == least_most, category
    given.done()


def _removals(told_removed: list[str] | None, options: Options) -> list[tuple[FrenchCard, ...]]:
    """Return every way in which the cards named may be gone: by name, or "any two of J/Q/K", or as the option says."""
    if told_removed is None:
        from_which = {"two_court": quests.COURT_CARDS, "two_any": FRENCH, "none": ()}[options.quest_removed]
    elif any(entry.startswith("any two") for entry in told_removed):
        from_which = quests.COURT_CARDS if re.search(r"J/Q/K|court|picture", told_removed[0]) else FRENCH
    else:
        return [tuple(cards_of(told_removed))]
    return list(combinations(from_which, 2)) or [()]


@asked("capture choices", "choices")
def test_capture_choices(case: Case) -> None:
    given, chosen, wanted = case
    seating = Seating(given, chosen)
    winner = seating.seat(given["winner"])
    wanted_parts = quests.count(cards_of(given["quest_cards"]), chosen.aces)
    counted = (winner,) if chosen.team_scoring == "sum" else seating.side_of(winner)
    met = quests.count([card for seat, card in captures(given, seating) if seat in counted], chosen.aces)
    trick = cards_of(given["trick"])
    if "leader" in given and "trump" in given:
        place = tricks.taker(trick, given["trump"] or "NT")
        assert (seating.seat(given["leader"]) + place) % SEATS == winner
    choices, needed = capturable(trick, wanted_parts, met, chosen)
    given.get("leader")
    given.get("trump")
    for key in ("choices", "needed"):
        if key in wanted:
            cards = choices if key == "choices" else needed
            assert sorted(wanted[key]) == sorted(map(written, cards)), key
    answered(given, wanted, {})


def scored(given: Told, options: Options) -> tuple[Seating, tuple[int, ...], tuple[int, ...]]:
    """Return who is who, and the parts and points of each seat, from the quest and what was captured."""
    seating = Seating(given, options)
    hauls: list[list[FrenchCard]] = [[] for _ in range(SEATS)]
    for seat, card in captures(given, seating):
        hauls[seat].append(card)
    wanted = quests.count(cards_of(given["quest_cards"]), options.aces)
    parts, points = score(hauls, seating.sides, wanted, options)
    return seating, parts, points


@asked("score the deal", "points")
def test_score_the_deal(case: Case) -> None:
    given, chosen, wanted = case
    seating, parts, points = scored(given, chosen)
    names = wanted.get("points", PLAYERS)
    answers = {
        "points": by_name(seating, points, names),
        "parts": by_name(seating, parts, wanted.get("parts", PLAYERS)),
    }
    answered(given, wanted, answers)


@asked("score the dealer", "points")
def test_score_the_dealer(case: Case) -> None:
    given, chosen, wanted = case
    seating, parts, points = scored(given, chosen)
    own = points[seating.dealer]
    if isinstance(wanted.get("points"), dict):
        assert wanted["points"] == {"P1": own}
        own = wanted["points"]
    answered(given, wanted, {"points": own, "parts": parts[seating.dealer], "dealer": own, "P1": own})


@asked("points", "points")
def test_points(case: Case) -> None:
    given, _, wanted = case
    parts = given.get("parts", list(range(6)))
    if isinstance(parts, dict):
        answers: dict[str, Any] = {"points": {name: quests.points(met) for name, met in parts.items()}}
    elif isinstance(parts, int):
        answers = {"points": quests.points(parts)}
    elif isinstance(wanted.get("points"), dict):
        answers = {"points": {str(met): quests.points(met) for met in parts}}
    else:
        answers = {"points": [quests.points(met) for met in parts]}
    answered(given, wanted, answers | {str(met): quests.points(met) for met in range(6)})


@asked("totals after the deal", "final")
def test_totals_after_the_deal(case: Case) -> None:
    given, chosen, wanted = case
    seating, _, points = scored(given, chosen)
    final = {name: total + points[seating.seat(name)] for name, total in given["before"].items()}
    names = wanted.get("points", final)
    answered(given, wanted, {"final": final, "totals": final, "points": by_name(seating, points, names)})


def side_named(side: Iterable[int]) -> str:
    return "".join(LETTERS[seat] for seat in side)


def scheduled(chosen: Options, first: int, deal: int) -> dict[str, Any]:
    dealer, *pairs = partners.sides_of(chosen.partners, deal, partners.dealer_of(first, deal))
    return {"dealer": side_named(dealer), "sides": [side_named(pair) for pair in pairs]}


@asked("schedule", "schedule")
def test_schedule(case: Case) -> None:
    given, chosen, wanted = case
    first, deals = LETTERS.index(given.get("first_dealer", "A")), given.get("deals", chosen.deals)
    lines = [scheduled(chosen, first, deal) for deal in range(1, deals + 1)]
    pairs = Counter("".join(sorted(side)) for entry in lines for side in entry["sides"])
    counts = [pairs["".join(pair)] for pair in combinations(LETTERS, 2)]
    deals_of = Counter(entry["dealer"] for entry in lines)
    dealt = [deals_of[letter] for letter in LETTERS]
    answers: dict[str, Any] = {
        "schedule": [[entry["dealer"], *entry["sides"]] for entry in lines],
        "each_pair_partners": _told_counts(wanted.get("each_pair_partners"), counts, pairs),
        "each_player_deals": _told_counts(wanted.get("each_player_deals"), dealt, deals_of),
    }
    answered(given, wanted, answers)


def _told_counts(value: Any, counts: list[int], named: Counter[str]) -> Any:  # noqa: ANN401 a line holds any JSON
    """Return counts in the form in which they are expected: one for all, all different ones, or by name."""
    if isinstance(value, dict):
        return {name: _named_count(name, named) for name in value}
    if isinstance(value, list):
        return sorted(set(counts)) if len(value) < len(counts) else counts
    return counts[0] if len(set(counts)) == 1 else counts


def _named_count(name: str, named: Counter[str]) -> int:
    """Return a count by letters or, where all are equal, of all pairs of neighbours or of all others."""
    if set(name) <= set(LETTERS):
        return named["".join(sorted(name))]
    neighbours = {"AB", "BC", "CD", "DE", "AE"}
    wanted = name in {"neighbours", "adjacent"}
    (count,) = {named[one + two] for one, two in combinations(LETTERS, 2) if (one + two in neighbours) == wanted}
    return count


@asked("schedule of the deal", "sides")
def test_schedule_of_the_deal(case: Case) -> None:
    given, chosen, wanted = case
    first, deal = LETTERS.index(given.get("first_dealer", "A")), given["deal"]
    schedules = {
        name: scheduled(msgspec.structs.replace(chosen, partners=name), first, deal)
        for name in ("switch", "fixed", "five")
    }
    answered(given, wanted, schedules | scheduled(chosen, first, deal))


@asked("match result", "winners")
def test_match_result(case: Case) -> None:
    given, _, wanted = case
    before = given.get("before", given.get("totals", dict.fromkeys(LETTERS, 0)))
    gained = given.get("deal_points", dict.fromkeys(before, 0))
    totals = list(map(add, before.values(), (gained[name] for name in before)))
    forfeits = [list(before).index(name) for name in given.get("resigned", ())]
    places = standing.highest_wins(totals, forfeits)
    final = dict(zip(before, totals, strict=True))
    winners = [name for name, place in zip(before, places, strict=True) if place == 1]
    answers = {"winners": winners, "final": final, "totals": final, "places": dict(zip(before, places, strict=True))}
    answered(given, wanted, answers)


@asked("turn five quest cards", "source")
def test_turn_five_quest_cards(case: Case) -> None:
    given, chosen, wanted = case
    deal = given.get("deal", 1)
    left, events = turned(chosen, deal)
    assert given.get("quest_pack_left", left) == left
    assert "removed" not in given or chosen.quest_removed == given["removed"]
    whole = next((len(event.cards or ()) for event in events if isinstance(event, QuestShuffled)), None)
    source = wanted["source"]
    assert (whole is not None) == bool(re.search("shuffled", source))
    assert [int(number) for number in re.findall(r"all (\d+) cards", source)] in ([], [whole])
    assert whole is not None or re.search(r"top|next|left|lie", source)
    after = (whole or left) - 5
    answered(given, wanted, {"left": after, "quest_pack_left": after, "left_after": after, "turned": 5})


def turned(options: Options, deal: int) -> tuple[int, list[Event]]:
    """Return how many quest cards lie ready in a deal, and the events that turning its five brings."""
    state = begin(options, SEATS, ())
    coming = list(GAME.start(state, CHANCE))
    while True:
        for event in coming:
            if not isinstance(event, NEUTRAL):
                evolve(state, event)  # type: ignore[arg-type] # it is none of the neutral events
        seat = state.phase.seat
        assert seat is not None, f"there is no deal {deal}"
        coming = list(GAME.decide(state, Ask(By(seat=seat), GAME.idle(state, seat), 0, CHANCE)))
        if state.deal == deal and any(isinstance(event, QuestTurned) for event in coming):
            return len(state.pack or ()), coming
