"""Whole matches over WebSockets, one for each player: what is sent is what the log has."""

from random import Random

from tests.served import Person
from tests.service.api.conftest import Company, seated
from tests.service.api.sockets.conftest import decisions, path_of
from tests.sockets import Json, Socket, sockets_of

SHORT = {"options": {"deals": 5, "partners": "five"}}


def test_a_match_is_played_over_a_socket_for_each_player_that_watches_several_tables(url: str) -> None:
    """Five people at two tables, each with one socket for both; what it is sent is what the log has."""
    with seated(url, SHORT) as company, sockets_of(url, company.people) as sockets:
        tables = [company.path.rpartition("/")[2], another(company)]
        for socket in sockets:
            for table in tables:
                assert socket.watch(table)["type"] == "watched"
        whole, short = (Play(company.people, sockets, table, Random(number)) for number, table in enumerate(tables))
        while whole.step():
            if whole.steps < 40:
                short.step()
            elif whole.steps == 40:
                short.give_up()
        for person, socket in zip(company.people, sockets, strict=True):
            rest = [socket.until(lambda frame: frame["type"] == "ended") for _ in tables]
            assert {frame["table"] for frame in rest} == {*tables}
            assert seen_of(socket, tables[0]) == decisions(person, tables[0])
            # Who has resigned sees less of what it has seen before.
            heads = [decision["head"] for decision in decisions(person, tables[1])]
            assert [decision["head"] for decision in seen_of(socket, tables[1])] == heads


class Play:
    """A table played over sockets by whoever must act, with no more knowledge of rules than what is legal."""

    def __init__(self, people: list[Person], sockets: list[Socket], table: str, rng: Random) -> None:
        self.people = people
        self.sockets = sockets
        self.table = table
        self.rng = rng
        self.view: Json = people[0].get(f"/v1/chinkway/tables/{table}").json()
        self.steps = 0

    def step(self) -> bool:
        """Have one seat act; tell whether play goes on."""
        if self.view["status"] != "playing":
            return False
        seat = self.view["to_act"][0]
        legal = self.people[seat].get(path_of(self.table, "actions")).json()["legal"]
        command = self.rng.choice(legal)
        answer = self.sockets[seat].post(path_of(self.table), command, prefer="return=representation")
        assert (answer["status"], answer["headers"]["preference-applied"]) == (201, "return=representation"), answer
        self.view = answer["body"]["view"]
        self.steps += 1
        return True

    def give_up(self) -> None:
        """Have all but one resign, which ends it."""
        for socket in self.sockets[1:]:
            assert socket.post(path_of(self.table), {"type": "table.resign"})["status"] == 201


def another(company: Company) -> str:
    """Open another table of the same people, and return it in play."""
    table: str = company.people[0].post("/v1/chinkway/tables", SHORT).json()["table"]
    for seat, person in enumerate(company.people):
        assert person.post(path_of(table, "seats"), {"seat": seat}).status_code == 201
    return table


def seen_of(socket: Socket, table: str) -> list[Json]:
    """Return the decisions of a table that have come on a socket so far, in the order of their coming."""
    found = [frame for frame in socket.early if frame.get("table") == table and frame["type"] == "decision"]
    assert [frame["version"] for frame in found] == [frame["decision"]["version"] for frame in found]
    return [frame["decision"] for frame in found]
