"""Archiving, backing up and restoring a store as deploy/ sets it up, each as the user that is there for it."""

import gzip
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from service.parts import Sources
from service.streams import keys_of, table_stream
from tests.archives import LONG_AGO
from tests.deploy.store import Deployed, deployed
from tests.served import Person, served
from tests.service.cli.processes import run, until
from tests.sizes import CI
from tests.stores import BINARIES

TABLES = "/v1/kowah/tables"


@pytest.fixture(params=sorted(BINARIES) if CI else ["valkey"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Deployed]:
    (tmp_path / "store").mkdir()
    with deployed(BINARIES[request.param], tmp_path / "store") as server:
        yield server


def test_each_user_keeps_what_it_is_there_for_and_no_other_can(store: Deployed, tmp_path: Path) -> None:
    (tmp_path / "archive").mkdir()
    archive = (tmp_path / "archive").as_uri()
    with served(
        store.url("evenfold"), tmp_path / "keys", sources=Sources(clock=lambda: LONG_AGO), archive=archive
    ) as url:
        ada = Person(url)
        table = ada.post(TABLES, {"bots": []}, Idempotency_Key="once").json()["table"]
        assert ada.post(f"{TABLES}/{table}/commands", {"type": "table.abandon"}).status_code == 201
        before = ada.get(f"{TABLES}/{table}/events").content
        for user in ("evenfold", "operator"):
            denied = run("archive", "--archive", archive, EVENFOLD_REDIS_URL=store.url(user))
            assert (denied.returncode, store.password(user) in denied.stderr) == (1, False)
            assert "The store does not let this go on: " in " ".join(denied.stderr.split())
            assert ada.get(f"{TABLES}/{table}/events").content == before
        assert run("archive", "--archive", archive, EVENFOLD_REDIS_URL=store.url("archivist")).returncode == 0
        assert ada.get(f"{TABLES}/{table}/events").content == before
        with store.client("operator") as client:
            assert not client.exists(keys_of(table_stream(table)).stream)
        backup = tmp_path / "backup.gz"
        assert run("backup", str(backup), EVENFOLD_REDIS_URL=store.url("operator")).returncode == 0
        assert run("restore", table, "--archive", archive, EVENFOLD_REDIS_URL=store.url("evenfold")).returncode == 1
        assert ada.get(f"{TABLES}/{table}/events").content == before
        assert run("restore", table, "--archive", archive, EVENFOLD_REDIS_URL=store.url("archivist")).returncode == 0
        assert ada.get(f"{TABLES}/{table}/events").content == before
        ada.http.close()
    (tmp_path / "other").mkdir()
    binary = next(iter(BINARIES.values()))
    with deployed(binary, tmp_path / "other") as other, other.client("operator") as operator:
        password = secrets.token_hex(16)
        rights = ["on", f">{password}", "allkeys", "allchannels", "+@all"]
        operator.execute_command("ACL SETUSER", "restorer", *rights)  # type: ignore[no-untyped-call] # redis-py has not annotated it
        restorer = other.place.replace("://", f"://restorer:{password}@")
        restored = run("restore", str(backup), "--archive", archive, EVENFOLD_REDIS_URL=restorer)
        assert restored.returncode == 0, restored.stderr
        operator.execute_command("ACL DELUSER", "restorer")  # type: ignore[no-untyped-call] # redis-py has not annotated it
        with served(other.url("evenfold"), tmp_path / "keys", archive=archive) as url:
            ada.http = Person(url, None).http
            ada.http.headers["Authorization"] = f"Bearer {ada.token}"
            assert ada.get(f"{TABLES}/{table}/events").content == before
            ada.http.close()


def test_the_archivist_names_whom_the_archive_alone_knows_as_erased(store: Deployed, tmp_path: Path) -> None:
    account = "0" * 26
    (tmp_path / "archive" / "erased").mkdir(parents=True)
    (tmp_path / "archive" / "erased" / account).touch()
    place = ("--archive", (tmp_path / "archive").as_uri())
    named = run("archive", *place, EVENFOLD_REDIS_URL=store.url("archivist"))
    assert f"start the service with this archive, or erase {account}" in " ".join(named.stderr.split())
    assert named.returncode == 1
    with served(store.url("evenfold"), tmp_path / "keys", archive=place[1]):
        pass
    backup = run("backup", str(tmp_path / "backup.gz"), EVENFOLD_REDIS_URL=store.url("operator"))
    assert backup.returncode == 0
    assert b'"archive":"%s"' % place[1].encode() in gzip.decompress((tmp_path / "backup.gz").read_bytes())


def test_what_was_erased_is_in_the_files_of_the_store_until_the_operator_has_them_rewritten(
    store: Deployed, tmp_path: Path
) -> None:
    written = "He peeked into my hand."
    with served(store.url("evenfold"), tmp_path / "keys") as url:
        ada = Person(url, "Adamantine")
        table = ada.post(TABLES, {"seats": 2, "bots": ["steady"]}).json()["table"]
        ada.post(f"{TABLES}/{table}/seats", {"seat": 0})
        dispute = {"first": 1, "last": 2, "reason": "other", "text": written}
        assert ada.post(f"{TABLES}/{table}/disputes", dispute).status_code == 201
        assert ada.delete("/v1/me").status_code == 204
        ada.http.close()
    before = in_the_files(tmp_path / "store", written, "Adamantine")
    with store.client("operator") as operator:
        operator.bgrewriteaof()
        until(
            lambda: not any(operator.info("persistence")[f"aof_rewrite_{how}"] for how in ("in_progress", "scheduled"))
        )
        assert operator.info("persistence")["aof_last_bgrewrite_status"] == "ok"
    until(lambda: not any(in_the_files(tmp_path / "store", written, "Adamantine")))
    assert before == [True, True]


def in_the_files(folder: Path, *texts: str) -> list[bool]:
    """Tell which of these texts are in the files of a store's log."""
    files = b""
    for path in (folder / "appendonlydir").iterdir():
        with suppress(FileNotFoundError):  # The server removes what it has rewritten.
            files += path.read_bytes()
    return [text.encode() in files for text in texts]
