"""An append under way: what is asked of the store, what it may answer, and who waits for that.

Whoever called for it may go away; that changes nothing at the store, and nobody else ever gets the answer.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import NamedTuple, TypeAlias, cast

import msgspec

from service.errors import StoreDown, Unconfirmed
from service.metrics import Counter, Histogram, label_of
from service.pipe import Reply
from service.streams import Broken, Row, Stored, broken, stored_of

_journal = logging.getLogger(__name__)
_appends = Counter("evenfold_appends_total", "Appends; behind: another was first.", "outcome")
_append_seconds = Histogram("evenfold_append_seconds", "From an append to its answer, in seconds.")


class Appended(msgspec.Struct, frozen=True, gc=False):
    """The entry is in, once, at this version."""

    version: int


class Same(msgspec.Struct, frozen=True, gc=False):
    """The idempotency key was used before, for the entry at this version; nothing was appended."""

    version: int


class Behind(msgspec.Struct, frozen=True):
    """The stream has grown past the expected version: the entries after it, at most 500; nothing was appended."""

    entries: tuple[Stored, ...]


class Ahead(msgspec.Struct, frozen=True, gc=False):
    """The stream, of this length, lacks the entry to follow: the store has lost entries; nothing was appended."""

    length: int


class Gone(msgspec.Struct, frozen=True, gc=False):
    """The stream was archived; nothing was appended."""


Answer: TypeAlias = Appended | Same | Behind | Ahead | Gone
Told: TypeAlias = Callable[[Answer], None]
"""Who is told what the store answered; may raise Broken."""


class Appending(NamedTuple):
    """What is asked of the store: the entry, where it belongs, the key that it is remembered by, the head before it."""

    stream: str
    expected: int
    e: bytes
    h: bytes
    key: str
    previous: bytes


class Append:
    """Waits for the reply to an append in the caller's stead: the caller may leave, it stays."""

    __slots__ = ("_began", "_settle", "_told", "answer", "request")

    def __init__(
        self,
        request: Appending,
        answer: "asyncio.Future[Answer]",
        settle: "Callable[[Append, Exception], None]",
        told: Told | None,
    ) -> None:
        """Take what is asked, who waits, who finds out what came of it if the reply is lost, and who is told first."""
        self.request = request
        self.answer = answer
        self._settle = settle
        self._told = told
        self._began = time.perf_counter()

    def done(self) -> bool:
        """Take any reply, whoever has gone."""
        return False

    def set_result(self, reply: Reply, /) -> None:
        """Take the store's reply."""
        try:
            self.succeed(answer_of(self.request, reply))
        except Broken as damage:
            self.fail(damage)

    def set_exception(self, error: Exception, /) -> None:
        """Have it found out what came of it."""
        self._settle(self, error)

    def succeed(self, answer: Answer) -> None:
        """Tell what the store answered."""
        self._count(answer)
        try:
            if self._told is not None:
                self._told(answer)
        except Broken as damage:
            self._raise(damage)
        except Exception as error:  # noqa: BLE001 the caller is to know, and not the connection, which others wait on
            _journal.exception("what was stored of %s could not be taken in", self.request.stream)
            self._raise(error)
        else:
            if not self.answer.done():
                self.answer.set_result(answer)

    def fail(self, error: Exception) -> None:
        """Tell why there is no answer."""
        self._count(error)
        self._raise(error)

    def _raise(self, error: Exception) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)

    def _count(self, outcome: Answer | Exception) -> None:
        _appends.add(label_of(type(outcome).__name__))
        _append_seconds.observe(time.perf_counter() - self._began)

    def abandon(self, settled: "asyncio.Task[None]") -> None:
        """Fail with what went wrong in settling, if something did: no caller waits for ever."""
        if settled.cancelled():
            self.fail(unsettled(self.request, lost=True))
        elif (error := settled.exception()) is not None and isinstance(error, Exception):
            self.fail(error)


def answer_of(request: Appending, reply: Reply) -> Answer:
    """Read the store's reply to an append; raise Broken if it is none."""
    match reply:
        case [b"ok", int(version)]:
            return Appended(version)
        case [b"same", int(version)]:
            return Same(version)
        case [b"behind", list(rows)]:
            return Behind(tuple(stored_of(request.stream, cast("list[Row]", rows), request.expected + 1)))
        case [b"ahead", int(length)]:
            message = "%s has %d entries, and not the one at version %d that was read: the store lost some"
            _journal.critical(message, request.stream, length, request.expected)
            return Ahead(length)
        case [b"gone"]:
            return Gone()
        case _:
            # What it says is not repeated: it may be another's entry, with a card in it.
            raise broken(f"the store answers an append to {request.stream} with what is no answer")


def unsettled(request: Appending, *, lost: bool) -> Exception:
    """Return what to raise where it can't be found out what came of an append; `lost`: it was handed over."""
    if lost:
        return Unconfirmed(request.stream, request.expected + 1)
    return StoreDown("The store does not answer; nothing happened.")
