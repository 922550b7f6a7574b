"""A text that somebody wrote, as it is kept beside the log: the log has its id, and a salted hash of it, alone."""

from hashlib import sha256
from typing import Annotated, Final

from msgspec import Meta, Struct

from events.base import Id, whole
from events.table import TextRef

MAX_CHARACTERS: Final = 2_000
"""How long a text may be."""


class Text(Struct, frozen=True, forbid_unknown_fields=True):
    """A free text that the log knows by its id and salted hash."""

    id: Id
    salt: Annotated[str, Meta(pattern=whole("[0-9a-f]{32}"))]
    text: Annotated[str, Meta(max_length=MAX_CHARACTERS)]

    @property
    def hash(self) -> str:
        """The hash that the log has of it, in hex (`TextRef`)."""
        return sha256(b"evenfold/text/1\0" + bytes.fromhex(self.salt) + self.text.encode()).hexdigest()

    @property
    def ref(self) -> TextRef:
        """What names it in the log."""
        return TextRef(self.id, self.hash)
