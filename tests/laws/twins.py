"""Twins: two matches that one viewer can't tell apart, to be played on two servers.

Up to some deal both are one match; then cards lie otherwise wherever the viewer has not seen them, and what others
did unseen is done with other cards, or is another answer. Up to the end of the twins the viewer is sent the very same.

Of all twins that could be, few are played: those that reach most, with viewers of every kind, of what a game has
happen and lets its players do. What that is, is read from the matches themselves.
"""

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle
from random import Random
from typing import Literal, NamedTuple

from msgspec.structs import replace

from events.base import Event
from events.table import Order, Shuffled, TableEvent
from projections import fold
from service.game import AnyGame, AnyTable, Command
from service.game import tag_of as command_tag
from tests.laws.audience import is_for_all, is_unseen, seen_by, statement, tag_of
from tests.laws.matches import Match, has_ended, play
from tests.laws.setups import AnyOptions, Setup, covering, is_allowed, is_endless, values_of
from tests.laws.worlds import Deal, Orders, World, begins_a_deal, furthest_world
from tests.sizes import FULL

# How many matches are looked through for twins of a game, how long they may be, and how many small changes are tried
# for another world.
MATCHES = 60 if FULL else 40
MOST_PLAYED = 250
CHANGES = 24 if FULL else 10

# How far into a deal twins may go, in parts of it: over its end, up to it, and less, where less has been laid open.
PARTS = (0.6, 0.25)
BEYOND = 4

# Twins are played until none brings so much that is new, or so many stretches turned out to have no twin that does;
# what goes unseen counts most. Whatever is asked, playing costs so many versions and those that are played.
LEAST_NEW = 2 if FULL else 4
FRUITLESS = 200 if FULL else 24
WORTH = {"unseen": 4, "to be done": 4, "done": 1}
PLAYED = 100

Eyes = Literal["own", "another's", "out", "left", "spectator"]
"""Whose eyes see a thing done: the seat's that does it; another seat's, one's that is out and sees as a spectator does,
a spectator's; or a spectator's and, at once, those of whoever has given up a seat."""


class Mark(NamedTuple):
    """Something of a game that twins can reach: an event that happened or a command to be given now, by tag.

    `unseen` is an event of which the viewer is not sent all: then it must be another in the other world.
    """

    tag: str
    eyes: Eyes
    kind: Literal["unseen", "to be done", "done"]


class Twins(NamedTuple):
    """Two matches: the `first` of the entries in which they may differ, the last, and what both are played by.

    `viewer` can't tell them apart: a seat, or None for who sees no cards. `commands` holds, for each world, one command
    an entry; who gives it, and what each version looks like, `match` says. A table's own routes are asked at the
    versions `asked`, and all routes at the last, if `everywhere`. `reached` is what happens in the twins.
    """

    match: Match
    viewer: int | None
    first: int
    last: int
    orders: tuple[Orders, Orders]
    commands: tuple[Sequence[Command], Sequence[Command]]
    asked: frozenset[int]
    everywhere: bool
    reached: frozenset[Mark]

    def __str__(self) -> str:
        """Return what tells them from others."""
        who = "spectator" if self.viewer is None else f"seat {self.viewer}"
        return f"{self.match.setup}, {who}, versions {self.first} to {self.last}"


@dataclass(frozen=True)
class Stretch:
    """A stretch of a match, from before a deal to some version, that may have a twin for a viewer.

    `marks` are what twins would reach, version by version.
    """

    match: Match
    viewer: int | None
    first: int
    last: int
    marks: Mapping[int, frozenset[Mark]]

    @cached_property
    def reached(self) -> frozenset[Mark]:
        """All that is reached."""
        return frozenset().union(*self.marks.values())

    def new(self, before: Collection[Mark]) -> int:
        """Return how much it reaches beyond what was reached before."""
        return sum(WORTH[mark.kind] for mark in self.reached if mark not in before)

    def deal(self) -> Deal:
        """Return what happens in it."""
        entries = self.match.entries()[: self.last]
        events = (event for events in self.match.decided[: self.last] for event in events)
        orders = (Order(e.c, e.order) for e in events if isinstance(e, Shuffled) and e.order is not None)
        return Deal(self.match, self.viewer, self.match.at(self.first), entries[self.first :], tuple(orders))


def chosen(game: AnyGame, turn: int) -> Iterator[Twins]:
    """Yield twins of a game until they reach what its matches show; each turn looks through others."""
    random = Random(f"{game.name} {turn}")
    stretches = [stretch for match in _matches(game, turn) for stretch in _stretches(match)]
    reached: set[Mark] = set()
    fruitless = 0
    while stretches and fruitless < FRUITLESS:
        best = max(stretches, key=lambda stretch: stretch.new(reached) / (PLAYED + stretch.last))
        stretches.remove(best)
        if best.new(reached) < LEAST_NEW:
            return
        other = furthest_world(best.deal(), random, CHANGES)
        truly = dataclasses.replace(best, marks={} if other is None else _truly(best, other))
        if other is None or truly.new(reached) < LEAST_NEW:
            fruitless += 1
            continue
        asked = _asked(truly, set() if FULL else reached)
        yield _twins(truly, other, asked)._replace(everywhere=FULL or not reached)
        reached |= truly.reached


def twins(match: Match, number: int, viewer: int | None) -> Twins:
    """Return twins up to the end of a match's deal of this number, in which all is asked at every step."""
    first, last = _spans(match)[number - 1]
    stretch = Stretch(match, viewer, first, last, {})
    other = furthest_world(stretch.deal(), Random(repr(match.setup)), CHANGES)
    assert other is not None, f"no other world was found for {viewer} in deal {number} of {match.setup}"
    return _twins(stretch, other, frozenset(range(first + 1, last + 1)))


def reaching(game: AnyGame, turn: int) -> Iterator[tuple[Match, frozenset[int]]]:
    """Yield matches of a game, each with versions in which everybody together reaches what its matches show."""
    whole = [_whole(match) for match in _matches(game, turn)]
    reached: set[Mark] = set()
    while whole:
        best = max(whole, key=lambda stretch: stretch.new(reached) / (PLAYED + stretch.last))
        whole.remove(best)
        if best.new(reached) < LEAST_NEW:
            return
        yield best.match, _asked(best, reached)
        reached |= best.reached


def _whole(match: Match) -> Stretch:
    """Return a match from before its first deal to its last version, with what anybody reaches."""
    marks, viewers = _marks(match), (None, *match.taken)
    found = {v: frozenset().union(*(marks[v, viewer] for viewer in viewers)) for v in range(1, len(match.stored) + 1)}
    return Stretch(match, None, 0, len(match.stored), found)


def _matches(game: AnyGame, turn: int) -> Iterator[Match]:
    """Yield matches of a game, at tables of all kinds, some of whose players give up."""
    random = Random(f"{game.name} {turn}")
    least, most, usual = game.seats
    # Mostly with options with which a match ends: more happens in it.
    rows = [_ending(game, row, random) for row in covering(game, 2)]
    options = cycle([game.projection.options(), *random.sample(rows, len(rows))])
    for number in range(MATCHES):
        seats, untaken = random.choice([(usual, 0), (usual, 0), (least, 0), (most, min(1, most - least))])
        silence = random.choice([0.2, 0.9])
        resigning = 0.02 if number % 4 == 3 else 0.0
        yield play(Setup(game.name, next(options), seats, 0, untaken, number, silence, resigning, MOST_PLAYED))


def _ending(game: AnyGame, options: AnyOptions, random: Random) -> AnyOptions:
    """Return options with which a match ends: these, with one other value if need be and if it may."""
    if not is_endless(game.name, options):
        return options
    values = values_of(game)
    others = [
        replace(options, **{name: value})
        for name, endless in statement(game.name).endless.items()
        for value in values[name]
        if value not in endless
    ]
    ending = [other for other in others if is_allowed(game, other) and not is_endless(game.name, other)]
    return random.choice(ending or [options])


def _spans(match: Match) -> list[tuple[int, int]]:
    """Return for each deal the version before it and the last one in it, short of the end, where all is opened."""
    begins = [before for before, events in enumerate(match.decided) if any(map(begins_a_deal, events))]
    end = len(match.stored) - has_ended(match)
    return [span for span in zip(begins, [*begins[1:], end], strict=True) if span[0] < span[1]]


def _stretches(match: Match) -> Iterator[Stretch]:
    marks = _marks(match)
    spans = _spans(match)
    for first, end in spans:
        beyond = min(end + BEYOND, spans[-1][1])
        for last in sorted({beyond, end, *(first + 1 + int((end - first - 1) * part) for part in PARTS)}):
            for viewer in (None, *match.taken):
                found = {version: marks[version, viewer] for version in range(first + 1, last + 1)}
                yield Stretch(match, viewer, first, last, found)


def _marks(match: Match) -> dict[tuple[int, int | None], frozenset[Mark]]:
    """Return what each viewer sees happen at each version, and sees somebody asked for."""
    found = {}
    playing: set[int] = set()
    for table, entry, _ in match.versions():
        asked = [(seat, command_tag(kind)) for seat in table.taken for kind in _kinds(match.game, table, seat)]
        if any(map(begins_a_deal, entry.events)):
            playing.clear()
        playing |= {seat for seat in table.taken for event in entry.events if _is_for_some(event, seat)}
        for viewer in (None, *match.taken):
            eyes = _eyes(table, viewer, playing)
            marks = {Mark(tag, "own" if seat == viewer else eyes, "to be done") for seat, tag in asked}
            for event in entry.events:
                if isinstance(event, TableEvent):
                    continue
                own = getattr(event, "seat", None) == viewer and viewer is not None
                unseen = is_unseen(event, viewer)
                marks.add(Mark(tag_of(type(event)), "own" if own else eyes, "unseen" if unseen else "done"))
            found[table.version, viewer] = frozenset(marks)
    return found


def _is_for_some(event: Event, seat: int) -> bool:
    """Tell whether a seat is shown more of an event than a spectator."""
    return not is_for_all(event) and seen_by(event, seat) != seen_by(event, None)


def _kinds(game: AnyGame, table: AnyTable, seat: int) -> set[type[Command]]:
    playing = table.status == "playing" and seat not in table.resigned
    return set(map(type, game.legal(table.play, seat))) if playing else set()


def _eyes(table: AnyTable, viewer: int | None, playing: Collection[int]) -> Eyes:
    """Return what eyes a viewer has for what is another's, if these seats have been shown anything in this deal."""
    if viewer is None:
        return "left" if table.resigned else "spectator"
    return "another's" if viewer in playing else "out"


def _truly(stretch: Stretch, other: World) -> dict[int, frozenset[Mark]]:
    """Return what is reached of what a stretch promises, when this is the other world."""
    found: dict[int, frozenset[Mark]] = {}
    lived = stretch.match.at(stretch.last)
    if not _is_seen_to_differ(stretch, lived, other):
        return found
    view = stretch.match.game.projection.view
    # Who gave up saw its hand once, and must no more; that shows only where the hand is another.
    left = any(view(lived, seat) != view(other.table, seat) for seat in lived.resigned)
    for version, events in enumerate(other.events, stretch.first + 1):
        decided = stretch.match.decided[version - 1]
        same = {tag_of(type(one)) for one, another in zip(decided, events, strict=True) if one == another}
        found[version] = frozenset(
            mark
            for mark in stretch.marks[version]
            if (mark.kind != "unseen" or mark.tag not in same) and (mark.eyes != "left" or left)
        )
    return found


def _is_seen_to_differ(stretch: Stretch, lived: AnyTable, other: World) -> bool:
    """Tell whether somebody who plays sees at the end which of the worlds it is."""
    projection = stretch.match.game.projection
    happened = stretch.match.decided[stretch.last - 1], other.events[-1]
    return any(
        projection.view(lived, seat) != projection.view(other.table, seat)
        or fold.redacted(projection, happened[0], seat) != fold.redacted(projection, happened[1], seat)
        for seat in lived.taken
        if seat not in lived.resigned
    )


def _asked(stretch: Stretch, before: Collection[Mark]) -> frozenset[int]:
    """Return few versions at which all that is new is reached; the last one is among them."""
    missing = stretch.reached - {*before} - stretch.marks[stretch.last]
    found = {stretch.last}
    while missing:
        version = max(stretch.marks, key=lambda version: len(stretch.marks[version] & missing))
        found.add(version)
        missing -= stretch.marks[version]
    return frozenset(found)


def _twins(stretch: Stretch, other: World, asked: frozenset[int]) -> Twins:
    match, first, last = stretch.match, stretch.first, stretch.last
    own = [match.command(entry) for entry in match.entries()[:last]]
    orders = {order.c: order.order for order in stretch.deal().orders}
    commands = (own, [*own[:first], *other.commands])
    return Twins(match, stretch.viewer, first, last, (orders, other.orders), commands, asked, True, stretch.reached)
