"""deploy/secrets.sh: what it makes, and what it leaves as it is."""

import subprocess
from pathlib import Path

import pytest

from tests.deploy.store import USERS, secrets

OURS = ("EVENFOLD_REDIS_URL", "EVENFOLD_SECRET", "EVENFOLD_SIGNING_KEY")


def environment(folder: Path) -> list[bytes]:
    return (folder / "evenfold.env").read_bytes().split(b"\n")[:-1]


def test_it_makes_a_password_for_each_user_and_an_environment_that_nobody_else_reads(tmp_path: Path) -> None:
    secrets("new", tmp_path, "store:6379")
    passwords = {(tmp_path / f"{user}.password").read_text(encoding="ascii") for user in USERS}
    assert len(passwords) == len(USERS)
    lines = environment(tmp_path)
    assert [line.partition(b"=")[0].decode() for line in lines] == [*OURS]
    assert lines[0].endswith(b"@store:6379")
    assert (tmp_path / "evenfold.env").stat().st_mode & 0o777 == 0o600


def test_what_an_operator_added_to_the_environment_stays_byte_for_byte(tmp_path: Path) -> None:
    secrets("new", tmp_path)
    before = environment(tmp_path)
    added = [b"EVENFOLD_ARCHIVE=s3://bucket/prefix", b"# Z\xfcrich", b"AWS_SECRET_ACCESS_KEY=a=b c$d\r", b"A=\0", b""]
    overridden = [b" EVENFOLD_SECRET=another", b"export EVENFOLD_SIGNING_KEY=another"]
    file = tmp_path / "evenfold.env"
    file.write_bytes(b"\n".join([*added[:3], *before, *overridden, *added[3:], b"LAST=without a newline"]))
    file.chmod(0o640)
    secrets("new", tmp_path)
    assert environment(tmp_path) == [*before, *added, b"LAST=without a newline"]
    secrets("rotate", tmp_path, "evenfold")
    rotated = environment(tmp_path)
    assert (rotated[1:], rotated[0] == before[0]) == ([*before[1:], *added, b"LAST=without a newline"], False)
    secrets("retire", tmp_path, "evenfold")
    assert environment(tmp_path) == rotated
    assert file.stat().st_mode & 0o777 == 0o640


def test_an_environment_that_lies_elsewhere_is_written_there(tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    real, link = tmp_path / "real.env", tmp_path / "secrets" / "evenfold.env"
    real.write_text("EVENFOLD_ARCHIVE=s3://bucket/prefix\n", encoding="ascii")
    link.symlink_to(real)
    secrets("new", tmp_path / "secrets")
    assert (link.is_symlink(), len(real.read_text(encoding="ascii").splitlines())) == (True, 4)


def test_an_environment_that_can_not_be_read_ends_it_before_anything_is_changed(tmp_path: Path) -> None:
    secrets("new", tmp_path)
    (tmp_path / "evenfold.env").unlink()
    (tmp_path / "evenfold.env").mkdir()
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    with pytest.raises(subprocess.CalledProcessError) as failed:
        secrets("rotate", tmp_path, "evenfold")
    assert failed.value.stderr.decode().endswith("evenfold.env can't be read: nothing is changed\n")
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before
