"""Two runs side by side: reports that were kept, or revisions that take turns, so that drift hits both alike."""

import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from tests.bench import report
from tests.bench.report import Report
from tests.tree import ROOT

HERE = "."
"""The checkout as it stands, with what isn't committed yet."""


class Unknown(Exception):
    """What was to be compared is neither a report nor a revision; the message is one sentence."""


def reports(sides: Sequence[str], arguments: Sequence[str], rounds: int) -> list[Report]:
    """Return the report of each side: the file's, or that of as many rounds as are asked for.

    Revisions are measured by the bench as it is here, with this interpreter, one round each in turn.
    """
    with ExitStack() as stack:
        found = [_kept(side) or stack.enter_context(_checkout(side)) for side in sides]
        measured: dict[int, Report] = {}
        for _ in range(rounds if any(isinstance(each, Path) for each in found) else 0):
            for number, each in enumerate(found):
                if isinstance(each, Path):
                    run = _run(each, arguments)
                    if number in measured:
                        measured[number].add(run)
                    else:
                        measured[number] = run
        return [measured[number] if isinstance(each, Path) else each for number, each in enumerate(found)]


def _kept(side: str) -> Report | None:
    path = Path(side)
    if not path.is_file():
        return None
    try:
        return report.read(path.read_bytes())
    except msgspec.MsgspecError as error:
        raise Unknown(f"{side} is no report of the bench: {error}.") from None


@contextmanager
def _checkout(revision: str) -> Iterator[Path]:
    """Give a folder with a revision in it, to be measured by the bench of here."""
    if revision == HERE:
        yield ROOT
        return
    with tempfile.TemporaryDirectory(prefix="evenfold-compare-") as folder:
        tree = Path(folder)
        with tarfile.open(fileobj=io.BytesIO(_archive(revision))) as archive:
            archive.extractall(tree, filter="data")
        shutil.rmtree(tree / "tests" / "bench", ignore_errors=True)
        shutil.copytree(ROOT / "tests" / "bench", tree / "tests" / "bench")
        yield tree


def _archive(revision: str) -> bytes:
    command = ["git", "-C", str(ROOT), "archive", "--format=tar", "--end-of-options", revision]
    done = subprocess.run(command, check=False, capture_output=True)
    if done.returncode:
        raise Unknown(f"{revision} is neither a report nor a revision.")
    return done.stdout


def _run(tree: Path, arguments: Sequence[str]) -> Report:
    """Measure one round in a folder."""
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "report.json"
        bench = [sys.executable, "-m", "tests.bench", *arguments, "--rounds", "1", "--json", str(kept)]
        subprocess.run(bench, cwd=tree, check=True, stdout=subprocess.DEVNULL)
        return report.read(kept.read_bytes())
