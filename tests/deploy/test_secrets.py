"""deploy/secrets.sh: what it makes, and what it leaves as it is."""

from pathlib import Path

from tests.deploy.store import USERS, secrets

OURS = ("EVENFOLD_REDIS_URL", "EVENFOLD_SECRET", "EVENFOLD_SIGNING_KEY")


def environment(folder: Path) -> list[str]:
    return (folder / "evenfold.env").read_text(encoding="utf-8").splitlines()


def test_it_makes_a_password_for_each_user_and_an_environment_that_nobody_else_reads(tmp_path: Path) -> None:
    secrets("new", tmp_path, "store:6379")
    passwords = {(tmp_path / f"{user}.password").read_text(encoding="ascii") for user in USERS}
    assert len(passwords) == len(USERS)
    lines = environment(tmp_path)
    assert [line.partition("=")[0] for line in lines] == [*OURS]
    assert lines[0].endswith("@store:6379")
    assert (tmp_path / "evenfold.env").stat().st_mode & 0o777 == 0o600


def test_what_an_operator_added_to_the_environment_stays(tmp_path: Path) -> None:
    secrets("new", tmp_path)
    before = environment(tmp_path)
    added = ["# Ours.", "EVENFOLD_ARCHIVE=s3://bucket/prefix", "AWS_SECRET_ACCESS_KEY=a=b c$d"]
    with (tmp_path / "evenfold.env").open("a", encoding="utf-8") as file:
        file.write("\n".join(added))
    secrets("new", tmp_path)
    assert environment(tmp_path) == [*before, *added]
    secrets("rotate", tmp_path, "evenfold")
    rotated = environment(tmp_path)
    assert (rotated[1:], rotated[0] == before[0]) == ([*before[1:], *added], False)
    secrets("retire", tmp_path, "evenfold")
    assert environment(tmp_path) == rotated
