"""The reactor process: it follows the feeds and does what follows from what it finds, such as moving bots.

Any number of them run on one store, and share its partitions; a person runs it, or `serve` does.
"""

import asyncio
import contextlib
import os
import signal

import uvloop

from service import logs
from service.cli.beginning import announce, refuse_malformed, warnings
from service.cli.games import found
from service.cli.listening import Listener, listen
from service.cli.processes import on_end, on_orphaned, settle_memory, tell_ready
from service.cli.sentences import say, told
from service.parts import Service, service
from service.reactors.run import run
from service.settings import Settings
from service.store import where


def react(settings: Settings, host: str, *, supervised: bool) -> None:
    """Run the reactors until a signal ends them, or the death of whoever supervises this process.

    Raise Unusable where that can't begin.
    """
    logs.configure(settings.log_format, settings.log_level)
    if supervised:
        with told():
            uvloop.run(_supervised(settings))
        return
    found(settings.games)
    refuse_malformed(settings.redis)
    with contextlib.ExitStack() as held:
        listener = None
        if settings.metrics_port is not None:
            listener = listen(host, settings.metrics_port, "--metrics-port")
            held.enter_context(listener.socket)
        with told():
            uvloop.run(_by_a_person(settings, listener))


async def _supervised(settings: Settings) -> None:
    stop = _ending()
    on_orphaned(stop.set)
    async with service(settings) as parts:
        settle_memory()
        tell_ready()
        await run(parts, stop=stop)


async def _by_a_person(settings: Settings, listener: Listener | None) -> None:
    stop = _ending()
    for warning in await warnings(settings):
        say(f"WARNING: {warning}", "bold yellow")
    async with service(settings) as parts, contextlib.AsyncExitStack() as open_until_the_end:
        if listener is not None:
            from service.cli.metrics import exposed  # noqa: PLC0415 the framework is needed here alone, and large

            await open_until_the_end.enter_async_context(exposed(listener.socket, parts.sheets, parts.watch))
        settle_memory()
        _announce(parts, listener)
        await run(parts, stop=stop)


def _announce(parts: Service, listener: Listener | None) -> None:
    metrics = [] if listener is None else [f"Its metrics, for Prometheus: {listener.url}/metrics"]
    announce(f"reacts to what happens in the store at {where(parts.settings.redis)}", *metrics, "Ctrl-C stops it.")


def _ending() -> asyncio.Event:
    """Return what is set when this process is to end; a second signal ends it at once."""
    asyncio.get_running_loop().set_exception_handler(logs.of_loop)
    stop = asyncio.Event()

    def end(number: signal.Signals) -> None:
        if stop.is_set():
            # What is under way is another's to do as soon as this process does not say any more that it is alive.
            os._exit(128 + number)
        stop.set()

    on_end(end)
    return stop
