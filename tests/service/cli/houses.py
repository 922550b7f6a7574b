"""Stores that are backed up: with people and tables, as a server leaves them."""

from pathlib import Path
from random import Random

from service.parts import Sources
from tests.archives import LONG_AGO
from tests.reacting import reacting
from tests.served import Person, served
from tests.service.cli.processes import Called, until

TABLES = "/v1/kowah/tables"


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


def url_of(folder: Path) -> str:
    return f"unix://{folder}/valkey.sock"
