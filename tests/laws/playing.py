"""Laws of play: what may be done, by whom, and how it ends. Each raises AssertionError where a match breaks it."""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from random import Random

import msgspec

from events.base import By
from events.table import (
    Answered,
    Created,
    DealReplayed,
    DisputeFiled,
    Ended,
    Looked,
    Opened,
    Order,
    Resigned,
    Ruled,
    Seeded,
    Shuffled,
    TurnBegan,
)
from projections import fold
from service.actions import actions
from service.chance import Chance, commitment
from service.game import LISTED, REASONS, AnyTable, Ask, Command, tag_of
from tests.laws.audience import statement
from tests.laws.bodies import bodies
from tests.laws.matches import Match, asked_by, outcome

_encode = msgspec.json.Encoder().encode


CONTESTED = {DisputeFiled, Looked, Ruled}
"""What may still happen once play has ended."""


def listed_is_legal(match: Match) -> None:
    """Hold: whatever `actions` lists for a seat, prompted or not, is accepted, the example of an open type too."""
    for table, _, _ in match.versions():
        for seat in _staying(table):
            found = actions(match.game, table, seat)
            asked = seat in table.to_act
            assert found.legal or not asked, f"seat {seat} is prompted at version {table.version} and may do nothing"
            for command in found.legal:
                answer = outcome(match, table, asked_by(table, seat, command))
                assert not isinstance(answer, str), f"{command} is listed at version {table.version}: {answer}"
            counts = Counter(map(type, match.game.legal(table.play, seat)))
            assert {tag_of(k) for k in counts} == {tag_of(type(command)) for command in found.legal}
            assert found.complete == (max(counts.values(), default=0) <= LISTED)
            assert {opened.type for opened in found.open} == {tag_of(k) for k, n in counts.items() if n > LISTED}
            for opened in found.open:
                assert opened.example in found.legal
            for forbidden in found.refused:
                assert forbidden.reason in {**REASONS, **match.game.reasons}


def _staying(table: AnyTable) -> list[int]:
    """Return the seats that play on: those taken and not given up, while a table is in play."""
    return [seat for seat in table.taken if seat not in table.resigned] if table.status == "playing" else []


def unlisted_is_illegal(match: Match) -> None:
    """Hold: of a type that is not open, every other body is refused, or decides what a listed one decides.

    The latter is another way to write the same command: two cards to discard in either order. Of seats that are not
    prompted only what they may do unasked is tried: `others_are_refused` holds them to the rest.
    """
    random = Random(match.setup.seed)
    unasked = statement(match.game.name).unasked
    for table, _, _ in match.versions():
        for seat in _staying(table):
            asked = seat in table.to_act
            legal = list(match.game.legal(table.play, seat))
            assert len(set(legal)) == len(legal), f"seat {seat} is listed a command twice at version {table.version}"
            counts = Counter(map(type, legal))
            for kind in match.game.command_types:
                if counts[kind] <= LISTED and (asked or tag_of(kind) in unasked):
                    _refused_but(match, table, seat, kind, legal, random)


def _refused_but(
    match: Match, table: AnyTable, seat: int, kind: type[Command], legal: list[Command], random: Random
) -> None:
    alike = [command for command in legal if type(command) is kind]
    listed = set(alike)
    known: set[bytes] = set()
    for command in bodies(kind, random, alike):
        if command in listed:
            continue
        answer = outcome(match, table, asked_by(table, seat, command))
        if isinstance(answer, str):
            continue
        known = known or _decided(match, table, seat, listed)
        assert _encode(answer) in known, f"{command} is accepted at version {table.version} but not listed"


def _decided(match: Match, table: AnyTable, seat: int, listed: Iterable[Command]) -> set[bytes]:
    return {_encode(outcome(match, table, asked_by(table, seat, command))) for command in listed}


def others_are_refused(match: Match) -> None:
    """Hold: who is not prompted, not seated, late, too early or gone is refused, each for that reason.

    What a seat is listed unasked is stated to be so.
    """
    unasked = {*statement(match.game.name).unasked}
    for table, _, _ in match.versions():
        command = _some_command(match, table)
        for seat in match.seats:
            if seat in table.to_act:
                stale = msgspec.structs.replace(command, turn=table.turn + 1)
                assert outcome(match, table, asked_by(table, seat, stale)) == "turn_over"
                continue
            if table.status == "playing":
                listed = {tag_of(type(other)) for other in match.game.legal(table.play, seat)}
                assert listed <= unasked, f"seat {seat} may give {listed} unasked at {table.version}"
            for other in _commands(match, table):
                answer = outcome(match, table, asked_by(table, seat, other))
                assert answer == _why(table, seat), f"seat {seat} gave {other} at {table.version}: {answer}"
        answer = outcome(match, table, Ask(By(player="stranger"), command, table.at))
        assert answer == ("not_seated" if table.status in {"playing", "paused"} else _why(table, 0))


def _some_command(match: Match, table: AnyTable) -> Command:
    return _commands(match, table)[0]


def _commands(match: Match, table: AnyTable) -> list[Command]:
    """Return what the prompted seats may do; where nobody is, one command of each type."""
    legal = [command for seat in table.to_act for command in match.game.legal(table.play, seat)]
    random = Random(table.version)
    return legal[:12] or [next(bodies(kind, random)) for kind in match.game.command_types]


def _why(table: AnyTable, seat: int) -> str:
    if table.status not in {"playing", "paused"}:
        return "ended" if table.status == "ended" else "not_started"
    if table.players[seat] is None:
        return "not_seated"
    if seat in table.resigned:
        return "resigned"
    return "paused" if table.status == "paused" else "not_your_turn"


def somebody_can_move(match: Match) -> None:
    """Hold: while a table is in play some seat is prompted, and may do something."""
    for table, _, _ in match.versions():
        if table.status == "playing":
            assert table.to_act, f"nobody must act at version {table.version}"
            for seat in table.to_act:
                assert any(True for _ in match.game.legal(table.play, seat)), f"seat {seat} is stuck at {table.version}"


def idle_is_total(match: Match) -> None:
    """Hold: in every state every seat has an idle command; that of a prompted one is legal and accepted."""
    for table, _, _ in match.versions():
        if table.play is None:
            continue
        for seat in table.taken:
            command = match.game.idle(table.play, seat)
            if seat not in table.to_act:
                continue
            legal = list(match.game.legal(table.play, seat))
            answer = outcome(match, table, asked_by(table, seat, command))
            assert not isinstance(answer, str), f"the idle {command} is refused at {table.version}: {answer}"
            alike = [other for other in legal if type(other) is type(command)]
            assert len(alike) > LISTED or command in alike or _encode(answer) in _decided(match, table, seat, alike), (
                f"the idle {command} is not legal at version {table.version}"
            )


def turns_are_coherent(match: Match) -> None:
    """Hold: a turn is the version at which its prompt began; until the next, seats only drop out."""
    turn, standing = 0, set[int]()
    for table, entry, _ in match.versions():
        for event in entry.events:
            match event:
                case TurnBegan(seats):
                    assert seats, f"nobody was prompted at version {table.version}"
                    assert len(set(seats)) == len(seats)
                    turn, standing = table.version, set(seats)
                case Answered(seat):
                    assert seat in standing or seat in table.resigned, f"{seat} answered what it wasn't asked"
                    standing.discard(seat)
                case Resigned(seat):
                    standing.discard(seat)
                case Ended() | DealReplayed():
                    standing = set()
                case _:
                    pass
        assert table.turn == turn <= table.version
        assert set(table.prompted) == standing <= set(table.taken) - set(table.resigned)
        assert not standing or table.status in {"playing", "paused"}
        assert table.to_act == (() if table.status == "paused" else table.prompted)


def the_end_is_lawful(match: Match) -> None:
    """Hold: the decision that ends play places every taken seat lawfully and opens all that was sealed, at its end."""
    made: list[Order] = []
    has_ended = False
    for table, entry, _ in match.versions():
        made += [Order(event.c, event.order or ()) for event in entry.events if isinstance(event, Shuffled)]
        kinds = [type(event) for event in entry.events]
        if Ended not in kinds:
            assert Opened not in kinds, f"opened at version {table.version}, where play did not end"
            assert not has_ended or {*kinds} <= CONTESTED, f"play went on at version {table.version}"
            continue
        assert not has_ended, f"play ended twice, at version {table.version} too"
        has_ended = True
        opened = entry.events[-1]
        ended = entry.events[kinds.index(Ended)]
        assert isinstance(opened, Opened), "what was sealed opens last"
        assert isinstance(ended, Ended)
        assert kinds.count(Opened) == 1
        assert not {Shuffled, TurnBegan, Ended} & set(kinds[kinds.index(Ended) + 1 :]), "play went on after its end"
        assert opened.orders == tuple(made), "not every order was opened as it was made"
        if ended.outcome == "annulled":
            assert ended.places == (None,) * len(table.players)
        else:
            _places(ended.places, table)
        orders_follow(match, opened.seed, opened.orders)


def _places(places: tuple[int | None, ...], table: AnyTable) -> None:
    assert [seat for seat, place in enumerate(places) if place is not None] == list(table.taken)
    placed = {seat: place for seat, place in enumerate(places) if place is not None}
    for seat, place in placed.items():
        better = sum(other < place for other in placed.values())
        assert place == 1 + better, f"seat {seat} has place {place} where {better} seats are better: {places}"
    staying = [place for seat, place in placed.items() if seat not in table.resigned]
    leaving = [placed[seat] for seat in table.resigned]
    assert not leaving or not staying or max(staying) < min(leaving), f"a forfeited seat is not last: {places}"
    assert all(earlier > later for earlier, later in pairwise(leaving)), f"who gave up earlier ranks lower: {places}"


def orders_follow(match: Match, seed_in_hex: str, orders: tuple[Order, ...]) -> None:
    """Hold a seed and the orders said to be drawn from it against the commitment and what the chance gives anew."""
    table = match.empty()
    for entry, stored in zip(match.entries(), match.stored, strict=True):
        fold.add(match.game.projection, table, entry, stored.h)
    created, seeded = match.decided[0][:2]
    assert isinstance(created, Created)
    assert isinstance(seeded, Seeded)
    ctx = f"table:{match.table}"
    seed = bytes.fromhex(seed_in_hex)
    assert seed_in_hex == seeded.seed
    assert commitment(seed, ctx).hex() == created.commitment
    assert len({order.c for order in orders}) == len(orders), "a shuffle's number was used twice"
    chance = Chance(seed, ctx, table.nonces)
    packs = [_as_printed(chance, order) for order in orders]
    for cards in (pack for pack in packs if pack and isinstance(pack[0], int)):
        assert cards == sorted(cards), "a lot shuffles the seats from ascending order"
    whole = max((pack for pack in packs if pack and isinstance(pack[0], str)), key=len, default=[])
    for pack in packs:
        if pack and isinstance(pack[0], str):
            # A pack that is taken twice has its copies side by side, so a part of it is read off in order too.
            rest = iter(whole)
            assert all(card in rest for card in pack), f"{pack} was not shuffled from printed order"


def _as_printed(chance: Chance, order: Order) -> list[str | int]:
    """Return the pack as it lay before the shuffle that gave this order."""
    places = chance.shuffle(range(len(order.order)), order.c)
    pack: list[str | int] = [""] * len(places)
    for place, card in zip(places, order.order, strict=True):
        pack[place] = card
    return pack
