"""The vigil: what is open on a token's word, a stream or a socket, ends when the token does.

Once a second a process looks all tokens up that something is open by, in one round trip however many there are. A token
that is revoked, expired, rotated away or erased with its account has no key any more, whichever process saw to that; so
whatever is open by it is told within two seconds. While the store does not answer nobody is told anything.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

from service.auth.tokens import Identity, Tokens
from service.clock import Sleep
from service.errors import StoreDown
from service.logs import kind_and_place
from service.store import heed_cancelling

LOOK_S: Final = 1.0
"""How long after one look the next one is taken."""

_logger = logging.getLogger(__name__)


class Ending(asyncio.Event):
    """Set when a token has ended; whoever would rather be called than wait adds itself to `calls`."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = 0
        self.calls: set[Callable[[], None]] = set()

    def set(self) -> None:
        """Tell all who wait, and all who are to be called."""
        super().set()
        for call in tuple(self.calls):
            call()


class Vigil:
    """The tokens that something is open by in this process."""

    def __init__(self, tokens: Tokens, *, sleep: Sleep = asyncio.sleep) -> None:
        """Look tokens up here, and wait by this between two looks."""
        self._tokens = tokens
        self._sleep = sleep
        self._endings: dict[str, Ending] = {}

    @contextmanager
    def keep(self, who: Identity, call: Callable[[], None] | None = None) -> Iterator[Ending]:
        """Give for a block what is set when the token that somebody came with has ended; `call` is called then too."""
        ending = self._endings.get(who.found_by)
        if ending is None:
            ending = self._endings[who.found_by] = Ending()
        ending.kept += 1
        if call is not None:
            ending.calls.add(call)
            if ending.is_set():
                call()
        try:
            yield ending
        finally:
            ending.kept -= 1
            if call is not None:
                ending.calls.discard(call)
            if not ending.kept:
                del self._endings[who.found_by]

    async def look(self) -> None:
        """Tell whatever is open by a token that has ended."""
        if not self._endings:
            return
        for found_by in await self._tokens.ended(tuple(self._endings)):
            ending = self._endings.get(found_by)
            if ending is not None:
                ending.set()

    async def go_on(self) -> None:
        """Look again and again, for ever."""
        while True:
            heed_cancelling()
            await self._sleep(LOOK_S)
            try:
                await self.look()
            except StoreDown:
                pass
            except Exception as error:  # noqa: BLE001 whatever it is, the next look must come
                _logger.error("tokens could not be looked up: %s", kind_and_place(error))  # noqa: TRY400 its message may hold a token


@asynccontextmanager
async def keeping(tokens: Tokens) -> AsyncIterator[Vigil]:
    """Keep the vigil over these tokens until the block ends."""
    vigil = Vigil(tokens)
    looking = asyncio.create_task(vigil.go_on())
    try:
        yield vigil
    finally:
        looking.cancel()
        await asyncio.wait([looking])
