"""Deals of Chinchón played to their score: a case tells hands, points or totals, and the rest is made to fit.

The product closes, lays out, lays off and scores; what a case calls a total after the deal is reached by stating what
the totals were before.
"""

import re
from collections.abc import Mapping

from events.games.chinchon import DealScored, Dealt, PotTaken, ReentryOffered, WentOut
from tests.cases import chinchon_reckoning as reckoning
from tests.cases.chinchon_fillers import SEVEN, Fillers
from tests.cases.chinchon_given import Situation
from tests.cases.chinchon_layout import Layout
from tests.cases.chinchon_notation import NAME, Card
from tests.cases.chinchon_scene import Scene

MOST = 55
"""More points than this in one deal are told as points of the deals before it."""


def closed(situation: Situation, before: Mapping[int, int] | None = None) -> tuple[Scene, str | None]:
    """Return a deal at the moment at which it was closed or, with the reason, refused to be.

    A hand that the case does not tell whole may leave more points than it could be closed with: it is taken as closed.
    """
    scene = Scene(situation)
    scene.before(dict(situation.per_seat("before") if before is None else before), pot=situation.told.get("pot"))
    layout = Layout(situation, closes=True)
    scene.deal_out(layout)
    face_down = layout.turns[-1].steps[-1][1]
    reason = scene.close(layout, face_down)
    if reason == "deadwood_over_limit" and layout.actor not in situation.told_hands:
        scene.close_as_fact(layout, face_down)
        reason = None
    return scene, reason


def scored(situation: Situation) -> Scene:
    """Return a deal that was closed and scored, with the points and the totals that the case tells."""
    points, before = dict(situation.per_seat("points")), dict(situation.per_seat("before"))
    after = situation.per_seat("after")
    for seat in before.keys() & after.keys():
        points.setdefault(seat, after[seat] - before[seat])
    for seat, most in points.items():
        if most > MOST:
            points[seat], before[seat] = MOST, before.get(seat, 0) + most - MOST
    # Under `reach` nobody is in who has reached the limit.
    within = situation.options.limit - (situation.options.elimination == "reach")
    needs = {seat: total - within for seat, total in after.items() if seat not in points}
    if situation.seating.closer is None:
        situation.seating.closer = _closer(situation, points, needs)
    _make_hands(situation, points, needs)
    for seat in after.keys() - before.keys():
        before[seat] = after[seat] - (_worth(situation, seat) if seat in situation.hands else 0)
    scene, reason = closed(situation, before)
    assert reason is None, f"the closer can't close: {reason}"
    scene.play_out()
    gained = dict(enumerate(scene.last(DealScored).points))
    assert points.items() <= gained.items(), f"{points} was to be scored, not {gained}"
    return scene


def _closer(situation: Situation, points: Mapping[int, int], needs: Mapping[int, int]) -> int:
    """Return who may close: nobody of whom other points are told, and who needs fewest to have had a total before."""
    free = [seat for seat in situation.seating.order if seat not in situation.hands and points.get(seat, 0) <= 0]
    return min(free or situation.seating.order, key=lambda seat: (seat in points, max(0, needs.get(seat, 0))))


def _make_hands(situation: Situation, points: Mapping[int, int], needs: Mapping[int, int]) -> None:
    named = [card for hand in (*situation.hands.values(), *situation.has.values()) for card in hand]
    named += [card for table in situation.tables.values() for combination in table for card in combination]
    fillers = Fillers(situation.pack, named, situation.options)
    for hand in situation.hands.values():
        layouts = reckoning.layouts(hand, situation.options)
        best, _ = min(layouts, key=lambda layout: layout[1])
        fillers.shun([[hand[place] for place in places] for places in best])
    limit, closer = situation.options.close_limit, situation.closer
    partly = situation.tables.keys() | situation.has.keys()
    missing = [seat for seat in situation.seating.order if seat not in situation.hands.keys() | partly]
    for seat in sorted(missing, key=lambda seat: (seat != closer, seat not in points, -needs.get(seat, 0))):
        if seat in points:
            situation.hands[seat] = fillers.worth(points[seat])
        elif seat == closer:
            least = max(0, needs.get(seat, 0))
            hand = fillers.worth(least) if 0 < least <= limit else fillers.closing((), ())[0]
            situation.hands[seat] = hand
        else:
            situation.hands[seat] = fillers.loose((), SEVEN, least=max(0, needs.get(seat, 0)))


def _worth(situation: Situation, seat: int) -> int:
    return reckoning.least(situation.hands[seat], situation.options)


class Result:
    """How a match went on after a deal: who was out, who might come back and did, who took the pot."""

    def __init__(self, scene: Scene, answers: Mapping[int, bool]) -> None:
        self.out = [seat for event in scene.all(WentOut) for seat in event.seats]
        self.offered = [seat for event in scene.all(ReentryOffered) for seat in event.seats]
        scene.answer(dict(answers))
        taken = scene.all(PotTaken)
        self.winners = list(taken[-1].seats) if taken else []
        self.shares = dict(zip(self.winners, taken[-1].shares, strict=True)) if taken else {}
        dealt = scene.all(Dealt)
        self.next_order = list(dealt[-1].order) if dealt else None


def answers_of(situation: Situation) -> dict[int, bool]:
    """Return who comes back, as far as a line tells: nobody, some, or all."""
    told = situation.told.get("answers")
    if isinstance(told, dict):
        return {situation.seating.seat(name): value in {True, "reenter"} for name, value in told.items()}
    if isinstance(told, list):
        return dict.fromkeys(situation.seating.seats(told), True)
    words = str(told or "all declined").lower()
    if re.search(r"declin|none|nobody|no\b|stay|refus", words):
        return {}
    named = re.findall(rf"\b({NAME})\b", str(told))
    everybody = range(situation.seating.count)
    return dict.fromkeys(map(situation.seating.seat, named) if named else everybody, True)


def next_orders(situation: Situation, out: Mapping[int, list[str]], deals: int) -> list[list[int]]:
    """Return the turn order of the deal of the case and of so many after it; `out` tells who is out by which of them.

    Who is out stays out unless the case tells of coming back.
    """
    orders, given, back = [situation.seating.order], situation.seating, answers_of(situation)
    for deal in range(1, deals + 1):
        leaving = [given.seat(name) for name in out.get(deal, [])]
        limit = situation.options.limit
        names = list(given.named) or [f"P{seat + 1}" for seat in range(given.count)]
        lost = [seat for seat in range(given.count) if seat not in orders[-1]]
        again = Situation(
            {
                "seats_counter_clockwise": names,
                "forehand": names[orders[-1][0]],
                "out_before": [names[seat] for seat in lost],
                "scores": {names[seat]: limit + 10 if seat in leaving else 20 + seat for seat in orders[-1]},
            },
            situation.options,
        )
        result = Result(scored(again), {seat: back.get(seat, False) for seat in leaving})
        orders.append(result.next_order or [])
        if result.next_order is None:
            break
    return orders


def table_after(scene: Scene, seat: int) -> list[tuple[Card, ...]]:
    """Return what has become of the combinations that a line tells of a seat; of all its own where it tells none."""
    told = [{*cards} for cards in scene.situation.tables.get(seat, ())]
    return [cards for cards in scene.table_of(seat) if not told or any(each <= {*cards} for each in told)]
