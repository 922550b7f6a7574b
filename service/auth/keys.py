"""The keys' folder: 256 random bits a file (0600), made when first needed; or stated in the environment instead.

All processes of a store share them. The secret is what the ids of keyed requests are derived from. Whoever loses it
loses no table; only a keyed request retried across the loss would not meet what it created. Two servers with different
secrets on one store would do the same to each other all the time, so the store keeps the fingerprint of the first.
"""

import hashlib
import secrets
from pathlib import Path

from redis.asyncio import Redis

from service.files import replacing

SECRET_BYTES = 32

FINGERPRINT_KEY = "service:secret"
"""Where a store keeps the fingerprint of the secret that it is served with."""


class KeysUnfit(Exception):
    """The keys' folder or the secret in the environment can't be used; the message is one sentence."""


def secret_from(folder: Path, stated: str | None) -> bytes:
    """Return the secret stated as hex, else the one kept in the folder, made there at first; else raise KeysUnfit."""
    return kept(folder / "secret", stated, "EVENFOLD_SECRET")


def kept(path: Path, stated: str | None, variable: str) -> bytes:
    """Return the 32 bytes stated as hex by a variable, else those of a file, made at first; else raise KeysUnfit."""
    if stated is not None:
        return _decoded(stated, variable)
    folder = path.parent
    try:
        create(path, secrets.token_hex(SECRET_BYTES))
        text = path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        message = f"The keys' folder {folder} can't be used: {error}."
        raise KeysUnfit(message) from error
    return _decoded(text.strip(), str(path))


def fingerprint(secret: bytes) -> bytes:
    """Return what tells a secret from others and does not betray it: the SHA-256 of its 256 random bits, as hex."""
    return hashlib.sha256(b"evenfold/secret/1\0" + secret).hexdigest().encode()


def create(path: Path, secret: str) -> None:
    """Write a secret (hex) unless there is one; of two processes that try at once, both read the first one's."""
    if path.exists():
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(path.read_bytes() if path.exists() else f"{secret}\n".encode("ascii"))


async def is_at_home(secret: bytes, store: Redis) -> bool:
    """Tell whether the store is served with this secret; one that knows none yet is served with it from now on."""
    known = await store.set(FINGERPRINT_KEY, fingerprint(secret), nx=True, get=True)
    return known is None or known == fingerprint(secret)


def _decoded(text: str, source: str) -> bytes:
    try:
        secret = bytes.fromhex(text)
    except ValueError:
        secret = b""
    if len(secret) != SECRET_BYTES:
        message = f"{source} must hold {2 * SECRET_BYTES} hex digits."
        raise KeysUnfit(message)
    return secret
