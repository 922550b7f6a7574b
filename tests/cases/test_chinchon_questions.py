"""The lines that ask a question, each answered by the product's own rules: its melds, or deals that it decides.

One test a kind of question. An answer is compared with everything that the line expects, key by key.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import pytest

from events.games.chinchon import DealScored, Dealt, Exposed, HandIrregular, LaidOff, LayOffBegan, Options, PotTaken
from projections.games.chinchon import begin
from service.games.chinchon import GAME
from service.games.chinchon.hands import melds_of, value_of
from service.rules.melds import Melds
from tests.cases import chinchon_reckoning as reckoning
from tests.cases.answers import Answer, Each, Is, PerSeat, Seat, Seats, check_answer
from tests.cases.chinchon_answers import Cards, Deadwood, Laid, Orders, Table
from tests.cases.chinchon_census import Census
from tests.cases.chinchon_deals import Result, answers_of, closed, next_orders, scored, table_after
from tests.cases.chinchon_given import Situation, move_of, options_of, variants
from tests.cases.chinchon_notation import LETTERS, NAME, Card, cards_of
from tests.cases.chinchon_scene import Scene, Stated
from tests.cases.lines import Line, read

LINES = read("chinchon")
KINDS: set[str] = set()


class Case:
    """A question of a line under some options, and what is expected of the answer."""

    def __init__(self, line: Line, options: dict[str, Any], expected: Any) -> None:  # noqa: ANN401 a line holds any JSON
        self.asks = kind_of(line) or ""
        self.given = line.given
        self.expected = expected
        self._options = options

    @cached_property
    def options(self) -> Options:
        return options_of(self._options, self.given)

    @cached_property
    def situation(self) -> Situation:
        return self.seen_by(None)

    def seen_by(self, name: str | None) -> Situation:
        """Return what is given, a hand or a number of one seat being this one's."""
        given = dict(self.given)
        if name is not None:
            given.setdefault("to_move", name)
        return Situation(given, self.options)

    @cached_property
    def melds(self) -> Melds[Card]:
        """The product's own melds, of as many packs as are given."""
        players = 5 if self.situation.decks == 2 else 2
        return melds_of(begin(self.options, players, tuple(range(players))))

    def cards(self, key: str) -> list[Card]:
        """Return cards that are given, all of them in the pack."""
        cards = cards_of(self.situation.told[key])
        if {*cards} - {*self.situation.pack}:
            raise ValueError(f"{cards} are not all in a pack of {self.options.pack}")
        return cards


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


@asked("is it a valid combination")
def test_is_it_a_valid_combination(case: Case) -> None:
    cards = case.cards("cards")
    melds = case.melds
    kind = "run" if melds.is_run(cards) else "set" if melds.is_set(cards) else "none"
    answers: dict[str, Answer] = {
        "valid accepted": Is(melds.is_combination(cards)),
        "kind type": Is(kind),
        "run": Is(melds.is_run(cards)),
        "set": Is(melds.is_set(cards)),
    }
    check_answer(case.expected, answers, "valid")


@asked("best partition")
def test_best_partition(case: Case) -> None:
    best = case.melds.best(case.cards("hand"))
    laid = [card for combination in best.combinations for card in combination]
    answers: dict[str, Answer] = {
        "deadwood_points deadwood points": Deadwood(best.points, best.loose),
        "partition combinations layout": Table(best.combinations),
        "laid": Cards(laid),
        "loose deadwood_cards": Cards(best.loose),
        "all_linked linked": Is(not best.loose),
        "chinchon": Is(len(best.combinations) == 1 and len(laid) == 7),
    }
    check_answer(case.expected, answers, "deadwood_points")


@asked("(value|values) in 40 ?/ ?48 pack")
def test_value_in_a_pack(case: Case) -> None:
    words = case.situation.told["cards"]
    values = {word: value_of(case.options, card) for word, card in zip(words, case.cards("cards"), strict=True)}
    assert list(values.values()) == [case.melds.points([card]) for card in case.cards("cards")]
    check_answer(case.expected, {"values value": Each(values)}, "values")


def pack_dealt(options: Options, players: int) -> Dealt:
    """Return the first deal of a match."""
    started = GAME.start(begin(options, players, tuple(range(players))), Stated())
    return next(event for event in started if isinstance(event, Dealt))


def cards_dealt(dealt: Dealt) -> list[str]:
    return [*(card for hand in dealt.hands for card in hand or ()), dealt.up, *(dealt.stock or ())]


@asked("number of packs")
def test_number_of_packs(case: Case) -> None:
    told = case.given.get("players", [2, 3, 4, 5, 6, 7, 8])
    players = told if isinstance(told, list) else [told]
    sizes = {str(count): len(cards_dealt(pack_dealt(case.options, count))) for count in players}
    answers: dict[str, Answer] = {
        "packs decks": Each({count: size // case.options.pack for count, size in sizes.items()}),
        "cards": Each(sizes),
    }
    check_answer(case.expected, answers, "packs")


@asked("count")
def test_count(case: Case) -> None:
    decks = case.given.get("decks")
    listed_packs = decks if isinstance(decks, list) else []
    tables = [(replaced(case.options, pack), 5 if count == 2 else 2) for pack, count in listed_packs]
    if not tables:
        told = case.given.get("players", 5 if decks == 2 else 2)
        tables = [(case.options, players) for players in (told if isinstance(told, list) else [told])]
    deals = [pack_dealt(*table) for table in tables]
    in_hands = [sum(len(hand or ()) for hand in dealt.hands) for dealt in deals]
    answers: dict[str, Answer] = {
        "cards sizes total": listed([len(cards_dealt(dealt)) for dealt in deals]),
        "stock in_stock": listed([dealt.left for dealt in deals]),
        "hands in_hands dealt": listed(in_hands),
        "outside": listed([dealt.left + 1 for dealt in deals]),
        "up up_card up_cards": listed([1 for _ in deals]),
        "hand_size": Is(7),
        "ranks_40": Is(ranks_of(replaced(case.options, 40))),
        "ranks_48": Is(ranks_of(replaced(case.options, 48))),
        "suits": Is(len({card[0] for card in cards_dealt(deals[0])})),
    }
    check_answer(case.expected, answers, "cards")


def replaced(options: Options, pack: int) -> Options:
    return options_of({"pack": pack}, {name: getattr(options, name) for name in options.__struct_fields__})


def listed(values: Sequence[int]) -> Each:
    return Each({str(place): value for place, value in enumerate(values)})


def ranks_of(options: Options) -> list[int]:
    return sorted({int(card[1:]) for card in cards_dealt(pack_dealt(options, 2))})


@asked("close")
def test_close(case: Case) -> None:
    situation = case.situation
    seat = situation.seating.closer = situation.actor
    scene, reason = closed(situation)
    answers: dict[str, Answer] = {
        "accepted": Is(reason is None),
        "deadwood_points deadwood": Is(case.melds.best(case.cards("hand")).points),
    }
    if reason is None:
        scene.play_out()
        answers |= closing(scene, seat) | after_the_deal(scene, {}, seat)
    elif case.expected == {} or not isinstance(case.expected, dict):
        answers["points"] = Is(None)
    check_answer(case.expected, answers, "points" if reason is None else "accepted")


def closing(scene: Scene, seat: int) -> dict[str, Answer]:
    """Return what a seat laid out, and whether others were asked to lay off on it."""
    exposed = next(event for event in scene.all(Exposed) if event.seat == seat)
    asked = any(event.on == seat for event in scene.all(LayOffBegan))
    return {
        "chinchon is_chinchon": Is(exposed.chinchon),
        "layoffs_on_it layoffs_allowed": Is(asked),
        "linked linked_bonus": Is(seat in scene.last(DealScored).linked),
        "combinations partition exposed": Table(exposed.combinations),
        "left": Is(exposed.left),
    }


def after_the_deal(scene: Scene, answers: Mapping[int, bool], subject: int) -> dict[str, Answer]:
    """Return what the score of a deal says, and how the match went on."""
    seating, deal = scene.seating, scene.last(DealScored)
    points, totals = dict(enumerate(deal.points)), dict(enumerate(deal.totals))
    result = Result(scene, answers)
    state = scene.state
    places = dict(enumerate(GAME.places(state, ())))
    return {
        "points": PerSeat(seating, points, subject),
        "totals after score_after total scores final": PerSeat(
            seating, totals if result.next_order is None else dict(enumerate(state.totals)), subject
        ),
        "out eliminated who_is_out": Seats(seating, result.out),
        "chinchon_by": Seats(seating, deal.chinchon),
        "reentry_offered offered window": Seats(seating, result.offered),
        "winner winners match_winner": Seats(seating, result.winners),
        "wins_pot share": Is(result.shares[result.winners[0]] if result.winners else 0),
        "wins wins_match": Is(subject in result.winners),
        "shares": PerSeat(seating, result.shares, subject),
        "pot pot_after": Is(state.pot),
        "match_over over ended": Is(bool(scene.all(PotTaken))),
        "places": PerSeat(seating, places, subject),
        "turn_order next_turn_order": Seats(seating, result.next_order or [], ordered=True),
        "next_forehand": Seat(seating, result.next_order[0] if result.next_order else None),
        "next_dealer": Seat(seating, result.next_order[-1] if result.next_order else None),
    }


@asked("lay off on the closer's combinations, then combine the rest( \\(best\\))?")
def test_lay_off_then_combine_the_rest(case: Case) -> None:
    situation = case.seen_by("P2")
    seat, table, hand = situation.actor, situation.tables[situation.closer], case.cards("hand")
    plan = case.melds.lay_offs(hand, table, one_a_run=situation.decks == 2)
    scene, reason = closed(situation)
    assert reason is None
    scene.play_out()
    laid = [event for event in scene.all(LaidOff) if (event.seat, event.on) == (seat, situation.closer)]
    assert [event.card for event in laid] == [card for card, _ in plan]
    points = scene.last(DealScored).points[seat]
    answers: dict[str, Answer] = {
        "laid_off laid": Cards([event.card for event in laid]),
        "deadwood_points deadwood points": Is(points),
        "table_after": Table(table_after(scene, situation.closer)),
        "run_after set_after": Table([event.combination for event in laid][-1:]),
        "kept combinations partition": Table(scene.table_of(seat)),
    }
    assert points == reckoning.least_after_laying_off(hand, table, case.options, situation.decks)
    check_answer(case.expected, answers, "laid_off")


@asked("expose, lay off and score with auto")
def test_expose_lay_off_and_score_with_auto(case: Case) -> None:
    scene, reason = closed(case.situation)
    assert reason is None, f"the closer can't close: {reason}"
    scene.play_out()
    seating = scene.seating
    combinations = {event.seat: event.combinations for event in scene.all(Exposed)}
    answers: dict[str, Answer] = {"laid_off laid": Laid(seating, list(scene.laid()))}
    for seat, table in combinations.items():
        names = f"P{seat + 1}_combinations P{seat + 1}_exposed"
        answers[names] = Table(table)
        answers[f"P{seat + 1}_laid"] = Cards([card for by, _, cards in scene.laid() if by == seat for card in cards])
    answers |= closing(scene, case.situation.closer) | after_the_deal(scene, {}, case.situation.closer)
    answers["chinchon"] = Seats(seating, scene.last(DealScored).chinchon)
    answers["linked"] = Seats(seating, scene.last(DealScored).linked)
    check_answer(case.expected, answers, "points")


@asked(rf"({NAME})( then ({NAME}))+ lay off|({NAME}) lays off( in ({NAME})'s phase)?".lower())
def test_players_lay_off_in_turn(case: Case) -> None:
    situation = case.situation
    scene, reason = closed(situation)
    assert reason is None, f"the closer can't close: {reason}"
    scene.play_out()
    seating = scene.seating
    phase = re.search(r"in (\w+)'s phase", case.asks)
    owner = situation.closer if phase is None else seating.seat(phase[1].upper())
    points = dict(enumerate(scene.last(DealScored).points))
    after = table_after(scene, owner)
    answers: dict[str, Answer] = {
        "laid_off laid": Laid(seating, [entry for entry in scene.laid() if entry[1] == owner]),
        "run_after set_after table_after runs_after": Table(after),
        "points": PerSeat(seating, points, seating.after(situation.closer)[0]),
        "accepted": Is(any(on == owner for _, on, _ in scene.laid())),
    }
    for seat in seating.order:
        mine = [card for by, on, cards in scene.laid() if (by, on) == (seat, owner) for card in cards]
        for name in (f"P{seat + 1}", LETTERS[seat]):
            answers[f"{name}_laid {name}_laid_off"] = Cards(mine)
            answers[f"{name}_points {name}_deadwood_points"] = Is(points[seat])
            answers[f"{name}_table_after {name}_run_after"] = Table(table_after(scene, seat))
    check_answer(case.expected, answers, "laid_off")


@asked(rf"score ({NAME}|the closer)".lower())
def test_score_a_player(case: Case) -> None:
    name = case.asks.split()[-1].upper()
    situation = case.seen_by("closer" if name == "CLOSER" else name)
    scene = scored(situation)
    answers = closing(scene, situation.actor) | after_the_deal(scene, {}, situation.actor)
    check_answer(case.expected, answers, "points")


@asked("points of a non-closer with an irregular hand")
def test_points_of_an_irregular_hand(case: Case) -> None:
    situation = case.seen_by("P2")
    seat = situation.actor
    situation.told.setdefault("irregular", {"P2" if seat == 1 else seat: len(situation.hands[seat])})
    scene = scored(situation)
    assert [event.seat for event in scene.events if isinstance(event, HandIrregular)] == [seat]
    points = scene.last(DealScored).points[seat]
    answers = closing(scene, seat) | after_the_deal(scene, {}, seat)
    answers["deadwood_points deadwood"] = Is(points)
    check_answer(case.expected, answers, "deadwood_points")


@asked("eliminated")
def test_eliminated(case: Case) -> None:
    scene = scored(case.situation)
    out = Result(scene, {}).out
    answers = after_the_deal(scene, {}, case.situation.actor)
    several = len(case.situation.per_seat("before") or case.situation.per_seat("after")) > 1
    answers["eliminated out who"] = Seats(scene.seating, out) if several else Is(case.situation.actor in out)
    check_answer(case.expected, answers, "eliminated")


@asked("totals and eliminated|totals after the deal|totals")
def test_totals_and_eliminated(case: Case) -> None:
    scene = scored(case.situation)
    deal = scene.last(DealScored)
    answers = after_the_deal(scene, answers_of(case.situation), case.situation.closer)
    answers["totals after total scores score_after"] = PerSeat(
        scene.seating, dict(enumerate(deal.totals)), case.situation.closer
    )
    check_answer(case.expected, answers, "totals")


@asked("match result")
def test_match_result(case: Case) -> None:
    scene = scored(case.situation)
    answers = after_the_deal(scene, answers_of(case.situation), case.situation.closer)
    check_answer(case.expected, answers, "winner")


@asked("turn order and dealer|turn order|turn order and dealer of the next deals?|turn orders?( and dealers?)?")
def test_turn_order_and_dealer(case: Case) -> None:
    situation, seating = case.situation, case.situation.seating
    told = situation.told.get("out_after") or {}
    leaving = {int(deal): names for deal, names in told.items()} if isinstance(told, dict) else {1: told}
    deals = situation.number("deals", max([1, *leaving]))
    orders = next_orders(situation, leaving, deals)
    if not seating.out:
        lot = [seating.forehand, *(seat for seat in range(seating.count) if seat != seating.forehand)]
        started = GAME.start(begin(case.options, seating.count, tuple(range(seating.count))), Stated([lot]))
        assert [*next(event for event in started if isinstance(event, Dealt)).order] == orders[0]
    shown = orders[1] if "next deal" in case.asks else orders[0]
    following = orders[2] if "next deal" in case.asks and len(orders) > 2 else orders[1]
    answers: dict[str, Answer] = {
        "turn_order order": Seats(seating, shown, ordered=True),
        "forehand first": Seat(seating, shown[0]),
        "dealer last": Seat(seating, shown[-1]),
        "next_turn_order": Seats(seating, following, ordered=True),
        "next_forehand": Seat(seating, following[0] if following else None),
        "next_dealer": Seat(seating, following[-1] if following else None),
        "turn_orders orders": Orders(seating, orders),
        "dealers": Orders(seating, [order[-1:] for order in orders]),
        "forehands": Orders(seating, [order[:1] for order in orders]),
    }
    check_answer(case.expected, answers, "turn_order")


@asked("enumerate")
def test_enumerate(case: Case) -> None:
    pack = case.options.pack
    check_answer(case.expected, {"census": Census(pack, case.melds)}, "census")


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.id)
def test_a_line_can_be_run(line: Line) -> None:
    assert line.fault is None, f"{line.id}: {line.fault}"
    kind = kind_of(line)
    fitting = [question for question in KINDS if kind is not None and re.fullmatch(question, kind)]
    assert kind is None or len(fitting) == 1, f"{line.id} asks {line.asks!r}, which {len(fitting)} tests do"
    for options, _ in variants(line):
        Situation(line.given, options_of(options, line.given), [move_of(raw) for raw in line.moves])


@pytest.mark.parametrize(
    ("given", "expected", "message"),
    [
        ({"hand": ["1O"], "weather": "fine"}, 1, "the given 'weather'"),
        ({"hand": ["1O", "8B", "3E"]}, 12, "not all in a pack of 40"),
        ({"hand": ["1O", "7B", "3E"]}, {"deadwood_points": 11, "luck": 7}, "deadwood_points"),
    ],
)
def test_what_nobody_understands_fails_its_line(given: dict[str, Any], expected: object, message: str) -> None:
    line = Line({"id": "?", "given": given, "action": "best partition", "expected": expected}, "?")
    ((options, told),) = variants(line)
    with pytest.raises((AssertionError, ValueError), match=message):
        test_best_partition(Case(line, options, told))
