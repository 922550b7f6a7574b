"""The page on shuffling: its words suffice to write it again, its numbers and its program are right."""

import hashlib
import hmac
import json
import re
import runpy
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

from hypothesis import given, settings
from hypothesis import strategies as st

from events.cards import FRENCH
from service import games
from service.chance import Chance, Draws, bot_stream, commitment, number

PAGE = (Path(__file__).parents[2] / "service/web/pages/shuffle.md").read_text(encoding="utf-8")

# By the names that cards bear in events and views: the page once had others, and an honest table seemed to cheat.
PACK = FRENCH
COURTS = tuple(card for card in PACK if card[1] in "JQK")


def fenced(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


VALUES = dict(line.split(" = ", 1) for block in fenced("values") for line in block.splitlines())


# --- Written again ---


class Rewritten:
    """`shuffle/1` written a second time, from the words of the page alone and as unlike the service as they allow."""

    def __init__(self, seed: bytes, ctx: str) -> None:
        self.seed = seed
        self.ctx = len(ctx.encode()).to_bytes(2, "big") + ctx.encode()

    def commitment(self) -> bytes:
        return hashlib.sha256(b"evenfold/commit/1" + bytes(1) + self.ctx + self.seed).digest()

    def key(self, nonces: Sequence[str]) -> bytes:
        message = b"evenfold/shuffle/1" + bytes(1) + self.ctx
        for nonce in nonces:
            message += len(nonce).to_bytes(2, "big") + nonce.encode()
        return self.hmac(self.seed, message)

    def bot_key(self, seat: int, version: int) -> bytes:
        message = b"evenfold/bot/1" + bytes(1) + self.ctx + (seat << 64 | version).to_bytes(10, "big")
        return self.hmac(self.seed, message)

    def bot_draws(self, seat: int, version: int, bounds: Sequence[int]) -> list[int]:
        return self.draws(self.bot_key(seat, version), b"", bounds)

    def order(self, nonces: Sequence[str], size: int, c: int) -> list[int]:
        """Fill the positions from the last to the first; what is drawn is replaced by the last card that is left."""
        left = list(range(size))
        order: list[int] = []
        bounds = range(size, 1, -1)
        for j in self.draws(self.key(nonces), c.to_bytes(8, "big"), bounds):
            last = left.pop()
            order.append(left[j] if j < len(left) else last)
            left[j : j + 1] = [last] if j < len(left) else []
        return [*left, *reversed(order)]

    def draws(self, key: bytes, prefix: bytes, bounds: Sequence[int]) -> list[int]:
        """Take 64 bits at a time off one long number made of many more blocks than can be needed."""
        blocks = [self.hmac(key, prefix + i.to_bytes(8, "big")) for i in range(len(bounds) // 4 + 8)]
        bits = f"{int.from_bytes(b''.join(blocks), 'big'):0{256 * len(blocks)}b}"
        drawn: list[int] = []
        while len(drawn) < len(bounds):
            word, bits, m = int(bits[:64], 2), bits[64:], bounds[len(drawn)]
            if word // m < 2**64 // m:
                drawn.append(word % m)
        return drawn

    @staticmethod
    def hmac(key: bytes, message: bytes) -> bytes:
        """Return HMAC-SHA256 as RFC 2104 defines it, for keys of 32 bytes."""
        block = int.from_bytes(key + bytes(32), "big")
        inner, outer = (block ^ int.from_bytes(bytes([pad]) * 64, "big") for pad in (0x36, 0x5C))
        inside = hashlib.sha256(inner.to_bytes(64, "big") + message).digest()
        return hashlib.sha256(outer.to_bytes(64, "big") + inside).digest()


U64 = st.integers(0, 2**64 - 1)
SEEDS = st.binary(min_size=32, max_size=32)
NONCES = st.lists(st.from_regex(r"[A-Za-z0-9_-]{0,64}", fullmatch=True), max_size=8)


@settings(derandomize=True)
@given(seed=SEEDS, ctx=st.text(max_size=80), nonces=NONCES, size=st.integers(0, 120), c=U64)
def test_a_second_shuffle_written_from_the_page_agrees(
    *, seed: bytes, ctx: str, nonces: list[str], size: int, c: int
) -> None:
    again = Rewritten(seed, ctx)
    chance = Chance(seed, ctx, nonces)
    assert commitment(seed, ctx) == again.commitment()
    assert chance.key == again.key(nonces)
    assert chance.shuffle(range(size), c) == tuple(again.order(nonces, size, c))


@settings(derandomize=True)
@given(
    seed=SEEDS,
    ctx=st.text(max_size=80),
    seat=st.integers(0, 65_535),
    version=U64,
    bounds=st.lists(st.integers(1, 2**64), max_size=8),
)
def test_a_second_stream_of_bots_written_from_the_page_agrees(
    *, seed: bytes, ctx: str, seat: int, version: int, bounds: list[int]
) -> None:
    ours = bot_stream(seed, ctx, seat, version)
    assert [ours.draw(m) for m in bounds] == Rewritten(seed, ctx).bot_draws(seat, version, bounds)


# --- The worked example and the program ---


def recomputed(seed: bytes, ctx: str, nonces: list[str]) -> dict[str, object]:
    """Return every value of the worked example by its name, computed by the service; bytes where the page has hex."""
    chance = Chance(seed, ctx, nonces)
    context = b"\x00\x20" + ctx.encode()
    message = number(1).to_bytes(8, "big") + bytes(8)
    block = hmac.digest(chance.key, message, "sha256")
    below, draws = [52, 51, 50, 49], Draws([block])
    cards = chance.shuffle(PACK, number(1))
    tests, bot = [2**64 - 1, 2**64 - 2, 2**63, 0], bot_stream(seed, ctx, 1, 7)
    stated = Draws(word.to_bytes(8, "big") for word in tests)
    sizes = [len(nonce).to_bytes(2, "big") + nonce.encode() for nonce in nonces]
    return {
        "seed": seed,
        "ctx": ctx,
        "nonces": nonces,
        "commitment message": b"evenfold/commit/1\0" + context + seed,
        "commitment": commitment(seed, ctx),
        "key message": b"".join((b"evenfold/shuffle/1\0", context, *sizes)),
        "key": chance.key,
        "first dealer": chance.lot(range(5), number(0)),
        "removed": chance.shuffle(COURTS, number(0, 1))[:2],
        "block message": message,
        "block": block,
        "words": [int.from_bytes(block[start : start + 8], "big") for start in range(0, 32, 8)],
        "below": below,
        "rejected from": [2**64 - 2**64 % m for m in below],
        "draws": [draws.draw(m) for m in below],
        "order": chance.shuffle(range(52), number(1)),
        "cards": cards,
        **{f"hand of P{p}": cards[10 * p - 20 : 10 * p - 10] for p in (2, 3, 4, 5)},
        "hand of P1": cards[40:],
        "test words": tests[:3],
        "draws below 3": [stated.draw(3), stated.draw(3)],
        "bot key message": b"evenfold/bot/1\0" + context + bytes.fromhex("0001 0000000000000007"),
        "bot key": Rewritten(seed, ctx).bot_key(1, 7),
        "bot draws below 10": [bot.draw(10) for _ in range(8)],
    }


def shown(value: object) -> str:
    match value:
        case bytes():
            return value.hex()
        case str():
            return value
        case _:
            return json.dumps(value)


def test_every_value_of_the_worked_example_is_what_the_service_computes() -> None:
    values = recomputed(bytes.fromhex(VALUES["seed"]), VALUES["ctx"], json.loads(VALUES["nonces"]))
    assert {name: shown(value) for name, value in values.items()} == VALUES


def test_the_swaps_told_in_the_example_are_its_first_two_draws() -> None:
    told = re.search(r"the cards at 51 and (\d+) are swapped, then those at 50 and (\d+),", PAGE)
    assert told is not None
    assert [int(position) for position in told.groups()] == json.loads(VALUES["draws"])[:2]


def test_the_messages_told_in_the_example_begin_as_told() -> None:
    message = bytes.fromhex(VALUES["commitment message"])
    assert "the 17 bytes of `evenfold/commit/1`, then `00`, then the length of ctx, 32:" in PAGE
    assert message[:20] == b"evenfold/commit/1" + bytes([0, 0, 32])
    assert len(VALUES["ctx"]) == 32


def test_the_pages_program_computes_the_worked_example(tmp_path: Path) -> None:
    source = tmp_path / "program.py"
    source.write_text(fenced("python")[0], encoding="utf-8")
    program = SimpleNamespace(**runpy.run_path(str(source)))
    seed, ctx = bytes.fromhex(VALUES["seed"]), VALUES["ctx"]
    key = program.shuffle_key(seed, ctx, json.loads(VALUES["nonces"]))
    bot = program.words(program.bot_key(seed, ctx, 1, 7))
    assert program.commitment(seed, ctx).hex() == VALUES["commitment"]
    assert key.hex() == VALUES["key"]
    assert program.shuffle(key, range(5), 0)[0] == json.loads(VALUES["first dealer"])
    assert program.shuffle(key, COURTS, 1)[:2] == json.loads(VALUES["removed"])
    assert program.shuffle(key, PACK, 65_536) == json.loads(VALUES["cards"])
    assert program.draw(iter(json.loads(VALUES["test words"])), 3) == json.loads(VALUES["draws below 3"])[0]
    assert [program.draw(bot, 10) for _ in range(8)] == json.loads(VALUES["bot draws below 10"])


def test_every_game_has_its_packs_and_numbers_on_the_page() -> None:
    missing = [game.title for game in games.find() if f"\n## {game.title}\n" not in PAGE]
    assert missing == []
