"""A file that is there whole or not at all: it is written beside its place, and takes that at its end.

Only one run writes a file at a time: by a lock that goes with the run, be it killed.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


class BeingWritten(Exception):
    """Another run writes the file."""


@contextmanager
def draft_of(target: Path, *, wait: bool = False) -> Iterator[BinaryIO]:
    """Give a file to write for a block, which nobody else may read, and which takes its place, on the disk, at the end.

    Where the block fails there is none. Raise BeingWritten while another run writes it, unless it is to `wait` for that
    one, and OSError where it can't be written.
    """
    draft = target.with_name(f"{target.name}.part")
    with os.fdopen(_locked(draft, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB)), "wb") as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            draft.rename(target)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise


def _locked(draft: Path, how: int) -> int:
    """Return the descriptor of a new file that is locked; raise BeingWritten."""
    while True:
        try:
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            _clear(draft, how)
            continue
        fcntl.flock(descriptor, how)
        if _is_at(draft, descriptor):
            return descriptor
        os.close(descriptor)  # Somebody took it for one that is left, before it was locked.


def _clear(draft: Path, how: int) -> None:
    """Remove what a run that was killed has left; raise BeingWritten where a run writes it."""
    if draft.is_symlink():
        draft.unlink(missing_ok=True)
        return
    with suppress(FileNotFoundError):
        descriptor = os.open(draft, os.O_WRONLY | os.O_NOFOLLOW)
        try:
            fcntl.flock(descriptor, how)
            if _is_at(draft, descriptor):
                draft.unlink(missing_ok=True)
        except BlockingIOError:
            raise BeingWritten from None
        finally:
            os.close(descriptor)


def _is_at(draft: Path, descriptor: int) -> bool:
    """Tell whether a path is that of an open file; whoever had the lock may have moved it to its place."""
    try:
        return os.path.samestat(draft.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
