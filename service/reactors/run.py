"""All reactors of one process, run until they are stopped."""

import asyncio

from service.parts import Service
from service.reactors.bots import BotMoves, Pause
from service.reactors.docket import DocketKeeping
from service.reactors.erased import keep_erased
from service.reactors.inbox import InboxFilling
from service.reactors.lobby import LobbyKeeping
from service.reactors.pursuit import Pursuit, Reactor
from service.reactors.sharing import pursue
from service.reactors.transparency import EndLogging


async def run(parts: Service, stop: asyncio.Event) -> None:
    """Run every reactor until `stop` is set, or one of them fails beyond itself; leave no task, keep every cursor."""
    pursuits = [Pursuit(reactor, parts.log) for reactor in reactors(parts)]
    stopped = asyncio.ensure_future(stop.wait())
    running = asyncio.ensure_future(pursue(parts.log, parts.redis, *pursuits))
    erasing = asyncio.ensure_future(keep_erased(parts.erasing))
    try:
        await asyncio.wait([stopped, running], return_when=asyncio.FIRST_COMPLETED)
    finally:
        tasks = [stopped, running, erasing]
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    if not running.cancelled():
        running.result()


def reactors(parts: Service) -> tuple[Reactor, ...]:
    """Return every reactor there is."""
    return (
        BotMoves(parts.tables, parts.bots, Pause(parts.settings.bot_pause_ms)),
        LobbyKeeping(parts.log, parts.lobby),
        InboxFilling(parts.log, parts.inboxes),
        DocketKeeping(parts.log, parts.docket),
        EndLogging(parts.log, parts.transparency),
    )
