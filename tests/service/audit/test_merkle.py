"""The tree is RFC 6962's: its well-known vectors, and the definition written down once more, for every size."""

from collections.abc import Sequence
from hashlib import sha256

import pytest

from service.audit.merkle import (
    EMPTY,
    Node,
    Tree,
    consistency,
    grown,
    inclusion,
    is_consistent,
    is_included,
    leaf_hash,
    node_hash,
    root,
    to_the_left,
    whole_subtrees,
)
from tests.sizes import sized

pytestmark = pytest.mark.anyio

# The eight leaves, the roots and the proofs that implementations of RFC 6962 have tested themselves with since 2013.
LEAVES = [
    bytes.fromhex(leaf)
    for leaf in (
        "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
    )
]  # fmt: skip
ROOTS = {
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    4: "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    5: "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    6: "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    7: "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}
INCLUSION = {
    (0, 1): [],
    (0, 8): [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
    (5, 8): [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (2, 3): ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"],
    (1, 5): [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
}
CONSISTENCY = {
    (1, 1): [],
    (1, 8): [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
    (6, 8): [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (2, 5): [
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
}
MOST = sized(20, 40, 130)


class Grown:
    """A tree that has grown leaf by leaf, with the hashes of all whole subtrees as a store keeps them."""

    def __init__(self, leaves: list[bytes]) -> None:
        self.levels: dict[Node, bytes] = {}
        for size, leaf in enumerate(leaves):
            left = [self.levels[node] for node in to_the_left(size)]
            for node, hashed in grown(size, leaf_hash(leaf), left):
                assert node not in self.levels
                self.levels[node] = hashed

    async def read(self, nodes: Sequence[Node]) -> list[bytes]:
        return [self.levels[node] for node in nodes]


def defined(leaves: list[bytes]) -> bytes:
    """Return the root, by the definition of RFC 6962, 2.1."""
    match leaves:
        case []:
            return sha256(b"").digest()
        case [leaf]:
            return sha256(b"\x00" + leaf).digest()
        case _:
            k = 1
            while k * 2 < len(leaves):
                k *= 2
            return sha256(b"\x01" + defined(leaves[:k]) + defined(leaves[k:])).digest()


MANY = [bytes([number]) * (number % 5) for number in range(MOST)]
TREE, LARGE = Grown(LEAVES), Grown(MANY)


@pytest.mark.parametrize(("size", "expected"), ROOTS.items())
async def test_roots_are_those_of_the_vectors(size: int, expected: str) -> None:
    assert (await root(size, TREE.read)).hex() == expected == defined(LEAVES[:size]).hex()


async def test_no_leaves_have_a_root_too() -> None:
    assert await root(0, TREE.read) == EMPTY == defined([])


@pytest.mark.parametrize(("asked", "expected"), INCLUSION.items())
async def test_inclusion_is_proven_as_in_the_vectors(asked: tuple[int, int], expected: list[str]) -> None:
    assert [hashed.hex() for hashed in await inclusion(*asked, TREE.read)] == expected


@pytest.mark.parametrize(("asked", "expected"), CONSISTENCY.items())
async def test_consistency_is_proven_as_in_the_vectors(asked: tuple[int, int], expected: list[str]) -> None:
    assert [hashed.hex() for hashed in await consistency(*asked, TREE.read)] == expected


async def test_every_leaf_is_proven_in_every_tree_and_nowhere_else() -> None:
    for size in range(1, MOST + 1):
        tree = Tree(size, await root(size, LARGE.read))
        assert tree.root == defined(MANY[:size])
        for index in range(size):
            proof = await inclusion(index, size, LARGE.read)
            leaf = leaf_hash(MANY[index])
            assert is_included(leaf, index, tree, proof)
            assert not is_included(leaf_hash(b"another"), index, tree, proof)
            assert not is_included(leaf, index, tree, [*proof, EMPTY])
            assert not is_included(leaf, index, tree, proof[:-1]) or not proof
            assert not is_included(leaf, index, Tree(size, EMPTY), proof)
            assert not is_included(leaf, size, tree, proof)
            if proof:
                assert not is_included(leaf, index, tree, [EMPTY, *proof[1:]])


def test_a_proof_is_as_long_as_the_sizes_demand() -> None:
    """Else a tree of another size, told with the root that the proof comes to, would pass."""
    one, two, three, four = map(leaf_hash, MANY[:4])
    left, right, x = node_hash(one, two), node_hash(three, four), leaf_hash(b"x")
    assert is_included(one, 0, Tree(2, left), [two])
    assert not is_included(one, 0, Tree(3, left), [two])
    assert not is_included(one, 0, Tree(4, left), [two])
    assert not is_included(one, 0, Tree(1, node_hash(x, one)), [x])
    assert not is_included(one, 0, Tree(2, node_hash(x, left)), [two, x])
    assert is_consistent(Tree(1, one), Tree(2, left), [two])
    assert not is_consistent(Tree(1, one), Tree(4, left), [two])
    whole, smaller = node_hash(left, right), node_hash(left, three)
    assert is_consistent(Tree(3, smaller), Tree(4, whole), [three, four, left])
    longer = [Tree(size, node_hash(x, root)) for size, root in ((3, smaller), (4, whole))]
    assert not is_consistent(longer[0], longer[1], [three, four, left, x])


async def test_every_tree_is_proven_to_begin_with_every_smaller_one() -> None:
    trees = [Tree(size, await root(size, LARGE.read)) for size in range(MOST + 1)]
    for second in trees:
        for first in trees[: second.size + 1]:
            proof = await consistency(first.size, second.size, LARGE.read)
            assert is_consistent(first, second, proof)
            assert not is_consistent(first, second, [*proof, EMPTY])
            if first.size and first != second:
                assert not is_consistent(Tree(first.size, sha256(b"other").digest()), second, proof)
                assert not is_consistent(first, Tree(second.size, EMPTY), proof)
                assert not is_consistent(first, second, proof[:-1])
                assert not is_consistent(second, first, proof)


@pytest.mark.parametrize("asked", [(3, 3), (-1, 3), (0, 0)])
async def test_no_leaf_is_proven_that_is_not_there(asked: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="there is no leaf"):
        await inclusion(*asked, TREE.read)


async def test_no_tree_begins_with_a_larger_one() -> None:
    with pytest.raises(ValueError, match="does not begin"):
        await consistency(5, 4, TREE.read)


def test_a_root_reads_few_hashes() -> None:
    assert [list(whole_subtrees(0, size)) for size in (0, 1, 6, 8)] == [
        [],
        [Node(0, 0)],
        [Node(2, 0), Node(1, 2)],
        [Node(3, 0)],
    ]
    assert len(list(whole_subtrees(0, 2**20 - 1))) == 20
