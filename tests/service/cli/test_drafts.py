"""A file that comes about whole: one run at a time writes it, and a run that fails leaves nothing."""

import threading
from pathlib import Path
from typing import BinaryIO, NoReturn

import pytest

from service.cli.drafts import BeingWritten, draft_of


def fail(draft: BinaryIO) -> NoReturn:
    draft.write(b"part")
    raise OSError("no more room")


def test_nothing_is_there_until_all_is(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with draft_of(file) as draft:
        draft.write(b"whole")
        assert not file.exists()
    assert (file.read_bytes(), [*tmp_path.iterdir()]) == (b"whole", [file])


def test_a_run_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"before")
    with pytest.raises(OSError, match="no more room"), draft_of(file) as draft:
        fail(draft)
    assert (file.read_bytes(), [*tmp_path.iterdir()]) == (b"before", [file])


def test_a_file_that_is_being_written_is_no_other_runs(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with draft_of(file) as draft:
        with pytest.raises(BeingWritten), draft_of(file):
            pytest.fail("two runs wrote one file")
        draft.write(b"the first")
    assert file.read_bytes() == b"the first"


def test_who_waits_writes_after_the_others_and_nothing_is_mixed(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"")

    def add(name: bytes) -> None:
        for _ in range(50):
            with draft_of(file, wait=True) as draft:
                draft.write(file.read_bytes() + name)

    runs = [threading.Thread(target=add, args=(name,)) for name in (b"a", b"b", b"c")]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert (sorted(file.read_bytes()), [*tmp_path.iterdir()]) == (sorted(b"abc" * 50), [file])
