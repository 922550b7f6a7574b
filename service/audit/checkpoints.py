"""Checkpoints: what the service vouches for while a table is live, for clients to keep.

A checkpoint says what version and head a stream had at a moment, and is signed. Whoever keeps one can show later that
a log was cut or decided anew: whatever has these heads further on must have come by this one.
"""

from collections.abc import Callable
from typing import Annotated, TypeAlias

from msgspec import Meta, Struct

from events.base import Head, Millis, Version, whole
from service.audit.signing import KeyId, Keys, Signature, Signer, checkpoint_message, is_signed

Stream = Annotated[
    str,
    Meta(pattern=whole("(table|tournament):[0-9a-hjkmnp-tv-z]{26}"), description="A log: `table:` and its id."),
]


class Checkpoint(Struct, frozen=True, forbid_unknown_fields=True):
    """The version and head of a log at a moment (UTC ms), signed by the key of this id."""

    stream: Stream
    version: Version
    head: Head
    at: Millis
    key: KeyId
    signature: Signature

    def is_signed_by(self, keys: Keys) -> bool:
        """Tell whether the signature is that of one of these keys."""
        public = keys.get(self.key)
        message = checkpoint_message(self.stream, self.version, bytes.fromhex(self.head), self.at)
        return public is not None and is_signed(public, message, bytes.fromhex(self.signature))


class CheckpointLine(Checkpoint, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="checkpoint"):
    """A checkpoint as a stream of lines tells it: by its type."""


Vouch: TypeAlias = Callable[[str, int, bytes], Checkpoint]
"""Returns the checkpoint of a stream that has a version and a head now."""


def vouched(stream: str, version: int, head: bytes, at: int, signer: Signer) -> Checkpoint:  # noqa: PLR0913, PLR0917 what is signed, and by whom
    """Return the checkpoint of a stream that has this version and head at a moment (UTC ms)."""
    signature = signer.sign(checkpoint_message(stream, version, head, at))
    return Checkpoint(stream, version, head.hex(), at, signer.id, signature.hex())
