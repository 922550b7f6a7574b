"""Streams: how their heads are chained, where they live, and that all of them are listed."""

import asyncio
import json

import pytest
from redis.asyncio import Redis

from service.ids import new_id, partition
from service.log import PAGE, Log
from service.streams import genesis, head_after, keys_of, table_stream
from tests.service.log.conftest import HEAD
from tests.tree import ROOT

pytestmark = pytest.mark.anyio

VECTORS = json.loads((ROOT / "tests" / "vectors" / "log-1.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: str(vector["ctx"]))
def test_heads_chain_the_exact_bytes(vector: dict[str, str]) -> None:
    first = genesis(vector["ctx"])
    assert first.hex() == vector["head_0"]
    assert head_after(first, vector["entry_1"].encode()).hex() == vector["head_1"]


def test_a_stream_lives_with_all_that_belongs_to_it_in_the_slot_of_its_partition() -> None:
    id_ = VECTORS[0]["ctx"].removeprefix("table:")
    assert keys_of(table_stream(id_)) == (
        f"{{01}}:table:{id_}",
        "{01}:feed",
        f"{{01}}:keys:{id_}",
        "{01}:streams",
        f"{{01}}:gone:{id_}",
    )


@pytest.mark.parametrize("name", ["", "table:", "table:short", "feed", f"account:{'0' * 26}", f"table:{'u' * 26}"])
def test_what_is_no_stream_has_no_keys(name: str) -> None:
    with pytest.raises(ValueError, match="not the name of a stream"):
        keys_of(name)


async def test_the_catalogue_lists_every_stream_of_a_partition(log: Log) -> None:
    names = [table_stream(new_id()) for _ in range(3_000)]
    await asyncio.gather(*(log.append(name, 0, b"e1", HEAD) for name in names))
    for number in (0, 17, 63):
        assert await log.streams(number) == sorted(n for n in names if partition(n.removeprefix("table:")) == number)


async def test_a_catalogue_longer_than_a_page_is_listed_whole(log: Log, store: Redis) -> None:
    names = sorted(f"table:{n:026}" for n in range(2 * PAGE))
    await store.zadd("{07}:streams", dict.fromkeys(names, 0))
    assert await log.streams(7) == names
