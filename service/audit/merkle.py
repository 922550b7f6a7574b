"""A Merkle tree that only grows, and the proofs that it does: RFC 6962, section 2.1 (RFC 9162 has the same tree).

    leaf     SHA-256( 00 what is logged )
    node     SHA-256( 01 left right )

A tree of n leaves is two trees: of the largest power of two below n, and of the rest. What is kept are the hashes of
all whole subtrees, level by level: hash i of level k is that of the leaves from i·2ᵏ on, 2ᵏ of them. So a leaf adds two
hashes on average, and a root or a proof reads a few for each level. Whoever checks a proof needs its hashes alone.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple, TypeAlias

EMPTY = sha256(b"").digest()
"""The root of no leaves."""


class Node(NamedTuple):
    """A whole subtree: 2 to the power of `level` leaves, from `number` times that on."""

    level: int
    number: int


Read: TypeAlias = Callable[[Sequence[Node]], Awaitable[list[bytes]]]
"""Read the hashes of whole subtrees."""


def leaf_hash(logged: bytes) -> bytes:
    """Return the hash of a leaf."""
    return sha256(b"\0" + logged).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of two subtrees side by side."""
    return sha256(b"\1" + left + right).digest()


def whole_subtrees(first: int, end: int) -> Iterator[Node]:
    """Yield the fewest whole subtrees that the leaves from `first` (a multiple of enough) up to `end` are made of."""
    while first < end:
        level = (end - first).bit_length() - 1
        if first:
            level = min(level, (first & -first).bit_length() - 1)
        yield Node(level, first >> level)
        first += 1 << level


def grown(size: int, leaf: bytes, left: Sequence[bytes]) -> Iterator[tuple[Node, bytes]]:
    """Yield the whole subtrees that a leaf completes in a tree of so many, with their hashes, the leaf first.

    `left` are the hashes of those to the left of them, the lowest first: `to_the_left(size)`.
    """
    hashed = leaf
    yield Node(0, size), hashed
    for level, other in enumerate(left, 1):
        hashed = node_hash(other, hashed)
        yield Node(level, size >> level), hashed


def to_the_left(size: int) -> list[Node]:
    """Return the whole subtrees that another leaf is joined with, the lowest first."""
    nodes: list[Node] = []
    while size >> len(nodes) & 1:
        nodes.append(Node(len(nodes), (size >> len(nodes)) - 1))
    return nodes


async def root(size: int, read: Read) -> bytes:
    """Return the root of the first `size` leaves."""
    return await _hash(0, size, read) if size else EMPTY


async def inclusion(index: int, size: int, read: Read) -> list[bytes]:
    """Return the proof that the leaf of an index is among the first `size`: the audit path of RFC 6962, 2.1.1."""
    if not 0 <= index < size:
        raise ValueError(f"there is no leaf {index} in a tree of {size}")
    return [await _hash(*part, read) for part in _path(index, 0, size)]


async def consistency(first: int, second: int, read: Read) -> list[bytes]:
    """Return the proof that the first `second` leaves begin with the first `first`: RFC 6962, 2.1.2."""
    if not 0 <= first <= second:
        raise ValueError(f"a tree of {second} does not begin with one of {first}")
    if first in {0, second}:
        return []
    return [await _hash(*part, read) for part in _subproof(first, 0, second, known=True)]


class Tree(NamedTuple):
    """A tree as it is told: how many leaves, and the root."""

    size: int
    root: bytes


def is_included(leaf: bytes, index: int, tree: Tree, proof: Sequence[bytes]) -> bool:
    """Tell whether a proof shows that a leaf, by its hash and index, is in a tree."""
    if not 0 <= index < tree.size:
        return False
    place, last, hashed = index, tree.size - 1, leaf
    for other in proof:
        if last == 0:
            return False
        if place & 1 or place == last:
            hashed = node_hash(other, hashed)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            hashed = node_hash(hashed, other)
        place, last = place >> 1, last >> 1
    return last == 0 and hashed == tree.root


def is_consistent(first: Tree, second: Tree, proof: Sequence[bytes]) -> bool:
    """Tell whether a proof shows that the second tree begins with the first: the algorithm of RFC 9162, 2.1.4.2."""
    if first.size == second.size:
        return not proof and first.root == second.root
    if first.size == 0:
        return not proof and first.root == EMPTY
    if first.size > second.size or not proof:
        return False
    path = [first.root, *proof] if first.size & (first.size - 1) == 0 else list(proof)
    place, last = first.size - 1, second.size - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    old = new = path[0]
    for other in path[1:]:
        if last == 0:
            return False
        if place & 1 or place == last:
            old, new = node_hash(other, old), node_hash(other, new)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            new = node_hash(new, other)
        place, last = place >> 1, last >> 1
    return last == 0 and old == first.root and new == second.root


async def _hash(first: int, end: int, read: Read) -> bytes:
    """Return the hash of the subtree of these leaves, which need not be whole."""
    *rest, last = await read(list(whole_subtrees(first, end)))
    hashed = last
    for other in reversed(rest):
        hashed = node_hash(other, hashed)
    return hashed


def _split(first: int, end: int) -> int:
    """Return where a tree of these leaves is two."""
    return first + (1 << (end - first - 1).bit_length() - 1)


def _path(index: int, first: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the subtrees beside the way from a leaf up to the root, the lowest first."""
    if end - first == 1:
        return
    middle = _split(first, end)
    if index < middle:
        yield from _path(index, first, middle)
        yield middle, end
    else:
        yield from _path(index, middle, end)
        yield first, middle


def _subproof(size: int, first: int, end: int, *, known: bool) -> Iterator[tuple[int, int]]:
    """Yield the subtrees of SUBPROOF in RFC 6962; `known` says that the old tree's root stands for these leaves."""
    if size == end - first:
        if not known:
            yield first, end
        return
    middle = _split(first, end)
    if size <= middle - first:
        yield from _subproof(size, first, middle, known=known)
        yield middle, end
    else:
        yield from _subproof(size - (middle - first), middle, end, known=False)
        yield first, middle
