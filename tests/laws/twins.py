"""Twins: two matches that one viewer can't tell apart, to be played on two servers.

Up to some deal both are one match; then cards lie otherwise wherever the viewer has not seen them, and what others
did unseen is done with other cards. Up to the end of the twins the viewer is sent the very same.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from random import Random
from typing import NamedTuple

from service.game import AnyGame, AnyTable, Command
from tests.laws.matches import Match, play
from tests.laws.setups import FULL, LONGEST, Setup, covering, is_endless
from tests.laws.worlds import Deal, World, another_world, begins_a_deal, deals

# How far into a deal twins are looked for, in parts of it; the later, the less is hidden and the longer they are.
PARTS = (0.8, 0.6, 0.45, 0.3, 0.2, 0.1)
ATTEMPTS = 20

Orders = Mapping[int, Sequence[str | int]]


class Twins(NamedTuple):
    """Two matches: the `first` of the entries in which they may differ, the last, and what both are played by.

    `viewer` can't tell them apart: a seat, or None for who sees no cards. `commands` holds, for each world, one command
    an entry; who gives it, and what each version looks like, `match` says.
    """

    match: Match
    viewer: int | None
    first: int
    last: int
    orders: tuple[Orders, Orders]
    commands: tuple[Sequence[Command], Sequence[Command]]


class Wanted(NamedTuple):
    """Twins to be looked for: how the match is set up, in which of its deals, for which of the seats taken.

    Where `left`, somebody has resigned before their end, whose hand differs: it was seen once, and must be no more.
    """

    setup: Setup
    deal: int
    viewer: int | None
    left: bool

    def __str__(self) -> str:
        """Return what a test's id shows."""
        who = "who left" if self.left else "spectator" if self.viewer is None else f"seat {self.viewer}"
        return f"{self.setup}-deal {self.deal}-{who}"


def wanted(game: AnyGame) -> Iterator[Wanted]:
    """Yield twins for all kinds of viewers of a game, at tables of every option, in early and in later deals."""
    # Seats come first, and options with which a match ends: there is most to be hidden where all is laid open.
    options = cycle(sorted(covering(game, 1 if not FULL else 2), key=lambda chosen: is_endless(game.name, chosen)))
    numbers = cycle((1, 2, 3) if FULL else (1, 2))
    for turn in range(3 if FULL else 1):
        for seats, untaken in sorted(_sittings(game)):
            viewers = (*_some(range(seats - untaken), turn), None)
            for viewer, left in (*((viewer, False) for viewer in viewers), (None, True)):
                chosen = next(options)
                setup = Setup(game.name, chosen, seats, 0, untaken, turn, 0.3, 0.03 if left else 0.001, LONGEST)
                yield Wanted(setup, next(numbers), viewer, left)


def _some(seats: range, turn: int) -> list[int]:
    """Return the seats for which twins are looked for: all of them, or a few."""
    return [*seats] if FULL else sorted(Random(f"{seats} {turn}").sample(seats, 2))


def _sittings(game: AnyGame) -> set[tuple[int, int]]:
    """Return numbers of seats, each with how many of them nobody takes."""
    least, most, usual = game.seats
    return {(usual, 0), (most, min(1, most - least))}


def twins(wanted: Wanted) -> Twins:
    """Find twins; AssertionError where there are none, for then nothing could be shown."""
    random = Random(repr(wanted))
    for attempt in range(ATTEMPTS):
        match = play(wanted.setup._replace(seed=wanted.setup.seed + 100 * attempt))
        for version in _places(match, wanted.deal):
            viewer = None if wanted.viewer is None else match.taken[wanted.viewer]
            lived, deal = next(deals(match, [version]))
            other = another_world(deal._replace(seat=viewer), random)
            if other is not None and _differ(
                match.game, lived, other.table, lived.resigned if wanted.left else match.taken
            ):
                return _twins(deal._replace(seat=viewer), other)
    raise AssertionError(f"no other world was found for {wanted}")


def _places(match: Match, number: int) -> Iterator[int]:
    """Yield versions of a match's deal of this number, or of its last one, at which twins may end; late ones first."""
    begins = [before for before, events in enumerate(match.decided) if any(map(begins_a_deal, events))]
    place = min(number, len(begins)) - 1
    begin, end = begins[place], [*begins[1:], len(match.stored) - 1][place]
    yield from (begin + 1 + int((end - begin - 1) * part) for part in PARTS)


def _differ(game: AnyGame, lived: AnyTable, other: AnyTable, seats: Sequence[int]) -> bool:
    """Tell whether one of these seats would see the difference, had it the eyes that its player was given."""
    view = game.projection.view
    return any(view(lived, seat) != view(other, seat) for seat in seats)


def _twins(deal: Deal, other: World) -> Twins:
    match, first = deal.match, deal.before.version
    last = first + len(deal.entries)
    own = [match.command(entry) for entry in match.entries()[:last]]
    orders = {order.c: order.order for order in deal.orders}
    return Twins(match, deal.seat, first, last, (orders, other.orders), (own, [*own[:first], *other.commands]))
