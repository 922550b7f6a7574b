"""Signing: what the service vouches for, with an Ed25519 key whose public half everybody may have.

Four things are signed or hashed under a tag of their own, so that no message of one purpose is one of another. Numbers
are big-endian; a stream is its name in ASCII after its length in two bytes.

    record        the end of an ended table's log, and the header that comes with it
    checkpoint    how long a log was, and what it chained up to, at a moment
    leaf          the same as the transparency log has it; it is hashed there, and not signed alone
    tree          how many leaves that log had at a moment, and its root

The key lives in the keys' folder (`signing`, 0600) or in EVENFOLD_SIGNING_KEY. A new one never makes an old signature
worthless: public halves are published with the time from which they were used (service/audit/keyring.py).
"""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from struct import Struct
from typing import Annotated, TypeAlias

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from msgspec import Meta

from events.base import whole
from service.auth.keys import kept

ID_BYTES = 8

KeyId = Annotated[str, Meta(pattern=whole("[0-9a-f]{16}"), description="A public key, by the beginning of its hash.")]
Signature = Annotated[str, Meta(pattern=whole("[0-9a-f]{128}"), description="An Ed25519 signature, in hex.")]

Keys: TypeAlias = Mapping[str, bytes]
"""Public keys (32 bytes), by their ids."""

_U16 = Struct(">H")
_U64 = Struct(">Q")


class Signer:
    """A private key; `id` names its public half, `public` is that half (32 bytes)."""

    def __init__(self, private: bytes) -> None:
        """Take the 32 bytes of the private key."""
        self._key = Ed25519PrivateKey.from_private_bytes(private)
        self.public = self._key.public_key().public_bytes_raw()
        self.id = id_of(self.public)

    def sign(self, message: bytes) -> bytes:
        """Return the signature, 64 bytes."""
        return self._key.sign(message)


def signer_from(folder: Path, stated: str | None) -> Signer:
    """Return the key stated as hex, else the one kept in the folder, made there at first; else raise KeysUnfit."""
    return Signer(kept(folder / "signing", stated, "EVENFOLD_SIGNING_KEY"))


def id_of(public: bytes) -> str:
    """Return what names a public key: the first 64 bits of its SHA-256, in hex."""
    return sha256(public).digest()[:ID_BYTES].hex()


def is_signed(public: bytes, message: bytes, signature: bytes) -> bool:
    """Tell whether a signature (64 bytes) of a message was made with the private half of this key (32 bytes)."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def record_message(stream: str, version: int, head: bytes, header: bytes) -> bytes:
    """Return what is signed of a record: its last version, the head there, and its header line without the newline."""
    return _tagged("evenfold/record/1", stream, version) + head + sha256(header).digest()


def checkpoint_message(stream: str, version: int, head: bytes, at: int) -> bytes:
    """Return what is signed of a checkpoint: the version and the head that a stream had at a moment (UTC ms)."""
    return _tagged("evenfold/checkpoint/1", stream, version) + head + _U64.pack(at)


def leaf_message(stream: str, version: int, head: bytes) -> bytes:
    """Return what the transparency log hashes of a stream: a version, and the head there."""
    return _tagged("evenfold/leaf/1", stream, version) + head


def tree_message(size: int, root: bytes, at: int) -> bytes:
    """Return what is signed of a tree head: the transparency log's size and root at a moment (UTC ms)."""
    return b"evenfold/tree/1\0" + _U64.pack(size) + root + _U64.pack(at)


def _tagged(tag: str, stream: str, version: int) -> bytes:
    name = stream.encode("ascii")
    return b"".join((tag.encode("ascii"), b"\0", _U16.pack(len(name)), name, _U64.pack(version)))
