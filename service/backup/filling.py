"""A store that is filled from a backup."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from redis.asyncio import Redis

from service import values
from service.audit.signing import Signer
from service.audit.transparency import Transparency
from service.backup.form import LeafLine, TombstoneLine
from service.backup.reading import items
from service.log import Log
from service.store import answered
from service.streams import keys_of

_NOBODY: Final = Signer(bytes(32))
"""Signs nothing: to fill the transparency log takes no signature."""


async def fill(redis: Redis, log: Log, file: Path, done: Callable[[], object] = lambda: None) -> None:
    """Put all that a backup holds into a store that holds nothing; raise StoreDown or BackupUnfit."""
    transparency = Transparency(redis, _NOBODY)
    for item in items(file):
        match item:
            case (stream, entries):
                await log.put(stream, entries)
            case TombstoneLine(stream, says):
                with answered():
                    await redis.set(keys_of(stream).tombstone, says)
                    await redis.zadd(keys_of(stream).catalogue, {stream: 0})
            case LeafLine(leaf):
                await transparency.add(leaf.stream, leaf.version, bytes.fromhex(leaf.head))
            case key:
                with answered():
                    await values.write(redis, key)
        done()
