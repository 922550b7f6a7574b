"""`evenfold backup` and `evenfold restore FILE`: a store filled from a backup is the one it was made of."""

import gzip
import os
import re
import subprocess
import threading
from pathlib import Path
from random import Random
from typing import cast

import pytest
from redis import Redis

from service.files import making
from service.store import RESTORING_KEY
from service.streams import head_after, keys_of, table_stream
from tests.served import Person, served
from tests.service.cli.backups import lines_of, sealed
from tests.service.cli.houses import TABLES, House, url_of
from tests.service.cli.processes import CLEAN, Called, command, until
from tests.stores import asking

DERIVED = ("{lobby}:", "inbox:", "transparency:", "account", "token:", "service:signing")


def logs(client: Redis) -> dict[bytes, object]:
    """Return the logs of a store, their tombstones, key indices and names."""
    keys = [key for kind in ("table", "gone", "keys", "streams") for key in client.scan_iter(f"{{*}}:{kind}*")]
    return {key: client.dump(key) for key in keys}


def test_a_store_that_is_restored_answers_as_the_one_that_it_was_made_of(
    house: House, other: Redis, called: Called, tmp_path: Path
) -> None:
    made = called("backup", str(tmp_path / "backups"), "--redis", house.store)
    assert made.code == 0
    (file,) = (tmp_path / "backups").iterdir()
    assert (file.stat().st_mode & 0o777, f"{file} holds 3 logs" in made.told.replace("\n", " ")) == (0o600, True)
    restored = called("restore", str(file), "--redis", url_of(tmp_path / "other"), "--archive", house.archive)
    assert (restored.code, "The store holds 3 logs again; 1 is in the archive" in restored.told) == (0, True)
    with asking(house.store) as client:
        assert logs(other) == logs(client)
        assert kept(other) == kept(client)
    assert house.answers(url_of(tmp_path / "other")) == house.answers(house.store)
    again = called("restore", str(file), "--redis", url_of(tmp_path / "other"), "--archive", house.archive)
    assert "The store holds something already" in again.refusal


def kept(client: Redis) -> dict[bytes, object]:
    """Return what a store keeps beside the logs."""
    found: dict[bytes, object] = {}
    for key in client.scan_iter():
        if key.decode().startswith(DERIVED) and client.type(key) != b"stream":
            found[key] = (client.dump(key), client.pexpiretime(key))
    return found


def test_what_is_acknowledged_while_a_backup_is_made_does_no_harm_to_it(
    house: House, other: Redis, called: Called, tmp_path: Path
) -> None:
    over = threading.Event()
    with served(house.store, house.keys) as url:

        def go_on() -> None:
            person = Person(url, "Dee")
            while not over.is_set():
                table = person.post(TABLES, {"bots": []}, Idempotency_Key=str(id(over))).json()["table"]
                person.post(f"{TABLES}/{table}/seats", {"seat": 0})
                person.post(TABLES, {"bots": []})
            person.http.close()

        going = threading.Thread(target=go_on)
        going.start()
        try:
            for number in range(3):
                assert called("backup", str(tmp_path / f"{number}.gz"), "--redis", house.store).code == 0
        finally:
            over.set()
            going.join()
    for number in range(3):
        other.flushall()
        place = ("--redis", url_of(tmp_path / "other"), "--archive", house.archive)
        assert called("restore", str(tmp_path / f"{number}.gz"), *place).code == 0
        assert called("rebuild", *place).code == 0


def test_secrets_go_with_a_backup_only_when_asked_for(
    house: House, other: Redis, called: Called, tmp_path: Path
) -> None:
    plain, whole = tmp_path / "plain.gz", tmp_path / "whole.gz"
    assert called("backup", str(plain), "--redis", house.store).code == 0
    secrets = {name: (house.keys / name).read_text(encoding="ascii") for name in ("secret", "signing")}
    text = gzip.decompress(plain.read_bytes()).decode()
    assert not any(secret.strip() in text for secret in secrets.values())
    asked = ("--with-keys", "--keys", str(house.keys))
    assert called("backup", str(whole), "--redis", house.store, *asked).code == 0
    assert other.ping()
    place = ("--redis", url_of(tmp_path / "other"), "--archive", house.archive, "--keys", str(tmp_path / "new"))
    assert called("restore", str(whole), *place).code == 0
    for name, secret in secrets.items():
        path = tmp_path / "new" / name
        assert (path.read_text(encoding="ascii"), path.stat().st_mode & 0o777) == (secret, 0o600)
    other.flushall()
    refusal = called("restore", str(whole), *place[:-1], str(plain / "new")).refusal
    assert f"The secrets of the backup can't be kept in {plain / 'new'}" in refusal
    assert other.dbsize() == 0


@pytest.mark.parametrize("leads", [False, True], ids=["file", "link"])
def test_what_a_run_that_was_killed_left_is_replaced(house: House, called: Called, tmp_path: Path, leads: bool) -> None:
    file, left, elsewhere = tmp_path / "backup.gz", tmp_path / "backup.gz.part", tmp_path / "elsewhere"
    elsewhere.write_bytes(b"left")
    if leads:
        left.symlink_to(elsewhere)
    else:
        left.write_bytes(bytes(1 << 20))
        left.chmod(0o644)
    assert called("backup", str(file), "--redis", house.store).code == 0
    assert (file.stat().st_mode & 0o777, file.is_symlink(), left.exists()) == (0o600, False, False)
    assert gzip.decompress(file.read_bytes()).startswith(b'{"backup":1,')
    assert elsewhere.read_bytes() == b"left"


def test_a_backup_that_could_not_be_restored_is_told_as_it_is_made(
    house: House, called: Called, tmp_path: Path
) -> None:
    with asking(house.store) as client:
        leaf = client.hget("transparency:leaves", "1")
        assert isinstance(leaf, bytes)
        client.hset("transparency:leaves", "1", re.sub(rb"[0-9a-f]{64}", b"0" * 64, leaf))
    file = tmp_path / "backup.gz"
    made = called("backup", str(file), "--redis", house.store)
    told = f"The store has what could not be restored. {file} holds a leaf, line 3, that is not what"
    assert (made.code, file.exists(), told in " ".join(made.told.split())) == (1, True, True)


def test_two_runs_to_one_name_do_not_disturb_each_other(house: House, called: Called, tmp_path: Path) -> None:
    file = tmp_path / "backup.gz"
    with making(file) as other:
        other.write(b"that of another run")
        assert "Another run writes" in called("backup", str(file), "--redis", house.store).refusal
    assert file.read_bytes() == b"that of another run"


def test_a_store_that_is_filled_in_part_is_not_served(
    backup: bytes, other: Redis, called: Called, tmp_path: Path
) -> None:
    (tmp_path / "backup.gz").write_bytes(backup)
    place = ("--redis", url_of(tmp_path / "other"))
    keys = ("--keys", str(tmp_path / "keys"), "--port", "0")
    with subprocess.Popen(
        command("restore", str(tmp_path / "backup.gz"), "--without-archive", *place),
        env=CLEAN,
        stderr=subprocess.DEVNULL,
    ) as process:
        until(lambda: other.dbsize() > 1)
        process.kill()
    for server in ("serve", "api"):
        assert "has not come to its end" in called(server, *place, *keys).refusal
    assert "has not come to its end" in called("react", *place, *keys[:2]).refusal
    other.flushall()
    assert called("restore", str(tmp_path / "backup.gz"), "--without-archive", *place).code == 0
    assert other.get(RESTORING_KEY) is None


@pytest.mark.parametrize(
    ("rights", "told"),
    [
        (("-dbsize",), "Nothing is restored: "),
        (("-set", "(+set ~{*)"), "Nothing is restored: "),
        (("-del", "(+del ~{*)"), "The store is filled in part, and must be emptied: "),
    ],
    ids=["to count", "to begin", "to end"],
)
def test_a_store_that_does_not_let_itself_be_filled_is_told_of_in_a_sentence(
    backup: bytes, other: Redis, called: Called, tmp_path: Path, rights: tuple[str, ...], told: str
) -> None:
    (tmp_path / "backup.gz").write_bytes(backup)
    other.execute_command("ACL SETUSER", "filler", "on", ">word", "~*", "+@all", *rights)  # type: ignore[no-untyped-call] # redis-py has not annotated it
    place = ("--redis", url_of(tmp_path / "other").replace("//", "//filler:word@"))
    failed = called("restore", str(tmp_path / "backup.gz"), "--without-archive", *place)
    assert (failed.code, told in " ".join(failed.told.split())) == (1, True)


def test_a_backup_that_is_cut_while_a_store_is_filled_from_it_is_told_of_in_a_sentence(
    backup: bytes, other: Redis, called: Called, tmp_path: Path
) -> None:
    rng, file = Random(3), tmp_path / "backup.gz"
    line = b'{"key":"x%d","type":"string","until":null,"value":["%x"]}'
    more = [line % (number, rng.getrandbits(999)) for number in range(4_000)]
    *lines, end = lines_of(backup)
    counted = int(re.findall(rb'"keys":(\d+)', end)[0])
    file.write_bytes(sealed([*lines, *more, end.replace(b'"keys":%d' % counted, b'"keys":%d' % (counted + len(more)))]))

    def cut() -> None:
        until(lambda: other.dbsize() > 9)
        os.truncate(file, 0)

    cutting = threading.Thread(target=cut)
    cutting.start()
    failed = called("restore", str(file), "--without-archive", "--redis", url_of(tmp_path / "other"))
    cutting.join()
    assert failed.code == 1
    assert f"The store is filled in part, and must be emptied: {file}" in " ".join(failed.told.split())


def test_no_command_works_on_a_store_that_is_filled_in_part(
    backup: bytes, other: Redis, called: Called, tmp_path: Path
) -> None:
    (tmp_path / "archive").mkdir()
    (tmp_path / "backup.gz").write_bytes(backup)
    other.set(RESTORING_KEY, 1)
    archive, some = ("--archive", (tmp_path / "archive").as_uri()), "0" * 26
    for arguments in (
        ("backup", str(tmp_path / "part.gz")),
        ("token", "--name", "Ada"),
        ("erase", some, "--yes"),
        ("archive", *archive),
        ("restore", some, *archive),
        ("restore", str(tmp_path / "backup.gz"), "--without-archive"),
        ("rebuild",),
        ("replay", some),
    ):
        refusal = called(*arguments, "--redis", url_of(tmp_path / "other")).refusal
        assert "has not come to its end" in refusal
    assert (other.keys(), (tmp_path / "part.gz").exists()) == ([RESTORING_KEY.encode()], False)


@pytest.mark.parametrize("e", [b"garbage", b'{"key":1}', b'{"key":null,\n"events":[]}'])
def test_a_log_that_can_not_be_read_is_left_out_and_all_else_restored(
    house: House, other: Redis, called: Called, tmp_path: Path, e: bytes
) -> None:
    stream = table_stream(house.tables[1])
    with asking(house.store) as client:
        key = keys_of(stream).stream
        ((last, fields),) = cast("list[tuple[bytes, dict[bytes, bytes]]]", client.xrevrange(key, count=1))
        version = int(last.partition(b"-")[0]) + 1
        client.xadd(key, {"e": e, "h": head_after(fields[b"h"], e)}, id=f"{version}-0")
    made = called("backup", str(tmp_path / "backup.gz"), "--redis", house.store)
    assert (made.code, f"1 log is damaged and not in the backup: {stream}" in made.told) == (1, True)
    place = ("--redis", url_of(tmp_path / "other"), "--archive", house.archive)
    assert called("restore", str(tmp_path / "backup.gz"), *place).code == 0
    assert [other.exists(keys_of(table_stream(table)).stream) for table in house.tables] == [1, 0, 1]


def test_what_can_not_be_meant_is_refused(house: House, called: Called, tmp_path: Path) -> None:
    place = ("--redis", house.store)
    assert "There is no folder" in called("backup", str(tmp_path / "no" / "where"), *place).refusal
    for folder in ("folder/", "folder/.", "folder//"):
        refusal = called("backup", f"{tmp_path}/{folder}", *place).refusal
        assert f"There is no folder {tmp_path / 'folder'}" in refusal
        assert not (tmp_path / "folder").exists()
    assert "it is empty" in called("backup", "", *place).refusal
    taken = tmp_path / "taken"
    taken.touch()
    assert "is there already" in called("backup", str(taken), *place).refusal
    assert "File name too long" in called("backup", str(tmp_path / ("x" * 300)), *place).refusal
    assert "File name too long" in called("restore", str(tmp_path / ("x" * 300)), *place).refusal
    os.mkfifo(tmp_path / "pipe")
    for none in ("pipe", "."):
        refusal = called("restore", str(tmp_path / none), *place).refusal
        assert "is no file that can be read more than once" in refusal
    asked = ("--with-keys", "--keys", str(tmp_path / "nowhere"))
    assert "The secrets are not in" in called("backup", str(tmp_path / "b"), *place, *asked).refusal
    assert "There is no file" in called("restore", str(tmp_path / "b"), *place).refusal
    with asking(house.store) as client:
        keys = keys_of(table_stream(house.tables[0]))
        client.xdel(keys.stream, "2-0")
    damaged = called("backup", str(tmp_path / "b"), *place)
    assert damaged.code == 1
    assert f"1 log is damaged and not in the backup: table:{house.tables[0]}" in damaged.told
