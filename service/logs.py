"""What every process of ours logs, and how: a line of text or of JSON on the error stream, marked with its request.

Logs hold ids, versions, names of routes and kinds of faults. They never hold a card, a token, a name or a body, so
an exception is told by its kind and its place alone: its message may quote any of these.
"""

import asyncio
import logging
import sys
import traceback
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TextIO

import msgspec

from service.settings import LogFormat, LogLevel

FIELDS = "evenfold_fields"
"""The attribute of a log record that holds further members of its JSON, by name."""


LONGEST_CHAIN = 8
"""How many exceptions that led to one another are told."""


class Mark:
    """What marks the log lines of one request, until it is over: tasks that it left behind log for themselves."""

    __slots__ = ("over", "request", "span", "trace")

    def __init__(self, request: str, trace: str | None = None, span: str | None = None) -> None:
        self.request = request
        self.trace = trace
        self.span = span
        self.over = False


marked: ContextVar[Mark | None] = ContextVar("marked", default=None)


def kind_and_place(error: BaseException) -> str:
    """Tell an exception, and those that led to it, by kinds and places in the code, never by messages."""
    chain: list[str] = []
    seen: BaseException | None = error
    while seen is not None and len(chain) < LONGEST_CHAIN:
        chain.append(f"{type(seen).__name__}\n{''.join(traceback.format_tb(seen.__traceback__))}".rstrip())
        seen = seen.__cause__ or seen.__context__
    return "\nafter ".join(chain)


def configure(log_format: LogFormat, level: LogLevel, stream: TextIO | None = None) -> None:
    """Log to the error stream from now on, from this level up."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_AsJson() if log_format == "json" else _AsText())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())


def tell(sentence: str, level: int = logging.INFO) -> bool:
    """Write a sentence of the supervisor's as a line of JSON, whatever the level; False where logs are text."""
    root = logging.getLogger()
    for handler in root.handlers:
        if isinstance(handler.formatter, _AsJson):
            handler.handle(root.makeRecord("service", level, __file__, 0, sentence, (), None))
            return True
    return False


def of_loop(_: asyncio.AbstractEventLoop, context: Mapping[str, object]) -> None:
    """Log what the event loop caught, as its exception handler: its own would quote exceptions and arguments."""
    error = context.get("exception")
    told = f": {kind_and_place(error)}" if isinstance(error, BaseException) else ""
    logging.getLogger("asyncio").error("%s%s", context.get("message"), told)


class _AsText(logging.Formatter):
    """Lines for people."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: ARG002, N802 the name and shape of the standard library
        """Return the time in UTC, to the millisecond."""
        return _utc(record.created)

    def formatException(self, ei: object) -> str:  # noqa: N802 the name of the standard library
        """Return kinds and places."""
        return _exception(ei)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 the name of the standard library
        """Return the line, with the request that it belongs to."""
        mark = marked.get()
        line = super().formatMessage(record)
        return line if mark is None or mark.over else f"{line} [request {mark.request}]"


class _AsJson(logging.Formatter):
    """Lines for programs: one JSON object each."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as JSON."""
        members: dict[str, object] = {
            "time": _utc(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            members["exception"] = _exception(record.exc_info)
        mark = marked.get()
        if mark is not None and not mark.over:
            members["request"] = mark.request
            if mark.trace is not None:
                members["trace"] = mark.trace
                members["span"] = mark.span
        members.update(getattr(record, FIELDS, {}))
        return msgspec.json.encode(members).decode()


def _utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _exception(found: object) -> str:
    error = found[1] if isinstance(found, tuple) else None
    return kind_and_place(error) if isinstance(error, BaseException) else ""
