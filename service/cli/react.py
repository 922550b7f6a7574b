"""The reactor process: it follows the feeds and sends the commands that follow from what it finds, bots' among them."""

import asyncio

import uvloop

from service import logs
from service.app import service
from service.cli.processes import on_end, settle_memory, tell_ready
from service.cli.sentences import told
from service.reactors.run import run
from service.settings import Settings


def react(settings: Settings) -> None:
    """Run the reactors, until SIGTERM or the supervisor's death."""
    logs.configure(settings.log_format, settings.log_level)
    with told():
        uvloop.run(_react(settings))


async def _react(settings: Settings) -> None:
    asyncio.get_running_loop().set_exception_handler(logs.of_loop)
    stop = asyncio.Event()
    on_end(stop.set)
    async with service(settings) as parts:
        settle_memory()
        tell_ready()
        await run(parts, stop=stop)
