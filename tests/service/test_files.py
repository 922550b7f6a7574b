"""A file that comes about whole: one run at a time writes it, and a run that fails leaves nothing."""

import os
import threading
from pathlib import Path
from typing import BinaryIO, NoReturn

import pytest

from service.files import BeingWritten, making, replacing


def fail(part: BinaryIO) -> NoReturn:
    part.write(b"some")
    raise OSError("no more room")


def test_nothing_is_there_until_all_is(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with replacing(file) as part:
        part.write(b"whole")
        assert not file.exists()
    assert (file.read_bytes(), [*tmp_path.iterdir()]) == (b"whole", [file])


def test_a_run_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"before")
    with pytest.raises(OSError, match="no more room"), replacing(file) as part:
        fail(part)
    assert (file.read_bytes(), [*tmp_path.iterdir()]) == (b"before", [file])


def test_a_file_that_is_being_written_is_no_other_runs(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with making(file) as part:
        with pytest.raises(BeingWritten), making(file):
            pytest.fail("two runs wrote one file")
        part.write(b"the first")
    assert file.read_bytes() == b"the first"


def test_who_waits_writes_after_the_others_and_nothing_is_mixed(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"")

    def add(name: bytes) -> None:
        for _ in range(50):
            with replacing(file) as part:
                part.write(file.read_bytes() + name)

    runs = [threading.Thread(target=add, args=(name,)) for name in (b"a", b"b", b"c")]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert (sorted(file.read_bytes()), [*tmp_path.iterdir()]) == (sorted(b"abc" * 50), [file])


def test_nothing_is_replaced_by_what_is_made(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with pytest.raises(FileExistsError, match="it has come meanwhile"), making(file):
        file.write_bytes(b"first")
    assert (file.read_bytes(), [*tmp_path.iterdir()]) == (b"first", [file])


def test_what_is_no_file_is_neither_waited_for_nor_taken_away(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "file.part")
    (tmp_path / "folder.part").mkdir()
    for name, why in (("file", "file.part is no file"), ("folder", "Is a directory")):
        with pytest.raises(OSError, match=why), making(tmp_path / name):
            pytest.fail("it was written")
    assert {each.name for each in tmp_path.iterdir()} == {"file.part", "folder.part"}


def test_whoever_loses_a_race_to_make_a_file_hears_that_another_writes_it(tmp_path: Path) -> None:
    file, heard = tmp_path / "file", set[type[Exception]]()

    def make() -> None:
        for _ in range(500):
            try:
                with making(file) as part:
                    part.write(b"whole")
            except Exception as error:  # noqa: BLE001 what is heard is the fact
                heard.add(type(error))
            file.unlink(missing_ok=True)

    runs = [threading.Thread(target=make) for _ in range(4)]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert heard <= {BeingWritten, FileExistsError}
