"""Records for tests: matches played in memory, recorded, and forged in every way a forger could think of."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

import msgspec
from msgspec import Raw

from events.base import By, Entry
from events.table import DealReplayed, Ended, Ruled, TextRef
from projections import fold
from projections.table import Table
from service.audit import merkle
from service.audit.merkle import Node
from service.audit.record import closing, lines
from service.audit.signing import Signer, tree_message
from service.audit.transparency import Consistency, Inclusion, Leaf, SignedTree
from service.disputes import Dispute
from service.game import AnyTable
from service.streams import genesis, head_after
from service.written import Text
from tests.laws.matches import Asked, Driver, Match, play
from tests.laws.setups import GAMES, Setup, game_of, is_endless

OURS = Signer(bytes(range(32)))
THEIRS = Signer(bytes(range(32, 64)))
KEYS = {OURS.id: OURS.public, THEIRS.id: THEIRS.public}

WRITTEN = Text("0" * 26, "ab" * 16, "He showed me his hand.")


@cache
def match_of(name: str, seed: int = 7, contest: float = 0.0) -> Match:
    """Play a short match of a game to its end, with disputes by these odds."""
    game = GAMES.named(name)
    assert game is not None
    options = {"chinkway": {"deals": 5, "partners": "five"}}.get(name, {})
    chosen = game.projection.options(**options)
    resigning = 0.2 if is_endless(name, chosen) else 0.0
    return play(Setup(name, chosen, game.seats.usual, 1, 0, seed, 0.0, resigning, longest=20_000, contest=contest))


def contested(name: str) -> Match:
    """Return a match of which a deal was played again, and that was ruled on after its end too."""
    for seed in range(100):
        match = match_of(name, seed, 0.3)
        ends = [number for number, events in enumerate(match.decided) if any(isinstance(e, Ended) for e in events)]
        late = [event for events in match.decided[ends[0] + 1 :] for event in events if isinstance(event, Ruled)]
        if late and any(isinstance(event, DealReplayed) for events in match.decided for event in events):
            return match
    raise AssertionError(f"no seed leads to a contested match of {name}")


@dataclass
class Writing(Driver):
    """Whoever plays a match of which somebody disputes the beginning, and writes why."""

    text: Text = WRITTEN

    def sittings(self) -> Iterator[Asked]:
        """Yield people sitting down, and the dispute."""
        yield from super().sittings()
        ref = TextRef(self.text.id, self.text.hash)
        dispute = Dispute(first=1, last=2, reason="conduct", text=ref)
        yield Asked(By(seat=0, player=self.player(0)), dispute)


def written(text: Text = WRITTEN) -> Match:
    """Play a match in which something was written."""
    setup = match_of("kowah").setup
    return Writing(setup, game_of(setup), Random(5), Table(id="0" * 26), text=text).play()


def folded(match: Match, entries: Sequence[bytes]) -> AnyTable:
    """Fold entries, whatever they say."""
    table: AnyTable = Table(id=match.table)
    head = genesis(f"table:{match.table}")
    for e in entries:
        head = head_after(head, e)
        fold.add(match.game.projection, table, match.game.projection.decode(e), head)
    return table


def record_of(match: Match, signer: Signer = OURS, texts: Sequence[Text] = ()) -> bytes:
    """Record a match."""
    entries = [stored.e for stored in match.stored]
    return b"".join(lines(folded(match, entries), entries, signer, texts))


def recorded(match: Match, entries: Sequence[bytes], signer: Signer = OURS) -> bytes:
    """Record forged entries as a forger does who has a key: chained, folded, stated and signed anew."""
    return b"".join(lines(folded(match, entries), entries, signer))


def with_header(match: Match, entries: Sequence[bytes], header: bytes) -> bytes:
    """Record forged entries behind any header, signed anew."""
    table = folded(match, entries)
    return b"".join(line + b"\n" for line in (header, *entries, closing(table, header, OURS)))


def shuffled_at(match: Match) -> int:
    """Return the version at which the first pack is shuffled."""
    return next(stored.version for stored in match.stored if b'"c":65536' in stored.e)


def with_two_cards_swapped(match: Match) -> list[bytes]:
    """Return the entries, with the first two cards of the first pack in the other order."""
    entries, place = [stored.e for stored in match.stored], shuffled_at(match) - 1
    first, second = re.findall(rb'"c":65536,"order":\["(..)","(..)"', entries[place])[0]
    entries[place] = entries[place].replace(b'["%b","%b"' % (first, second), b'["%b","%b"' % (second, first), 1)
    return entries


UNFIT: Sequence[dict[str, object]] = (
    {"salt": ""},
    {"salt": "A" * 21},
    {"salt": "A" * 21 + "+"},
    {"salt": "A" * 22 + "\n"},
    {"key": ""},
    {"key": "AB" * 32},
    {"key": "ab" * 31},
    {"cause": ""},
    {"cause": "table:" + "0" * 26},
    {"cause": f"table:{'0' * 26}:0"},
    {"cause": f"hand:{'0' * 26}:1"},
)
"""What nobody decides again, in formats that an entry does not have it in."""

FIT: Sequence[dict[str, object]] = (
    {"salt": "-_" * 11},
    {"key": "ab" * 32},
    {"cause": f"table:{'0' * 26}:10"},
    {"cause": f"tournament:{'z' * 26}:1"},
)


def edited(e: bytes, **members: object) -> bytes:
    """Return an entry with other members, written as the log writes it."""
    return msgspec.json.encode(msgspec.structs.replace(_entry.decode(e), **members))


def events_of(e: bytes) -> list[Raw]:
    """Return the events of an entry as they are written."""
    return list(_entry.decode(e).events)


class Transparent:
    """A transparency log in memory, signed by OURS, and the proofs of it."""

    def __init__(self, *leaves: Leaf) -> None:
        """Log these."""
        self._leaves = leaves
        self._hashes: dict[Node, bytes] = {}
        for leaf in leaves:
            left = [self._hashes[node] for node in merkle.to_the_left(leaf.index)]
            self._hashes |= dict(merkle.grown(leaf.index, leaf.hash, left))

    @classmethod
    def with_end_of(cls, match: Match, before: int, after: int = 0, later: int = 0) -> "Transparent":
        """Log a match's end among so many others, as if it had come so many versions later."""
        last = match.stored[-1]
        end = Leaf(before, f"table:{match.table}", last.version + later, last.h.hex())
        return cls(*map(cls.other, range(before)), end, *map(cls.other, range(before + 1, before + 1 + after)))

    @staticmethod
    def other(index: int, head: bytes = bytes(32)) -> Leaf:
        """Return the leaf of some table."""
        return Leaf(index, f"table:{index:026}", 1, head.hex())

    async def _read(self, nodes: Sequence[Node]) -> list[bytes]:
        return [self._hashes[node] for node in nodes]

    def head(self, size: int) -> SignedTree:
        """Return the tree head that it had at a size."""
        root = asyncio.run(merkle.root(size, self._read))
        return SignedTree(size, root.hex(), 5, OURS.id, OURS.sign(tree_message(size, root, 5)).hex())

    def inclusion(self, index: int, size: int) -> Inclusion:
        """Prove that a leaf is in the tree of a size."""
        path = asyncio.run(merkle.inclusion(index, size, self._read))
        return Inclusion(self._leaves[index], self.head(size), tuple(hashed.hex() for hashed in path))

    def consistency(self, first: int, second: int) -> Consistency:
        """Prove that the tree of the second size begins with that of the first."""
        path = asyncio.run(merkle.consistency(first, second, self._read))
        return Consistency(first, second, tuple(hashed.hex() for hashed in path))


_entry = msgspec.json.Decoder(Entry[Raw, Raw])
