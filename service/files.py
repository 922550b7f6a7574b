"""A file that is there whole or not at all: it is written beside its place, and takes that at its end.

Only one run writes a file at a time: by a lock that goes with the run, be it killed.

Left out: the sheets of metrics.py, each of which one process alone writes, and which need not outlive it.
"""

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


class BeingWritten(Exception):
    """Another run writes the file."""


@contextmanager
def replacing(target: Path) -> Iterator[BinaryIO]:
    """Give a file to write for a block, which nobody else may read, and which takes its place, on the disk, at the end.

    Whoever comes second waits. Where the block fails all is as before. Raise OSError where it can't be written.
    """
    part = _part_of(target)
    with _writing(part, fcntl.LOCK_EX) as file:
        yield file
        _end(file, part, target)


@contextmanager
def making(target: Path) -> Iterator[BinaryIO]:
    """Do as `replacing`, and replace nothing; raise BeingWritten where another run writes it, and OSError."""
    part = _part_of(target)
    with _writing(part, fcntl.LOCK_EX | fcntl.LOCK_NB) as file:
        yield file
        if target.exists():
            raise FileExistsError(errno.EEXIST, "it has come meanwhile")
        _end(file, part, target)


def sync(path: Path) -> None:
    """Have a file, or what a folder lists, reach the disk; raise OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _part_of(target: Path) -> Path:
    return target.with_name(f"{target.name}.part")


@contextmanager
def _writing(part: Path, how: int) -> Iterator[BinaryIO]:
    with os.fdopen(_locked(part, how), "wb") as file:
        try:
            yield file
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def _end(file: BinaryIO, part: Path, target: Path) -> None:
    file.flush()
    os.fsync(file.fileno())
    part.rename(target)
    sync(target.parent)


def _locked(part: Path, how: int) -> int:
    """Return the descriptor of a new file that is locked; raise BeingWritten."""
    while True:
        try:
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            _clear(part, how)
            continue
        try:
            fcntl.flock(descriptor, how)
            if _is_at(part, descriptor):
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            raise BeingWritten from None
        os.close(descriptor)  # Somebody took it for one that is left, before it was locked.


def _clear(part: Path, how: int) -> None:
    """Remove what a run that was killed has left; raise BeingWritten where a run writes it, OSError for no file."""
    if part.is_symlink():
        part.unlink(missing_ok=True)
        return
    with suppress(FileNotFoundError):
        # To write alone, a pipe that nobody reads would be waited for; to read alone, NFS locks nothing.
        descriptor = os.open(part, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(errno.EINVAL, f"{part.name} is no file")
            fcntl.flock(descriptor, how)
            if _is_at(part, descriptor):
                part.unlink(missing_ok=True)
        except BlockingIOError:
            raise BeingWritten from None
        finally:
            os.close(descriptor)


def _is_at(part: Path, descriptor: int) -> bool:
    """Tell whether a path is that of an open file; whoever had the lock may have moved it to its place."""
    try:
        return os.path.samestat(part.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
