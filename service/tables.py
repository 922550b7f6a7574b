"""What can be done with tables: open one, sit, leave, start, act, look.

Each use case takes who asks and what for, and answers with what that player may see. Routes, bots, clocks and directors
all come through here, so that there is one door.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from msgspec.structs import replace

from events.base import By, Decision, Event
from projections import fold
from projections.table import Table
from service.actions import Actions, actions, legal_now
from service.attendance import Attendance, Standing
from service.auth.tokens import UNKNOWN
from service.bots import Bots
from service.chance import SEED_BYTES
from service.clock import utc_ms
from service.decider import Decided, Decider, Draft, Heard
from service.errors import (
    Busy,
    Damaged,
    KeyReused,
    NoRoom,
    NotFound,
    Obstacle,
    Stale,
    StoreDown,
    Unauthenticated,
    Unconfirmed,
)
from service.eyes import Judging, Wanted, granted
from service.game import LISTED, AnyGame, AnyTable, AnyView, Ask, Command, Refused
from service.games import Games
from service.ids import derived, is_id, new_id
from service.log import Log
from service.metrics import Counter, label_of
from service.once import Once, same_request
from service.presence import Presence, has_part
from service.referee import Abandon, Create, Leave, Referee, Resign, Sit, by_of, named_by
from service.streams import table_stream
from service.tablefold import TableFold

MISSED = 100
WITHDRAWALS = 8

_commands = Counter("evenfold_commands_total", "Commands by what came of them.", "game", "type", "outcome")
_refusals = Counter("evenfold_refusals_total", "Commands that a rule refused.", "game", "reason")


class Asked(NamedTuple):
    """Who asks something of a table: the player, the game and the id of its route, what may come twice.

    `only_at` is the version that the request insists on, None if it takes any. `eyes` are those through which the
    player would see the table, None for the player's own; `judges` is whether it asks as an arbiter.
    """

    player: str
    game: str
    table: str
    once: Once | None = None
    only_at: int | None = None
    eyes: Wanted = None
    judges: bool = False


class Done(NamedTuple):
    """A command that became a decision, as its player may see it, with the table right after it or, if new, later."""

    asked: Asked
    decision: Decision[Event]
    table: AnyTable


class Page(NamedTuple):
    """Decisions that follow one another; `next` is the version to ask after for more, None at the newest."""

    decisions: tuple[Decision[Event], ...]
    next: int | None


class Tables:
    """Every table of the store, through the eyes of whoever asks."""

    def __init__(  # noqa: PLR0913 the composition root names each of them once
        self,
        log: Log,
        games: Games,
        bots: Bots,
        *,
        secret: bytes,
        referee: Referee | None = None,
        entropy: Callable[[int], bytes] = os.urandom,
        clock: Callable[[], int] | None = None,
        has_room: Callable[[], bool] = lambda: True,
        attendance: Attendance | None = None,
        presence: Presence | None = None,
    ) -> None:
        """Serve the tables of this log; `secret` derives the ids of keyed requests, `entropy` draws seeds.

        `has_room` tells whether the store has room for a new table, `attendance` writes down which accounts are where;
        without it, players need no account. `presence` is told who looks at a table or acts there.
        """
        self._log = log
        self._games = games
        self._bots = bots
        self._secret = secret
        self._referee = referee or Referee()
        self._entropy = entropy
        self._has_room = has_room
        self._attendance = attendance
        self._presence = presence
        self._clock = clock or utc_ms
        self._decider = Decider(log, TableFold(games), clock=clock)

    async def create(self, player: str, game: AnyGame, command: Create, once: Once | None) -> Done:
        """Open a table as its host, with bots by name or label; a repeated request meets the table it opened.

        Raise NoRoom where the store has none for a new one, TooManyTables where the account has enough of them.
        """
        table = derived(self._secret, *once) if once is not None else new_id()
        seed = self._entropy(SEED_BYTES)
        by = By(role="host", player=player)
        command = replace(command, bots=tuple(map(self._label, command.bots)))

        def draft(state: AnyTable, at: int) -> Draft:
            for bot in command.bots:
                self._check(bot)
            ask = Ask(by, command, at)
            return Draft(at, by, command, self._referee.create(game, state, ask, seed))

        def decide(state: AnyTable, at: int) -> Draft:
            if not self._has_room():
                raise NoRoom
            return draft(state, at)

        asked = Asked(player, game.name, table, once)
        if self._attendance is not None:
            # What a rule refuses takes no place; whether it was taken before, as a repeat is, the store alone knows.
            with suppress(Refused):
                draft(Table(id=table), 0)
                await self._attendance.host(player, table, self._standing)
        done = await self._decided(asked, command, decide, create=True)
        await self._see_off(done)
        return done

    async def act(self, asked: Asked, command: Command) -> Done:
        """Do what a player's command asks, be it the table's or the game's; a bot to seat is given by name or label.

        Raise Refused, with what would be legal, or Stale, with what was missed, if the newest state says no.
        """
        if not isinstance(command, Sit):
            return await self._acted(asked, command)
        if command.bot is not None:
            return await self._acted(asked, replace(command, bot=self._label(command.bot)))
        if self._attendance is not None:
            await self._decider.reached(_stream(asked), 1)
            await self._attendance.sit(asked.player, asked.table, self._standing)
        done = await self._acted(asked, command)
        await self._see_off(done)
        return done

    async def withdraw(self, player: str, table: str) -> None:
        """Take a player out of a table, whatever its game: abandon what it hosts and has not begun, leave or resign."""
        for _ in range(WITHDRAWALS):
            try:
                state = await self._decider.newest(table_stream(table))
            except NotFound:
                return
            command = _way_out(state, player)
            if command is None:
                return
            # What is refused has just changed: play began, or ended.
            with suppress(Refused):
                await self._acted(Asked(player, state.game, table), command)
        raise Busy

    async def _acted(self, asked: Asked, command: Command) -> Done:
        last: list[AnyTable] = []

        def decide(state: AnyTable, at: int) -> Draft:
            last[:] = [state]
            game = self._game_at(asked, state)
            if asked.only_at is not None and asked.only_at != state.version:
                raise Stale(asked.only_at, state.version)
            if isinstance(command, Sit) and command.bot is not None:
                self._check(command.bot)
            by = by_of(state, asked.player, command)
            events = self._referee.decide(game, state, Ask(by, command, at))
            return Draft(at, named_by(by, events), command, events)

        try:
            done = await self._decided(asked, command, decide, create=False)
        except Refused as refused:
            self._see(asked.player, last[0])
            raise self._explained(refused, last[0], asked.player) from None
        except Stale as stale:
            stale.missed, stale.next = await self.decisions(asked, stale.expected, MISSED)
            raise
        self._see(asked.player, done.table)
        return done

    async def asked(self, player: str, table: str) -> Asked:
        """Return how a player asks of a table whose game was not named; raise NotFound where there is no such table."""
        if not is_id(table):
            raise NotFound
        return Asked(player, (await self._decider.reached(table_stream(table), 1)).game, table)

    async def look(self, asked: Asked) -> AnyTable:
        """Return a table as it stands now; it is the cache's own, to be read before the next await."""
        table = await self._decider.newest(_stream(asked))
        self._game_at(asked, table)
        self._see(asked.player, table)
        return table

    def has_part(self, player: str, table: str) -> bool:
        """Tell whether a player has a part in a table, as far as is known without asking the store; else True."""
        known = self._decider.known(table_stream(table))
        return known is None or has_part(known, player)

    async def reached(self, stream: str, version: int) -> AnyTable:
        """Return the table of a stream, whatever its game, at this version or a later one, for a reactor.

        Version 0 asks for the newest. As with `look`, the table is to be read before the next await.
        """
        return await self._decider.reached(stream, version)

    def hear(self, call: Heard[AnyTable]) -> None:
        """Have one told of whatever this process learns that a table's stream holds, in the turn in which it does."""
        self._decider.heard = call

    def view(self, table: AnyTable, player: str) -> AnyView:
        """Return the table as a player may see it."""
        return self.game_of(table).projection.view(table, table.eyes_of(player))

    async def views(self, asked: Asked, version: int | None = None) -> tuple[int, tuple[AnyView, ...]]:
        """Return which version it is, and how the eyes asked for see the table at it, with the rights of today.

        That is one view or, through the eyes of all, one a seat that is taken by then. Without a version it is the
        newest. Raise Refused where the player may not see through these eyes, NotFound past the table's end.
        """
        today = await self.look(asked)
        eyes, _ = granted(today, asked.player, asked.eyes, self._judging(asked, version or today.version))
        table = today if version is None else await self._at(asked, today, version)
        seats = table.taken if eyes == fold.ALL else (eyes,)
        view = self.game_of(table).projection.view
        return table.version, tuple([view(table, seat) for seat in seats])

    async def view_at(self, asked: Asked, version: int) -> AnyView:
        """Return the table as it was at a version, with the rights that the player has today; NotFound past its end."""
        _, (view,) = await self.views(asked._replace(eyes=None), version)
        return view

    async def seated(self, asked: Asked, version: int) -> tuple[str | None, ...]:
        """Return who sat where at a version, by id, None where nobody did; nothing before the first.

        Raise NotFound past the table's end.
        """
        today = await self.look(asked)
        if not version:
            return ()
        table = await self._at(asked, today, version)
        return tuple(None if player is None else player.id for player in table.players)

    async def _at(self, asked: Asked, today: AnyTable, version: int) -> AnyTable:
        if not 1 <= version <= today.version:
            raise NotFound(f"The table has no version {version}; it is at version {today.version}.")
        return today if version == today.version else await self._decider.at(_stream(asked), version)

    async def view_after(self, done: Done) -> AnyView:
        """Return the table as the player could see it right after a decision; Unconfirmed where it can't be read."""
        if done.table.version == done.decision.version:
            return self.view(done.table, done.asked.player)
        try:
            return await self.view_at(done.asked, done.decision.version)
        except StoreDown as down:
            raise Unconfirmed(_stream(done.asked), done.decision.version) from down

    async def actions(self, asked: Asked) -> Actions[Command]:
        """Return what the player may do now."""
        table = await self.look(asked)
        return actions(self.game_of(table), table, table.eyes_of(asked.player))

    async def decisions(self, asked: Asked, after: int, limit: int) -> Page:
        """Return up to `limit` decisions after a version, as the eyes asked for see them; none at the newest.

        An arbiter's look has no newest but its own last. Raise Refused where the player may not see through these eyes.
        """
        table = await self.look(asked)
        eyes, seen = granted(table, asked.player, asked.eyes, self._judging(asked, after + 1))
        newest = table.version if seen is None else seen
        projection = self.game_of(table).projection
        last = min(newest, after + limit)
        if after >= last:
            return Page((), None)
        entries = await self._log.read_range(_stream(asked), after + 1, last)
        decisions = (fold.decision(projection, projection.decode(stored.e), stored.h, eyes) for stored in entries)
        return Page(tuple(decisions), last if last < newest else None)

    def game_of(self, table: AnyTable) -> AnyGame:
        """Return the ruleset that a table is pinned to."""
        return self._games.ruled(table.ruleset)

    def forget(self) -> None:
        """Fold every table anew when it is next asked for."""
        self._decider.forget()

    async def drain(self) -> None:
        """Wait until everything under way is stored and folded."""
        await self._decider.drain()

    def _see(self, player: str, table: AnyTable) -> None:
        if self._presence is not None and has_part(table, player):
            self._presence.see(player, table.id)

    async def _standing(self, table: str) -> Standing:
        try:
            state = await self._decider.newest(table_stream(table))
        except NotFound:
            return "none"
        except Damaged:
            return "live"
        return "ended" if state.status == "ended" else "live"

    async def _see_off(self, done: Done) -> None:
        """Undo what has just given an account a part in a table, if its erasing began meanwhile and may not know.

        Raise Unconfirmed where that can't be learnt: what was stored must not be said not to have happened.
        """
        if self._attendance is None:
            return
        player, table = done.asked.player, done.asked.table
        try:
            if await self._attendance.is_welcome(player):
                return
        except StoreDown as down:
            raise Unconfirmed(_stream(done.asked), done.decision.version) from down
        await self.withdraw(player, table)
        raise Unauthenticated(UNKNOWN)

    def _judging(self, asked: Asked, version: int) -> Judging | None:
        """Return what an arbiter would see, None where nobody asks as one."""
        return Judging(version, self._clock()) if asked.judges else None

    def _label(self, bot: str) -> str:
        """Return the label of the newest build of a bot; an unknown one stays as it is."""
        known = self._bots.named(bot)
        return bot if known is None else known.label

    def _check(self, bot: str) -> None:
        if self._bots.named(bot) is None:
            raise Refused("no_such_bot")

    def _game_at(self, asked: Asked, table: AnyTable) -> AnyGame:
        if table.game != asked.game:
            raise NotFound
        return self.game_of(table)

    def _explained(self, refused: Refused, table: AnyTable, player: str) -> Refused:
        game = self.game_of(table)
        seat = table.seat_of(player)
        refused.sentence = game.reasons.get(refused.reason, refused.sentence)
        refused.version = table.version
        refused.legal = legal_now(game, table, seat)[:LISTED] if seat is not None else None
        return refused

    async def _decided(
        self, asked: Asked, command: Command, decide: Callable[[AnyTable, int], Draft], *, create: bool
    ) -> Done:
        """Have a command decided, and count what came of it."""
        key = asked.once.hash if asked.once is not None else None
        try:
            decided: Decided[AnyTable] = await self._decider.decide(_stream(asked), decide, key=key, create=create)
            if (draft := decided.draft) is None:
                done = await self._repeated(asked, command, decided)
            else:
                done = self._done(asked, decided, draft)
        except Exception as error:
            _count_failure(asked.game, command, error)
            raise
        _commands.add(asked.game, _type_of(command), "done" if draft else "repeated")
        return done

    def _done(self, asked: Asked, decided: Decided[AnyTable], draft: Draft) -> Done:
        """Tell the player what a command has just become."""
        stored, table = decided.stored, decided.state
        events = fold.redacted(self._game_at(asked, table).projection, draft.events, table.eyes_of(asked.player))
        return Done(asked, Decision(stored.version, draft.at, draft.by, stored.h.hex(), events), table)

    async def _repeated(self, asked: Asked, command: Command, decided: Decided[AnyTable]) -> Done:
        """Tell the player what an earlier request of the same key became; raise KeyReused if its body was another.

        It is the answer of then: by the seat that the player had right after it, whatever has happened since.
        """
        stored = decided.stored
        projection = self._game_at(asked, decided.state).projection
        entry = projection.decode(stored.e)
        if not same_request(entry.command, command):
            raise KeyReused
        table = await self._decider.at(_stream(asked), stored.version)
        told = fold.decision(projection, entry, stored.h, table.eyes_of(asked.player))
        return Done(asked, told, table)


def _type_of(command: Command) -> str:
    return str(command.__struct_config__.tag)


def _count_failure(game: str, command: Command, error: Exception) -> None:
    match error:
        case Refused():
            _refusals.add(game, error.reason)
            outcome = "refused"
        case Obstacle():
            outcome = label_of(type(error).__name__)
        case _:
            outcome = "failed"
    _commands.add(game, _type_of(command), outcome)


def _stream(asked: Asked) -> str:
    if not is_id(asked.table):
        raise NotFound
    return table_stream(asked.table)


def _way_out(table: AnyTable, player: str) -> Command | None:
    """Return the command that takes a player out of a table, None if it has no part in it any more."""
    if table.status == "ended":
        return None
    if table.status == "open" and table.host == player:
        return Abandon()
    if table.eyes_of(player) is None:
        return None
    return Leave() if table.status == "open" else Resign()
