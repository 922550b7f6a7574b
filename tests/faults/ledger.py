"""What a store holds, read from its bytes alone and held against all that must be true of them, whatever has happened.

Versions are dense, heads chain, time never runs back; the catalogue, the index of keys and the feeds say what the
streams say, once, but for the hints that were trimmed off a feed's beginning. So a decision that was lost, doubled or
half written does not pass.
"""

from collections import defaultdict
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
                for stream, hinted in hints.items():
                    # Each once, in their order, to the last.
                    assert hinted == [line.version for line in lines[stream]][-len(hinted) :], stream
                untrimmed = [stream for stream in lines if not _is_trimmed(client, stream)]
                assert [name for name in untrimmed if len(hints[name]) != len(lines[name])] == []
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


def _hints(client: Redis) -> dict[str, list[int]]:
    """Return the versions that each stream is hinted at, in their order."""
    found = defaultdict[str, list[int]](list)
    for number in range(PARTITIONS):
        for _, hint in cast("list[tuple[bytes, dict[bytes, bytes]]]", client.xrange(feed_key(number))):
            found[hint[b"s"].decode()].append(int(hint[b"v"]))
    return found


def _is_trimmed(client: Redis, stream: str) -> bool:
    """Tell whether the feed of a stream has lost its beginning."""
    facts = cast("dict[str, int]", client.xinfo_stream(keys_of(stream).feed))
    return facts["entries-added"] != facts["length"]
