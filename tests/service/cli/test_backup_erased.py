"""Whoever is erased stays erased, whichever backup a store is filled from."""

import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from redis import Redis

from service.cli.backup import ERASED_FILE
from service.embedded import Embedded
from service.streams import keys_of, table_stream
from tests.reacting import reacting
from tests.served import Person, served
from tests.service.cli.houses import TABLES, House, url_of
from tests.service.cli.processes import Called, one_line, until
from tests.stores import asking


def test_an_account_erased_after_a_backup_stays_erased(
    house: House, other: Redis, called: Called, tmp_path: Path
) -> None:
    early, late = tmp_path / "backups" / "early.gz", tmp_path / "backups" / "late.gz"
    assert called("backup", str(early), "--redis", house.store).code == 0
    be = house.people[1].id
    assert called("erase", be, "--yes", "--redis", house.store).code == 0
    assert called("backup", str(late), "--redis", house.store).code == 0
    assert other.dbsize() == 0
    outcome = called("restore", str(early), "--redis", url_of(tmp_path / "other"), "--archive", house.archive)
    assert (outcome.code, f"Account {be} was erased since the backup was made" in outcome.told) == (0, True)
    assert not other.exists(f"account:{be}")
    with served(url_of(tmp_path / "other"), house.keys) as url:
        for person in house.people:
            person.http.base_url = url
        assert house.people[1].get("/v1/me").status_code == 401
        view = house.people[0].get(f"{TABLES}/{house.tables[1]}").json()
        assert view["status"] == "ended"


def test_an_account_that_was_being_erased_while_a_backup_was_made_is_erased(
    house: House, other: Redis, called: Called, tmp_path: Path
) -> None:
    be = house.people[1].id
    with asking(house.store) as client:
        client.zadd("accounts:erased", {be: 1})
    assert called("backup", str(tmp_path / "backups" / "b.gz"), "--redis", house.store).code == 0
    file = (tmp_path / "backups" / "b.gz").rename(tmp_path / "alone.gz")
    place = ("--redis", url_of(tmp_path / "other"), "--archive", house.archive)
    assert called("restore", str(file), *place).code == 0
    assert other.exists(f"account:{be}", f"account:tokens:{be}") == 0


def test_the_archive_remembers_who_was_erased_where_the_store_is_lost(
    house: House, other: Redis, called: Called, tmp_path: Path
) -> None:
    file = tmp_path / "backups" / "early.gz"
    assert called("backup", str(file), "--redis", house.store).code == 0
    ada, be, cy = house.people
    with served(house.store, house.keys, archive=house.archive) as url:
        be.http.base_url = url
        assert be.delete("/v1/me").status_code == 204
    assert called("erase", ada.id, "--yes", "--redis", house.store, "--archive", house.archive).code == 0
    place = ("--redis", url_of(tmp_path / "other"), "--archive", house.archive)
    assert called("restore", str(file), *place).code == 0
    assert [other.exists(f"account:{person.id}") for person in (ada, be, cy)] == [0, 0, 1]


def test_the_archive_is_told_by_the_next_run_of_whom_it_was_not_told(
    house: House, other: Redis, called: Called, tmp_path: Path
) -> None:
    file, folder = tmp_path / "backups" / "early.gz", tmp_path / "archive"
    assert called("backup", str(file), "--redis", house.store).code == 0
    ada, be, cy = house.people
    place = ("--redis", house.store, "--archive", house.archive)
    folder.rename(tmp_path / "away")
    with served(house.store, house.keys, archive=house.archive) as url:
        be.http.base_url = url
        assert be.delete("/v1/me").status_code == 204
    (tmp_path / "away").rename(folder)
    erased = called("erase", ada.id, "--yes", "--redis", house.store)
    assert (erased.code, "the next `evenfold archive` tells it" in erased.told) == (0, True)
    assert not (folder / "erased").exists()
    assert called("archive", *place, "--dry-run").code == 0
    assert not (folder / "erased").exists()
    assert "2 accounts were erased that the archive did not know of." in called("archive", *place).told
    assert {each.name for each in (folder / "erased").iterdir()} == {ada.id, be.id}
    assert '"erased":0' in called("archive", *place, "--json").printed
    again = called("erase", ada.id, "--yes", *place)
    assert (again.code, "tells it" in again.told) == (0, False)
    restored = called("restore", str(file), "--redis", url_of(tmp_path / "other"), "--archive", house.archive)
    assert restored.code == 0
    assert [other.exists(f"account:{person.id}") for person in (ada, be, cy)] == [0, 0, 1]


def test_a_backup_with_logs_in_the_archive_is_not_restored_without_it_unless_it_is_lost(
    house: House, other: Redis, called: Called, tmp_path: Path
) -> None:
    file = tmp_path / "backups" / "early.gz"
    assert called("backup", str(file), "--redis", house.store).code == 0
    place = ("--redis", url_of(tmp_path / "other"))
    refusal = called("restore", str(file), *place).refusal
    assert "The backup's archive has 1 of its logs, and knows who was erased since" in refusal
    both = ("--archive", house.archive, "--without-archive")
    assert "--without-archive says that the archive is lost" in called("restore", str(file), *place, *both).refusal
    (tmp_path / "elsewhere").mkdir()
    for folder, wrong in (("elsewhere", "lacks 1 file that the backup names"), ("nowhere", "no such folder")):
        named = ("--archive", (tmp_path / folder).as_uri())
        assert wrong in called("restore", str(file), *place, *named).refusal
    assert other.dbsize() == 0
    lost = called("restore", str(file), *place, "--without-archive")
    assert (lost.code, "1 was in the archive, which is lost." in lost.told) == (0, True)
    assert other.exists(keys_of(table_stream(house.archived)).tombstone)


TOY = "tests.toy.service.toy"


@dataclass
class Erased:
    """A store that is used with an archive where nothing lies, its backup, and an account erased after that."""

    keys: Path
    archive: str
    file: Path
    account: Person
    table: str

    def is_gone(self, url: str) -> bool:
        """Tell whether nothing of the account is answered by a server."""
        self.account.http.base_url = url
        bob = Person(url, "Bob")
        disputes = bob.get(f"{TABLES}/{self.table}/disputes").text
        bob.http.close()
        return (self.account.get("/v1/me").status_code, "He peeked." in disputes) == (401, False)

    def is_back(self, url: str) -> bool:
        """Tell whether all of it is."""
        self.account.http.base_url = url
        disputes = self.account.get(f"{TABLES}/{self.table}/disputes").text
        return (self.account.get("/v1/me").status_code, "He peeked." in disputes) == (200, True)


@pytest.fixture
def erased(own_store: Callable[..., Embedded], tmp_path: Path, called: Called) -> Iterator[Erased]:
    (tmp_path / "archive").mkdir()
    archive, keys = (tmp_path / "archive").as_uri(), tmp_path / "keys"
    store = own_store(tmp_path / "data").url
    with served(store, keys, archive=archive) as url:
        ada = Person(url)
        table = ada.post(TABLES, {"seats": 2, "bots": ["steady"]}).json()["table"]
        path = f"{TABLES}/{table}"
        ada.post(f"{path}/seats", {"seat": 0})
        dispute = {"first": 1, "last": 2, "reason": "other", "text": "He peeked."}
        assert ada.post(f"{path}/disputes", dispute).status_code == 201
        assert called("backup", str(tmp_path / "b0.gz"), "--redis", store).code == 0
        assert ada.delete("/v1/me").status_code == 204
        assert [each.name for each in (tmp_path / "archive" / "erased").iterdir()] == [ada.id]
    yield Erased(keys, archive, tmp_path / "b0.gz", ada, table)
    ada.http.close()


def test_a_backup_says_that_its_store_had_an_archive_even_if_nothing_lay_there(
    erased: Erased, other: Redis, called: Called, tmp_path: Path
) -> None:
    place = ("--redis", url_of(tmp_path / "other"))
    refusal = called("restore", str(erased.file), *place).refusal
    assert f"The backup's archive at {erased.archive} has 0 of its logs, and knows" in refusal
    assert "no such folder" in called("restore", str(erased.file), *place, "--archive", "file:///nowhere").refusal
    assert other.dbsize() == 0
    (tmp_path / "archive").rename(tmp_path / "moved")
    moved = ("--archive", (tmp_path / "moved").as_uri())
    restored = called("restore", str(erased.file), *place, *moved)
    assert (restored.code, f"archive was {erased.archive}" in " ".join(restored.told.split())) == (0, True)
    with served(url_of(tmp_path / "other"), erased.keys, archive=moved[1]) as url:
        assert erased.is_gone(url)


def test_a_store_knows_the_archive_that_it_was_restored_with_and_no_lost_one(
    erased: Erased, other: Redis, called: Called, tmp_path: Path
) -> None:
    place = ("--redis", url_of(tmp_path / "other"))
    (tmp_path / "new").mkdir()
    new = ("--archive", (tmp_path / "new").as_uri())
    assert called("restore", str(erased.file), *place, "--without-archive").code == 0
    assert called("backup", str(tmp_path / "without.gz"), *place).code == 0
    other.flushall()
    assert called("restore", str(tmp_path / "without.gz"), *place).code == 0
    other.flushall()
    assert called("restore", str(erased.file), *place, *new).code == 0
    assert called("backup", str(tmp_path / "with.gz"), *place).code == 0
    other.flushall()
    assert f"The backup's archive at {new[1]} has" in called("restore", str(tmp_path / "with.gz"), *place).refusal


def test_a_backup_that_is_told_of_an_archive_says_so(house: House, called: Called, tmp_path: Path) -> None:
    place = ("--redis", house.store, "--archive", "s3://bucket/prefix")
    assert called("backup", str(tmp_path / "told.gz"), *place).code == 0
    head = gzip.decompress((tmp_path / "told.gz").read_bytes()).split(b"\n", 1)[0]
    assert b'"archive":"s3://bucket/prefix"' in head


def test_reactors_erase_again_whom_the_archive_knows_as_erased(
    erased: Erased, other: Redis, called: Called, tmp_path: Path
) -> None:
    store = url_of(tmp_path / "other")
    assert called("restore", str(erased.file), "--redis", store, "--without-archive").code == 0
    with served(store, erased.keys, archive=erased.archive) as url:
        assert erased.is_back(url)
        with reacting(store, erased.keys, archive=erased.archive):
            until(lambda: erased.is_gone(url))
    assert other.zscore("accounts:erased", erased.account.id)


def test_archiving_erases_again_whom_the_archive_knows_as_erased(
    erased: Erased, other: Redis, called: Called, tmp_path: Path
) -> None:
    store = url_of(tmp_path / "other")
    assert called("restore", str(erased.file), "--redis", store, "--without-archive").code == 0
    place = ("--redis", store, "--archive", erased.archive)
    assert called("archive", *place, "--dry-run").code == 0
    assert other.exists(f"account:{erased.account.id}")
    archived = called("archive", *place)
    assert (archived.code, "1 account was erased again that the archive knew" in archived.told) == (0, True)
    assert '"again":0' in called("archive", *place, "--json").printed
    with served(store, erased.keys, archive=erased.archive) as url:
        assert erased.is_gone(url)


def test_whoever_has_a_part_in_a_game_that_is_not_known_here_is_erased_when_it_is_named(
    own_store: Callable[..., Embedded], other: Redis, called: Called, tmp_path: Path
) -> None:
    (tmp_path / "archive").mkdir()
    file, archive = tmp_path / "toy.gz", ("--archive", (tmp_path / "archive").as_uri())
    first, place = own_store(tmp_path / "data").url, ("--redis", url_of(tmp_path / "other"))
    with served(first, tmp_path / "keys", TOY) as url:
        ada = Person(url)
        assert ada.post("/v1/toy/tables", {"bots": []}).status_code == 201
        ada.http.close()
    assert called("backup", str(file), "--redis", first).code == 0
    assert called("erase", ada.id, "--yes", "--redis", first, *archive, "--games", TOY).code == 0
    failed = called("restore", str(file), *place, *archive)
    cure = (
        f"must be emptied, for account {ada.id} was erased since and is not erased altogether: name the game of 'toy/1'"
    )
    assert (failed.code, cure in " ".join(failed.told.split())) == (1, True)
    other.flushall()
    assert called("restore", str(file), *place, "--without-archive").code == 0
    archived = called("archive", *place, *archive)
    assert archived.code == 1
    assert f"name with --games the games of {ada.id} ('toy/1')" in " ".join(archived.told.split())
    assert called("archive", *place, *archive, "--games", TOY).code == 0
    assert other.zscore("accounts:erased", ada.id)
    other.flushall()
    restored = called("restore", str(file), *place, *archive, "--games", TOY)
    assert (restored.code, f"Account {ada.id} was erased since" in restored.told) == (0, True)


@pytest.mark.parametrize("says", ["käse\n", "# nobody\n", None], ids=["no ASCII", "no id", "a folder"])
def test_a_list_of_the_erased_that_can_not_be_read_is_refused_before_anything_is_written(
    backup: bytes, other: Redis, called: Called, tmp_path: Path, says: str | None
) -> None:
    file, erased = tmp_path / "backup.gz", tmp_path / ERASED_FILE
    file.write_bytes(backup)
    if says is None:
        erased.mkdir()
    else:
        erased.write_text(says, encoding="utf-8")
    place = ("--redis", url_of(tmp_path / "other"))
    assert str(erased) in one_line(called("restore", str(file), "--without-archive", *place).told)
    assert other.dbsize() == 0
    assert str(erased) in called("backup", str(tmp_path / "another.gz"), *place).told
    assert not (tmp_path / "another.gz").exists()
