"""The transparency log: every table that has ended, by its last head, in a tree that only grows.

Whoever keeps a signed tree head can be shown later that all which was logged then still is, unchanged: the service
can't show one record to one and another to somebody else without two trees that don't go together. A ruling after the
end is a later version, and another leaf.

    transparency:size      how many leaves there are
    transparency:leaves    a hash, by index: what was logged, as JSON
    transparency:places    a hash, by `<stream>:<version>`: the index
    transparency:hashes    a hash, by `<level>:<number>`: the hashes of whole subtrees (merkle.py)

A leaf and all that it completes are written in one transaction, or not at all; of two who would add the same time, one
begins again.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Final, NamedTuple, cast

import msgspec
from msgspec import Meta, Struct
from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

from events.base import Head, Millis, Version
from events.table import Hex256
from service.audit import merkle
from service.audit.checkpoints import Stream
from service.audit.merkle import Node, Tree, grown, is_included, leaf_hash, to_the_left
from service.audit.signing import KeyId, Keys, Signature, Signer, is_signed, leaf_message, tree_message
from service.clock import utc_ms
from service.errors import NotFound
from service.store import Turns, answered, begin

MOST: Final = 2**48
"""How many leaves a tree may have, far more than there will ever be tables."""

SIZE_KEY: Final = "transparency:size"
LEAVES_KEY: Final = "transparency:leaves"
_PLACES: Final = "transparency:places"
_HASHES: Final = "transparency:hashes"

Index = Annotated[int, Meta(ge=0, lt=MOST, description="The place of a leaf, counted from 0.")]
Size = Annotated[int, Meta(ge=0, le=MOST, description="The number of leaves of a tree.")]
Proof = Annotated[tuple[Hex256, ...], Meta(max_length=2 * MOST.bit_length())]


class Leaf(Struct, frozen=True, forbid_unknown_fields=True):
    """What is logged: the version at which a stream had this head."""

    index: Index
    stream: Stream
    version: Version
    head: Head

    @property
    def hash(self) -> bytes:
        """Its hash in the tree."""
        return leaf_hash(leaf_message(self.stream, self.version, bytes.fromhex(self.head)))


class SignedTree(Struct, frozen=True, forbid_unknown_fields=True):
    """A tree head: the size and root of the log at a moment (UTC ms), signed by the key of this id."""

    size: Size
    root: Hex256
    at: Millis
    key: KeyId
    signature: Signature

    @property
    def tree(self) -> Tree:
        """The tree that it tells."""
        return Tree(self.size, bytes.fromhex(self.root))

    def is_signed_by(self, keys: Keys) -> bool:
        """Tell whether the signature is that of one of these keys."""
        public = keys.get(self.key)
        message = tree_message(self.size, bytes.fromhex(self.root), self.at)
        return public is not None and is_signed(public, message, bytes.fromhex(self.signature))


class Inclusion(Struct, frozen=True, forbid_unknown_fields=True):
    """That a leaf is in a tree: the audit path of RFC 6962, from the leaf up."""

    leaf: Leaf
    tree: SignedTree
    proof: Proof

    def holds(self) -> bool:
        """Tell whether the proof shows it."""
        return is_included(self.leaf.hash, self.leaf.index, self.tree.tree, tuple(map(bytes.fromhex, self.proof)))


class Consistency(Struct, frozen=True, forbid_unknown_fields=True):
    """That the tree of the second size begins with that of the first: the consistency proof of RFC 6962."""

    first: Size
    second: Size
    proof: Proof

    def holds(self, first: Tree, second: Tree) -> bool:
        """Tell whether the proof shows it of two trees."""
        sizes = (first.size, second.size) == (self.first, self.second)
        return sizes and merkle.is_consistent(first, second, tuple(map(bytes.fromhex, self.proof)))


class Leaves(NamedTuple):
    """Leaves that follow one another; `next` is the index to go on from, None at the newest."""

    leaves: tuple[Leaf, ...]
    next: int | None


_encode = msgspec.json.Encoder().encode
_leaf = msgspec.json.Decoder(Leaf)


class Transparency:
    """The transparency log kept in a store; each of its methods may raise StoreDown."""

    def __init__(self, redis: Redis, signer: Signer, clock: Callable[[], int] = utc_ms) -> None:
        """Keep it in this store, sign with this key, by this clock (UTC ms)."""
        self._redis = redis
        self._signer = signer
        self._clock = clock
        self._turns = Turns()

    async def add(self, stream: str, version: int, head: bytes) -> Leaf:
        """Log the head that a stream has at a version, and return its leaf; what is logged already stays as it is."""

        async def write(pipe: Pipeline) -> Leaf:
            place = f"{stream}:{version}"
            known = cast("bytes | None", await pipe.hget(_PLACES, place))
            if known is not None:
                return _leaf.decode(cast("bytes", await pipe.hget(LEAVES_KEY, known.decode())))
            size = int(await pipe.get(SIZE_KEY) or 0)
            leaf = Leaf(size, stream, version, head.hex())
            left = await _hashes(pipe, to_the_left(size))
            begin(pipe)
            pipe.hset(_HASHES, mapping={_field(node): hashed for node, hashed in grown(size, leaf.hash, left)})
            pipe.hset(LEAVES_KEY, str(size), _encode(leaf))
            pipe.hset(_PLACES, place, str(size))
            pipe.set(SIZE_KEY, size + 1)
            return leaf

        async with self._turns.of(SIZE_KEY):
            with answered():
                return cast("Leaf", await self._redis.transaction(write, SIZE_KEY, value_from_callable=True))

    async def size(self) -> int:
        """Return how many leaves there are."""
        with answered():
            return int(await self._redis.get(SIZE_KEY) or 0)

    async def tree(self, size: int | None = None) -> SignedTree:
        """Return the head of the tree of so many leaves, of all there are by default, signed now; raise NotFound."""
        there = await self.size()
        size = there if size is None else size
        if size > there:
            raise NotFound(f"The transparency log has {there} leaves.")
        root, at = await merkle.root(size, self._read), self._clock()
        signature = self._signer.sign(tree_message(size, root, at))
        return SignedTree(size, root.hex(), at, self._signer.id, signature.hex())

    async def inclusion(self, stream: str, version: int) -> Inclusion:
        """Return the proof that a version of a stream is logged; raise NotFound if it is not."""
        with answered():
            place = cast("bytes | None", await self._redis.hget(_PLACES, f"{stream}:{version}"))
        if place is None:
            raise NotFound("This version is not in the transparency log: only what has ended is, a moment later.")
        (leaf,) = (await self.leaves(int(place), 1)).leaves
        tree = await self.tree()
        proof = await merkle.inclusion(leaf.index, tree.size, self._read)
        return Inclusion(leaf, tree, _hexed(proof))

    async def consistency(self, first: int, second: int) -> Consistency:
        """Return the proof that the tree of one size begins with that of a smaller one; raise NotFound."""
        there = await self.size()
        if not first <= second <= there:
            raise NotFound(f"The transparency log has {there} leaves, and the first tree must not be the larger one.")
        return Consistency(first, second, _hexed(await merkle.consistency(first, second, self._read)))

    async def leaves(self, first: int, limit: int) -> Leaves:
        """Return at most `limit` leaves from an index on."""
        with answered():
            stored = await self._redis.hmget(LEAVES_KEY, [str(index) for index in range(first, first + limit + 1)])
        found = [_leaf.decode(leaf) for leaf in cast("list[bytes | None]", stored) if leaf is not None]
        return Leaves(tuple(found[:limit]), first + limit if len(found) > limit else None)

    async def _read(self, nodes: Sequence[Node]) -> list[bytes]:
        with answered():
            return await _hashes(self._redis, nodes)


async def _hashes(redis: Redis, nodes: Sequence[Node]) -> list[bytes]:
    if not nodes:
        return []
    return cast("list[bytes]", await redis.hmget(_HASHES, [_field(node) for node in nodes]))


def _field(node: Node) -> str:
    return f"{node.level}:{node.number}"


def _hexed(proof: Sequence[bytes]) -> tuple[str, ...]:
    return tuple(hashed.hex() for hashed in proof)
