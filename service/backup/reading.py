"""A backup as it is read: all that it holds, line by line, and each held to what went before."""

import stat
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import msgspec
from msgspec import Raw

from events.table import TextRef
from service.archive import entry_of, keys_in, read_tombstone
from service.audit.transparency import Leaf
from service.backup.form import (
    FOUND_ANEW,
    Counted,
    EndLine,
    HeaderLine,
    Item,
    LeafLine,
    StreamLine,
    TombstoneLine,
    read_header,
    read_line,
)
from service.errors import Damaged
from service.streams import UNREADABLE, Stored, check_chain, keys_of, unreadable
from service.texts import TEXT_KEY, read_text
from service.values import Hash, Key
from service.zipped import PIECE, lines_in

_NAMING: Final = ("table.dispute_filed", "table.ruled")
"""The events that name a text."""


class BackupUnfit(Exception):
    """The file is no backup, or not a whole one; the message is one sentence."""


class _Event(msgspec.Struct):
    type: str
    text: Raw = Raw(b"null")


class _Entry(msgspec.Struct):
    events: list[_Event]


_entry = msgspec.json.Decoder(_Entry)
_ref = msgspec.json.Decoder(TextRef | None)


class _Lines:
    """The lines of a file, of which the last that was read has this number."""

    def __init__(self, file: BinaryIO) -> None:
        self.number = 0
        self._line = b""
        self._digest = sha256()
        self._lines = lines_in(iter(lambda: file.read(PIECE), b""))

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        self.number += 1
        if self.number > 1:
            self._digest.update(self._line + b"\n")
        self._line = next(self._lines)
        return self._line

    @property
    def sha256(self) -> str:
        """The digest (hex) of all lines before the last that was read."""
        return self._digest.hexdigest()


class _Held:
    """What was read of a backup so far, which what follows must go with; each method may raise ValueError."""

    def __init__(self) -> None:
        self.counted = Counted()
        self._names: set[str] = set()
        self._refs: dict[str, str] = {}
        self._texts: dict[str, tuple[str, int]] = {}
        self._leaves: dict[str, list[tuple[Leaf, int]]] = {}
        self._strange: list[str] = []
        self._earlier = 0

    @property
    def unheld(self) -> int:
        """How many leaves there was nothing to hold to."""
        return self._earlier + sum(map(len, self._leaves.values()))

    def add_stream(self, stream: str, entries: Sequence[Stored]) -> None:
        self._name(keys_of(stream).stream)
        for leaf, line in self._leaves.pop(stream, ()):
            if leaf.version > len(entries) or entries[leaf.version - 1].h.hex() != leaf.head:
                self._strange.append(f"a leaf, line {line}, that is not what its log says")
        keys_in(entries)
        self._refs.update((ref.id, ref.hash) for stored in entries for ref in _named_in(stored.e))
        self.counted.streams += 1

    def add_tombstone(self, told: TombstoneLine) -> None:
        self._name(keys_of(told.tombstone).stream)
        says = read_tombstone(told.tombstone, told.says.encode())
        for leaf, line in self._leaves.pop(told.tombstone, ()):
            self._earlier += leaf.version < says.version
            if leaf.version > says.version or (leaf.version == says.version and leaf.head != says.head):
                self._strange.append(f"a leaf, line {line}, that is not what the tombstone of its log says")
        self.counted.archived += 1

    def add_leaf(self, leaf: Leaf, line: int) -> None:
        if keys_of(leaf.stream).stream in self._names:
            raise ValueError("a leaf stands after its log")
        if leaf.index != self.counted.leaves:
            raise ValueError(f"leaf {leaf.index} stands where leaf {self.counted.leaves} belongs")
        self._name(f"{leaf.stream}:{leaf.version}")
        self._leaves.setdefault(leaf.stream, []).append((leaf, line))
        self.counted.leaves += 1

    def add_key(self, key: Key, line: int) -> None:
        if FOUND_ANEW.match(key.key.encode("latin-1")):
            raise ValueError("no backup holds such a key")
        self._name(key.key)
        if key.key.startswith(TEXT_KEY):
            id_ = key.key.removeprefix(TEXT_KEY)
            text = read_text(id_, key.fields.get(b"salt"), key.fields.get(b"text")) if isinstance(key, Hash) else None
            if text is None:
                raise ValueError("it is no text")
            self._texts[id_] = text.hash, line
        self.counted.keys += 1

    def strange(self) -> str | None:
        """Return the first that is not what a log of the file has it to be: a leaf, or a text."""
        texts = (
            f"a text, line {line}, that is not the one its log names"
            for id_, (hashed, line) in self._texts.items()
            if self._refs.get(id_, hashed) != hashed
        )
        return next(chain(self._strange, texts), None)

    def _name(self, name: str) -> None:
        if name in self._names:
            raise ValueError("it is there twice")
        self._names.add(name)


def header_of(file: Path) -> HeaderLine:
    """Return the first line of a backup; raise BackupUnfit."""
    with _read(file) as lines:
        header = read_header(next(lines, b""))
    if header.backup != 1:
        raise BackupUnfit(f"{file} is a backup of another form, {header.backup}.")
    return header


def items(file: Path) -> Iterator[Item]:
    """Yield all that a backup holds, checked; raise BackupUnfit where it is not whole, or not what was written."""
    return _items(file, _Held())


def _items(file: Path, held: _Held) -> Iterator[Item]:
    with _read(file) as lines:
        next(lines, b"")
        for line in lines:
            match read_line(line):
                case StreamLine() as about:
                    entries = _log_of(about, lines)
                    held.add_stream(about.stream, entries)
                    yield about.stream, entries
                case TombstoneLine() as tombstone:
                    held.add_tombstone(tombstone)
                    yield tombstone
                case LeafLine() as leaf:
                    held.add_leaf(leaf.leaf, lines.number)
                    yield leaf
                case EndLine() as end:
                    _check_end(file, end, held, lines)
                    return
                case key:
                    held.add_key(key, lines.number)
                    yield key
    raise BackupUnfit(f"{file} is not whole: it ends before its end.")


def _check_end(file: Path, told: EndLine, held: _Held, lines: _Lines) -> None:
    """Raise BackupUnfit where a file that says that it ends here is not what its end says, or goes on."""
    if told.end != held.counted:
        raise BackupUnfit(f"{file} is not whole: it holds other than it says.")
    if (strange := held.strange()) is not None:
        raise BackupUnfit(f"{file} holds {strange}.")
    if told.sha256 != lines.sha256:
        raise BackupUnfit(f"{file} was altered: its lines do not have the digest that its end says.")
    if next(lines, None) is not None:
        raise BackupUnfit(f"{file} goes on after its end.")


class Checked(NamedTuple):
    """How much a backup holds, which files of the archive it names, and how many leaves nothing in it tells of."""

    holds: Counted
    paths: set[str]
    unheld: int


def check(file: Path) -> Checked:
    """Read a backup through; raise BackupUnfit."""
    held, paths = _Held(), set[str]()
    for item in _items(file, held):
        if isinstance(item, TombstoneLine):
            paths.add(read_tombstone(item.tombstone, item.says.encode()).path)
    return Checked(held.counted, paths, held.unheld)


def _log_of(about: StreamLine, lines: Iterator[bytes]) -> list[Stored]:
    entries, head = list[Stored](), b""
    for version in range(1, about.version + 1):
        stored = entry_of(version, next(lines, b""))
        check_chain(about.stream, version - 1, head, [stored])
        entries.append(stored)
        head = stored.h
    if not entries or entries[-1].h.hex() != about.head:
        raise ValueError("a log does not end as its first line says")
    return entries


def check_legible(stream: str, entries: Sequence[Stored]) -> None:
    """Raise Broken for an entry that could not be read again from its line."""
    for stored in entries:
        try:
            keys_in((stored,))
            tuple(_named_in(stored.e))
        except UNREADABLE:
            raise unreadable(stream, stored.version) from None
        if b"\n" in stored.e:
            raise unreadable(stream, stored.version)


def _named_in(e: bytes) -> Iterator[TextRef]:
    """Yield what an entry names texts by."""
    if any(naming.encode("ascii") in e for naming in _NAMING):
        for event in _entry.decode(e).events:
            ref = _ref.decode(event.text) if event.type in _NAMING else None
            if ref is not None:
                yield ref


@contextmanager
def _read(file: Path) -> Iterator[_Lines]:
    """Open a backup to read its lines; raise BackupUnfit for whatever is wrong with it, by the line where that is."""
    number = 0
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            raise BackupUnfit(f"{file} is no file that can be read more than once.")
        with file.open("rb") as opened:
            lines = _Lines(opened)
            try:
                yield lines
            finally:
                number = lines.number
    except FileNotFoundError:
        raise BackupUnfit(f"There is no file {file}.") from None
    except OSError as error:
        raise BackupUnfit(f"{file} can't be read: {error.strerror}.") from None
    except (ValueError, zlib.error, Damaged) as error:
        raise BackupUnfit(f"{file} is no backup, or damaged, at line {number}: {error}.") from None
