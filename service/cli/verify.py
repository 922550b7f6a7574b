"""Checks records offline: without a server, without a store, with nothing but the rules, the files and public keys.

Thousands of them are shared out among processes, one a core. A record is one file; of a folder every `.ndjson` in it
is one, however deep, and how many others were left out is told on the error stream.
"""

import contextlib
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import ClassVar, NamedTuple, TypeVar, assert_never

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from service.audit.agreeing import Files, Flaw, TreeSizes, contradictions, sifted, unmet
from service.audit.checking import Checked, Evidence, Report, check
from service.audit.checkpoints import Checkpoint, CheckpointLine
from service.audit.keyring import PublicKeys
from service.audit.transparency import Consistency, Inclusion, Leaf, SignedTree
from service.cli.games import found
from service.cli.sentences import Unusable, json_line, printing, several
from service.games import Games

T = TypeVar("T")

SUFFIX = ".ndjson"

FEW = 16
"""So many records are checked sooner than another process has started."""

CHUNK = 8
"""How many records a process is given at once."""

WHERE = "GET /.well-known/evenfold-keys.json gives them"


class Wanted(NamedTuple):
    """What to check: files and folders, against which files of keys, checkpoints, proofs and tree heads.

    `jobs` is by how many processes, None for one a core.

    `unsigned` leaves signatures aside: one of it and `keys` is needed. `other_tables` says that there may be evidence
    of tables that no record is of. `games` names modules of further games, `as_json` asks for a line of JSON each.
    """

    paths: Sequence[Path]
    keys: Path | None
    unsigned: bool
    checkpoints: Sequence[Path]
    proofs: Sequence[Path]
    trees: Sequence[Path]
    other_tables: bool
    games: Sequence[str]
    jobs: int | None
    as_json: bool


class Verdict(NamedTuple):
    """What came of one file."""

    file: Path
    checked: Checked

    @property
    def report(self) -> Report:
        """What it says."""
        return self.checked.report


_checkpoint = msgspec.json.Decoder(Checkpoint)
_checkpoint_line: "msgspec.json.Decoder[Checkpoint]" = msgspec.json.Decoder(CheckpointLine)
_inclusion: "msgspec.json.Decoder[Inclusion | Consistency]" = msgspec.json.Decoder(Inclusion)
_consistency: "msgspec.json.Decoder[Inclusion | Consistency]" = msgspec.json.Decoder(Consistency)
_tree = msgspec.json.Decoder(SignedTree)


class _Told(msgspec.Struct):
    """A verdict as a line of JSON; `signed` says of a record that holds whether its signature was looked at."""

    file: str
    ok: bool
    report: Report
    signed: bool | None = None
    line: int | None = None
    version: int | None = None
    code: str | None = None
    sentence: str | None = None


class _ToldFlaw(msgspec.Struct):
    """What is wrong with evidence, or with records beside one another, as a line of JSON.

    What is told of evidence by itself comes before all verdicts, what concerns several records after them.
    """

    code: str
    sentence: str
    sizes: tuple[int, ...] = ()
    stream: str | None = None
    version: int | None = None
    files: tuple[str, ...] = ()
    ok: bool = False


def verify(wanted: Wanted) -> int:
    """Check records and tell what came of each; return 0 if they and the evidence hold, else 1. Raise Unusable."""
    if (wanted.keys is None) != wanted.unsigned:
        raise Unusable(f"Name the service's public keys with --keys ({WHERE}), or say --unsigned: one of the two")
    files = list(_files(wanted.paths))
    evidence, flaws = sifted(_evidence(wanted))
    found(wanted.games)  # What is no game is told here, and not by each process.
    faulty, records = 0, list[tuple[str, Checked]]()
    with printing():
        _tell(flaws, wanted)
        for verdict in _shown(_verdicts(files, _Task(evidence, tuple(wanted.games)), wanted.jobs), len(files)):
            faulty += verdict.report.fault is not None
            records.append((_named(verdict.file), verdict.checked))
            if wanted.as_json:
                sys.stdout.write(json_line(_told(verdict, signed=wanted.keys is not None)))
            elif verdict.report.fault is not None or len(files) <= FEW:
                sys.stdout.write(_sentences(verdict, signed=wanted.keys is not None))
        beside = _beside(evidence, records, wanted)
        _tell(beside, wanted)
        if not wanted.as_json:
            good = len(files) - faulty
            sys.stdout.write(f"{good} of {len(files)} {'holds' if good == 1 else 'hold'}.\n")
    return 1 if faulty or flaws or beside else 0


def _beside(evidence: Evidence, records: Sequence[tuple[str, Checked]], wanted: Wanted) -> Sequence[Flaw]:
    """Return what is wrong with records beside one another, and with evidence beside all of them."""
    tables = {checked.report.table for _, checked in records} - {None}
    left = list(unmet(evidence, {f"table:{table}" for table in tables}))
    if wanted.other_tables and left:
        sys.stderr.write(f"Left aside what was kept of other tables: {several(len(left), 'version', 'versions')}\n")
        left = []
    return [*contradictions(records), *left]


def _tell(flaws: Iterable[Flaw], wanted: Wanted) -> None:
    for flaw in flaws:
        told = f"{_subject(flaw)}: NOT GOOD: {flaw.code}. {flaw.sentence}\n"
        sys.stdout.write(json_line(_told_flaw(flaw)) if wanted.as_json else told)


def _evidence(wanted: Wanted) -> Evidence:
    """Read the keys, and all that was kept."""
    proofs = list(_kept("--proof", wanted.proofs, _inclusion, _consistency))
    return Evidence(
        _keys(wanted.keys),
        tuple(_kept("--checkpoint", wanted.checkpoints, _checkpoint, _checkpoint_line)),
        tuple(proof for proof in proofs if isinstance(proof, Inclusion)),
        tuple(_kept("--tree", wanted.trees, _tree)),
        tuple(proof for proof in proofs if isinstance(proof, Consistency)),
    )


class _Task(NamedTuple):
    """What every process must know."""

    evidence: Evidence
    modules: tuple[str, ...]


class _Process:
    """What this process knows, once it has begun."""

    task: ClassVar[_Task]
    games: ClassVar[Games]


def _begin(task: _Task) -> None:
    _Process.task = task
    _Process.games = found(task.modules)


def _verdict(file: Path) -> Verdict:
    try:
        record = file.read_bytes()
    except OSError as error:
        raise Unusable(f"{file} can't be read: {error.strerror}") from None
    return Verdict(file, check(record, _Process.games, _Process.task.evidence))


def _verdicts(files: Sequence[Path], task: _Task, jobs: int | None) -> Iterator[Verdict]:
    """Yield what came of each file, in their order."""
    jobs = min(jobs or os.cpu_count() or 1, -(-len(files) // CHUNK))
    if jobs <= 1 or len(files) <= FEW:
        _begin(task)
        yield from map(_verdict, files)
        return
    with ProcessPoolExecutor(jobs, get_context("spawn"), _begin, (task,)) as pool:
        # Not all at once: the verdicts of thousands of records need not wait in memory for the first one.
        coming = iter(files)
        while batch := list(islice(coming, jobs * CHUNK * 16)):
            yield from pool.map(_verdict, batch, chunksize=CHUNK)


def _shown(verdicts: Iterator[Verdict], total: int) -> Iterator[Verdict]:
    """Pass verdicts on, and show on the error stream how far it is, where there are many."""
    if total <= FEW:
        yield from verdicts
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("Records", total=total)
        for verdict in verdicts:
            yield verdict
            progress.advance(bar)


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        try:
            is_folder = stat.S_ISDIR(path.stat().st_mode)
        except FileNotFoundError:
            raise Unusable(f"There is no {path}") from None
        except OSError as error:
            raise Unusable(f"{path} can't be read: {error.strerror}") from None
        if not is_folder:
            yield path
            continue
        every = [file for file in path.rglob("*") if file.is_file()]
        inside = sorted(file for file in every if file.name.endswith(SUFFIX))
        if not inside:
            raise Unusable(f"The folder {path} holds no record: no file there ends in {SUFFIX}")
        if left_out := len(every) - len(inside):
            files = several(left_out, "file", "files")
            sys.stderr.write(f"Left out {files} in {_named(path)}: the name of a record ends in {SUFFIX}\n")
        yield from inside


def _named(file: Path) -> str:
    """Return the name of a file as text, also where it is none."""
    return os.fsencode(file).decode(errors="backslashreplace")


def _keys(file: Path | None) -> dict[str, bytes] | None:
    if file is None:
        return None
    try:
        return dict(msgspec.json.decode(file.read_bytes(), type=PublicKeys).by_id())
    except OSError as error:
        raise Unusable(f"Invalid value for '--keys': {file} can't be read: {error.strerror}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Unusable(f"Invalid value for '--keys': {file} holds no public keys ({error}); {WHERE}") from None


def _kept(option: str, files: Sequence[Path], *kinds: "msgspec.json.Decoder[T]") -> Iterator[T]:
    """Yield what files hold, one a line, each of one of some kinds; raise Unusable for a line that is of none."""
    for file in files:
        try:
            lines = file.read_bytes().splitlines()
        except OSError as error:
            raise Unusable(f"Invalid value for '{option}': {file} can't be read: {error.strerror}") from None
        for number, line in enumerate(lines, 1):
            for kind in kinds:
                with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
                    yield kind.decode(line)
                    break
            else:
                raise Unusable(f"Invalid value for '{option}': line {number} of {file} holds none")


def _told(verdict: Verdict, *, signed: bool) -> _Told:
    file, fault = _named(verdict.file), verdict.report.fault
    if fault is None:
        return _Told(file, ok=True, report=verdict.report, signed=signed)
    told = _Told(file, ok=False, report=verdict.report, line=fault.line, version=fault.version)
    told.code, told.sentence = fault.code, fault.sentence
    return told


def _told_flaw(flaw: Flaw) -> _ToldFlaw:
    told = _ToldFlaw(flaw.code, flaw.sentence)
    match flaw.subject:
        case TreeSizes(sizes):
            told.sizes = sizes
        case Checkpoint(stream=stream, version=version) | Leaf(stream=stream, version=version):
            told.stream, told.version = stream, version
        case Files(shorter, longer):
            told.files = (shorter, longer)
        case other:
            assert_never(other)
    return told


def _subject(flaw: Flaw) -> str:
    """Name what has a flaw."""
    match flaw.subject:
        case TreeSizes(sizes):
            heads = "Tree heads" if len(sizes) > 1 else "Tree head"
            return f"{heads} of {' and '.join(map(str, sizes))} {'leaf' if sizes[-1] == 1 else 'leaves'}"
        case Checkpoint(stream=stream, version=version):
            return f"Checkpoint of {stream} at version {version}"
        case Leaf(stream=stream, version=version):
            return f"Proof of inclusion of {stream} at version {version}"
        case Files(shorter, longer):
            return f"{shorter} and {longer}"
        case other:
            assert_never(other)


def _sentences(verdict: Verdict, *, signed: bool) -> str:
    """Tell people what came of a file."""
    file, report, fault = _named(verdict.file), verdict.report, verdict.report.fault
    if fault is not None:
        place = f"line {fault.line}" if fault.version is None else f"version {fault.version} (line {fault.line})"
        return f"{file}: NOT GOOD, {place}: {fault.code}. {fault.sentence}\n"
    vouched = "signed" if signed else "signature NOT looked at"
    if report.checkpoints:
        vouched += f", {several(report.checkpoints, 'checkpoint', 'checkpoints')} met"
    if report.inclusions:
        vouched += ", in the transparency log"
    decided = several(report.versions, "decision", "decisions")
    happened = several(report.events, "event", "events")
    shuffled = several(report.shuffles, "shuffle, made again", "shuffles, each made again")
    lines = [
        f"{file}: good ({vouched})",
        f"  table {report.table}, {report.ruleset}, {report.outcome}",
        f"  {decided}, {happened}, {shuffled if report.shuffles else 'no shuffle'}",
    ]
    for seat, player in enumerate(report.players):
        if player is not None:
            score = report.scores[seat] if seat < len(report.scores) else None
            stands = report.places[seat] if report.places is not None else None
            lines.append(f"  seat {seat} {player}: place {stands or '–'}, score {'–' if score is None else score}")
    return "\n".join(lines) + "\n"
