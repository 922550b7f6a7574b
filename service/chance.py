"""Chance: every order and every lot of a table, drawn from one sealed seed.

This is `shuffle/1`, told for strangers on web/pages/shuffle.md. Released orders hang on each of its bytes, so another
way of shuffling is another name beside it, never a change here. All of it is pure: the same seed, context, nonces and
number give the same order on every machine. Left out: where a seed comes from, what is sealed and when it opens.

    seed ── commitment                 published before any player's nonce
    seed + nonces ── key ── blocks of shuffle c ── draws ── order
    seed ── a bot's key ── blocks ── draws ── the bot's own choices

A value out of bounds is a ValueError that names it; no message and no repr shows a seed or a key.
"""

import hmac
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from hashlib import sha256
from itertools import count
from struct import Struct
from typing import Protocol, TypeVar

from events.table import LAST_DEAL, NUMBERS_PER_DEAL

T = TypeVar("T")

SEED_BYTES = 32

_U16 = Struct(">H")
_U64 = Struct(">Q")
_ABOVE_U16 = 1 << 16
_ABOVE_U64 = 1 << 64
_NONCE = re.compile(r"[A-Za-z0-9_-]{0,64}")


def commitment(seed: bytes, ctx: str) -> bytes:
    """Return the 32 bytes that bind the service to a seed of 32 bytes without showing it.

    The context `ctx` is the stream, `table:<id>`, in at most 65,535 bytes of UTF-8.
    """
    return sha256(_tagged("evenfold/commit/1", _context(ctx), _seed(seed))).digest()


def number(deal: int, k: int = 0) -> int:
    """Return the number of the k-th shuffle of a deal, as every game's rules page lists them.

    Deals count from 1; deal 0 is what happens before the first. Both halves must fit: k in 16 bits, the deal in 48.
    """
    if not 0 <= k < NUMBERS_PER_DEAL:
        raise ValueError(f"k must lie in 0 … {NUMBERS_PER_DEAL - 1}, got {k}")
    c = NUMBERS_PER_DEAL * deal + k
    if not 0 <= c < _ABOVE_U64:
        raise ValueError(f"the deal must lie in 0 … {_ABOVE_U64 // NUMBERS_PER_DEAL - 1}, got {deal}")
    return c


class Shuffles(Protocol):
    """What deciding a command may ask of chance: `Chance` in service, stated orders in tests."""

    @property
    def last_deal(self) -> int:
        """The last deal of the match that can be numbered."""
        return LAST_DEAL

    def shuffle(self, pack: Sequence[T], c: int) -> tuple[T, ...]:
        """Return the pack, given in printed order, as shuffle number c leaves it, top first."""
        ...

    def lot(self, taken: Sequence[int], c: int) -> int:
        """Return the seat that lot number c falls on: the top of the taken seats, shuffled from ascending order."""
        if not taken:
            raise ValueError("a lot among no seats falls on nobody")
        return self.shuffle(sorted(taken), c)[0]


class Chance(Shuffles):
    """All shuffles of one table (or of one set of shared deals).

    `nonces` holds one entry for each seat the table was opened with, "" where it is a bot's, untaken or gave none.
    """

    def __init__(self, seed: bytes, ctx: str, nonces: Sequence[str]) -> None:
        """Check the bounds of all three; the key is computed when first needed."""
        self._seed = _seed(seed)
        self._context = _context(ctx)
        # A bare string is a sequence of strings too, and would pass for a row of one-character nonces.
        if isinstance(nonces, str):
            raise TypeError(f"nonces are a sequence with one entry a seat, got the string {nonces!r}")
        self._nonces = tuple(map(_nonce, nonces))

    @cached_property
    def key(self) -> bytes:
        """Return K, the 32 bytes all blocks are made with; as secret as the seed."""
        return hmac.digest(self._seed, _tagged("evenfold/shuffle/1", self._context, *self._nonces), "sha256")

    def shuffle(self, pack: Sequence[T], c: int) -> tuple[T, ...]:
        """Return the pack, given in printed order, as shuffle number c (64 bits) leaves it, top first."""
        draws = Draws(_blocks(self.key, _u64("the number of a shuffle", c)))
        order = list(pack)
        for last in range(len(order) - 1, 0, -1):
            other = draws.draw(last + 1)
            order[last], order[other] = order[other], order[last]
        return tuple(order)


class Draws:
    """Numbers below a bound, each equally likely, read off a stream of blocks eight bytes at a time."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        """Read from the first byte of the first block; a block's length is a multiple of 8."""
        self._words: Iterator[int] = (word for block in blocks for (word,) in _U64.iter_unpack(block))

    def draw(self, m: int) -> int:
        """Return a number in 0 … m - 1, for m in 1 … 2⁶⁴; it uses up at least one word, for m = 1 too.

        EOFError if the blocks end, which those of a seed never do.
        """
        if not 1 <= m <= _ABOVE_U64:
            raise ValueError(f"a draw is among 1 … 2⁶⁴ numbers, got {m}")
        # Words from here up would make the low remainders likelier than the high ones.
        rejected_from = _ABOVE_U64 - _ABOVE_U64 % m
        for word in self._words:
            if word < rejected_from:
                return word % m
        raise EOFError(f"the blocks ended before a number below {m} was drawn")


def bot_stream(seed: bytes, ctx: str, seat: int, version: int) -> Draws:
    """Return the draws that a bot in this seat chooses with when it acts on this version (64 bits) of the table.

    They share no block with any shuffle, so a bot learns nothing of the cards, and a fixed build plays alike again.
    """
    place = _u16("a seat", seat) + _u64("a version", version)
    key = hmac.digest(_seed(seed), _tagged("evenfold/bot/1", _context(ctx), place), "sha256")
    return Draws(_blocks(key, b""))


def _blocks(key: bytes, prefix: bytes) -> Iterator[bytes]:
    """Yield HMAC-SHA256(key, prefix, i) for i = 0, 1, 2 …, 32 bytes each."""
    for i in count():
        yield hmac.digest(key, prefix + _U64.pack(i), "sha256")


def _tagged(tag: str, *parts: bytes) -> bytes:
    # The tag names the purpose and ends in a zero byte, so that no message of one purpose is one of another.
    return b"".join((tag.encode(), b"\0", *parts))


def _seed(seed: bytes) -> bytes:
    if len(seed) != SEED_BYTES:
        raise ValueError(f"a seed has {SEED_BYTES} bytes, got {len(seed)}")
    return seed


def _context(ctx: str) -> bytes:
    try:
        encoded = ctx.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"a context is text that UTF-8 can write, got {ctx!r}") from error
    return _u16("the length of a context in bytes", len(encoded)) + encoded


def _nonce(nonce: str) -> bytes:
    if _NONCE.fullmatch(nonce) is None:
        raise ValueError(f"a nonce has 0 … 64 characters of A-Z a-z 0-9 _ -, got {nonce!r}")
    return _U16.pack(len(nonce)) + nonce.encode()


def _u16(what: str, value: int) -> bytes:
    if not 0 <= value < _ABOVE_U16:
        raise ValueError(f"{what} must lie in 0 … {_ABOVE_U16 - 1}, got {value}")
    return _U16.pack(value)


def _u64(what: str, value: int) -> bytes:
    if not 0 <= value < _ABOVE_U64:
        raise ValueError(f"{what} must lie in 0 … {_ABOVE_U64 - 1}, got {value}")
    return _U64.pack(value)
