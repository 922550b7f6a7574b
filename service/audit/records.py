"""Records and checkpoints of the tables of a store, for whoever asks."""

from collections.abc import AsyncIterator, Callable

from service.audit import record
from service.audit.checkpoints import Checkpoint, vouched
from service.audit.signing import Signer
from service.clock import utc_ms
from service.game import Refused
from service.log import PAGE, Log
from service.streams import table_stream
from service.tables import Asked, Tables
from service.texts import Texts, named_at


class Records:
    """What the service vouches for, table by table."""

    def __init__(  # noqa: PLR0913, PLR0917 the composition root names each of them once
        self, log: Log, tables: Tables, texts: Texts, signer: Signer, clock: Callable[[], int] = utc_ms
    ) -> None:
        """Take the log, the door to tables, what was written beside it, the key to sign with, the clock (UTC ms)."""
        self._log = log
        self._tables = tables
        self._texts = texts
        self._signer = signer
        self._clock = clock

    async def checkpoint(self, asked: Asked) -> Checkpoint:
        """Vouch for a table as it stands now; raise NotFound."""
        table = await self._tables.look(asked)
        return self.vouch(table_stream(table.id), table.version, table.head)

    def vouch(self, stream: str, version: int, head: bytes) -> Checkpoint:
        """Vouch for a stream that has this version and head now."""
        return vouched(stream, version, head, self._clock(), self._signer)

    async def newest(self, asked: Asked) -> tuple[str, int]:
        """Return the stream of a table and its newest version; raise NotFound."""
        table = await self._tables.look(asked)
        return table_stream(table.id), table.version

    async def record(self, asked: Asked) -> AsyncIterator[bytes]:
        """Return the record of a table that has ended, piece by piece; raise NotFound, and Refused until then.

        It holds the texts that existed when it was asked for.
        """
        texts = await self._texts.find(named_at(await self._tables.look(asked)))
        stream = table_stream(asked.table)
        (first,) = await self._log.read_range(stream, 1, 1)
        table = await self._tables.look(asked)  # Nothing is awaited from here on: the table is the cache's own.
        if table.status != "ended":
            refused = Refused("not_ended")
            refused.version = table.version
            raise refused
        existing = [texts[ref.id] for ref in named_at(table) if ref.id in texts]
        header = record.opening(table, first.e, self._signer.id, existing)
        return self._lines(stream, table.version, header, record.closing(table, header, self._signer))

    async def _lines(self, stream: str, version: int, header: bytes, trailer: bytes) -> AsyncIterator[bytes]:
        yield header + b"\n"
        for begin in range(1, version + 1, PAGE):
            entries = await self._log.read_range(stream, begin, min(begin + PAGE - 1, version))
            yield b"".join(stored.e + b"\n" for stored in entries)
        yield trailer + b"\n"
