"""What a store holds, read from its bytes alone and held against all that must be true of them, whatever has happened.

Versions are dense, heads chain, time never runs back; the catalogue, the index of keys and the feeds say what the
streams say, once. So a decision that was lost, doubled or half written does not pass.
"""

from collections import Counter
from typing import Any, NamedTuple, cast

import msgspec
from redis import Redis

from service.ids import PARTITIONS
from service.streams import catalogue_key, feed_key, genesis, head_after, keys_of
from tests.stores import asking

LOOKS = 100
"""How often a store that is still written to is looked at anew."""


class Line(NamedTuple):
    """An entry of a stream: its version, its head in hex, the hash of its key, and what it says."""

    version: int
    head: str
    key: str | None
    says: dict[str, Any]


def audited(url: str) -> dict[str, list[Line]]:
    """Return every stream of a store by name; fail where something is not as appends alone make it.

    What is still appended meanwhile, by a bot or by what a client gave up, is waited for.
    """
    with asking(url) as client:
        for _ in range(LOOKS):
            hints, lines, catalogued = _hints(client), _streams(client), _catalogued(client)
            if hints == _hints(client):
                assert catalogued == sorted(lines)
                assert hints == Counter((stream, line.version) for stream in lines for line in lines[stream])
                return lines
    raise AssertionError("the store never came to rest")


def _streams(client: Redis) -> dict[str, list[Line]]:
    named = sorted(name.decode() for name in client.scan_iter("*:t*:*") if b":table:" in name)
    return {stream: _lines(client, stream) for stream in (key.partition(":")[2] for key in named)}


def _catalogued(client: Redis) -> list[str]:
    catalogues = [cast("list[bytes]", client.zrange(catalogue_key(n), 0, -1)) for n in range(PARTITIONS)]
    return sorted(name.decode() for names in catalogues for name in names)


def lines_of(url: str, table: str) -> list[Line]:
    """Return one table's entries, held to the same."""
    with asking(url) as client:
        return _lines(client, f"table:{table}")


def _lines(client: Redis, stream: str) -> list[Line]:
    keys = keys_of(stream)
    head, at, lines = genesis(stream), 0, list[Line]()
    with client.pipeline() as pipe:
        pipe.xrange(keys.stream)
        pipe.hgetall(keys.remembered)
        rows, remembered = cast("tuple[list[tuple[bytes, dict[bytes, bytes]]], dict[bytes, bytes]]", pipe.execute())
    for version, (id_, fields) in enumerate(rows, 1):
        head = head_after(head, fields[b"e"])
        says = msgspec.json.decode(fields[b"e"])
        assert (id_, fields[b"h"].hex(), says["version"]) == (b"%d-0" % version, head.hex(), version), stream
        assert says["at"] >= at, stream
        at = says["at"]
        lines.append(Line(version, head.hex(), says["key"], says))
    index = {key.decode(): int(version) for key, version in remembered.items()}
    assert index == {line.key: line.version for line in lines if line.key is not None}, stream
    assert len(index) == sum(line.key is not None for line in lines), stream
    return lines


def _hints(client: Redis) -> Counter[tuple[str, int]]:
    feeds = [cast("list[tuple[bytes, dict[bytes, bytes]]]", client.xrange(feed_key(n))) for n in range(PARTITIONS)]
    return Counter((hint[b"s"].decode(), int(hint[b"v"])) for feed in feeds for _, hint in feed)
