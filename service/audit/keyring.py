"""The keyring: every public key that the service has ever signed with, kept in the store for everybody to have.

    service:signing_keys   a hash, by the key's id: the key, and since when it is used, as JSON

A key enters when a process first starts with it, and never leaves: what it has signed is to be checked for ever.
"""

from collections.abc import Callable
from typing import Annotated, Final, Literal, cast

import msgspec
from msgspec import Meta, Struct
from redis.asyncio import Redis

from events.base import Millis
from events.table import Hex256
from service.audit.signing import KeyId, Keys, Signer
from service.clock import utc_ms
from service.store import answered

_KEY: Final = "service:signing_keys"


class PublicKey(Struct, frozen=True):
    """A key by its id; `public` is its 32 bytes in hex, `since` when the service first used it."""

    id: KeyId
    algorithm: Literal["Ed25519"]
    public: Hex256
    since: Millis


class PublicKeys(Struct, frozen=True):
    """Every key that the service has signed with, the oldest first; the last is the one it signs with now."""

    keys: Annotated[tuple[PublicKey, ...], Meta(max_length=1_000)]

    def by_id(self) -> Keys:
        """Return their bytes by their ids."""
        return {key.id: bytes.fromhex(key.public) for key in self.keys}


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(PublicKey).decode


class Keyring:
    """The public keys kept in a store; each of its methods may raise StoreDown."""

    def __init__(self, redis: Redis, signer: Signer, clock: Callable[[], int] = utc_ms) -> None:
        """Keep them in this store, this signer's among them, by this clock (UTC ms)."""
        self._redis = redis
        self._signer = signer
        self._clock = clock

    async def enter(self) -> None:
        """Publish the key that is signed with from now on, unless it is known."""
        key = PublicKey(self._signer.id, "Ed25519", self._signer.public.hex(), self._clock())
        with answered():
            await self._redis.hsetnx(_KEY, key.id, _encode(key))

    async def published(self) -> PublicKeys:
        """Return all of them; a store that was put back from a backup may not know ours any more."""
        await self.enter()
        with answered():
            stored = cast("list[bytes]", await self._redis.hvals(_KEY))
        keys = sorted(map(_decode, stored), key=lambda key: (key.since, key.id))
        return PublicKeys(tuple(keys))
