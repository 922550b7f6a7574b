"""The transparency log grows by one leaf for each table that ends, and proves it."""

import asyncio

import msgspec
import pytest
from redis.asyncio import Redis

from service.audit.transparency import Consistency, Inclusion, SignedTree, Transparency
from service.errors import NotFound
from service.ids import new_id
from tests.service.audit.records import KEYS, OURS

pytestmark = pytest.mark.anyio


@pytest.fixture
def log(store: Redis) -> Transparency:
    return Transparency(store, OURS, lambda: 5)


async def filled(log: Transparency, count: int) -> list[str]:
    streams = [f"table:{new_id()}" for _ in range(count)]
    for version, stream in enumerate(streams, 1):
        await log.add(stream, version, bytes([version % 256]) * 32)
    return streams


async def test_an_empty_log_has_a_signed_head(log: Transparency) -> None:
    tree = await log.tree()
    assert (tree.size, tree.is_signed_by(KEYS)) == (0, True)


async def test_what_is_added_is_proven_to_be_there(log: Transparency) -> None:
    for version, stream in enumerate(await filled(log, 11), 1):
        inclusion = await log.inclusion(stream, version)
        assert (inclusion.leaf.stream, inclusion.leaf.version) == (stream, version)
        assert inclusion.tree.size == 11
        assert inclusion.holds()
        assert inclusion.tree.is_signed_by(KEYS)
        forged = msgspec.structs.replace(inclusion.leaf, head="0" * 64)
        assert not msgspec.structs.replace(inclusion, leaf=forged).holds()


async def test_a_tree_kept_earlier_is_proven_to_be_the_beginning(log: Transparency) -> None:
    await filled(log, 5)
    first = (await log.tree()).tree
    await filled(log, 8)
    second = (await log.tree()).tree
    proof = await log.consistency(first.size, second.size)
    assert proof.holds(first, second)
    assert not proof.holds(first._replace(root=bytes(32)), second)
    assert not proof.holds(second, first)
    assert (await log.tree(5)).tree == first


async def test_a_leaf_is_added_once(log: Transparency) -> None:
    (stream,) = await filled(log, 1)
    again = await asyncio.gather(*(log.add(stream, 1, bytes([1]) * 32) for _ in range(20)))
    assert {leaf.index for leaf in again} == {0}
    assert await log.size() == 1


async def test_two_processes_that_add_at_once_lose_nothing(store: Redis) -> None:
    logs = [Transparency(store, OURS) for _ in range(4)]
    streams = [f"table:{new_id()}" for _ in range(40)]
    added = await asyncio.gather(*(logs[n % 4].add(stream, 1, bytes(32)) for n, stream in enumerate(streams)))
    assert sorted(leaf.index for leaf in added) == list(range(40))
    for stream in streams:
        assert (await logs[0].inclusion(stream, 1)).holds()


async def test_leaves_are_listed_page_by_page(log: Transparency) -> None:
    streams = await filled(log, 7)
    first = await log.leaves(0, 4)
    rest = await log.leaves(first.next or 0, 4)
    assert ([leaf.stream for leaf in (*first.leaves, *rest.leaves)], first.next, rest.next) == (streams, 4, None)
    assert await log.leaves(7, 4) == ((), None)


async def test_what_is_not_there_is_not_found(log: Transparency) -> None:
    (stream,) = await filled(log, 1)
    for asked in (log.inclusion(stream, 2), log.consistency(2, 1), log.consistency(0, 2), log.tree(2)):
        with pytest.raises(NotFound):
            await asked


def test_a_tree_head_is_signed_as_a_whole() -> None:
    tree = SignedTree(3, "0" * 64, 7, OURS.id, "0" * 128)
    assert not tree.is_signed_by(KEYS)
    assert not msgspec.structs.replace(tree, key="f" * 16).is_signed_by(KEYS)


def test_a_proof_for_other_sizes_holds_nothing() -> None:
    tree = SignedTree(1, "0" * 64, 7, OURS.id, "0" * 128)
    assert not Consistency(1, 2, ()).holds(tree.tree, tree.tree)
    assert Consistency(1, 1, ()).holds(tree.tree, tree.tree)
    assert Inclusion.__struct_fields__ == ("leaf", "tree", "proof")
