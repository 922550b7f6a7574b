"""Checking: whether a record is, byte for byte, what the rules, the seed and the key say that it must be.

Nothing of a record is believed. Every decision is decided again, by the rules of the ruleset that the table is pinned
to and with the shuffles that its seed gives, and written anew; so a wrong card, score or place, a forged entry in a
chain computed anew, and a space too many are all the same to it: bytes that differ. What can't be decided again (salts,
times, keys) is bound by the chain of heads, whose end is signed. Checkpoints handed in bind the versions before that.

What is found wrong first is told, with its line, its version and a code; what follows from it is not told as well. So
an entry that is wrong comes before evidence of its version, and before all that shows that the log goes on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated, Final, NamedTuple, TypeVar

import msgspec
from msgspec import Meta, Raw

from events.base import By, Decision, Entry, Event, whole
from events.table import Created, Hex256, Outcome, Seeded, Shuffled, TextRef
from projections import fold
from projections.table import Table
from service.audit.checkpoints import Checkpoint
from service.audit.record import Header, Trailer, header_of, signed, trailer_of
from service.audit.signing import Keys, is_signed
from service.audit.transparency import Consistency, Inclusion, SignedTree
from service.game import AnyGame, AnyTable, Ask, Command
from service.games import Games
from service.ids import is_id
from service.referee import NEUTRAL, Create, Referee, by_of, named_by
from service.streams import genesis, head_after, table_stream
from service.written import Text
from service.zipped import beginning_of

T = TypeVar("T")

LEAST_LINES: Final = 3
"""A header, an entry and a trailer."""

ARCHIVED: Final = b'{"archive":'
"""How a file of the archive begins, once it is unpacked."""

FAULTS: Final[Mapping[str, str]] = {
    "not_a_record": "It is not a record: a header line, entries, and a trailer line, each ended by a newline.",
    "archived": "It is not a record, but a file of the archive: `evenfold restore TABLE` puts its log back.",
    "header": "The header is not what the log says.",
    "entry": "The entry is no entry of a log, or not written as the log writes it.",
    "order": "The entry does not follow the one before: another stream or version, or an earlier time.",
    "ruleset": "The ruleset is not known here.",
    "seed": "The seed is not the one that was committed to.",
    "by": "The decision is told to be somebody else's than the table says.",
    "refused": "The rules refuse the command.",
    "decision": "The rules make other things happen than the entry says.",
    "not_ended": "The log stops before play has ended.",
    "text": "A text in the header is not one that the log has the hash of.",
    "trailer": "The trailer is not what the log says.",
    "chain": "The log chains up to another head than the trailer states: what can't be decided again was changed.",
    "unknown_key": "The record was signed with a key that is not among those given.",
    "signature": "The signature is not that of the key over this record.",
    "checkpoint": "A checkpoint that was handed in is not of this log.",
    "checkpoint_signature": "A checkpoint that was handed in is not signed by a key that was given.",
    "inclusion": "A proof that was handed in does not show that this log is in the transparency log.",
    "outdated": "The record is not the newest: the transparency log has the table at a later version.",
    "tree_signature": "A tree head that was handed in is not signed by a key that was given.",
    "contradiction": "Two records are of one table, and the log of neither begins with that of the other.",
    "unmet": "No record that was handed in is of this table.",
    "consistency": "The transparency log is not shown to begin with a tree head that was handed in.",
}
"""What can be wrong, and a sentence about each."""


class Fault(NamedTuple):
    """What is wrong first: the line of the file (from 1), the version where it is an entry's, and a code of FAULTS.

    What shows that the log goes on names a version that the record does not have, and its last line.
    """

    line: int
    version: int | None
    code: str

    @property
    def sentence(self) -> str:
        """What it means."""
        return FAULTS[self.code]


@dataclass
class Report:
    """What a record says, as far as it holds; `fault` is None if all of it does."""

    fault: Fault | None = None
    table: str | None = None
    ruleset: str | None = None
    outcome: Outcome | None = None
    players: tuple[str | None, ...] = ()
    scores: tuple[int | None, ...] = ()
    places: tuple[int | None, ...] | None = None
    versions: int = 0
    events: int = 0
    shuffles: int = 0
    checkpoints: int = 0
    """How many of the checkpoints handed in are of this log."""
    inclusions: int = 0
    """How many of the proofs of inclusion are of this log."""


class Checked(NamedTuple):
    """What came of a record, and the heads since play ended, the last one last: each may be the end of a record."""

    report: Report
    ends: Sequence[str]


class Evidence(NamedTuple):
    """What a record is held against: public keys, None to leave signatures aside, and what was kept, of any streams.

    `trees` are tree heads that were kept. Whether each piece is signed and a proof holds, and whether all trees go
    together, is no matter of a record: agreeing.py tells it, once.
    """

    keys: Keys | None
    checkpoints: Sequence[Checkpoint] = ()
    inclusions: Sequence[Inclusion] = ()
    trees: Sequence[SignedTree] = ()
    consistencies: Sequence[Consistency] = ()


class _Undecided(msgspec.Struct, frozen=True, gc=False):
    """What of an entry can't be decided again, by its format: a salt is 128 bits, a key the hash of one."""

    cause: Annotated[str, Meta(pattern=whole("(table|tournament):[0-9a-hjkmnp-tv-z]{26}:[1-9][0-9]{0,15}"))] | None
    key: Hex256 | None
    salt: Annotated[str, Meta(pattern=whole("[A-Za-z0-9_-]{22}"))]


class _Found(Exception):
    """Something is wrong."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.code)
        self.fault = fault


_encode = msgspec.json.Encoder().encode
_header = msgspec.json.Decoder(Header)
_trailer = msgspec.json.Decoder(Trailer)
_entry = msgspec.json.Decoder(Entry[Raw, Raw])
_undecided = msgspec.json.Decoder(_Undecided)
_creating = msgspec.json.Decoder(Create)
_created = msgspec.json.Decoder(Created)
_seeded = msgspec.json.Decoder(Seeded)


def check(record: bytes, games: Games, evidence: Evidence) -> Checked:
    """Check a record."""
    checking = _Check(record, games, evidence)
    try:
        checking.run()
    except _Found as found:
        checking.report.fault = found.fault
    return Checked(checking.report, checking.ends)


class _Check:
    """One record under examination."""

    def __init__(self, record: bytes, games: Games, evidence: Evidence) -> None:
        *self._lines, rest = record.split(b"\n")
        self._is_archived = beginning_of(record, len(ARCHIVED)) == ARCHIVED
        self._whole = not rest and len(self._lines) >= LEAST_LINES
        self._games = games
        self._evidence = evidence
        self._referee = Referee()
        self.report = Report()
        self.ends: list[str] = []

    def run(self) -> None:
        """Raise _Found for what is wrong first."""
        if self._is_archived:
            raise _Found(Fault(1, None, "archived"))
        if not self._whole:
            raise _Found(Fault(1, None, "not_a_record"))
        header_line, *entries, trailer_line = self._lines
        header = _read(_header, header_line, Fault(1, None, "not_a_record"))
        first = _read(_entry, entries[0], Fault(2, 1, "entry"))
        game = self._opened(first)
        table: AnyTable = Table(id=first.stream.removeprefix("table:"))
        self.report.ruleset = game.ruleset
        kept = self._kept(first.stream)
        for version, e in enumerate(entries, 1):
            self._add(game, table, e, version)
            self.report.versions = version
            if table.status == "ended":
                self.ends.append(table.head.hex())
            self._meet(kept.pop(version, ()), table)
        self._conclude(table)
        trailer = _read(_trailer, trailer_line, Fault(len(self._lines), None, "not_a_record"))
        created = _created.decode(first.events[0])
        self._end(table, created, (header_line, header), (trailer_line, trailer))
        self._compare_with_others(kept)

    def _opened(self, first: Entry[Raw, Raw]) -> AnyGame:
        """Return the ruleset that the log is pinned to."""
        create = _read(_creating, bytes(first.command), Fault(2, 1, "entry"))
        if not first.stream.startswith("table:") or not is_id(first.stream.removeprefix("table:")):
            raise _Found(Fault(2, 1, "entry"))
        self.report.table = first.stream.removeprefix("table:")
        try:
            game = self._games.ruled(create.ruleset)
        except KeyError:
            raise _Found(Fault(2, 1, "ruleset")) from None
        if game.name != create.game:
            raise _Found(Fault(2, 1, "ruleset"))
        return game

    def _kept(self, stream: str) -> dict[int, list[Checkpoint | Inclusion]]:
        """Return the checkpoints and proofs of inclusion of this stream by version."""
        by_version: dict[int, list[Checkpoint | Inclusion]] = {}
        for checkpoint in self._evidence.checkpoints:
            if checkpoint.stream == stream:
                by_version.setdefault(checkpoint.version, []).append(checkpoint)
        for inclusion in self._evidence.inclusions:
            if inclusion.leaf.stream == stream:
                by_version.setdefault(inclusion.leaf.version, []).append(inclusion)
        return by_version

    def _meet(self, kept: Sequence[Checkpoint | Inclusion], table: AnyTable) -> None:
        """Compare the head that the table has now with what was kept of this version."""
        head, fault = table.head.hex(), partial(Fault, table.version + 1, table.version)
        for evidence in kept:
            if isinstance(evidence, Checkpoint):
                if evidence.head != head:
                    raise _Found(fault("checkpoint"))
                self.report.checkpoints += 1
            else:
                if evidence.leaf.head != head:
                    raise _Found(fault("inclusion"))
                self.report.inclusions += 1

    def _compare_with_others(self, kept: Mapping[int, Sequence[Checkpoint | Inclusion]]) -> None:
        """Raise _Found if something was kept of a version that the log does not have: most often, of a later one."""
        for version, evidence in sorted(kept.items()):
            if any(isinstance(one, Checkpoint) for one in evidence):
                raise _Found(Fault(min(version, self.report.versions) + 1, version, "checkpoint"))
            raise _Found(Fault(len(self._lines), version, "outdated"))

    def _add(self, game: AnyGame, table: AnyTable, e: bytes, version: int) -> None:
        """Decide an entry again, compare it, and fold what was decided."""
        entry = _read(_entry, e, Fault(version + 1, version, "entry"))
        if entry.stream != table_stream(table.id) or entry.version != version or entry.at < table.at:
            raise _Found(Fault(version + 1, version, "order"))
        _read(_undecided, e, Fault(version + 1, version, "entry"))
        command = _read(_commands(game.commands), bytes(entry.command), Fault(version + 1, version, "entry"))
        by, events = self._decide(game, table, entry, command)
        again = Entry(1, entry.stream, version, entry.at, by, command, entry.cause, entry.key, entry.salt, events)
        if _encode(again) != e:
            raise _Found(Fault(version + 1, version, _difference(entry, by, events)))
        head = head_after(table.head if table.version else genesis(entry.stream), e)
        fold.add(game.projection, table, Decision(version, entry.at, by, "", events), head)
        self.report.events += len(events)
        self.report.shuffles += sum(type(event) is Shuffled for event in events)

    def _decide(
        self, game: AnyGame, table: AnyTable, entry: Entry[Raw, Raw], command: Command
    ) -> tuple[By, tuple[Event, ...]]:
        """Return whose decision it is, and what the rules make of it."""
        line = entry.version + 1
        if isinstance(command, Create) != (entry.version == 1):
            raise _Found(Fault(line, entry.version, "refused"))
        by = by_of(table, entry.by.player or "", command)
        ask = Ask(by, command, entry.at)
        try:
            if isinstance(command, Create):
                events = self._referee.create(game, table, ask, _seed_of(entry))
            else:
                events = self._referee.decide(game, table, ask)
        except _Found:
            raise
        except Exception as error:  # A record may ask for anything: whatever stops the rules is no decision.
            raise _Found(Fault(line, entry.version, "refused")) from error
        if not _is_named(table, by):
            raise _Found(Fault(line, entry.version, "entry"))
        return named_by(by, events), events

    def _conclude(self, table: AnyTable) -> None:
        """State what the table has come to."""
        report = self.report
        report.outcome, report.scores, report.places = table.outcome, table.scores, table.places
        report.players = tuple(player.id if player is not None else None for player in table.players)
        if table.status != "ended":
            raise _Found(Fault(len(self._lines), None, "not_ended"))

    def _end(
        self, table: AnyTable, created: Created, header: tuple[bytes, Header], trailer: tuple[bytes, Trailer]
    ) -> None:
        """Compare header and trailer with what the log makes them, and the signature with the key."""
        (header_line, stated), (trailer_line, ending) = header, trailer
        last = len(self._lines)
        if header_of(table, created.options, stated.key, stated.texts) != header_line:
            raise _Found(Fault(1, None, "header"))
        _check_texts(table, stated.texts)
        signature = bytes.fromhex(ending.signature)
        if trailer_of(table, signature) != trailer_line:
            raise _Found(Fault(last, None, "trailer" if ending.head == table.head.hex() else "chain"))
        if self._evidence.keys is None:
            return
        public = self._evidence.keys.get(stated.key)
        if public is None:
            raise _Found(Fault(1, None, "unknown_key"))
        if not is_signed(public, signed(table, header_line), signature):
            raise _Found(Fault(last, None, "signature"))


def _is_named(table: AnyTable, by: By) -> bool:
    """Tell whether who asked has an account's id, or sits there by the name that the rules have given a bot."""
    seated = table.players[by.seat] if by.seat is not None else None
    return is_id(by.player or "") or (seated is not None and seated.bot is not None)


def _check_texts(table: AnyTable, texts: Sequence[Text]) -> None:
    """Raise _Found unless each text is one that a dispute or a ruling names, and comes once."""
    named = {dispute.text for dispute in table.disputes}
    named |= {dispute.ruling.text for dispute in table.disputes if dispute.ruling is not None}
    stated = {TextRef(text.id, text.hash) for text in texts}
    if len(stated) != len(texts) or not stated <= named:
        raise _Found(Fault(1, None, "text"))


def _seed_of(entry: Entry[Raw, Raw]) -> bytes:
    """Return the seed that the first entry states; it is believed, for the decision made with it is compared."""
    for event in entry.events:
        try:
            return bytes.fromhex(_seeded.decode(event).seed or "")
        except msgspec.MsgspecError:
            continue
    raise _Found(Fault(entry.version + 1, entry.version, "seed"))


def _difference(entry: Entry[Raw, Raw], by: By, events: Sequence[Event]) -> str:
    """Return in what an entry differs from what it must be."""
    if [bytes(event) for event in entry.events] != [_encode(event) for event in events]:
        return "decision"
    return "by" if entry.by != by else "entry"


@cache
def _commands(own: object) -> "msgspec.json.Decoder[Command]":
    """Return what reads any command of a game's table; `own` are the game's."""
    return msgspec.json.Decoder(NEUTRAL | own)


def _read(decoder: "msgspec.json.Decoder[T]", line: bytes, otherwise: Fault) -> T:
    try:
        return decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise _Found(otherwise) from None
