"""What a decision takes up in the store: memory of stream, feed and index of keys, and bytes on the disk."""

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from redis import Redis

from service.embedded import Embedded
from service.ids import key_of
from service.streams import keys_of
from tests.bench.matches import Match, play
from tests.bench.report import Sheet
from tests.bench.size import Size
from tests.bench.tables import GAMES, append


def sheet(size: Size) -> Sheet:
    """Measure a match of each game, half of its decisions with an idempotency key."""
    found = Sheet("Space in the store, bytes a decision")
    for game in GAMES:
        match = play(game, random.Random(1), longest=size.versions[-1])
        found.add(f"{game.name}, {len(match.entries):,} decisions", dict(_bytes(match)))
    return found


def _bytes(match: Match) -> Iterator[tuple[str, float]]:
    count = len(match.entries)
    keyed = [key_of("", "", str(number)) for number in range(count // 2)]
    with tempfile.TemporaryDirectory() as folder, Embedded(Path(folder), what="the bench") as store:
        first, rest = match.entries[:1], match.entries[1:]
        append(store.url, [(match.stream, first)])
        before = _on_disk(Path(folder))
        append(store.url, [(match.stream, rest)], keyed)
        yield "entry as stored", sum(len(stored.e) for stored in match.entries) / count
        yield "on disk", (_on_disk(Path(folder)) - before) / len(rest)
        with Redis.from_url(store.url) as redis:
            keys = keys_of(match.stream)
            feed = keys.feed
            yield "stream", _in_memory(redis, keys.stream) / count
            yield "feed", _in_memory(redis, feed) / count
            yield "index, a key", _in_memory(redis, keys.remembered) / len(keyed)


def _in_memory(redis: Redis, key: str) -> int:
    return cast("int", redis.memory_usage(key, samples=0))


def _on_disk(folder: Path) -> int:
    return sum(path.stat().st_size for path in (folder / "appendonlydir").iterdir())
