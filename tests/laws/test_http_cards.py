"""No answer over HTTP names a card that its reader was not shown, in any state of any game, until the table has ended.

Matches are played at a server that deals as they were dealt, on to everything that their game has happen and lets its
players do. There everybody asks every route of the table: each seat, who is out, who gave up, the host, who looks on.
What each may know is told by the stated audiences alone. `test_http_secrecy.py` holds more, that nothing at all is
told, for one viewer at a time; this one names the card.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any

import msgspec
import pytest

from events.base import MAX_SEATS, By, Event
from events.table import Created, SeatLeft, SeatTaken, Shuffled
from projections import fold
from service.api.endpoint import Endpoint
from service.embedded import Embedded
from service.game import AnyGame, AnyTable
from service.words import Names, Words
from tests.laws.audience import seen_by, tag_of
from tests.laws.calls import Call, Moment, calls, is_of_a_table
from tests.laws.matches import Match
from tests.laws.pairs import Cast, call_of, cast, give, role_of
from tests.laws.setups import GAMES, MODULES, SERVED
from tests.laws.stages import Said, Stage, staged
from tests.laws.twins import reaching
from tests.laws.worlds import begins_a_deal
from tests.sizes import FULL

# Of what is not a plain look every so many calls are made by somebody at a step, others at the next.
STRIDE = 1 if FULL else 8
TURNS = 4 if FULL else 1

Reader = tuple[str, int | None, int | None]
"""A role, its seat, and the seat whose eyes it has: None for a spectator's."""


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Give a server with a store of its own."""
    folder = tmp_path_factory.mktemp("cards")
    with Embedded(folder / "store", what="a stage") as store, staged(store.url, folder / "keys", *MODULES) as stage:
        yield stage


@dataclass
class Shown:
    """What was shown to whom of a match as far as it has come.

    That is what stated audiences show in a deal, and what a view tells of earlier deals that is folded from no more
    than what its viewer was sent.
    """

    match: Match
    sent: dict[int | None, AnyTable]
    names: set[str] = field(default_factory=set)
    shown: list[dict[int | None, set[str]]] = field(default_factory=lambda: [{}])
    lasting: list[dict[int | None, set[str]]] = field(default_factory=lambda: [{}])
    language: str = "en"

    def add(self, version: int) -> None:
        """Add what is shown by the decision that led to a version."""
        events = self.match.decided[version - 1]
        self.names |= {str(card) for event in events if isinstance(event, Shuffled) for card in event.order or ()}
        before = {} if any(map(begins_a_deal, events)) else self.shown[-1]
        seen = {viewer: {*_strings([seen_by(event, viewer) for event in events])} for viewer in self.match.viewers}
        self.shown.append({viewer: before.get(viewer, set()) | told for viewer, told in seen.items()})
        self.lasting.append({viewer: {*_strings(self._view(version, viewer))} for viewer in self.match.viewers})

    def _view(self, version: int, viewer: int | None) -> Any:  # noqa: ANN401 any JSON
        match, stored, table = self.match, self.match.stored[version - 1], self.sent[viewer]
        decision = match.received(match.redacted(match.game.projection.decode(stored.e), stored.h, viewer))
        fold.add(match.game.projection, table, decision, stored.h)
        return json.loads(match.view(table, viewer))

    def hold(self, said: Said, eyes: int | None, about: str) -> None:
        """Hold: an answer names no card that these eyes were not shown in the deal that it tells of."""
        kind = dict(said.headers).get("content-type", "")
        lines = said.body.splitlines() if "ndjson" in kind else [said.body] if "json" in kind else []
        for line in lines:
            told = json.loads(line)
            self.language = told.get("language", "en") if isinstance(told, dict) else "en"
            self._hold(told, len(self.shown) - 1, eyes, about)

    def _hold(self, told: Any, version: int, eyes: int | None, about: str) -> None:  # noqa: ANN401 any JSON
        match told:
            case None | bool() | int():
                pass
            case {"version": int(at), "events": list(events), "head": _}:
                expected = [seen_by(event, eyes) for event in self.match.decided[at - 1]]
                for event, stated in zip(events, expected, strict=True):
                    if stated["type"].startswith("table."):
                        self._hold(event, at, eyes, about)
                    else:
                        assert event == stated, f"{about} is told {event}, not {stated}"
            case {"version": int(at), "lines": list(lines)}:
                self._hold_words(lines, at, eyes, about)
            case dict():
                at = told.get("version", version)
                for name, part in told.items():
                    # A schema lists the cards that there are, which is no secret.
                    self._hold([] if name == "schema" else part, at, eyes, about)
            case list():
                for part in told:
                    self._hold(part, version, eyes, about)
            case str() if told in self.names:
                assert told in self.shown[version][eyes] | self.lasting[version][eyes], f"{about} is told of {told}"

    def _hold_words(self, lines: Sequence[str], version: int, eyes: int | None, about: str) -> None:
        """Hold: a decision is told in the words of what these eyes may see of it; people are called by their seats."""
        names = Names([f"seat {seat}" for seat in range(MAX_SEATS)], {})
        left = iter(lines)
        for event in self.match.decided[version - 1]:
            seen: Event = msgspec.convert(seen_by(event, eyes), type(event))
            words = _words(self.match.game.name, self.language)
            for expected, line in zip(words.tell(seen, names), left, strict=False):
                # These name ids, or what one table has in place of another's.
                if not isinstance(event, Created | SeatTaken | SeatLeft):
                    assert line == expected, f"{about} is told {line}, not {expected}"
        assert not [*left]


@cache
def _words(game: str, language: str) -> Words:
    found = GAMES.named(game)
    assert found is not None
    return Words(found, language)


def _strings(told: Any) -> Iterator[str]:  # noqa: ANN401 any JSON
    match told:
        case str():
            yield told
        case dict():
            yield from _strings([*told.values()])
        case list() | tuple():
            for part in told:
                yield from _strings(part)
        case _:
            pass


@pytest.mark.parametrize("turn", range(TURNS))
@pytest.mark.parametrize("game", SERVED, ids=lambda game: game.name)
def test_no_answer_names_a_card_that_its_reader_was_not_shown(game: AnyGame, turn: int, stage: Stage) -> None:
    routes = [route for route in stage.routes if is_of_a_table(route) and route.tag == game.name]
    told = 0
    for match, versions in reaching(game, turn):
        told += _played(match, versions, stage, routes)
    assert told > 200


def _played(match: Match, versions: frozenset[int], stage: Stage, routes: Sequence[Endpoint]) -> int:
    """Play a match at a server, and have everybody ask at these versions; return how many answers there were."""
    people, told = cast(stage, match.taken), 0
    shown = Shown(match, {viewer: match.empty() for viewer in match.viewers})
    orders = {e.c: e.order for events in match.decided for e in events if isinstance(e, Shuffled) and e.order}
    for table, entry, _ in match.versions():
        version = table.version
        shown.add(version)
        said = give(people, entry.by, call_of(match.game, match.command(entry), f"key-{version}"), orders)
        if table.status != "ended":
            shown.hold(said, _eyes(table, entry.by), f"{role_of(entry.by)} at version {version}")
            if version in versions:
                told += _asked(people, shown, table, routes)
        else:
            _hold_the_end(people, shown, table)
    return told


def _eyes(table: AnyTable, by: By) -> int | None:
    """Return the seat whose eyes somebody has who gives a command."""
    return by.seat if by.seat not in table.resigned else None


def _readers(table: AnyTable) -> Iterator[Reader]:
    for seat in table.taken:
        eyes = seat if seat not in table.resigned else None
        yield f"seat {seat}", seat, eyes
        if FULL:
            yield f"seat {seat} as arbiter", seat, eyes
    for role in ("nobody", "host", "onlooker", "onlooker as arbiter"):
        yield role, None, None


def _asked(people: Cast, shown: Shown, table: AnyTable, routes: Sequence[Endpoint]) -> int:
    """Have everybody ask on all these routes; return how many answers there were."""
    told = 0
    for role, seat, eyes in _readers(table):
        for call in _calls(Moment(shown.match, table, seat), routes, Random(f"{role} {table.version}")):
            through = None if "as=spectator" in call.path else eyes
            shown.hold(people.say(call, role), through, f"{role} at version {table.version}, who asks for {call},")
            told += 1
    return told


def _calls(moment: Moment, routes: Sequence[Endpoint], random: Random) -> Iterator[Call]:
    """Yield a plain look on each route, and some of all else."""
    asked = [[*calls(route, moment)] for route in routes]
    yield from (first for route, (first, *_) in zip(routes, asked, strict=True) if route.method == "GET")
    rest = [call for route, all_of_it in zip(routes, asked, strict=True) for call in all_of_it[route.method == "GET" :]]
    yield from rest[random.randrange(STRIDE) :: STRIDE]


def _hold_the_end(people: Cast, shown: Shown, table: AnyTable) -> None:
    """Hold: when the table has ended everybody is sent, and sees, what was opened of the game's own."""
    path, last = f"/v1/{shown.match.game.name}/tables/{{table}}", shown.match.decided[-1]
    opened = [event for event in last if tag_of(type(event)) == f"{shown.match.game.name}.opened"]
    cards = shown.names.intersection(_strings([seen_by(event, None) for event in opened]))
    events = Call("GET", f"{path}/events?after={table.version - 1}")
    for role, _, eyes in _readers(table):
        if role == "nobody":
            continue
        shown.hold(people.say(events, role), eyes, f"{role} at the end")
        view = people.say(Call("GET", path), role).json
        assert cards <= {*_strings(view)}, f"{role} does not see what was opened at the end"
