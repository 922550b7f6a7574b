"""Ids: what names accounts, tables and tournaments, and where a stream lives by its id.

An id is 26 lower-case Crockford base32 characters: 130 random bits, five a character, most significant first. Every
such string is an id. What a POST with an Idempotency-Key creates gets an id derived from it, so that a retry meets its
own stream. The rules are fixed for ever: partitions name keys in the store, derived ids and keys outlive a deployment.
"""

import base64
import hmac
import re
import secrets
from collections.abc import Callable
from hashlib import sha256

PARTITIONS = 64

Randomness = Callable[[int], bytes]
"""Give so many random bytes, as `secrets.token_bytes` does."""

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_ID = re.compile(f"[{_ALPHABET}]{{26}}")
_ID_CHARACTERS = 26
_ID_BYTES = 17
_SALT_BYTES = 16


def new_id(randomness: Randomness = secrets.token_bytes) -> str:
    """Draw an id."""
    return _spelt(randomness(_ID_BYTES))


def new_salt(randomness: Randomness = secrets.token_bytes) -> str:
    """Draw the salt of an entry: 128 bits in 22 characters of base64url."""
    return base64.urlsafe_b64encode(randomness(_SALT_BYTES)).decode("ascii").rstrip("=")


def is_id(text: str) -> bool:
    """Say whether a text has the shape of an id."""
    return _ID.fullmatch(text) is not None


def partition(id: str) -> int:  # noqa: A002 the word is id
    """Return the partition, 0 … 63, that holds the stream with this id."""
    return sha256(id.encode("ascii")).digest()[0] % PARTITIONS


def derived(secret: bytes, account: str, route: str, idempotency_key: str) -> str:
    """Return the id of what a POST with an Idempotency-Key creates; `secret` is the server's.

    `route` is `POST`, a space and the path as sent from `/v1` on, without query.
    """
    return _spelt(hmac.digest(secret, _joined("evenfold/id/1", account, route, idempotency_key), "sha256"))


def key_of(account: str, route: str, idempotency_key: str) -> str:
    """Return the hash, in hex, under which a stream remembers an Idempotency-Key; `route` as for `derived`."""
    return sha256(_joined("evenfold/key/1", account, route, idempotency_key)).hexdigest()


def _joined(*parts: str) -> bytes:
    return "\0".join(parts).encode("utf-8")


def _spelt(randomness: bytes) -> str:
    """Spell the first 130 bits of at least 17 bytes."""
    bits = int.from_bytes(randomness[:_ID_BYTES], "big") >> (8 * _ID_BYTES - 5 * _ID_CHARACTERS)
    return "".join(_ALPHABET[bits >> shift & 31] for shift in range(5 * (_ID_CHARACTERS - 1), -1, -5))
