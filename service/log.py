"""The log: append one decision to a stream, read what a stream holds, follow it as it grows.

An append whose reply is lost is settled: the same bytes are sent again under the same expected version until the store
tells whether they are in, so that the outcome reported is the outcome stored. Whoever waits for the answer may go away;
that changes nothing at the store, and nobody else ever gets it. What is raised:

    StoreDown        the store does not answer, and nothing happened
    Unconfirmed      the store does not answer, and the append may have happened
    Broken           a stream is not what appends alone can have made of it
    └── Receded      it does not hold what was read from it before: the store has lost entries
        ├── Shorter  it ends before that
        └── Replaced others stand there
    ArchiveAway      a stream is archived, and the archive can't be reached

Left out: names, keys and heads (streams.py), how followers wake up (feeds.py), deciding (decider.py).
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, cast

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from service.appending import Answer, Append, Appended, Appending, Behind, Same, Told, answer_of, unsettled
from service.archive import Archive, keys_in, tombstone_of
from service.durability import confirming
from service.errors import ArchiveAway, NotFound, StoreDown
from service.feeds import Bell, Cursors, Feeds, Growth, Hint
from service.functions import Source, is_missing, source
from service.metrics import Counter
from service.pipe import TIMEOUT_MS, Command, Lost, Pipe, Reply, Unreachable
from service.settings import Durability
from service.store import is_unfit
from service.streams import Broken, Replaced, Row, Shorter, Stored, broken, catalogue_key, keys_of, stored_of

PAGE: Final = 500
"""How many entries are read at once."""

SETTLE_MS: Final = 5_000
"""How long the reply to an append is sought before it is left unconfirmed."""

RETRY_S: Final = 0.02
"""How long to wait before the same bytes are sent again."""

_journal = logging.getLogger(__name__)
_settlements = Counter("evenfold_append_settlements_total", "Appends that were sent again to learn what came of them.")


def function() -> Source:
    """Return the function that appends."""
    return source(Path(__file__).with_name("append.lua"))


class Log:
    """All streams of one store."""

    def __init__(  # noqa: PLR0913 what a process is set up with, each by its name
        self,
        redis: Redis,
        *,
        settle_ms: int = SETTLE_MS,
        timeout_ms: int = TIMEOUT_MS,
        durability: Durability = "store",
        archive: Archive | None = None,
    ) -> None:
        """Take the client whose connections to make, and the archive; the running event loop is the log's for good."""
        self._pipe = Pipe(redis, timeout_ms=timeout_ms)
        self._feeds = Feeds(redis, self._pipe)
        self._confirming = confirming(redis, durability)
        self._function = function()
        self._archive = archive
        self._settle_s = settle_ms / 1_000
        self._loop = asyncio.get_running_loop()
        self._settling: set[asyncio.Task[None]] = set()
        self._closed = False

    def append(  # noqa: PLR0913, PLR0917 an entry, its place, and what it is remembered by: no fewer will do
        self,
        stream: str,
        expected: int,
        e: bytes,
        h: bytes,
        key: str | None = None,
        previous: bytes = b"",
        told: Told | None = None,
    ) -> "asyncio.Future[Answer]":
        """Append the entry `e` with head `h` at version `expected + 1`, if the stream has `expected` entries.

        `previous` is the head of the last of them, which `e` chains to; without it, that is not compared. With a `key`
        (the hash of an idempotency key) that the stream remembers, nothing is appended. The answer raises Unconfirmed,
        or StoreDown or Broken if nothing has happened. Cancelling it forgets the answer, not the append; `told` is told
        what the store answered all the same, before anybody else, and what it raises is raised by the answer.
        """
        request = Appending(stream, expected, e, h, key or "", previous)
        append = Append(request, self._loop.create_future(), self._settle, told)
        if self._closed:
            raise StoreDown("The log is closed; nothing happened.")
        self._pipe.send(self._command(request), append)
        return append.answer

    async def confirm(self, stream: str, stored: Stored) -> None:
        """Return once an entry that is in is as safe as this log's durability demands; else raise Unconfirmed."""
        if self._confirming is not None:
            await self._confirming.confirm(stream, stored)

    async def read(self, stream: str, after: int = 0, count: int = PAGE) -> list[Stored]:
        """Return at most `count` entries after a version; raise Shorter if the stream has no such version.

        Raise Broken where a stream that must have entries has none.
        """
        entries, _ = await self._from(stream, after, count, None)
        if not after and not entries:
            await self._check_end(stream, 0, None)
        return entries[1:] if after else entries

    async def read_range(self, stream: str, first: int, last: int) -> list[Stored]:
        """Return the entries from version `first` to `last`, both included, as far as the stream has them."""
        entries: list[Stored] = []
        while (wanted := last - first + 1 - len(entries)) > 0:
            page = await self._page(stream, first + len(entries), min(PAGE, wanted))
            if not page:
                break
            entries += page
        return entries

    async def newest(
        self, stream: str, after: int, key: str | None = None, head: bytes = b""
    ) -> tuple[int | None, list[Stored]]:
        """Return the version that a key is remembered for, if any, and every entry after a version, up to it at least.

        One round trip, unless more than a page of entries came after. Raise Shorter as `read` does, Replaced where the
        stream's head at `after` is not the one given, Broken where a stream that must have entries has none.
        """
        entries, known = await self._from(stream, after, PAGE, key)
        if after:
            at, *entries = entries
            if head and at.h != head:
                _journal.critical("%s holds another entry at version %d: the store lost the one read", stream, after)
                raise Replaced(stream, after)
        full = len(entries) == PAGE
        # The key is asked for after the entries: what was appended in between is read too, or it would seem unused.
        while full or (known is not None and known > after + len(entries)):
            page = await self._page(stream, after + len(entries) + 1, PAGE)
            if not page and not full:
                await self._check_end(stream, after + len(entries), known)
                break
            entries += page
            full = len(page) == PAGE
        if not after and not entries:
            await self._check_end(stream, 0, known)
        return known, entries

    async def tombstones(self, partition: int) -> dict[str, bytes]:
        """Return what is kept of the archived streams of a partition, by their names; raise StoreDown."""
        streams = await self.streams(partition)
        found = await self._ask(*(("GET", keys_of(stream).tombstone) for stream in streams))
        return {stream: cast("bytes", kept) for stream, kept in zip(streams, found, strict=True) if kept is not None}

    async def last(self, stream: str) -> Stored | None:
        """Return the newest entry of a stream, None if it has none."""
        keys = keys_of(stream)
        length, tombstone = await self._ask(("XLEN", keys.stream), ("GET", keys.tombstone))
        if not length and tombstone is not None:
            return (await self._archived(stream, cast("bytes", tombstone)))[-1]
        page = await self._page(stream, cast("int", length), 1) if length else []
        return page[0] if page else None

    async def restore(self, stream: str) -> int:
        """Put an archived stream back, whole, and return its version; only the archivist may.

        Raise NotFound where it is not archived, Illegible where the archive can't give it, StoreDown.
        """
        keys = keys_of(stream)
        (tombstone,) = cast("list[bytes | None]", await self._ask(("GET", keys.tombstone)))
        if tombstone is None:
            raise NotFound(f"{stream} is not archived.")
        return await self._put_back(stream, tombstone, await self._archived(stream, tombstone))

    async def put(self, stream: str, entries: Sequence[Stored]) -> int:
        """Put a whole stream into a store that has none of it, and return its version; raise as `restore` does.

        It is restored from a tombstone that is written for this alone.
        """
        tombstone = tombstone_of(stream, entries[-1])
        await self._ask(("SET", keys_of(stream).tombstone, tombstone, "NX"))
        return await self._put_back(stream, tombstone, entries)

    async def _put_back(self, stream: str, tombstone: bytes, entries: Sequence[Stored]) -> int:
        keys = keys_of(stream)
        fields = [field for stored in entries for field in (stored.e, stored.h)]
        index = [word for pair in keys_in(entries).items() for word in pair]
        arguments = (stream, tombstone, len(entries), *fields, *index)
        match await self._called("FCALL", f"{self._function.name}_restore", len(keys), *keys, *arguments):
            case [b"ok", int(version)]:
                return version
            case [b"there", int(length)]:
                raise broken(f"{stream} is restored with {len(entries)} entries, and the store has {length} of it")
            case _:
                raise NotFound(f"{stream} is not archived any more.")

    async def _called(self, *command: bytes | str | int) -> Reply:
        """Call a function of ours, which is loaded if the store lacks it; raise as `call` does."""
        try:
            return await self.call(*command)
        except ResponseError as error:
            if not is_missing(error):
                raise
            await self._load()
            return await self.call(*command)

    async def call(self, *command: bytes | str | int) -> Reply:
        """Have the store do something beside the log, which may as well be done twice: sent again if the reply is lost.

        Raise StoreDown, or the server's own ResponseError where that is not for its own state.
        """
        try:
            (reply,) = await self._asked_twice(command)
        except ResponseError as error:
            if is_unfit(error):
                raise _down(error) from error
            raise
        return reply

    async def ping(self) -> None:
        """Return when the store answers; raise StoreDown if it does not."""
        await self._ask(("PING",))

    async def streams(self, partition: int) -> list[str]:
        """Return the names of all streams ever opened in a partition, in the order of their names."""
        names: list[str] = []
        start = "-"
        while True:
            query = ("ZRANGE", catalogue_key(partition), start, "+", "BYLEX", "LIMIT", 0, PAGE)
            page = [name.decode("ascii") for name in cast("list[bytes]", (await self._ask(query))[0])]
            names += page
            if len(page) < PAGE:
                return names
            start = f"({page[-1]}"

    async def remember(self, stream: str, keys: Mapping[str, int]) -> None:
        """Put idempotency keys and the versions that they led to, as entries say, back into a stream's index.

        An archived stream has none: its keys are in its entries.
        """
        place = keys_of(stream)
        if keys and not (await self._ask(("EXISTS", place.tombstone)))[0]:
            await self._ask(("HSET", place.remembered, *(word for pair in keys.items() for word in pair)))

    def feeds(self, cursors: Cursors) -> AsyncIterator[Hint]:
        """Yield the hints of all partitions after some feed ids (from the beginning where none is), and then on.

        Ids to be fetched are fetched once the connection is there.
        End when the connection to the store breaks, or the log is closed.
        """
        return self._feeds.hints(cursors)

    def growth(self, stream: str) -> AbstractContextManager[Growth]:
        """Give for a block what tells that a stream has grown, to whoever reads it."""
        return self._feeds.growth(stream)

    def bell(self, name: str) -> AbstractContextManager[Bell]:
        """Give the bell of this name for a block; it rings where something that is not in the log has changed."""
        return self._feeds.bell(name)

    async def settled(self) -> None:
        """Wait until it is known of every append under way what came of it."""
        await self._pipe.drained()
        while self._settling:
            await asyncio.wait(self._settling)

    async def close(self) -> None:
        """Append no more, settle what is under way (within its time), and disconnect."""
        self._closed = True
        await self._feeds.close()
        await self.settled()
        if self._confirming is not None:
            await self._confirming.close()
        await self._pipe.close()

    def _command(self, request: Appending) -> Command:
        stream, expected, e, h, key, previous = request
        keys = keys_of(stream)
        return ("FCALL", self._function.name, len(keys), *keys, stream, expected, e, h, key, previous)

    def _settle(self, append: Append, error: Exception) -> None:
        _settlements.add()
        task = self._loop.create_task(self._settled(append, error))
        self._settling.add(task)
        task.add_done_callback(self._settling.discard)
        task.add_done_callback(append.abandon)

    async def _settled(self, append: Append, error: Exception) -> None:
        """Send the same bytes again, for the same expected version, until the answer tells whether they are in."""
        deadline = self._loop.time() + self._settle_s
        lost = isinstance(error, Lost)
        while True:
            if isinstance(error, ResponseError) and not lost and not _passing(error):
                return append.fail(_refused(f"an append to {append.request.stream}", error))
            if self._loop.time() > deadline:
                return append.fail(unsettled(append.request, lost=lost))
            try:
                if is_missing(error):
                    await self._load()
                else:
                    await asyncio.sleep(RETRY_S)
                reply = await self._pipe.call(*self._command(append.request))
                answer = await self._recognised(append.request, answer_of(append.request, reply))
            except (Unreachable, ResponseError, StoreDown) as again:
                error = again
                lost = lost or isinstance(again, Lost)
            except Broken as damage:
                return append.fail(damage)
            else:
                return append.succeed(answer)

    async def _recognised(self, request: Appending, answer: Answer) -> Answer:
        """Tell our own entry, found at the version it was sent for, from another's."""
        version = request.expected + 1
        match answer:
            case Behind((first, *_)) if first.e == request.e:
                return Appended(version)
            case Same(known) if known == version:
                entries = await self._page(request.stream, version, 1)
                return Appended(version) if entries and entries[0].e == request.e else answer
            case _:
                return answer

    async def _load(self) -> None:
        try:
            await self._pipe.call("FUNCTION", "LOAD", self._function.code)
        except ResponseError as error:
            if "already exists" not in str(error):
                raise

    async def _from(self, stream: str, first: int, count: int, key: str | None) -> tuple[list[Stored], int | None]:
        """Read the entry at `first`, which shows that the stream still has it, up to `count` after it, and the key.

        There is no entry at 0. Raise Shorter for a stream without one at `first`. What the store has not any more is
        read from the archive.
        """
        keys = keys_of(stream)
        queries: list[Command] = [
            ("XRANGE", keys.stream, f"{first}-0" if first else "-", "+", "COUNT", count + (first > 0))
        ]
        if key:
            queries.append(("HGET", keys.remembered, key))
        rows, *known = await self._ask(*queries)
        if not rows:
            length, archived = await self._beyond(stream)
            if archived is not None:
                begin = max(first, 1)
                if begin > len(archived):
                    raise Shorter(stream, len(archived), first)
                page = archived[begin - 1 : begin + count - (first == 0)]
                return page, keys_in(archived).get(key) if key else None
            if length >= max(first, 1):  # It was put back in between.
                return await self._from(stream, first, count, key)
            if first:
                _journal.critical(
                    "%s has %d entries where version %d was read: the store lost some", stream, length, first
                )
                raise Shorter(stream, length, first)
        remembered = cast("list[bytes | None]", known)
        version = int(remembered[0]) if remembered and remembered[0] is not None else None
        return stored_of(stream, cast("list[Row]", rows), first or 1), version

    async def _beyond(self, stream: str) -> tuple[int, list[Stored] | None]:
        """Return how long a stream is that has nothing where it was read, and what the archive has of it, if it does.

        Raise Illegible where the archive can't tell.
        """
        keys = keys_of(stream)
        length, tombstone = await self._ask(("XLEN", keys.stream), ("GET", keys.tombstone))
        if length or tombstone is None:
            return cast("int", length), None
        return 0, await self._archived(stream, cast("bytes", tombstone))

    async def _archived(self, stream: str, tombstone: bytes) -> list[Stored]:
        if self._archive is None:
            _journal.error("%s is archived, and no archive is named here (--archive)", stream)
            raise ArchiveAway(f"{stream} is archived, and no archive is named; say --archive")
        return await self._archive.entries(stream, tombstone)

    async def _check_end(self, stream: str, end: int, key: int | None) -> None:
        """Raise Broken if a stream that ends at a version had more: a key led to a later one, or it is catalogued."""
        keys = keys_of(stream)
        named, length, gone = await self._ask(
            ("ZSCORE", keys.catalogue, stream), ("XLEN", keys.stream), ("EXISTS", keys.tombstone)
        )
        if length == end and not gone and (key is not None or named is not None):
            raise broken(f"{stream} ends at version {end}, and the store knows that it had more")

    async def _page(self, stream: str, first: int, count: int) -> list[Stored]:
        query = ("XRANGE", keys_of(stream).stream, f"{first}-0", "+", "COUNT", count)
        (rows,) = await self._ask(query)
        if not rows:
            length, archived = await self._beyond(stream)
            if archived is not None:
                return archived[first - 1 : first - 1 + count]
            if length >= first:  # It was put back in between.
                return await self._page(stream, first, count)
        return stored_of(stream, cast("list[Row]", rows), first)

    async def _ask(self, *queries: Command) -> list[Reply]:
        """Return the replies to queries that change nothing, sent in one write; raise StoreDown."""
        try:
            return await self._asked_twice(*queries)
        except ResponseError as error:
            raise _refused(" ".join(map(str, queries[0][:2])), error) from error

    async def _asked_twice(self, *queries: Command) -> list[Reply]:
        """Ask, and once more if the replies were lost; raise StoreDown or ResponseError."""
        try:
            try:
                return await self._asked(*queries)
            except Lost:
                _journal.info("the connection to the store broke; asking again")
                return await self._asked(*queries)
        except Unreachable as error:
            raise _down(error) from error

    async def _asked(self, *queries: Command) -> list[Reply]:
        return await asyncio.gather(*(self._pipe.call(*query) for query in queries))


def _refused(what: str, error: ResponseError) -> Exception:
    """Say what a server's error means: its own state, or else that of the stream, which no append can have made."""
    return _down(error) if is_unfit(error) else broken(f"the store refuses {what}: {error}")


def _down(error: Exception) -> StoreDown:
    down = StoreDown("The store does not answer, or can't write; nothing happened.")
    down.__cause__ = error
    return down


def _passing(error: ResponseError) -> bool:
    """Say whether the server refused a call for a reason that passes: it lacks the function, or is starting up."""
    return is_missing(error) or str(error).startswith("LOADING")
