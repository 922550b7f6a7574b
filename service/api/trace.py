"""W3C Trace Context: whose trace a request belongs to, passed on with a span of our own.

https://www.w3.org/TR/trace-context/: a `traceparent` that is not as described there is ignored, and `tracestate` with
it; a version to come is read as far as this one knows it. We start no traces, for nobody here would collect them.
"""

import random
import re
from typing import NamedTuple

_PARENT = re.compile(
    rb"(?P<version>[0-9a-f]{2})-(?P<trace>[0-9a-f]{32})-(?P<parent>[0-9a-f]{16})-(?P<flags>[0-9a-f]{2})"
)
_PARENT_LENGTH = 55
_KEY = rb"(?:[a-z][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})"
_MEMBER = re.compile(_KEY + rb"=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]")
_MOST_MEMBERS = 32

_draw = random.Random().getrandbits  # noqa: S311 names of spans are no secrets


class Trace(NamedTuple):
    """A trace's id, our span's id in it, and the headers that pass both on."""

    trace: str
    span: str
    headers: tuple[tuple[bytes, bytes], ...]


def followed(headers: list[tuple[bytes, bytes]]) -> Trace | None:
    """Return the trace that a request belongs to, None if it states none that can be followed."""
    parents = [value for name, value in headers if name == b"traceparent"]
    parent = _parent(parents[0]) if len(parents) == 1 else None
    if parent is None:
        return None
    span = b"%016x" % (_draw(64) or 1)
    # Of a version to come only the sampled flag is known; of this one, that the id is random, too.
    flags = int(parent["flags"], 16) & (3 if parent["version"] == b"00" else 1)
    passed = [(b"traceparent", b"00-%b-%b-%02x" % (parent["trace"], span, flags))]
    state = _state([value for name, value in headers if name == b"tracestate"])
    if state:
        passed.append((b"tracestate", state))
    return Trace(parent["trace"].decode(), span.decode(), tuple(passed))


def _parent(value: bytes) -> "re.Match[bytes] | None":
    match = _PARENT.match(value)
    if match is None or match["version"] == b"ff":
        return None
    longer = len(value) > _PARENT_LENGTH
    if longer and (match["version"] == b"00" or value[_PARENT_LENGTH : _PARENT_LENGTH + 1] != b"-"):
        return None
    return match if match["trace"].strip(b"0") and match["parent"].strip(b"0") else None


def _state(values: list[bytes]) -> bytes:
    """Return the members of tracestate in one line, empty if they are not as described."""
    members = [member for value in values for part in value.split(b",") if (member := part.strip(b" \t"))]
    keys = {member.partition(b"=")[0] for member in members}
    fine = len(members) <= _MOST_MEMBERS and len(keys) == len(members) and all(map(_MEMBER.fullmatch, members))
    return b",".join(members) if fine else b""
