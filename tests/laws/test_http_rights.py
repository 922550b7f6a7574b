"""Who may do what, for every route and every kind of bearer: 401, 403 or 404, by the route's own word on its token.

Who may not is told so in words that betray nothing, and has changed nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

import pytest

from events.table import Shuffled
from service.api.endpoint import Endpoint
from service.auth.scopes import SCOPES, SIGN_UP, Needed, Scope, suffices
from service.embedded import Embedded
from service.game import AnyGame, AnyTable
from tests.laws.calls import Call, Moment, calls, is_of_a_table
from tests.laws.matches import Match, play
from tests.laws.pairs import ENDING, Cast, call_of, cast, give
from tests.laws.setups import GAMES, MODULES, Setup
from tests.laws.stages import Numbering, Said, Stage, staged
from tests.laws.worlds import Orders
from tests.stores import everything

ALIENS = ("stranger", "revoked", "erased")
"""Who bears a token that counts no more, or never did; `nobody` bears none."""

SCOPED: dict[str, frozenset[Scope]] = {
    "host": frozenset(SIGN_UP),
    "another seat": frozenset(SIGN_UP),
    "seat that resigned": frozenset(SIGN_UP),
    "seat as arbiter": frozenset(["play", "arbiter", "admin"]),
    "onlooker": frozenset(SIGN_UP),
    "onlooker without scope": frozenset(),
    **{f"onlooker as {scope}": frozenset([scope]) for scope in SCOPES},
}
"""What the tokens of everybody else may do."""

NOT_THERE = (None, "0" * 26, "0" * 25, "A" * 26)
"""Ids that no table of another game has: that of the sitting (None), one that nothing has, and what can't be one."""

ANOTHERS = "another token than the one that asks"
"""For what some routes need further scopes."""

Verdict = tuple[int, str | None]
"""A status, and a problem's code."""


@dataclass
class Sitting:
    """A table in play at which a seat was given up, and everybody who may come to it, each with a seat or without."""

    cast: Cast
    match: Match
    table: AnyTable
    seats: dict[str, int] = field(default_factory=dict)

    def call(self, route: Endpoint, role: str) -> Call:
        """Return the plainest call of a route."""
        return next(calls(route, Moment(self.match, self.table, self.seats.get(role))))

    def ask(self, call: Call, role: str, table: str | None = None) -> Said:
        """Ask for something as somebody, of this table or of another id."""
        ids = {"table": table or self.cast.table, "player": self.cast.accounts["host"]}
        return self.cast.stage.say(call, self.cast.tokens[role], ids)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Give a server with a store of its own."""
    folder = tmp_path_factory.mktemp("stage")
    with Embedded(folder / "store", what="a stage") as store, staged(store.url, folder / "keys", *MODULES) as one:
        yield one


@pytest.fixture(scope="module", params=list(GAMES), ids=lambda game: game.name)
def sitting(request: pytest.FixtureRequest, stage: Stage) -> Sitting:
    """Give a table of each game."""
    game: AnyGame = request.param
    match, last = _given_up(game)
    company, orders = cast(stage, match.taken), _orders(match)
    for table, entry, _ in match.versions():
        give(company, entry.by, call_of(game, match.command(entry), f"key-{table.version}"), orders)
        if table.version == last:
            return _with_everybody(Sitting(company, match, table))
    raise AssertionError(last)


def _given_up(game: AnyGame) -> tuple[Match, int]:
    """Return a match, and a version at which one seat of it is given up, one is prompted and another is not."""
    setup = Setup(game.name, game.projection.options(), game.seats.most, 0, 0, 0, 0.3, 0.05, 200)
    for seed in range(100):
        match = play(setup._replace(seed=seed))
        for table, _, _ in match.versions():
            if table.status == "playing" and table.resigned and {*table.taken} - {*table.to_act, *table.resigned}:
                return match, table.version
    raise AssertionError(f"in no match of {game.name} does the rest play on")


def _orders(match: Match) -> Orders:
    shuffled = (event for events in match.decided for event in events if isinstance(event, Shuffled))
    return {event.c: event.order or () for event in shuffled}


def _with_everybody(sitting: Sitting) -> Sitting:
    """Name those who sit, and let two tokens end: one is revoked, the account of the other erased."""
    table, company = sitting.table, sitting.cast
    resigned = table.resigned[0]
    other = next(seat for seat in table.taken if seat not in (*table.to_act, *table.resigned))
    sitting.seats = {"another seat": other, "seat that resigned": resigned, "seat as arbiter": other}
    names = {"another seat": f"seat {other}", "seat that resigned": f"seat {resigned}"}
    names["seat as arbiter"] = f"seat {other} as arbiter"
    company.tokens |= {role: company.tokens[name] for role, name in names.items()}
    for role, end in {"revoked": "/v1/tokens/{}", "erased": "/v1/me"}.items():
        _, token = company.stage.sign_up(role)
        company.tokens[role] = token
        listed = sitting.ask(Call("GET", "/v1/tokens"), role).json["tokens"]
        assert sitting.ask(Call("DELETE", end.format(listed[0]["id"])), role).status == 204
    return sitting


def needed(route: Endpoint) -> Needed:
    """Return the scopes that the plainest call of a route needs, which names a token that is another's."""
    return route.scope_of.get(ANOTHERS, route.scope)


def expected(route: Endpoint, role: str, game: AnyGame) -> Verdict:
    """Return what a route must answer somebody at the table of a sitting."""
    if route.token and role not in SCOPED:
        return 401, "unauthenticated"
    if route.token and not suffices(SCOPED[role], needed(route)):
        return 403, "forbidden"
    if not is_of_a_table(route):
        # Tokens are one's own: that of a stranger is not known to be there.
        if "{token}" in route.path:
            return 404, "not_found"
        # A WebSocket takes a handshake alone.
        return (426, "upgrade_required") if 101 in route.answers else (min(route.answers), None)
    if route.tag != game.name:
        return 404, "not_found"
    return _at_table(route, role)


def _at_table(route: Endpoint, role: str) -> Verdict:
    """Return what a rule of the table says to who may ask at all."""
    match route.method, route.path.rpartition("{table}")[2]:
        case "GET", "/presence" if role not in {"host", "another seat", "seat as arbiter"}:
            return 403, "not_seated"
        case "GET", "/record" | "/views":
            return 409, "not_ended"
        case "GET", "/inclusion":
            return 404, "not_found"
        case "GET", _:
            return 200, None
        case "POST", "/pause" | "/resume":
            return 412, "stale"
        case "POST", "/disputes" if role in {"another seat", "seat as arbiter", "seat that resigned"}:
            return 409, "no_such_versions"
        case "POST", "/disputes":
            return 403, "not_seated"
        case "POST", end if end.startswith("/disputes/"):
            return 409, "arbiter_concerned" if role == "seat as arbiter" else "no_such_dispute"
        case "POST", "/start" if role != "host":
            return 403, "not_host"
        case "POST", "/commands" if role == "seat that resigned":
            return 409, "resigned"
        case "POST", "/commands" if role in {"another seat", "seat as arbiter"}:
            return 409, "not_your_turn"
        case "POST", "/commands":
            return 403, "not_seated"
        case _:
            return 409, "not_open"


def verdict(said: Said) -> Verdict:
    """Return an answer's status, and its code if it is a problem."""
    problem = said.status >= 400
    return said.status, said.json["code"] if problem else None


def may_be_asked(route: Endpoint, role: str) -> bool:
    """Tell whether somebody may ask for a thing without ending the test: an account is erased only once."""
    return (route.method, route.path) not in ENDING or role not in SCOPED or not suffices(SCOPED[role], route.scope)


def test_every_bearer_is_answered_on_every_route_as_the_route_says(sitting: Sitting, stage: Stage) -> None:
    game = sitting.match.game
    log = stage.log(sitting.cast.table)
    for route in stage.routes:
        for role in ("nobody", *ALIENS, *SCOPED):
            if may_be_asked(route, role):
                said = sitting.ask(sitting.call(route, role), role)
                assert verdict(said) == expected(route, role, game), f"{role} on {route.method} {route.path}: {said}"
                assert said.status in {*route.answers, *route.errors}
    assert stage.log(sitting.cast.table) == log


def test_who_may_not_ask_has_changed_nothing(sitting: Sitting, stage: Stage) -> None:
    game = sitting.match.game
    before = everything(stage.store)
    for route in stage.routes:
        for role in ("nobody", *ALIENS, *SCOPED):
            if expected(route, role, game)[0] in {401, 403, 404}:
                sitting.ask(sitting.call(route, role), role)
    # Tickets run out by themselves meanwhile.
    after = everything(stage.store)
    assert after == {key: value for key, value in before.items() if key in after or not key.startswith(b"ticket:")}


def test_a_token_that_counts_no_more_is_told_what_one_is_told_that_never_did(sitting: Sitting, stage: Stage) -> None:
    for route in stage.routes:
        told = {Numbering().of(sitting.ask(sitting.call(route, role), role)) for role in ALIENS if route.token}
        assert len(told) <= 1, f"{route.method} {route.path} tells tokens apart: {told}"


def test_who_may_not_ask_learns_nothing_of_the_table(sitting: Sitting, stage: Stage) -> None:
    """Of a table that is there, and of one that is not, the same is said."""
    game = sitting.match.game
    for route in filter(is_of_a_table, stage.routes):
        for role in ("nobody", *ALIENS, *SCOPED):
            if expected(route, role, game)[1] in {"unauthenticated", "forbidden"}:
                call = sitting.call(route, role)
                there, absent = sitting.ask(call, role), sitting.ask(call, role, "0" * 26)
                assert Numbering().of(there) == Numbering().of(absent)


def test_a_table_that_is_not_there_is_like_one_of_another_game_and_like_no_id(sitting: Sitting, stage: Stage) -> None:
    game = sitting.match.game
    others = [route for route in filter(is_of_a_table, stage.routes) if route.tag != game.name]
    assert others
    for route, (role, scopes) in product(others, SCOPED.items()):
        if suffices(scopes, route.scope):
            call = sitting.call(route, role)
            told = {Numbering().of(sitting.ask(call, role, table)) for table in NOT_THERE}
            assert len(told) == 1, f"{route.method} {route.path} tells {role} of tables: {told}"
            assert "not_found" in told.pop()
