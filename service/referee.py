"""The referee: what may be done at any table, and through it at any game.

`Referee.decide` answers every command of a table, neutral or the game's own, from the table's state alone. What it
adds to a game's own decisions: seats that are forfeit move by themselves, and when play ends everything sealed opens.
"""

import copy
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import Meta

from events.base import MAX_SEATS, BotLabel, By, Event, GameName, Ruleset, Seat
from events.table import (
    Chosen,
    Created,
    Ended,
    Nonce,
    Opened,
    Resigned,
    Ruled,
    SeatLeft,
    SeatTaken,
    Seeded,
    Started,
    StartRule,
    TurnBegan,
)
from projections import fold
from projections.own import own
from service import disputes
from service.chance import Chance, Shuffles, commitment
from service.dealing import Chances, Dealing
from service.forfeits import give_up
from service.game import AnyGame, AnyTable, Ask, Command, NotHost, NotSeated, Refused


class Create(Command, frozen=True, tag="table.create"):
    """Open a table, every option stated; `bots` take the highest seats at once, the first named the lowest of them."""

    game: GameName
    ruleset: Ruleset
    seats: Annotated[int, Meta(ge=1, le=MAX_SEATS)]
    options: Chosen
    start: StartRule
    bots: Annotated[tuple[BotLabel, ...], Meta(max_length=MAX_SEATS)] = ()


class Sit(Command, frozen=True, tag="table.sit"):
    """Take a seat, the lowest free one if none is named; or, as the host, seat a bot."""

    seat: Seat | None = None
    nonce: Nonce = ""
    bot: BotLabel | None = None


class Leave(Command, frozen=True, tag="table.leave"):
    """Stand up before play."""


class Start(Command, frozen=True, tag="table.start"):
    """Start play with the seats taken, as the host."""


class Abandon(Command, frozen=True, tag="table.abandon"):
    """Close the table before play, as the host."""


class Resign(Command, frozen=True, tag="table.resign"):
    """Give one's seat up; from then on it moves by itself, and ranks last."""


NEUTRAL = Create | Sit | Leave | Start | Abandon | Resign | disputes.COMMANDS


def chance_of(table: AnyTable) -> Shuffles:
    """Return the chance of a table: its own seed, and the nonces of its seats."""
    if table.seed is None:
        message = f"table {table.id} at version {table.version} has no seed: it was folded from redacted decisions"
        raise ValueError(message)
    return Chance(bytes.fromhex(table.seed), f"table:{table.id}", table.nonces)


@dataclass(frozen=True)
class Referee:
    """Decides any command at any table; `chances` gives a table's chance, stated orders in tests."""

    chances: Chances = chance_of

    def create(self, game: AnyGame, table: AnyTable, ask: Ask, seed: bytes) -> tuple[Event, ...]:
        """Open the table that `ask.command` describes, its shuffles drawn from this seed of 32 bytes."""
        command: Create = ask.command
        if not game.seats.least <= command.seats <= game.seats.most:
            raise Refused("seats_out_of_range")
        if len(command.bots) > command.seats:
            raise Refused("table_full")
        game.check(msgspec.convert(command.options, game.projection.options))
        first_bot = command.seats - len(command.bots)
        events = [
            Created(
                game=command.game,
                ruleset=command.ruleset,
                seats=command.seats,
                options=command.options,
                start=command.start,
                host=ask.by.player or "",
                commitment=commitment(seed, f"table:{table.id}").hex(),
            ),
            Seeded(seed.hex()),
            *(bot_taken(seat, bot) for seat, bot in enumerate(command.bots, first_bot)),
        ]
        return tuple(self._to_the_end(game, _own(table), events, ask))

    def decide(self, game: AnyGame, table: AnyTable, ask: Ask) -> tuple[Event, ...]:
        """Return what a command makes happen at a table that exists; raise Refused if a rule forbids it."""
        command: Command = ask.command
        if command.turn is not None and command.turn != table.turn:
            raise Refused("turn_over")
        if isinstance(command, NEUTRAL):
            return tuple(self._to_the_end(game, _own(table), _neutral(game, table, ask), ask))
        _may_play(table, ask.by.seat)
        if table.status == "paused":
            raise Refused("paused")
        events = tuple(self._decided(game, table, ask))
        if not table.resigned and type(events[-1]) is not Ended:
            return events
        return tuple(self._to_the_end(game, _own(table), events, ask))

    def _to_the_end(self, game: AnyGame, table: AnyTable, events: Iterable[Event], ask: Ask) -> Iterator[Event]:
        """Yield these events and all that follows from them without anybody's command, folding `table` along."""
        coming = deque(events)
        silent: deque[int] = deque()  # forfeited seats that were brought to act and have not moved yet
        while coming or silent:
            if not coming:
                coming.extend(self._idle(game, table, silent.popleft(), ask))
                continue
            event = coming.popleft()
            if isinstance(event, TurnBegan):
                # A new prompt replaces the one before, for seats that did not answer that one too.
                silent = deque(seat for seat in event.seats if seat in table.resigned)
                event = TurnBegan(tuple(seat for seat in event.seats if seat not in table.resigned))
                if not event.seats:
                    continue
            elif isinstance(event, Resigned) and event.seat in table.prompted:
                silent.append(event.seat)
            fold.evolve(game.projection, table, event)
            yield event
            coming.extendleft(reversed(self._consequence(game, table, event)))
            if isinstance(event, Ended):
                silent.clear()

    def _consequence(self, game: AnyGame, table: AnyTable, event: Event) -> Sequence[Event]:
        """Return what one event brings about at once, whatever the game."""
        match event:
            case SeatTaken() if table.start == "full" and None not in table.players:
                return (Started(table.taken),)
            case Started():
                return tuple(game.start(table.play, self.chances(table)))
            case Ended():
                revealed = tuple(game.reveal(table.play)) if table.play is not None else ()
                return (*revealed, Opened(_seed(table), tuple(table.orders)))
            case Ruled():
                return tuple(disputes.follow(game, table, event, self.chances))
            case _:
                return ()

    def _idle(self, game: AnyGame, table: AnyTable, seat: int, ask: Ask) -> Iterator[Event]:
        command = game.idle(table.play, seat)
        return self._decided(game, table, Ask(By(seat=seat, service="system"), command, ask.at))

    def _decided(self, game: AnyGame, table: AnyTable, ask: Ask) -> Iterator[Event]:
        """Return what the rules of the game make of a command."""
        dealing = Dealing(self.chances, table)
        rules = Ask(ask.by, ask.command, ask.at, dealing, table.resigned)
        events = game.decide(table.play, rules)
        return dealing.stated(events) if table.ahead else events


def _own(table: AnyTable) -> AnyTable:
    """Copy a table to fold on; what events only add to is copied flat, for it grows with the log."""
    copied = copy.copy(table)
    copied.players, copied.former, copied.orders = list(table.players), dict(table.former), list(table.orders)
    copied.disputes = list(table.disputes)
    copied.play = own(table.play)
    return copied


def bot_taken(seat: int, bot: str) -> SeatTaken:
    """Return the event of a bot, named with its build, sitting down."""
    return SeatTaken(seat, f"bot:{bot}#{seat}", "", bot)


def by_of(table: AnyTable, player: str, command: Command) -> By:
    """Return who asks, as far as it is known before the command is decided: the host, a seat, or nobody seated yet."""
    match command:
        case Create() | Start() | Abandon():
            return By(role="host", player=player)
        case disputes.Pause() | disputes.Resume() | disputes.Look() | disputes.Rule():
            return By(role="arbiter", player=player)
        case Sit(bot=str()):
            return By(role="host", player=player)
        case _:
            return By(seat=table.seat_of(player), player=player)


def named_by(by: By, events: Sequence[Event]) -> By:
    """Return who asked, as the log names it: who sat down is named by the seat."""
    match events[0]:
        case SeatTaken(seat, player, _, None):
            return By(seat=seat, player=player)
        case _:
            return by


def _neutral(game: AnyGame, table: AnyTable, ask: Ask) -> Iterator[Event]:
    match ask.command:
        case Sit():
            yield _sit(table, ask)
        case Leave():
            yield _leave(table, ask)
        case Start():
            yield _start(game, table, ask)
        case Abandon():
            _may_host(table, ask)
            yield Ended("abandoned", (None,) * len(table.players))
        case Resign():
            _may_play(table, ask.by.seat)
            yield from give_up(game, table, (_seated(table, ask.by.seat),))
        case disputes.Dispute() | disputes.Pause() | disputes.Resume() | disputes.Look() | disputes.Rule():
            yield from disputes.decide(game, table, ask)
        case _:
            raise Refused("not_now")


def _sit(table: AnyTable, ask: Ask) -> SeatTaken:
    command: Sit = ask.command
    if table.status != "open":
        raise Refused("not_open")
    if command.bot is not None:
        _may_host(table, ask)
        if command.nonce:
            raise Refused("bot_takes_no_nonce")
        return bot_taken(seat_to_take(table, None, command.seat), command.bot)
    player = ask.by.player or ""
    if table.seat_of(player) is not None:
        raise Refused("already_seated")
    return SeatTaken(seat_to_take(table, player, command.seat), player, command.nonce, None)


def seat_to_take(table: AnyTable, player_id: str | None, wanted: int | None) -> int:
    """Return the seat that sitting down would take; raise Refused where there is none.

    Who left may come back, but to the same seat alone: one seat per account and table, ever.
    """
    former = table.former.get(player_id) if player_id is not None else None
    if former is not None:
        if wanted not in (None, former):
            raise Refused("already_seated")
        wanted = former
    if wanted is None:
        wanted = next((seat for seat, player in enumerate(table.players) if player is None), None)
        if wanted is None:
            raise Refused("table_full")
    if wanted >= len(table.players):
        raise Refused("no_such_seat")
    if table.players[wanted] is not None:
        raise Refused("seat_taken")
    return wanted


def _leave(table: AnyTable, ask: Ask) -> SeatLeft:
    if table.status != "open":
        raise Refused("not_open")
    seat = _seated(table, ask.by.seat)
    return SeatLeft(seat, ask.by.player or "")


def _start(game: AnyGame, table: AnyTable, ask: Ask) -> Started:
    _may_host(table, ask)
    taken = table.taken
    enough = None not in table.players if table.start == "full" else len(taken) >= game.seats.least
    if not enough:
        raise Refused("seats_missing")
    return Started(taken)


def _may_host(table: AnyTable, ask: Ask) -> None:
    if ask.by.player != table.host:
        raise NotHost
    if table.status != "open":
        raise Refused("not_open")


def _may_play(table: AnyTable, seat: int | None) -> None:
    if table.status == "ended":
        raise Refused("ended")
    if table.status == "open":
        raise Refused("not_started")
    if _seated(table, seat) in table.resigned:
        raise Refused("resigned")


def _seated(table: AnyTable, seat: int | None) -> int:
    if seat is None or table.players[seat] is None:
        raise NotSeated
    return seat


def _seed(table: AnyTable) -> str:
    if table.seed is None:
        message = f"table {table.id} has no seed to open"
        raise ValueError(message)
    return table.seed
