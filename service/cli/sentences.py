"""What the command line tells a person besides its results: one sentence at a time, on the error stream.

Unusable    what was asked can't be done as it was asked: exit code 2
Failed      it could have been done, and was not: exit code 1
"""

import json
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct, to_builtins
from rich.console import Console
from typer import TyperException

from service import logs
from service.auth.keys import KeysUnfit
from service.embedded import Occupied, StoreFailed
from service.store import StoreUnfit


class Unusable(TyperException):
    """What was asked can't be done as it was asked; the message is one sentence that says why."""

    exit_code = 2


class Failed(TyperException):
    """What was asked was not done; the message is one sentence that says why."""

    exit_code = 1


@contextmanager
def told() -> Iterator[None]:
    """Turn what stands in the way of a start, each a sentence already, into Unusable."""
    try:
        yield
    except (Occupied, StoreFailed, StoreUnfit, KeysUnfit) as obstacle:
        raise Unusable(str(obstacle)) from None


@contextmanager
def printing() -> Iterator[None]:
    """Turn what keeps results from the standard output, such as a full disk, into Failed."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        # What is still to be written would fail once more, and with a traceback, when the process ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise Failed(f"The output can't be written: {error.strerror}") from None


def json_line(told: Struct) -> str:
    """Return a line of JSON in ASCII, which any output has the characters for."""
    return json.dumps(to_builtins(told), separators=(",", ":")) + "\n"


def several(number: int, one: str, many: str) -> str:
    """Return a number before what agrees with it: `1 table went`, `2 tables went`."""
    return f"{number} {one if number == 1 else many}"


def say(sentence: str, style: str = "") -> None:
    """Write a sentence to the error stream, which may be a file, a journal or a terminal; as JSON where logs are."""
    if logs.tell(sentence, logging.WARNING if style else logging.INFO):
        return
    console = Console(stderr=True, soft_wrap=True, highlight=False, markup=False, emoji=False)
    console.print(sentence, style=style)
    sys.stderr.flush()
