"""A log on the shared store, a stream in it, and what is appended there."""

import asyncio
from collections.abc import Callable, Iterable

from service.appending import Appended
from service.embedded import Embedded
from service.log import Log
from service.streams import Stored

OwnStore = Callable[..., Embedded]

HEAD = bytes(32)
AT_ONCE = 16


async def fill(log: Log, stream: str, versions: Iterable[int]) -> None:
    """Append `e<version>` at each of the versions."""
    answers = await asyncio.gather(*(log.append(stream, v - 1, b"e%d" % v, HEAD) for v in versions))
    assert all(isinstance(answer, Appended) for answer in answers)


def entries(versions: Iterable[int]) -> list[Stored]:
    """Return what `fill` stored."""
    return [Stored(v, b"e%d" % v, HEAD) for v in versions]
