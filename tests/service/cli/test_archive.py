"""`evenfold archive` and `evenfold restore TABLE`: to a folder, to a bucket, and what stands in their way."""

import contextlib
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from service.archive import path_of
from service.cli.archive import Told
from service.parts import Sources
from service.streams import keys_of, table_stream
from tests.archives import LONG_AGO
from tests.served import Person, served
from tests.service.cli.processes import CLEAN, Called, command, run, until
from tests.stores import asking, free_port

TABLES = "/v1/kowah/tables"


@pytest.fixture
def tables(valkey_url: str, tmp_path: Path) -> Iterator[list[str]]:
    """Give tables in the shared store: two that ended long ago, one that never began, one that ended now."""
    (tmp_path / "archive").mkdir()
    with asking(valkey_url) as client:
        client.flushall()
        with served(valkey_url, tmp_path / "keys", sources=Sources(clock=lambda: LONG_AGO)) as url:
            ada = Person(url)
            old = [opened(ada, ends=True), opened(ada, ends=True), opened(ada, ends=False)]
            ada.http.close()
        with served(valkey_url, tmp_path / "keys") as url:
            ada = Person(url)
            yield [*old, opened(ada, ends=True)]
            ada.http.close()
        client.flushall()  # Nobody else's reactors know where the archive is.


def opened(person: Person, *, ends: bool) -> str:
    table: str = person.post(TABLES, {"bots": []}).json()["table"]
    if ends:
        assert person.post(f"{TABLES}/{table}/commands", {"type": "table.abandon"}).status_code == 201
    return table


def told(printed: str) -> Told:
    return msgspec.json.decode(printed, type=Told)


def test_what_ended_long_ago_goes_to_a_folder_and_comes_back(
    called: Called, tables: list[str], valkey_url: str, tmp_path: Path
) -> None:
    place = ("--redis", valkey_url, "--archive", (tmp_path / "archive").as_uri())
    dry = called("archive", *place, "--dry-run")
    assert (dry.code, dry.printed) == (0, "")
    assert re.search(r"2 tables would go, in \d+ bytes; nothing has changed\.", dry.told)
    assert list((tmp_path / "archive").iterdir()) == []
    first = called("archive", *place, "--json")
    size = sum(file.stat().st_size for file in (tmp_path / "archive").rglob("*.gz"))
    assert (first.code, told(first.printed)) == (0, Told(archived=2, bytes=size, live=1, recent=1))
    again = called("archive", *place)
    assert "0 tables went, in 0 bytes; 2 stay, 2 had gone before." in again.told
    assert called("replay", tables[0], *place).printed.count("abandoned") == 1
    back = called("restore", tables[0], *place)
    assert (back.code, back.told) == (0, f"Table {tables[0]} is in the store again, with all of its 2 decisions.\n")
    with asking(valkey_url) as client:
        kept = [client.exists(keys_of(table_stream(table)).stream) for table in tables]
    assert kept == [1, 0, 1, 1]
    assert "not archived" in called("restore", tables[0], *place).refusal


def test_a_shorter_window_is_the_operators_word(
    called: Called, tables: list[str], valkey_url: str, tmp_path: Path
) -> None:
    place = ("--redis", valkey_url, "--archive", (tmp_path / "archive").as_uri())
    with asking(valkey_url) as client:
        assert client.exists(keys_of(table_stream(tables[3])).stream)
    assert told(called("archive", *place, "--older-than", "36500d", "--json").printed).archived == 0


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        ((), "Say with --archive where the archive is"),
        (("--archive", ""), "malformed"),
        (("--archive", "ftp://there/x"), "address is malformed: write file:///folder or s3://bucket/prefix"),
        (("--archive", "file:relative"), "malformed"),
        (("--archive", "s3://key:secret@bucket"), "malformed"),
        (("--archive", "file:///nowhere/at/all"), "there is no such folder"),
        (("--archive", "file:///tmp", "--older-than", "0m"), "'0m' is no time"),
        (("--archive", "file:///tmp", "--older-than", "0d"), "write 30d, 12h or 45m, 1m to 36500d"),
        (("--archive", "file:///tmp", "--older-than", "36501d"), "write 30d, 12h or 45m, 1m to 36500d"),
        (("--archive", "file:///tmp", "--older-than", "soon"), "'soon' is no time"),
    ],
)
def test_what_can_not_be_meant_is_refused(
    called: Called, valkey_url: str, arguments: tuple[str, ...], refusal: str
) -> None:
    assert refusal in called("archive", "--redis", valkey_url, *arguments).refusal


def test_another_archive_than_that_of_the_store_is_refused(
    called: Called, tables: list[str], valkey_url: str, tmp_path: Path
) -> None:
    there, other = tmp_path / "archive", tmp_path / "other"
    other.mkdir()
    assert called("archive", "--redis", valkey_url, "--archive", there.as_uri()).code == 0
    with asking(valkey_url) as client:
        client.zadd("accounts:erased", {"0" * 26: 1})
        before = {key: client.dump(key) for key in client.scan_iter()}
        for more in ((), ("--dry-run",), ("--older-than", "1m")):
            refusal = called("archive", "--redis", valkey_url, "--archive", other.as_uri(), *more).refusal
            assert f"The archive at {other.as_uri()} has none of the files of 2 logs" in refusal
            assert f"such as table:{min(tables[:2])}: name the archive where they are" in refusal
        assert {key: client.dump(key) for key in client.scan_iter()} == before
        assert list(other.iterdir()) == []


def test_a_file_that_is_lost_is_named_and_everything_else_goes_on(
    called: Called, tables: list[str], valkey_url: str, tmp_path: Path
) -> None:
    there = tmp_path / "archive"
    place = ("--redis", valkey_url, "--archive", there.as_uri())
    assert called("archive", *place).code == 0
    assert called("restore", tables[0], *place).code == 0
    (there / "erased").mkdir()
    for table in (tables[0], tables[1]):
        (file,) = there.rglob(f"*{table}*")
        file.rename(tmp_path / table)
    refusal = called("archive", *place).refusal
    assert f"has none of the files of 1 log that the store has no more, such as table:{tables[1]}:" in refusal
    (tmp_path / tables[1]).rename(there / path_of(table_stream(tables[1]), 2))
    assert called("archive", *place).code == 0
    (there / path_of(table_stream(tables[1]), 2)).unlink()
    named = called("archive", *place, "--older-than", "1m", "--json")
    assert (named.code, told(named.printed).there, told(named.printed).lost) == (1, 1, [table_stream(tables[1])])
    assert f"1 table is lost, whose file the archive lacks: table:{tables[1]}; put back" in named.told
    # In the place of one that is lost for good.
    (there / path_of(table_stream(tables[1]), 2)).touch()
    assert called("archive", *place).code == 0


def test_a_restored_table_must_be_one(called: Called, valkey_url: str) -> None:
    assert "is not the id of a table" in called("restore", "u" * 26, "--redis", valkey_url).refusal
    assert "Say with --archive" in called("restore", "0" * 26, "--redis", valkey_url).refusal


def test_a_damaged_table_stays_and_is_named(called: Called, tables: list[str], valkey_url: str, tmp_path: Path) -> None:
    keys = keys_of(table_stream(tables[0]))
    with asking(valkey_url) as client:
        client.xdel(keys.stream, "1-0")
        outcome = called("archive", "--redis", valkey_url, "--archive", (tmp_path / "archive").as_uri(), "--json")
        assert (outcome.code, told(outcome.printed).archived) == (1, 1)
        assert f"1 table stays that something is wrong with: table:{tables[0]}" in outcome.told
        assert client.xlen(keys.stream) == 1


def test_whoever_is_killed_while_archiving_has_lost_nothing_and_the_next_run_goes_on(
    valkey_url: str, tmp_path: Path
) -> None:
    folder = tmp_path / "archive"
    folder.mkdir()
    place = ("--redis", valkey_url, "--archive", folder.as_uri())
    with asking(valkey_url) as client:
        client.flushall()
        clock = Sources(clock=lambda: LONG_AGO)
        with served(valkey_url, tmp_path / "keys", sources=clock, archive=folder.as_uri()) as url:
            ada = Person(url)
            tables = [opened(ada, ends=True) for _ in range(30)]
            before = [ada.get(f"{TABLES}/{table}/events").content for table in tables]
            for _ in range(3):
                gone = len(list(client.scan_iter("*:gone:*")))
                with subprocess.Popen(command("archive", *place), env=CLEAN, stderr=subprocess.DEVNULL) as process:
                    until(lambda gone=gone: len(list(client.scan_iter("*:gone:*"))) > gone)  # type: ignore[misc] # mypy types no defaults
                    process.kill()
                assert [ada.get(f"{TABLES}/{table}/events").content for table in tables] == before
            last = told(run("archive", *place, "--json").stdout)
            assert last.archived + last.there == len(tables)
            assert [ada.get(f"{TABLES}/{table}/events").content for table in tables] == before
            assert list(client.scan_iter("*:table:*")) == []
            ada.http.close()


@pytest.fixture
def s3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Give the address of an S3 server, with our variables set for it."""
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with (tmp_path / "s3.log").open("w") as log, subprocess.Popen(command, stdout=log, stderr=log) as server:
        try:
            address = f"http://127.0.0.1:{port}"
            until(lambda: _answers(address))
            for name, value in {
                "AWS_ENDPOINT_URL": address,
                "AWS_REGION": "us-east-1",
                "AWS_ACCESS_KEY_ID": "us",
                "AWS_SECRET_ACCESS_KEY": "secret",
            }.items():
                monkeypatch.setenv(name, value)
            yield address
        finally:
            server.kill()


def _answers(address: str) -> bool:
    with contextlib.suppress(OSError):
        _ask("GET", address)
        return True
    return False


def _ask(method: str, address: str) -> None:
    """Ask the S3 server, by a client whose answers are not held against our document."""
    with urllib.request.urlopen(urllib.request.Request(address, method=method)):  # noqa: S310 a port of the loopback
        pass


def test_a_bucket_is_an_archive_too_and_a_server_reads_from_it(
    tables: list[str], valkey_url: str, tmp_path: Path, s3: str
) -> None:
    variables = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    place = ("--redis", valkey_url, "--archive", "s3://tables/ended")
    missing = run("archive", *place, **variables)
    assert (missing.returncode, "s3://tables/ended can't be used" in missing.stderr) == (2, True)
    assert "secret" not in missing.stderr
    _ask("PUT", f"{s3}/tables")
    path = f"{TABLES}/{tables[0]}"
    with served(valkey_url, tmp_path / "keys", archive="s3://tables/ended") as url:
        ada = Person(url)
        before = [ada.get(f"{path}{rest}").content for rest in ("", "/events", "/record")]
        done = run("archive", *place, "--json", **variables)
        assert (done.returncode, told(done.stdout).archived) == (0, 2)
        assert [ada.get(f"{path}{rest}").content for rest in ("", "/events", "/record")] == before
        assert told(run("archive", *place, "--json", **variables).stdout).there == 2
        assert run("restore", tables[0], *place, **variables).returncode == 0
        assert [ada.get(f"{path}{rest}").content for rest in ("", "/events", "/record")] == before
        ada.http.close()
