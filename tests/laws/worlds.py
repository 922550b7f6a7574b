"""Law 3: other worlds that a seat can't tell from the one it plays in, made by permuting cards it has not seen.

A world is the same deal with hidden cards of one shuffle changed about: in its order, and in the commands that others
gave unseen. It counts if every command is still decided and the seat is sent the very same decisions.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import combinations, islice
from random import Random
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import Raw

from events.base import Entry, Event
from events.table import NUMBERS_PER_DEAL, Order, Shuffled
from projections import fold
from service import bots
from service.bots import Bot
from service.chance import bot_stream
from service.game import AnyTable, Ask, Command, Refused
from service.referee import Create, Referee
from tests.laws.audience import is_for_all, is_unseen, seen_by
from tests.laws.matches import Match
from tests.stated import Stated

T = TypeVar("T")
Orders = Mapping[int, Sequence[str | int]]

# Of how many seats' prompts the other worlds are looked for in one match, and how often for each.
PROBES = 24
TRIES = 8

# Of how many commands that others gave unseen, the last ones, another is tried.
LAST = 3

BOTS = tuple(bots.find())

_encode = msgspec.json.Encoder().encode
_NAME = re.compile(rb'"([A-Za-z0-9]{2,4})"')


class Deal(NamedTuple):
    """The stretch of a match from before a deal up to some version, as a seat lived it, or the spectator (None)."""

    match: Match
    seat: int | None
    before: AnyTable
    entries: Sequence[Entry[Raw, Event]]
    orders: Sequence[Order]


class World(NamedTuple):
    """A deal with other cards: the table at its end, the orders of all its shuffles, what was asked and what happened.

    `commands` and `events` hold one of each an entry.
    """

    table: AnyTable
    orders: Orders
    commands: Sequence[Command]
    events: Sequence[tuple[Event, ...]]


def a_choice_needs_no_secrets(match: Match, others: Sequence[Bot] = BOTS, probes: int = PROBES) -> int:
    """Hold law 3 for every bot; return in how many other worlds it was held."""
    found = 0
    random = Random(match.setup.seed)
    versions = sorted(random.sample(range(1, len(match.stored) + 1), min(probes, len(match.stored))))
    for table, deal in deals(match, versions):
        for seat in table.to_act:
            other = another_world(deal._replace(seat=seat), random)
            if other is not None:
                _same(match, seat, table, other.table, others)
                found += 1
    return found


def deals(match: Match, versions: Sequence[int]) -> Iterator[tuple[AnyTable, Deal]]:
    """Yield the table at each of these versions, with the deal that it stands in."""
    entries = match.entries()
    before, start = match.empty(), 0
    table = match.empty()
    for number, (entry, stored) in enumerate(zip(entries, match.stored, strict=True)):
        if any(map(begins_a_deal, entry.events)):
            before, start = deepcopy(table), number
        fold.add(match.game.projection, table, entry, stored.h)
        if table.version in versions and table.play is not None:
            yield table, Deal(match, 0, before, entries[start : number + 1], tuple(table.orders))


def begins_a_deal(event: Event) -> bool:
    """Tell whether an event shuffles the pack of a deal."""
    return isinstance(event, Shuffled) and event.c > 0 and event.c % NUMBERS_PER_DEAL == 0


def another_world(deal: Deal, random: Random) -> World | None:
    """Return the deal as it would be with hidden cards changed about, None where no try gives a world."""
    lived, own = _sent(deal, deal.entries), _commands(deal)
    seen = set(_NAME.findall(b"".join(lived)))
    fresh = [order for order in deal.orders if order not in deal.before.orders and isinstance(order.order[0], str)]
    for attempt in range(TRIES):
        orders = [random.choice(fresh)] if attempt % 2 else fresh
        hidden = sorted({str(card) for order in orders for card in order.order if str(card).encode() not in seen})
        # All of them first, then fewer and fewer: a small change is more often one that nobody could notice.
        size = max(2, len(hidden) >> attempt // 2 * 2)
        if len(hidden) >= size:
            some = random.sample(hidden, size)
            # Each goes where another was: a world in which none has moved would show nothing.
            changed = dict(zip(some, [*some[1:], some[0]], strict=True))
            others = (_permuted(order, changed) for order in orders)
            stated = {order.c: order.order for order in (*deal.orders, *others)}
            world = _lived(deal, stated, _renamed_by_others(deal, own, changed), lived)
            if world is not None:
                return world
    return None


def furthest_world(deal: Deal, random: Random, tries: int) -> World | None:
    """Return the deal with much changed about, one small change after another; None where nothing could be.

    Two cards of one shuffle change places, or one of the last commands that others gave unseen is another. So a world
    is found even where a deal was laid open and scored, and only cards that count the same may lie otherwise.
    """
    lived, found = _sent(deal, deal.entries), None
    stated: Orders = {order.c: order.order for order in deal.orders}
    commands: Sequence[Command] = _commands(deal)
    swaps = [*_swaps(deal, lived)]
    # Of half of them one at least was named by others unseen.
    cards = _named(deal)
    named = [swap for swap in swaps if cards & {*swap.cards}]
    some = [swap for among in (named, swaps) for swap in random.sample(among, min(tries // 2, len(among)))]
    changes: list[_Swap | _Other] = [*_other_commands(deal), *some]
    for change in changes:
        tried = _changed_by(change, deal, stated, commands)
        world = _lived(deal, *tried, lived)
        if world is not None:
            found = world
            stated, commands = tried
    return found


class _Swap(NamedTuple):
    """Two cards of the shuffle `c` that change places, and the entries whose commands mean them."""

    c: int
    cards: tuple[str, str]
    entries: range


class _Other(NamedTuple):
    """Another command in the place of one that was given unseen, by the number of its entry."""

    number: int
    command: Command


def _swaps(deal: Deal, lived: Sequence[bytes]) -> Iterator[_Swap]:
    """Yield all pairs of cards of a shuffle that the viewer has not seen from then on until the next deal."""
    begins = [number for number, entry in enumerate(deal.entries) if any(map(begins_a_deal, entry.events))]
    for number, entry in enumerate(deal.entries):
        for event in entry.events:
            if isinstance(event, Shuffled) and event.order and isinstance(event.order[0], str):
                end = next((begin for begin in begins if begin > number), len(deal.entries))
                seen = set(_NAME.findall(b"".join(lived[number:end])))
                hidden = sorted({card for card in map(str, event.order) if card.encode() not in seen})
                for pair in combinations(hidden, 2):
                    yield _Swap(event.c, pair, range(number, end))


def _unseen(deal: Deal) -> Iterator[int]:
    """Yield the entries of others that the viewer was sent not all of."""
    for number, entry in enumerate(deal.entries):
        if entry.by.seat != deal.seat and any(is_unseen(event, deal.seat) for event in entry.events):
            yield number


def _named(deal: Deal) -> set[str]:
    """Return the cards that others named in commands that the viewer saw not all of."""
    commands = (bytes(deal.entries[number].command) for number in _unseen(deal))
    return {name.decode() for command in commands for name in _NAME.findall(command)}


def _other_commands(deal: Deal) -> Iterator[_Other]:
    """Yield, for the last commands of others that the viewer saw not all of, what else they might have said."""
    found, game, table, unseen = [], deal.match.game, deepcopy(deal.before), {*_unseen(deal)}
    for number, entry in enumerate(deal.entries):
        seat, command = entry.by.seat, deal.match.command(entry)
        if number in unseen and seat is not None and table.play is not None:
            others = sorted(game.legal(table.play, seat), key=lambda other: type(other) is type(command))
            found += [_Other(number, other) for other in islice(others, 1)]
        fold.add(game.projection, table, entry, deal.match.stored[entry.version - 1].h)
    yield from found[-LAST:]


def _changed_by(
    change: _Swap | _Other, deal: Deal, stated: Orders, commands: Sequence[Command]
) -> tuple[Orders, Sequence[Command]]:
    """Return other orders and commands: these, with one change."""
    if not isinstance(change, _Swap):
        number, command = change
        return stated, [*commands[:number], command, *commands[number + 1 :]]
    one, other = change.cards
    changed = {one: other, other: one}
    renamed = _renamed_by_others(deal, commands, changed)
    return (
        {**stated, change.c: _permuted(Order(change.c, tuple(stated[change.c])), changed).order},
        [renamed[n] if n in change.entries else command for n, command in enumerate(commands)],
    )


def _permuted(order: Order, changed: Mapping[str, str]) -> Order:
    return Order(order.c, tuple(changed.get(str(card), card) for card in order.order))


class Impossible(Exception):
    """A pack that this world shuffles is not of the cards that its order is of."""


class _Possible(Stated):
    """The stated orders of a world that may turn out impossible."""

    def shuffle(self, pack: Sequence[T], c: int) -> tuple[T, ...]:
        """Return the pack in the order stated for c; raise Impossible where none can be."""
        try:
            return super().shuffle(pack, c)
        except AssertionError as error:
            raise Impossible from error


def _sent(deal: Deal, entries: Sequence[Entry[Raw, Event]]) -> list[bytes]:
    """Return what the seat is stated to be sent of each decision, heads aside.

    What it is sent indeed may be more: then the worlds are told apart that were to look the same.
    """
    seat = deal.seat
    return [
        _encode([event if is_for_all(event) else seen_by(event, seat) for event in entry.events]) for entry in entries
    ]


def _commands(deal: Deal) -> list[Command]:
    return [deal.match.command(entry) for entry in deal.entries]


def _lived(deal: Deal, stated: Orders, commands: Sequence[Command], lived: Sequence[bytes]) -> World | None:
    """Play the deal by other orders and commands; return it if the viewer is sent what it was sent, None if not."""
    match, happened = deal.match, []
    chance = _Possible(stated)
    referee = Referee(lambda _: chance)
    table = deepcopy(deal.before)
    for entry, command, sent in zip(deal.entries, commands, lived, strict=True):
        ask = Ask(entry.by, command, entry.at)
        try:
            events = (
                referee.create(match.game, table, ask, match.seed)
                if isinstance(command, Create)
                else referee.decide(match.game, table, ask)
            )
        except (Refused, Impossible):
            return None
        other = msgspec.structs.replace(entry, events=events)
        if _sent(deal, [other]) != [sent]:
            return None
        happened.append(events)
        fold.add(match.game.projection, table, other, match.stored[entry.version - 1].h)
    return World(table, stated, commands, happened)


def _renamed_by_others(deal: Deal, commands: Sequence[Command], changed: Mapping[str, str]) -> list[Command]:
    """Return the commands, with other cards in those that are not the viewer's own."""
    return [
        command if deal.seat is not None and entry.by.seat == deal.seat else _renamed(command, changed)
        for entry, command in zip(deal.entries, commands, strict=True)
    ]


def _renamed(command: Command, changed: Mapping[str, str]) -> Command:
    plain = msgspec.to_builtins(command)
    return msgspec.convert({name: _changed(value, changed) for name, value in plain.items()}, type(command))


def _changed(value: Any, changed: Mapping[str, str]) -> Any:  # noqa: ANN401 any JSON
    if isinstance(value, list | tuple):
        return [_changed(part, changed) for part in value]
    return changed.get(value, value) if isinstance(value, str) else value


def _same(match: Match, seat: int, table: AnyTable, other: AnyTable, others: Sequence[Bot]) -> None:
    """Hold: what a bot in this seat is given, and what it chooses, is the same in both worlds."""
    game, where = match.game, f"seat {seat} at version {table.version}"
    views = game.projection.view(table, seat), game.projection.view(other, seat)
    assert _encode(views[0]) == _encode(views[1]), f"the view of {where} betrays hidden cards"
    legal = list(game.legal(table.play, seat)), list(game.legal(other.play, seat))
    assert legal[0] == legal[1], f"what is legal for {where} betrays hidden cards"
    for bot in others:
        chosen = [
            bot.choose(view, commands, bot_stream(match.seed, f"table:{match.table}", seat, table.version))
            for view, commands in zip(views, legal, strict=True)
        ]
        assert chosen[0] == chosen[1], f"{bot.label} knows hidden cards in {where}"
