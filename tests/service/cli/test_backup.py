"""`evenfold backup` and `evenfold restore FILE`: a store filled from a backup is the one it was made of."""

import gzip
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest
from redis import Redis

from service.cli.backup import ERASED_FILE
from service.cli.drafts import draft_of
from service.embedded import Embedded
from service.parts import Sources
from service.store import RESTORING_KEY
from service.streams import keys_of, table_stream
from tests.archives import LONG_AGO
from tests.reacting import reacting
from tests.served import Person, served
from tests.service.cli.processes import CLEAN, Called, Outcome, command, one_line, run, until
from tests.stores import asking

TABLES = "/v1/kowah/tables"
LOG_AS_A_KEY = b'{"key":"{00}:table:x","type":"stream","until":null,"value":[["1-0",[["e","x"]]]]}'
DERIVED = ("{lobby}:", "inbox:", "transparency:", "account", "token:", "service:signing")


class House:
    """A store with people and tables, one of them in the archive, as a server leaves it."""

    def __init__(self, url: str, folder: Path, called: Called) -> None:
        self.store, self.folder, self.keys, self.archive = url, folder, folder / "keys", (folder / "archive").as_uri()
        (folder / "archive").mkdir()
        (folder / "backups").mkdir()
        with served(url, self.keys, sources=Sources(clock=lambda: LONG_AGO)) as old:
            ada = Person(old)
            self.archived = ada.post(TABLES, {"bots": []}).json()["table"]
            ada.post(f"{TABLES}/{self.archived}/commands", {"type": "table.abandon"})
            ada.http.close()
        with served(url, self.keys) as now, reacting(url, self.keys):
            self.people = [Person(now, name) for name in ("Ada", "Bé", "Cy")]
            self.tables = [self.table(Random(seed)) for seed in range(3)]
            done = self.people[1].post(f"{TABLES}/{self.tables[0]}/commands", {"type": "table.resign"})
            assert done.status_code == 201
            until(lambda: self.people[0].get("/v1/transparency").json()["size"] == 2)
            until(lambda: "ended" in self.people[0].get("/v1/me/events").text)
        assert called("archive", "--redis", url, "--archive", self.archive).code == 0

    def table(self, random: Random) -> str:
        ada, be, _ = self.people
        table: str = ada.post(TABLES, {"seats": 2, "bots": []}, Idempotency_Key=str(random.random())).json()["table"]
        path = f"{TABLES}/{table}"
        for seat, person in enumerate((ada, be)):
            person.post(f"{path}/seats", {"seat": seat})
        for _ in range(5):
            mover = (ada, be)[ada.get(path).json()["to_act"][0]]
            command = random.choice(mover.get(f"{path}/actions").json()["legal"])
            assert mover.post(f"{path}/commands", command).status_code == 201
        return table

    def answers(self, url: str) -> list[bytes]:
        """Return what everybody is answered by a server."""
        paths = [f"{TABLES}/{table}{rest}" for table in (*self.tables, self.archived) for rest in ("", "/events")]
        with served(url, self.keys, archive=self.archive) as at, reacting(url, self.keys, archive=self.archive):
            got = []
            for person in self.people:
                person.http.base_url = at
                got += [person.get(path).content for path in (*paths, "/v1/me", "/v1/me/events", "/v1/me/todo")]
                got.append(person.get(f"{TABLES}/{self.tables[0]}/record").content)
        return got


@pytest.fixture
def house(own_store: Callable[..., Embedded], tmp_path: Path, called: Called) -> Iterator[House]:
    made = House(own_store(tmp_path / "data").url, tmp_path, called)
    yield made
    for person in made.people:
        person.http.close()


@pytest.fixture(scope="module")
def backup(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Give the file of a backup."""
    folder = tmp_path_factory.mktemp("house")

    def called(*arguments: str) -> Outcome:
        done = run(*arguments)
        return Outcome(done.returncode, done.stdout, done.stderr)

    with Embedded(folder / "data", what="a house") as store:
        made = House(store.url, folder, called)
        for person in made.people:
            person.http.close()
        assert called("backup", str(folder / "whole.gz"), "--redis", store.url).code == 0
    return (folder / "whole.gz").read_bytes()


@pytest.fixture
def other(own_store: Callable[..., Embedded], tmp_path: Path) -> Iterator[Redis]:
    store = own_store(tmp_path / "other")
    with asking(store.url) as client:
        yield client


def sealed(lines: list[bytes]) -> bytes:
    """Return the file of a backup with these lines, the digest in its end made anew."""
    *before, end = lines
    digest = sha256(b"".join(line + b"\n" for line in before)).hexdigest().encode()
    return gzip.compress(b"".join(line + b"\n" for line in (*before, re.sub(rb"[0-9a-f]{64}", digest, end))))


def lines_of(file: bytes) -> list[bytes]:
    """Return the lines of a backup."""
    return gzip.decompress(file).splitlines()


def url_of(folder: Path) -> str:
    return f"unix://{folder}/valkey.sock"


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
    assert (restored.code, "The store holds 3 logs again; 1 are in the archive" in restored.told) == (0, True)
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
    for folder, wrong in (("elsewhere", "lacks 1 files that the backup names"), ("nowhere", "no such folder")):
        named = ("--archive", (tmp_path / folder).as_uri())
        assert wrong in called("restore", str(file), *place, *named).refusal
    assert other.dbsize() == 0
    lost = called("restore", str(file), *place, "--without-archive")
    assert (lost.code, "1 were in the archive, which is lost." in lost.told) == (0, True)
    assert other.exists(keys_of(table_stream(house.archived)).tombstone)


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
    assert (archived.code, "1 accounts were erased again that the archive knew" in archived.told) == (0, True)
    assert '"again":0' in called("archive", *place, "--json").printed
    with served(store, erased.keys, archive=erased.archive) as url:
        assert erased.is_gone(url)


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


@pytest.mark.parametrize("how", ["cut", "flipped", "short", "none", "other", "log", "fewer", "more"])
def test_a_file_that_is_not_whole_is_refused_before_anything_is_written(
    backup: bytes, other: Redis, called: Called, tmp_path: Path, how: str
) -> None:
    file = tmp_path / "backup.gz"
    lines = lines_of(backup)
    changed = {
        "cut": backup[: len(backup) // 2],
        "flipped": sealed([line.replace(b'"version":2', b'"version":3') for line in lines]),
        "short": gzip.compress(b"".join(line + b"\n" for line in lines[:-1])),
        "none": b"",
        "fewer": sealed(lines[:-2] + lines[-1:]),
        "more": sealed([*lines, lines[-1]]),
        "log": sealed([*lines[:1], LOG_AS_A_KEY, *lines[1:]]),
        "other": gzip.compress(b'{"backup":2,"made":1}\n'),
    }[how]
    file.write_bytes(changed)
    refusal = called("restore", str(file), "--redis", url_of(tmp_path / "other")).refusal
    assert str(file) in refusal
    assert other.dbsize() == 0


@pytest.mark.parametrize(
    "line",
    [
        '{"key":"x","type":"zset","until":null,"value":[["a","abc"]]}',
        '{"key":"x","type":"zset","until":null,"value":[["a","nan"]]}',
        '{"key":"x","type":"zset","until":null,"value":[["a","1"],["a","2"]]}',
        '{"key":"x","type":"zset","until":null,"value":[["♠","1"]]}',
        '{"key":"x","type":"set","until":null,"value":["♠"]}',
        '{"key":"x","type":"set","until":null,"value":[]}',
        '{"key":"x","type":"string","until":null,"value":["a","b"]}',
        '{"key":"♠","type":"string","until":null,"value":["a"]}',
        '{"key":"x","type":"hash","until":null,"value":"a"}',
        '{"key":"x","type":"hash","until":null,"value":[]}',
        '{"key":"x","type":"hash","until":null,"value":[["a"]]}',
        '{"key":"x","type":"hash","until":null,"value":[["a","b"]],"more":1}',
        '{"key":"x","type":"stream","until":null,"value":[["0-0",[["a","b"]]]]}',
        '{"key":"x","type":"stream","until":null,"value":[["2-0",[["a","b"]]],["1-0",[["a","b"]]]]}',
        '{"key":"x","type":"stream","until":null,"value":[["18446744073709551616-0",[["a","b"]]]]}',
        '{"key":"x","type":"list","until":null,"value":["a"]}',
        '{"key":"x","type":"string","until":-5,"value":["a"]}',
        '{"key":"x","type":"string","until":9223372036854775808,"value":["a"]}',
        '{"key":"x","type":"string","until":9223372036854775807,"value":["a"]}',
        '{"key":"x","type":"string","value":["a"]}',
        '{"key":"text:00000000000000000000000000","type":"string","until":null,"value":["a"]}',
        '{"key":"text:00000000000000000000000000","type":"hash","until":null,"value":[["salt","00"],["text",""]]}',
        '{"tombstone":"table:x","says":"{}"}',
        '{"tombstone":"table:00000000000000000000000000","says":"{}"}',
        '{"leaf":{"index":7,"stream":"table:00000000000000000000000000","version":1,"head":"' + 64 * "0" + '"}}',
    ],
)
def test_a_line_that_is_not_of_its_form_is_refused_by_its_number_before_anything_is_written(
    backup: bytes, other: Redis, called: Called, tmp_path: Path, line: str
) -> None:
    refused_at(2, [line], backup, other, called, tmp_path)


def refused_at(number: int, added: list[str], backup: bytes, other: Redis, called: Called, folder: Path) -> None:
    """Hold a backup with lines added after its first to be refused, for its line of this number."""
    file = folder / "backup.gz"
    head, *rest = lines_of(backup)
    file.write_bytes(sealed([head, *map(str.encode, added), *rest]))
    refusal = called("restore", str(file), "--redis", url_of(folder / "other")).refusal
    assert f"line {number}" in " ".join(refusal.split())
    assert other.dbsize() == 0


@pytest.mark.parametrize(
    ("name", "secret"), [("../elsewhere", "0" * 64), ("", "0" * 64), ("secret", "0"), ("secret", "♠" * 64)]
)
def test_secrets_go_nowhere_but_to_their_own_files(
    backup: bytes, other: Redis, called: Called, tmp_path: Path, name: str, secret: str
) -> None:
    file = tmp_path / "backup.gz"
    _, *rest = lines_of(backup)
    head = f'{{"backup":1,"made":1,"secrets":{{"{name}":"{secret}"}}}}'
    file.write_bytes(sealed([head.encode(), *rest]))
    place = ("--redis", url_of(tmp_path / "other"), "--keys", str(tmp_path / "new"))
    assert "at line 1: " in " ".join(called("restore", str(file), *place).refusal.split())
    assert (other.dbsize(), (tmp_path / "new").exists(), (tmp_path / "elsewhere").exists()) == (0, False, False)


TWICE = '{"key":"x","type":"string","until":null,"value":["a"]}'


def test_what_is_there_twice_is_refused(backup: bytes, other: Redis, called: Called, tmp_path: Path) -> None:
    refused_at(3, [TWICE, TWICE], backup, other, called, tmp_path)


def test_a_log_is_read_no_further_than_it_fits(backup: bytes, other: Redis, called: Called, tmp_path: Path) -> None:
    endless = '{"archive":1,"stream":"table:00000000000000000000000000","version":1000000000000,"head":"00"}'
    refused_at(3, [endless], backup, other, called, tmp_path)


def test_a_text_that_is_not_the_one_its_log_names_is_refused(
    house: House, other: Redis, called: Called, tmp_path: Path
) -> None:
    with served(house.store, house.keys) as url:
        ada = house.people[0]
        ada.http.base_url = url
        dispute = {"first": 1, "last": 2, "reason": "other", "text": "He peeked."}
        assert ada.post(f"{TABLES}/{house.tables[0]}/disputes", dispute).status_code == 201
    file = tmp_path / "backup.gz"
    assert called("backup", str(file), "--redis", house.store).code == 0
    lines = lines_of(file.read_bytes())
    (number,) = (number for number, line in enumerate(lines, 1) if b"He peeked." in line)
    altered = tmp_path / "altered.gz"
    altered.write_bytes(sealed([line.replace(b"He peeked.", b"He cheats.") for line in lines]))
    place = ("--redis", url_of(tmp_path / "other"), "--archive", house.archive)
    refusal = called("restore", str(altered), *place).refusal
    assert f"holds a text, line {number}, that is not the one" in " ".join(refusal.split())
    assert other.dbsize() == 0
    assert called("restore", str(file), *place).code == 0


def test_a_leaf_that_is_not_what_its_log_or_its_tombstone_says_is_refused(
    backup: bytes, other: Redis, called: Called, tmp_path: Path
) -> None:
    lines, file = lines_of(backup), tmp_path / "backup.gz"
    place = ("--redis", url_of(tmp_path / "other"), "--without-archive")
    leaves = [number for number, line in enumerate(lines) if line.startswith(b'{"leaf"')]
    refused = set[str]()
    for number in leaves:
        for pattern, wrong in ((rb"[0-9a-f]{64}", b"0" * 64), (rb'"version":\d+', b'"version":999')):
            file.write_bytes(sealed(put(lines, number, re.sub(pattern, wrong, lines[number]))))
            refusal = " ".join(called("restore", str(file), *place).refusal.split())
            assert f"holds a leaf, line {number + 1}, that is not what" in refusal
            refused.add(refusal.rpartition(" that is not what ")[2])
    assert (len(leaves), refused) == (2, {"its log says.", "the tombstone of its log says."})
    assert other.dbsize() == 0
    late = [line for line in lines if b'{"leaf"' not in line]
    file.write_bytes(sealed([*late[:-1], lines[leaves[0]], late[-1]]))
    assert "a leaf stands after its log" in " ".join(called("restore", str(file), *place).refusal.split())


def put(lines: list[bytes], number: int, line: bytes) -> list[bytes]:
    """Return lines with one of them replaced."""
    return [*lines[:number], line, *lines[number + 1 :]]


def test_leaves_that_there_is_nothing_to_hold_to_are_told(
    backup: bytes, other: Redis, called: Called, tmp_path: Path
) -> None:
    lines, file = lines_of(backup), tmp_path / "backup.gz"
    place = ("--redis", url_of(tmp_path / "other"), "--without-archive")
    (archived,) = re.findall(rb'"tombstone":"([^"]+)"', b"".join(lines))
    (number,) = (number for number, line in enumerate(lines) if b'{"leaf"' in line and archived in line)
    earlier = re.sub(rb'"version":\d+', b'"version":1', lines[number])
    file.write_bytes(sealed(put(lines, number, earlier)))
    restored = called("restore", str(file), *place)
    told = "1 leaves of the transparency log were held to no log: what they tell of is not in the backup."
    assert (restored.code, told in " ".join(restored.told.split())) == (0, True)
    other.flushall()
    file.write_bytes(backup)
    assert "held to no log" not in called("restore", str(file), *place).told
    assert other.hlen("transparency:leaves") == 2


def test_whatever_was_altered_the_digest_tells(backup: bytes, other: Redis, called: Called, tmp_path: Path) -> None:
    lines, file = lines_of(backup), tmp_path / "backup.gz"
    place = ("--redis", url_of(tmp_path / "other"), "--without-archive")
    altered = [line.replace('"Bé"'.encode("latin-1"), b'"Ce"').replace(b'"Cy"', b'"Di"') for line in lines]
    assert altered != lines
    file.write_bytes(gzip.compress(b"".join(line + b"\n" for line in altered)))
    assert "do not have the digest that its end says" in " ".join(called("restore", str(file), *place).refusal.split())
    assert other.dbsize() == 0
    file.write_bytes(sealed(altered))
    assert called("restore", str(file), *place).code == 0


@pytest.mark.parametrize("more", [b"\0", b"more", gzip.compress(b"", mtime=0)], ids=["a byte", "some", "a member"])
def test_a_backup_is_one_member_and_nothing_follows_it(
    backup: bytes, other: Redis, called: Called, tmp_path: Path, more: bytes
) -> None:
    file = tmp_path / "backup.gz"
    file.write_bytes(backup + more)
    refusal = called("restore", str(file), "--redis", url_of(tmp_path / "other")).refusal
    assert "something follows the member" in " ".join(refusal.split())
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


def test_two_runs_to_one_name_do_not_disturb_each_other(house: House, called: Called, tmp_path: Path) -> None:
    file = tmp_path / "backup.gz"
    with draft_of(file) as other:
        other.write(b"that of another run")
        assert "Another run writes" in called("backup", str(file), "--redis", house.store).refusal
    assert file.read_bytes() == b"that of another run"


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
    asked = ("--with-keys", "--keys", str(tmp_path / "nowhere"))
    assert "The secrets are not in" in called("backup", str(tmp_path / "b"), *place, *asked).refusal
    assert "There is no file" in called("restore", str(tmp_path / "b"), *place).refusal
    with asking(house.store) as client:
        keys = keys_of(table_stream(house.tables[0]))
        client.xdel(keys.stream, "2-0")
    damaged = called("backup", str(tmp_path / "b"), *place)
    assert damaged.code == 1
    assert f"1 logs are not in the backup, for they are damaged: table:{house.tables[0]}" in damaged.told
