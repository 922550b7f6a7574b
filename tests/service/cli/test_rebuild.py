"""`evenfold rebuild`: beside a server that runs, by itself, and what it says."""

from pathlib import Path

from redis import Redis

from service.ids import new_id
from service.streams import keys_of, table_stream
from tests.service.cli.processes import Called, Server, person, until
from tests.stores import asking

TABLES = "/v1/chinkway/tables"
EVERYTHING = ": keys, attendance, lobby, inboxes and docket."


def lose_everything_derived(store: Redis) -> None:
    """Delete all that can be made anew from the streams."""
    for pattern in ("*:keys:*", "account:hosting:*", "account:seats:*", "{lobby}:*", "inbox:*", "*:told:*"):
        for key in store.scan_iter(pattern):
            store.delete(key)


def test_beside_a_server_that_runs_all_is_there_again_and_no_request_is_done_twice(
    called: Called, server: Server
) -> None:
    with person(server.url) as ada, asking(f"unix://{server.data}/valkey.sock") as store:
        opened = ada.post(TABLES, {"options": {"deals": 5, "partners": "five"}}, Idempotency_Key="once")
        table = opened.json()["table"]
        sat = ada.post(f"{TABLES}/{table}/seats", {"seat": 0}, Idempotency_Key="sit")
        mine = f"/v1/tables?host={ada.id}"
        until(lambda: [one["seats"][0]["player"] for one in ada.get(mine).json()["tables"]] == [ada.id])
        (shown,) = ada.get(mine).json()["tables"]
        lose_everything_derived(store)
        assert ada.get(mine).json()["tables"] == []
        told = called("rebuild", "--data", str(server.data))
        assert (told.code, told.printed) == (0, "")
        assert EVERYTHING in told.told
        until(lambda: ada.get(mine).json()["tables"] == [shown])
        again = ada.post(TABLES, {"options": {"deals": 5, "partners": "five"}}, Idempotency_Key="once")
        assert (again.status_code, again.json()["table"], again.json()["head"]) == (201, table, opened.json()["head"])
        assert ada.post(f"{TABLES}/{table}/seats", {"seat": 0}, Idempotency_Key="sit").json() == sat.json()


def test_only_what_is_named_is_made_anew(called: Called, server: Server) -> None:
    with person(server.url) as ada, asking(f"unix://{server.data}/valkey.sock") as store:
        table = ada.post(TABLES, Idempotency_Key="once").json()["table"]
        until(lambda: store.hexists("{lobby}:tables", table))
        index = keys_of(table_stream(table)).remembered
        store.delete(index, "{lobby}:tables")
        told = called("rebuild", "--only", "keys", "--data", str(server.data)).told
        assert "tables: keys." in told
        assert (store.hlen(index), store.hexists("{lobby}:tables", table)) == (1, False)
        told = called("rebuild", "--only", "lobby", "--only", "inboxes", "--data", str(server.data)).told
        assert "tables: lobby and inboxes." in told
        assert store.hexists("{lobby}:tables", table)


def test_what_is_not_derived_is_refused(called: Called, tmp_path: Path) -> None:
    told = called("rebuild", "--only", "tables", "--data", str(tmp_path)).refusal
    assert told == "evenfold: Nothing derived is named 'tables'; there are keys, attendance, lobby, inboxes, docket."
    assert "holds no store" in called("rebuild", "--data", str(tmp_path)).refusal
    assert list(tmp_path.iterdir()) == []


def test_damaged_tables_are_named_and_left_out(called: Called, server: Server) -> None:
    stream = table_stream(new_id())
    keys = keys_of(stream)
    with asking(f"unix://{server.data}/valkey.sock") as store:
        store.zadd(keys.catalogue, {stream: 0})
        store.xadd(keys.stream, {"e": "{}", "h": bytes(32)}, id="2-0")
        try:
            told = called("rebuild", "--data", str(server.data))
        finally:
            store.delete(keys.stream)
            store.zrem(keys.catalogue, stream)
    assert (told.code, told.printed) == (1, "")
    assert f"Made anew but for what 1 table can't tell, whose log is damaged or away: {stream}" in told.told
