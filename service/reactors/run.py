"""All reactors of one process, run until they are stopped."""

import asyncio

from service.app import Service
from service.reactors.bots import BotMoves, Pause
from service.reactors.lobby import LobbyKeeping
from service.reactors.pursuit import Pursuit, Reactor


async def run(parts: Service, stop: asyncio.Event) -> None:
    """Run every reactor until `stop` is set, or one of them fails beyond itself; leave no task, keep every cursor."""
    stopped = asyncio.ensure_future(stop.wait())
    running = [asyncio.ensure_future(Pursuit(each, parts.log, parts.redis).run()) for each in reactors(parts)]
    try:
        await asyncio.wait([stopped, *running], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (stopped, *running):
            task.cancel()
        await asyncio.wait([stopped, *running])
    for task in running:
        if not task.cancelled():
            task.result()


def reactors(parts: Service) -> tuple[Reactor, ...]:
    """Return every reactor there is."""
    return (
        BotMoves(parts.tables, parts.bots, Pause(parts.settings.bot_pause_ms)),
        LobbyKeeping(parts.log, parts.lobby),
    )
