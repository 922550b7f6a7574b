"""The reactor that moves bots.

Where a bot's seat is prompted, it shows the bot its view, what is legal, and draws of the bot's own, and sends what the
bot chooses as that seat's player, through the same door as people's commands. It insists on the version that the bot
saw: whatever else has happened meanwhile, whoever else has sent the same, no choice is taken twice or for a state that
it was not made for, and the log alone tells which draws it was made with.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from msgspec.structs import replace

from service.actions import legal_now
from service.bots import Bots
from service.chance import bot_stream
from service.clock import Sleep, utc_ms
from service.errors import NotFound, Stale
from service.game import AnyGame, AnyTable, Command
from service.metrics import Counter
from service.reactors.pursuit import Seen
from service.tables import Asked, Tables

MS_PER_S: Final = 1_000

_logger = logging.getLogger(__name__)
_sent = Counter("evenfold_reactor_commands_total", "Commands sent, by what came of them.", "reactor", "outcome")


class Pause(NamedTuple):
    """How long after a decision bots move, whatever they hold; `sleep` takes seconds, `clock` tells UTC in ms."""

    ms: int
    sleep: Sleep = asyncio.sleep
    clock: Callable[[], int] = utc_ms

    async def after(self, at: int) -> None:
        """Return when the pause after the decision at this moment is over."""
        # Another machine's clock may be ahead of ours, which must not make the pause longer.
        left_ms = min(at + self.ms - self.clock(), self.ms)
        if left_ms > 0:
            await self.sleep(left_ms / MS_PER_S)


class BotMoves:
    """Moves the bots of every table."""

    name = "bots"

    def __init__(self, tables: Tables, bots: Bots, pause: Pause) -> None:
        """Take the door, the bots, and how long they wait."""
        self._tables = tables
        self._bots = bots
        self._pause = pause

    def delay_s(self, _stream: str) -> float:
        """Look at once; the pause comes between choosing and moving."""
        return 0

    async def look(self, stream: str, version: int) -> Seen:
        """Have the first bot that is prompted choose; what is to be done is to send that when the pause is over."""
        try:
            table = await self._tables.reached(stream, version)
        except NotFound:
            return Seen(version, over=True)
        seat = bot_to_act(table)
        if seat is None:
            return Seen(table.version, over=_is_over(table))
        command = choice(self._tables.game_of(table), table, seat, self._bots)
        player = table.players[seat]
        asked = Asked(player.id if player is not None else "", table.game, table.id, only_at=table.version)
        return Seen(table.version, partial(self._move, asked, command, table.at))

    def part_with(self, stream: str) -> None:
        """Keep what is in memory: it is added to before it is believed."""

    def forget(self) -> None:
        """Look at what the store has, not at what was in memory."""
        self._tables.forget()

    async def _move(self, asked: Asked, command: Command, at: int) -> int:
        """Send a choice a pause after the decision at `at`; return the version that the table has reached then."""
        await self._pause.after(at)
        try:
            done = await self._tables.act(asked, command)
        except Stale as moved_on:
            _sent.add(self.name, "stale")
            return moved_on.version
        _sent.add(self.name, "done")
        return done.table.version


def bot_to_act(table: AnyTable) -> int | None:
    """Return the lowest prompted seat that a bot sits on, None if there is none."""
    for seat in table.to_act:
        player = table.players[seat]
        if player is not None and player.bot is not None:
            return seat
    return None


def choice(game: AnyGame, table: AnyTable, seat: int, bots: Bots) -> Command:
    """Return what the bot on a prompted seat chooses, from what that seat may see alone.

    A build that is no more is played by the newest of its name, a name that is no more by the game's silent move.
    """
    player = table.players[seat]
    if player is None or player.bot is None or table.seed is None:
        raise ValueError(f"no bot can choose for seat {seat} of table {table.id} at version {table.version}")
    bot = bots.named(player.bot)
    if bot is None:
        _logger.warning("no bot is named %s; seat %d of table %s moves silently", player.bot, seat, table.id)
        return replace(game.idle(table.play, seat), turn=table.turn)
    draws = bot_stream(bytes.fromhex(table.seed), f"table:{table.id}", seat, table.version)
    return bot.choose(game.projection.view(table, seat), legal_now(game, table, seat), draws)


def _is_over(table: AnyTable) -> bool:
    """Tell whether no bot will ever have to move again: play has ended, or begun without one."""
    match table.status:
        case "open":
            return False
        case "ended":
            return True
        case "playing" | "paused":
            return all(player is None or player.bot is None for player in table.players)
