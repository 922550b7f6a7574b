"""The record of an ended table, `record/1`: its whole log, opened, in lines that a stranger checks by splitting them.

    header     {"record":1,"options":{…},"ruleset":"…","players":[…],"key":"…","texts":[…]}
    entries    the exact bytes `e` of each entry, one a line
    trailer    {"version":n,"head":"…","seed":"…","nonces":[…],"signature":"…"}

Header and trailer are compact JSON, their members in this order, binary values in lower-case hex: a reader compares
every byte of both with what it would write itself from the entries. `key` names the public key; the signature is of
`record_message` (signing.py). `texts` are those free texts that the log has hashes of and that still exist. Rulings may
come after the end: a record names its last version, and with a later one it is a new record.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Raw, Struct

from events.base import MAX_SEATS, Entry, Head, PlayerId, Ruleset, Version
from events.table import Chosen, Created, Hex256, Nonce
from service.audit.signing import KeyId, Signature, Signer, record_message
from service.game import AnyTable
from service.streams import table_stream
from service.written import Text

MAX_TEXTS = 2_000
"""One of each dispute, and one of its ruling."""


class Header(Struct, frozen=True, forbid_unknown_fields=True):
    """The first line of a record; `players` are those who sit there now, by seat, null where nobody does."""

    record: Literal[1]
    options: Chosen
    ruleset: Ruleset
    players: Annotated[tuple[PlayerId | None, ...], Meta(min_length=1, max_length=MAX_SEATS)]
    key: KeyId
    texts: Annotated[tuple[Text, ...], Meta(max_length=MAX_TEXTS)]


class Trailer(Struct, frozen=True, forbid_unknown_fields=True):
    """The last line of a record."""

    version: Version
    head: Head
    seed: Hex256
    nonces: Annotated[tuple[Nonce, ...], Meta(min_length=1, max_length=MAX_SEATS)]
    signature: Signature


_encode = msgspec.json.Encoder().encode
_first = msgspec.json.Decoder(Entry[Raw, Raw])
_created = msgspec.json.Decoder(Created)


def header_of(table: AnyTable, options: Chosen, key: str, texts: Iterable[Text] = ()) -> bytes:
    """Return the header line of a table's record, without its newline.

    `options` are those that its first entry states, `key` is the public key's id.
    """
    players = tuple(player.id if player is not None else None for player in table.players)
    return _encode(Header(1, options, table.ruleset, players, key, tuple(texts)))


def trailer_of(table: AnyTable, signature: bytes) -> bytes:
    """Return the trailer line of an ended table's record, without its newline."""
    if table.seed is None:
        raise ValueError(f"table {table.id} has no seed to state")
    return _encode(Trailer(table.version, table.head.hex(), table.seed, table.nonces, signature.hex()))


def signed(table: AnyTable, header: bytes) -> bytes:
    """Return what the signature of a table's record is of; `header` is its header line."""
    return record_message(table_stream(table.id), table.version, table.head, header)


def opening(table: AnyTable, first: bytes, key: str, texts: Iterable[Text] = ()) -> bytes:
    """Return the header line of a table's record, without its newline; `first` is its first entry as stored."""
    created = _created.decode(_first.decode(first).events[0])
    return header_of(table, created.options, key, texts)


def closing(table: AnyTable, header: bytes, signer: Signer) -> bytes:
    """Return the trailer line of an ended table's record, without its newline, signed."""
    return trailer_of(table, signer.sign(signed(table, header)))


def lines(table: AnyTable, entries: Sequence[bytes], signer: Signer, texts: Iterable[Text] = ()) -> Iterator[bytes]:
    """Yield the lines of an ended table's record, with their newlines; `entries` are its stored bytes up to now."""
    header = opening(table, entries[0], signer.id, texts)
    for line in (header, *entries, closing(table, header, signer)):
        yield line + b"\n"
