"""What deploy/redis.conf and deploy/users.acl allow, as a real server understands them."""

import asyncio
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Final

import pytest
from redis import Redis
from redis.exceptions import AuthenticationError, NoPermissionError, RedisError

from service.errors import StoreDown
from service.ids import new_id
from service.log import function
from service.streams import keys_of, table_stream
from tests.archives import archiving
from tests.deploy.store import DEPLOY, USERS, Call, Deployed, Line, deployed, every_call, is_denied, secrets, state_of
from tests.service.audit.records import match_of
from tests.stores import BINARIES, DURABLE, asking, free_port, serving

OTHER: Final = "account:" + "0" * 26

CUTS: Final = {"maxlen", "minid"}

OPERATIONS: Final = {
    *("acl", "bgrewriteaof", "client", "config", "debug", "failover", "monitor"),
    *("pfselftest", "psync", "replicaof", "shutdown", "slaveof", "sync"),
}
"""Calls about the server as a whole: not for a server that others test on, by somebody who may."""

ENTRIES: Final = 5


@pytest.fixture(scope="module", params=sorted(BINARIES))
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    """Give each server that is found on this machine, set up as for real."""
    with deployed(BINARIES[request.param], tmp_path_factory.mktemp("deployed")) as server:
        yield server


@pytest.fixture
def admin(store: Deployed) -> Iterator[Line]:
    """Give a connection of the operator, who sees everything."""
    line = store.line("operator")
    yield line
    line.close()


@pytest.fixture
def evenfold(store: Deployed) -> Iterator[Line]:
    """Give a connection of the service's user."""
    line = store.line("evenfold")
    yield line
    line.close()


def append(line: Line, stream: str, expected: int, key: str = "") -> object:
    """Append an entry as the service does, with an idempotency key if one is given."""
    source = function()
    line.say(("FUNCTION", "LOAD", "REPLACE", source.code))
    return line.say(("FCALL", source.name, 5, *keys_of(stream), stream, expected, b"e", b"h" * 32, key, b""))


def filled(line: Line) -> str:
    """Make a stream of five entries as the service does, and return its key."""
    stream = table_stream(new_id())
    for expected in range(ENTRIES):
        assert append(line, stream, expected, f"key {expected}") == [b"ok", expected + 1]
    return keys_of(stream).stream


def run(line: Line, admin: Line, calls: list[Call]) -> tuple[set[str], list[Call]]:
    """Make calls whose stream is `calls`' own; return the names of those not denied, and the calls that changed it."""
    key = next(word for call in calls for word in call if ":table:" in word)
    allowed, changing, before = set(), [], state_of(admin, key)
    for call in calls:
        reply = line.say(call)
        if key in call and not is_denied(reply):
            allowed.add(call[0])
        after = state_of(admin, key)
        if after != before:
            changing.append(call)
            before = after
    return allowed, changing


def calls_on(store: Deployed, key: str) -> list[Call]:
    with store.client("operator") as client:
        calls = every_call(client, key, OTHER)
    return [call for call in calls if call[0] != "xadd" or not CUTS & {word.lower() for word in call}]


def test_the_calls_that_are_tried_would_destroy_a_stream_if_they_could(tmp_path: Path) -> None:
    key, destroying = "{00}:table:x", set()
    before: list[object] = []
    with serving(BINARIES["valkey"], tmp_path) as url, asking(url) as client:
        line = Line(url.removeprefix("unix://"))
        calls = [call for call in every_call(client, key, OTHER) if call[0] not in OPERATIONS]
        # What copies from elsewhere needs something there; what adds up nothing needs nothing there.
        for others, call in product((["there"], []), calls):
            if call[0] in destroying:
                continue
            client.delete(OTHER)
            for value in others:
                client.set(OTHER, value)
            line.say(call)
            if state_of(line, key) != before:
                destroying.add(call[0])
                client.delete(key)
                for version in range(ENTRIES):
                    client.xadd(key, {"e": "e"}, id=f"{version + 1}-0")
                before = state_of(line, key)
        line.close()
    expected = "copy del expire expireat flushall flushdb mset pexpire pexpireat rename set setex sinterstore unlink"
    assert set(expected.split()) | {"xadd", "xdel", "xgroup", "xtrim"} <= destroying


def test_the_services_user_can_add_to_a_stream_and_do_nothing_else_to_it(
    store: Deployed, evenfold: Line, admin: Line
) -> None:
    allowed, changing = run(evenfold, admin, calls_on(store, filled(evenfold)))
    assert {call[0] for call in changing} == {"xadd"}
    # What has no key that could be denied, or too few words to look for one, does nothing either.
    assert {"xadd", "xlen", "xrange"} <= allowed
    assert allowed & {"del", "unlink", "xtrim", "xdel", "xsetid", "expire", "rename", "copy", "set", "restore"} == set()


def test_no_function_that_the_services_user_loads_can_do_more(store: Deployed, evenfold: Line, admin: Line) -> None:
    probe = "#!lua name=probe\nredis.register_function('probe', function(_, args) return redis.call(unpack(args)) end)"
    assert evenfold.say(("FUNCTION", "LOAD", "REPLACE", probe)) == b"probe"
    key = filled(evenfold)
    before = state_of(admin, key)
    changing = set()
    for call in calls_on(store, key):
        evenfold.say(("FCALL", "probe", "1", key, *call))
        after = state_of(admin, key)
        if after != before:
            changing.add(call[0])
            before = after
    assert changing == {"xadd"}


def test_xadds_own_maxlen_is_the_one_thing_that_no_rule_forbids(evenfold: Line, admin: Line) -> None:
    key = filled(evenfold)
    assert evenfold.say(("XADD", key, "MAXLEN", "2", "6-0", "e", "e", "h", "h")) == b"6-0"
    assert admin.say(("XLEN", key)) == 2


@pytest.mark.parametrize(
    "call",
    [
        ("SET", "{00}:gone:" + "0" * 26, "1"),
        ("DEL", "{00}:keys:" + "0" * 26),
        ("DEL", "{00}:streams"),
        ("ZREM", "{00}:streams", "table:x"),
        ("DEL", "{00}:feed"),
        ("XADD", "elsewhere", "*", "a", "b"),
        ("SET", "{00}:table", "1"),
        ("GET", "anything"),
        ("FLUSHALL",),
        ("FLUSHDB",),
        ("SWAPDB", "0", "1"),
        ("SHUTDOWN", "NOSAVE"),
        ("CONFIG", "SET", "appendonly", "no"),
        ("CONFIG", "REWRITE"),
        ("ACL", "SETUSER", "evenfold", "allcommands"),
        ("ACL", "LIST"),
        ("REPLICAOF", "127.0.0.1", "1"),
        ("EVAL", "return 1", "0"),
        ("FUNCTION", "FLUSH"),
        ("FUNCTION", "DELETE", "x"),
        ("KEYS", "*"),
        ("SCAN", "0"),
        ("MONITOR",),
        ("CLIENT", "KILL", "ID", "1"),
        ("CLIENT", "LIST"),
        ("BGREWRITEAOF",),
        ("PUBLISH", "channel", "word"),
    ],
    ids=" ".join,
)
def test_the_services_user_may_not(evenfold: Line, call: Call) -> None:
    assert is_denied(evenfold.say(call))


def test_the_services_user_may_trim_a_feed(evenfold: Line) -> None:
    filled(evenfold)
    assert not is_denied(evenfold.say(("XTRIM", "{00}:feed", "MAXLEN", "1000000")))


def test_nobody_comes_without_a_name(store: Deployed) -> None:
    with asking(store.place) as nameless, pytest.raises(RedisError, match="uthentication required"):
        nameless.ping()


def test_every_user_of_the_rules_comes_with_the_password_of_the_folder_and_with_no_other(store: Deployed) -> None:
    for user in USERS:
        with store.client(user) as client:
            assert client.ping()
        with asking(store.place.replace("://", f"://{user}:hunter2@")) as wrong, pytest.raises(AuthenticationError):
            wrong.ping()
    with store.client("operator") as client:
        assert sorted(client.acl_users()) == sorted((*USERS, "default"))


def test_the_conf_is_what_the_server_runs_with(store: Deployed) -> None:
    expected = {
        "appendonly": "yes",
        "appendfsync": "always",
        "no-appendfsync-on-rewrite": "no",
        "maxmemory-policy": "noeviction",
        "enable-debug-command": "no",
        "enable-module-command": "no",
        "enable-protected-configs": "no",
    }
    with store.client("operator") as client:
        assert client.config_get(*expected) == expected


def test_the_archivist_puts_a_stream_away_and_back_and_the_service_can_not(
    store: Deployed, evenfold: Line, tmp_path: Path
) -> None:
    match = match_of("kowah")
    stream, size = table_stream(match.table), len(match.stored)
    keys = keys_of(stream)
    evenfold.say(("FUNCTION", "LOAD", "REPLACE", function().code))
    for stored in match.stored:
        words = (stream, stored.version - 1, stored.e, stored.h, f"key {stored.version}", b"")
        assert evenfold.say(("FCALL", function().name, 5, *keys, *words)) == [b"ok", stored.version]
    asyncio.run(_put_away_and_back(store, stream, tmp_path))
    with store.client("archivist") as archivist:
        assert archivist.xlen(keys.stream) == size
        assert archivist.exists(keys.tombstone) == 0
    assert append(evenfold, stream, size) == [b"ok", size + 1]


async def _put_away_and_back(store: Deployed, stream: str, folder: Path) -> None:
    async with archiving(store.url("archivist"), folder / "archive", 1 << 62) as (made, log):
        assert (await made.consider(stream)).fate == "archived"
        async with archiving(store.url("evenfold"), folder / "archive") as (_, ours):
            entries = await ours.read_range(stream, 1, 9_999)
            with pytest.raises(StoreDown) as denied:
                await ours.restore(stream)
            assert "NOPERM" in str(denied.value.__cause__)
            assert await ours.read_range(stream, 1, 9_999) == entries
        assert await log.restore(stream) == len(entries)
        assert await log.read_range(stream, 1, 9_999) == entries


@pytest.mark.parametrize(
    "call",
    [
        ("XTRIM", "{00}:table:x", "MAXLEN", "1"),
        ("XDEL", "{00}:table:x", "1-0"),
        ("EXPIRE", "{00}:table:x", "1"),
        ("RENAME", "{00}:table:x", "{00}:table:y"),
        ("DEL", "{00}:feed"),
        ("DEL", "{00}:streams"),
        ("HGETALL", OTHER),
        ("DEL", OTHER),
        ("GET", "service:secret"),
        ("SET", "service:restoring", "1"),
        ("ZADD", "accounts:erased", "1", "x"),
        ("HGETALL", "account:x"),
        ("FLUSHALL",),
        ("CONFIG", "SET", "appendonly", "no"),
    ],
    ids=" ".join,
)
def test_the_archivist_may_not(store: Deployed, call: Call) -> None:
    line = store.line("archivist")
    try:
        assert is_denied(line.say(call))
    finally:
        line.close()


def test_the_operator_changes_no_key(store: Deployed, evenfold: Line, admin: Line) -> None:
    key = filled(evenfold)
    calls = [call for call in calls_on(store, key) if call[0] not in OPERATIONS]
    line = store.line("operator")
    try:
        _, changing = run(line, admin, calls)
    finally:
        line.close()
    assert changing == []


def test_the_operator_looks_after_the_store(store: Deployed) -> None:
    with store.client("operator") as client:
        assert client.info("persistence")["aof_enabled"] == 1
        assert client.config_set("slowlog-log-slower-than", 10_000)
        assert client.config_get("maxmemory")
        assert client.bgrewriteaof()
        assert client.slowlog_get() is not None
        assert client.acl_load()


def test_a_replica_copies_with_its_own_user(tmp_path: Path) -> None:
    binary = BINARIES["valkey"]
    port = str(free_port())
    (primary := tmp_path / "primary").mkdir()
    (copy := tmp_path / "copy").mkdir()
    with deployed(binary, primary, "--port", port, "--repl-diskless-sync-delay", "0") as server:
        signed = ("--masteruser", "replica", "--masterauth", server.password("replica"))
        with serving(binary, copy, "--replicaof", "127.0.0.1", port, *signed), server.client("evenfold") as client:
            assert client.set("service:mark", "1")
            assert client.wait(1, 20_000) == 1


def test_a_password_is_rotated_without_a_moment_in_which_none_is_good(tmp_path: Path) -> None:
    with deployed(BINARIES["valkey"], tmp_path) as server, server.client("operator") as operator:
        before, second = server.password("evenfold"), server.folder / "evenfold.password"
        secrets("rotate", server.folder, "evenfold")
        assert operator.acl_load()
        after = server.password("evenfold")
        assert second.read_text(encoding="ascii") == after != before
        assert [_is_good(server, password) for password in (before, after)] == [True, True]
        assert after in (server.folder / "evenfold.env").read_text(encoding="ascii")
        secrets("retire", server.folder, "evenfold")
        assert operator.acl_load()
        assert [_is_good(server, password) for password in (before, after)] == [False, True]


def test_secrets_are_made_once_and_read_by_their_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    secrets("new", folder, "store:6379")
    made = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    secrets("new", folder)
    assert {path: path.read_bytes() for path in made} == made
    readable = {path.name for path in made if path.stat().st_mode & 0o077}
    assert readable == {"users.acl"}
    passwords = [(folder / f"{user}.password").read_bytes() for user in USERS]
    users = (folder / "store" / "users.acl").read_bytes()
    assert len(set(passwords)) == len(USERS)
    assert [password for password in passwords if len(password) != 64 or password in users] == []
    environment = (folder / "evenfold.env").read_text(encoding="ascii")
    assert f"EVENFOLD_REDIS_URL=redis://evenfold:{passwords[0].decode()}@store:6379\n" in environment


def _is_good(server: Deployed, password: str) -> bool:
    client = Redis.from_url(server.place.replace("://", f"://evenfold:{password}@"), protocol=2)
    try:
        return bool(client.ping())
    except (AuthenticationError, NoPermissionError):
        return False
    finally:
        client.close()


def test_a_backup_made_under_load_is_a_store_with_all_that_was_acknowledged_before(tmp_path: Path) -> None:
    if shutil.which("redis-cli") is None and shutil.which("valkey-cli") is None:
        return  # They come with the ordinary servers, as test_store.py of the service has CI install.
    (folder := tmp_path / "store").mkdir()
    copy = tmp_path / "copy"
    with deployed(BINARIES["valkey"], folder) as server:
        line = server.line("evenfold")
        before = [filled(line) for _ in range(20)]
        done = threading.Event()
        writer = threading.Thread(target=_write_until, args=(server, done))
        writer.start()
        environment = {**os.environ, "REDISCLI_AUTH": server.password("operator")}
        command = ["sh", str(DEPLOY / "backup.sh"), str(folder), str(copy), "-s", server.place.removeprefix("unix://")]
        ran = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
        done.set()
        writer.join()
        line.close()
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
        with server.client("operator") as operator:
            assert operator.config_get("auto-aof-rewrite-percentage") == {"auto-aof-rewrite-percentage": "100"}
    with serving(BINARIES["valkey"], copy, *DURABLE) as url, asking(url) as restored:
        assert [key for key in before if restored.xlen(key) != ENTRIES] == []


def _write_until(server: Deployed, done: threading.Event) -> None:
    line = server.line("evenfold")
    while not done.is_set():
        filled(line)
    line.close()
