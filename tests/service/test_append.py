"""The function answers, and writes, exactly what the log's bytes say."""

import asyncio
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from service.ids import new_id, partition
from service.log import function
from service.streams import Keys, keys_of, table_stream
from tests.stores import BINARIES, free_port, serving

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]
HEAD = bytes(range(224, 256))
NAME = function().name


@pytest.fixture
def keys(stream: str) -> Keys:
    return keys_of(stream)


@pytest.fixture(autouse=True)
async def loaded(store: Redis) -> None:
    await store.function_load(function().code, replace=True)


async def append(store: Redis, stream: str, expected: int, e: bytes = b"e", key: str = "") -> Any:  # noqa: ANN401 a raw reply
    return await ask(store, "FCALL", NAME, 5, *keys_of(stream), stream, expected, e, HEAD, key)


async def chain(store: Redis, stream: str, expected: int, previous: bytes, head: bytes) -> Any:  # noqa: ANN401 a raw reply
    return await ask(store, "FCALL", NAME, 5, *keys_of(stream), stream, expected, b"e", head, "once", previous)


async def ask(store: Redis, *command: bytes | str | int) -> Any:  # noqa: ANN401 a raw reply
    return await store.execute_command(*command)  # type: ignore[no-untyped-call] # redis-py has not annotated it


async def test_an_entry_has_exactly_the_fields_e_and_h_under_its_version(store: Redis, stream: str, keys: Keys) -> None:
    raw = bytes(range(256))
    assert await append(store, stream, 0, raw) == [b"ok", 1]
    assert await append(store, stream, 1) == [b"ok", 2]
    assert await ask(store, "XRANGE", keys.stream, "-", "+") == [
        (b"1-0", {b"e": raw, b"h": HEAD}),
        (b"2-0", {b"e": b"e", b"h": HEAD}),
    ]


async def test_the_keys_of_a_stream_are_these_and_no_others(store: Redis, stream: str) -> None:
    id_ = stream.removeprefix("table:")
    slot = b"{%02d}:" % partition(id_)
    await append(store, stream, 0, key="k")
    expected = {slot + rest for rest in (b"feed", b"streams", b"table:" + id_.encode(), b"keys:" + id_.encode())}
    assert set(await store.keys()) == expected


async def test_the_feed_says_which_stream_reached_which_version(store: Redis, stream: str, keys: Keys) -> None:
    await append(store, stream, 0)
    await append(store, stream, 1)
    hints = [fields for _, fields in await ask(store, "XRANGE", keys.feed, "-", "+")]
    assert hints == [{b"s": stream.encode(), b"v": b"1"}, {b"s": stream.encode(), b"v": b"2"}]


async def test_the_catalogue_gets_a_stream_with_its_first_entry(store: Redis, stream: str, keys: Keys) -> None:
    await append(store, stream, 0)
    assert await store.zrange(keys.catalogue, 0, -1, withscores=True) == [(stream.encode(), 0.0)]
    await store.delete(keys.catalogue)
    await append(store, stream, 1)
    assert not await store.exists(keys.catalogue)


async def test_a_key_is_remembered_with_the_version_it_led_to(store: Redis, stream: str, keys: Keys) -> None:
    await append(store, stream, 0)
    assert await append(store, stream, 1, key="once") == [b"ok", 2]
    assert await store.hgetall(keys.remembered) == {b"once": b"2"}


@pytest.mark.parametrize("expected", [0, 1, 2, 9])
async def test_a_known_key_is_answered_before_the_version_is_looked_at(
    store: Redis, stream: str, expected: int
) -> None:
    await append(store, stream, 0, key="once")
    await append(store, stream, 1)
    assert await append(store, stream, expected, key="once") == [b"same", 1]
    assert await store.xlen(keys_of(stream).stream) == 2


async def test_who_is_behind_gets_what_came_after(store: Redis, stream: str) -> None:
    for expected in range(3):
        await append(store, stream, expected, b"e%d" % (expected + 1))
    answer = await append(store, stream, 1)
    assert answer == [b"behind", [[b"%d-0" % v, [b"e", b"e%d" % v, b"h", HEAD]] for v in (2, 3)]]


async def test_who_is_far_behind_gets_500_entries(store: Redis, stream: str) -> None:
    for expected in range(505):
        await append(store, stream, expected)
    word, entries = await append(store, stream, 3)
    assert word == b"behind"
    assert [id_ for id_, _ in entries] == [b"%d-0" % v for v in range(4, 504)]


async def test_who_is_ahead_is_told_the_length_and_nothing_is_written(store: Redis, stream: str, keys: Keys) -> None:
    assert await append(store, stream, 1) == [b"ahead", 0]
    await append(store, stream, 0)
    before = await store.xlen(keys.feed)
    assert await append(store, stream, 7, key="k") == [b"ahead", 1]
    assert (await store.xlen(keys.stream), await store.xlen(keys.feed)) == (1, before)
    assert not await store.exists(keys.remembered)


async def test_a_tombstone_is_answered_before_anything_else(store: Redis, stream: str, keys: Keys) -> None:
    await append(store, stream, 0, key="once")
    await store.set(keys.tombstone, "archived")
    for expected, key in [(0, ""), (1, ""), (1, "once"), (9, "other")]:
        assert await append(store, stream, expected, key=key) == [b"gone"]
    assert await store.xlen(keys.stream) == 1


async def test_a_stream_is_put_back_by_the_tombstone_that_was_read_and_by_no_other(
    store: Redis, stream: str, keys: Keys
) -> None:
    put_back = ("FCALL", f"{NAME}_restore", 5, *keys, stream, "archived", 2, b"e1", HEAD, b"e2", HEAD, "once", 1)
    assert await ask(store, *put_back) == [b"changed"]
    await store.set(keys.tombstone, "archived anew")
    assert await ask(store, *put_back) == [b"changed"]
    assert await store.keys() == [keys.tombstone.encode()]
    await store.set(keys.tombstone, "archived")
    assert await ask(store, *put_back) == [b"ok", 2]
    assert await append(store, stream, 2, key="once") == [b"same", 1]
    assert await append(store, stream, 2) == [b"ok", 3]
    await store.set(keys.tombstone, "archived")
    assert await ask(store, *put_back) == [b"there", 3]


async def test_a_stream_with_a_hole_takes_no_more(store: Redis, stream: str, keys: Keys) -> None:
    for expected in range(3):
        await append(store, stream, expected)
    await store.xdel(keys.stream, "2-0")
    with pytest.raises(ResponseError, match="equal or smaller"):
        await append(store, stream, 2)
    assert await store.xlen(keys.stream) == 2


async def test_an_entry_follows_the_one_whose_head_it_chains_to_and_no_other(
    store: Redis, stream: str, keys: Keys
) -> None:
    assert await chain(store, stream, 0, b"genesis", b"h1") == [b"ok", 1]
    await store.hdel(keys.remembered, "once")
    assert await chain(store, stream, 1, b"lost", b"h2") == [b"ahead", 1]
    assert not await store.exists(keys.remembered)
    assert await chain(store, stream, 1, b"h1", b"h2") == [b"ok", 2]
    await store.hdel(keys.remembered, "once")
    assert (await chain(store, stream, 1, b"h1", b"h2"))[0] == b"behind"
    assert await chain(store, stream, 1, b"lost", b"h2") == [b"ahead", 2]


async def test_a_head_is_compared_with_the_stream_itself_where_the_server_has_not_written_it(
    store: Redis, stream: str, keys: Keys
) -> None:
    assert await chain(store, stream, 0, b"", b"h1") == [b"ok", 1]
    ((id_, fields),) = await ask(store, "XRANGE", keys.stream, "-", "+")
    for head, answer in ((b"other", [b"ahead", 1]), (b"h1", [b"ok", 2])):
        # As on a server that has just started: what the function remembers is gone, and another writer was here.
        await store.function_load(function().code, replace=True)
        await store.delete(keys.stream, keys.remembered)
        await ask(store, "XADD", keys.stream, id_, "e", fields[b"e"], "h", head)
        assert await chain(store, stream, 1, b"h1", b"h2") == answer


@pytest.mark.parametrize("binary", BINARIES.values(), ids=BINARIES.keys())
async def test_a_primary_that_was_a_replica_meanwhile_knows_no_heads_of_before(
    binary: str, stream: str, tmp_path: Path
) -> None:
    folders = [tmp_path / "one", tmp_path / "other"]
    for folder in folders:
        folder.mkdir()
    port, fast = str(free_port()), ("--repl-diskless-sync-delay", "0")
    with serving(binary, folders[0], *fast) as one, serving(binary, folders[1], "--port", port, *fast) as other:
        clients = [Redis.from_url(url, protocol=2) for url in (one, other)]
        for client, second in zip(clients, (b"lost", b"new"), strict=True):
            await client.function_load(function().code)
            await chain(client, stream, 0, b"", b"h1")
            await client.delete(keys_of(stream).remembered)
            await chain(client, stream, 1, b"h1", second)
            await client.delete(keys_of(stream).remembered)
        await ask(clients[0], "REPLICAOF", "127.0.0.1", port)
        while (await clients[0].info("replication")).get("master_link_status") != "up":  # noqa: ASYNC110 it tells nobody
            await asyncio.sleep(0)
        await ask(clients[0], "REPLICAOF", "NO", "ONE")
        assert await chain(clients[0], stream, 2, b"lost", b"h3") == [b"ahead", 2]
        assert await chain(clients[0], stream, 2, b"new", b"h3") == [b"ok", 3]
        for client in clients:
            await client.aclose()


async def test_the_function_remembers_no_more_heads_than_it_may(store: Redis) -> None:
    source = function().code.replace("local MOST_HEADS = 8192", "local MOST_HEADS = 2")
    await store.function_load(source, replace=True)
    streams = [table_stream(new_id()) for _ in range(5)]
    for version, stream in ((version, stream) for version in range(3) for stream in streams):
        assert (await chain(store, stream, version, b"h%d" % version, b"h%d" % (version + 1)))[0] != b"ahead"
        await store.delete(keys_of(stream).remembered)


async def test_a_user_who_may_not_write_all_writes_no_entry(store: Redis, valkey_url: str) -> None:
    for forbidden in ("hset", "zadd", "xadd"):
        stream = table_stream(new_id())
        keys = keys_of(stream)
        await ask(store, "ACL", "SETUSER", "limited", "on", "nopass", "~*", "+@all", f"-{forbidden}")
        limited = Redis.from_url(valkey_url, protocol=2, username="limited", password="any")
        with pytest.raises(ResponseError):
            await append(limited, stream, 0, key="once")
        assert not await store.exists(keys.stream, keys.remembered)
        assert await append(store, stream, 0, key="once") == [b"ok", 1]
        await limited.aclose()
    await store.acl_deluser("limited")


async def test_a_key_of_another_type_lets_no_entry_in_without_what_belongs_to_it(store: Redis) -> None:
    for place in ("feed", "remembered", "catalogue", "tombstone"):
        stream = table_stream(new_id())
        keys = keys_of(stream)
        wrong = getattr(keys, place)
        await store.delete(wrong)
        await store.set(wrong, "wrong")
        outcome = (await asyncio.gather(append(store, stream, 0, key="once"), return_exceptions=True))[0]
        assert isinstance(outcome, ResponseError) or outcome == [b"gone"]
        assert not await store.exists(keys.stream)
        await store.delete(wrong)


async def test_a_clock_that_stepped_back_stops_neither_stream_nor_feed(store: Redis, stream: str, keys: Keys) -> None:
    # As if the server's clock had stood far ahead when the feed was last written.
    await ask(store, "XADD", keys.feed, "99999999999999-7", "s", "table:other", "v", "1")
    assert [await append(store, stream, expected) for expected in range(2)] == [[b"ok", 1], [b"ok", 2]]
    assert [id_ for id_, _ in await ask(store, "XRANGE", keys.feed, "-", "+")][1:] == [
        b"99999999999999-8",
        b"99999999999999-9",
    ]


async def test_two_writers_make_dense_and_unique_versions(store: Redis, stream: str, keys: Keys) -> None:
    async def write(name: bytes) -> list[int]:
        mine: list[int] = []
        expected = 0
        while len(mine) < 500:
            match await append(store, stream, expected, name + b" %d" % len(mine)):
                case [b"ok", int(version)]:
                    mine.append(version)
                    expected = version
                case [b"behind", list(entries)]:
                    expected += len(entries)
                case answer:
                    pytest.fail(f"{answer}")
        return mine

    ours, theirs = await asyncio.gather(write(b"a"), write(b"b"))
    assert sorted(ours + theirs) == list(range(1, 1001))
    rows = await ask(store, "XRANGE", keys.stream, "-", "+")
    assert [id_ for id_, _ in rows] == [b"%d-0" % v for v in range(1, 1001)]
    written = [fields[b"e"] for _, fields in rows]
    for name, mine in ((b"a", ours), (b"b", theirs)):
        assert [written[version - 1] for version in mine] == [name + b" %d" % n for n in range(500)]


async def test_library_and_function_bear_the_hash_of_the_rest_of_the_source(store: Redis) -> None:
    (library,) = [found for found in await _libraries(store) if found["library_name"] == NAME]
    assert {found["name"] for found in library["functions"]} == {NAME, f"{NAME}_restore"}
    rest = library["library_code"].partition("\n")[2].replace(NAME, "")
    assert f"evenfold_{sha256(rest.encode()).hexdigest()[:16]}" == NAME


async def test_another_version_of_the_function_runs_beside_it(store: Redis, stream: str) -> None:
    other = "evenfold_0000000000000000"
    await store.function_load(function().code.replace(NAME, other), replace=True)
    assert await append(store, stream, 0) == [b"ok", 1]
    await store.function_delete(other)
    assert await append(store, stream, 1) == [b"ok", 2]


def test_only_the_function_adds_to_a_stream_and_it_never_trims() -> None:
    product = [path for part in ("events", "projections", "service") for path in (ROOT / part).rglob("*.*")]
    naming = [path.name for path in product if path.suffix in {".py", ".lua"} and _calls(path, "XADD", "xadd")]
    # The others add to streams of their own (tests/test_house.py).
    assert sorted(naming) == ["append.lua", "feeds.py", "inbox.lua", "lobby.lua", "lobby.py", "values.py"]
    source = (ROOT / "service" / "append.lua").read_text(encoding="utf-8")
    assert re.findall(r"call\('XADD', (\w+)", source) == ["feed", "stream", "feed", "stream"]
    for word in ("MAXLEN", "MINID", "XTRIM", "XDEL", "UNLINK"):
        assert f"'{word}'" not in source
    assert set(re.findall(r"'DEL', (\w+)", source)) == {"tombstone"}


def _calls(path: Path, *words: str) -> bool:
    text = path.read_text(encoding="utf-8")
    return any(re.search(rf"['\"]{word}['\"]|\.{word}\(", text) for word in words)


async def _libraries(store: Redis) -> list[dict[str, Any]]:
    return [_read(library) for library in await ask(store, "FUNCTION", "LIST", "WITHCODE")]


def _read(pairs: Any) -> Any:  # noqa: ANN401 a raw reply
    """Read a reply of names and values in turn, whatever it nests."""
    match pairs:
        case [bytes(), _, *_]:
            names, values = pairs[::2], pairs[1::2]
            return {name.decode(): _read(value) for name, value in zip(names, values, strict=True)}
        case list():
            return [_read(item) for item in pairs]
        case bytes():
            return pairs.decode()
        case _:
            return pairs
