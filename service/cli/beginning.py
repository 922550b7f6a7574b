"""What every command that serves does at its start: look at the store and the keys, and say where it serves."""

import sys

from redis import RedisError
from rich.console import Console

from service.audit.signing import signer_from
from service.auth.keys import is_at_home, secret_from
from service.cli.sentences import Unusable
from service.durability import require, worries
from service.settings import Settings
from service.store import StoreUnfit, concerns, connect, require_whole, where
from service.version import version

DURABLE = "Set appendonly yes and appendfsync always there."


def refuse_malformed(url: str) -> None:
    """Raise Unusable if this can't be the address of a store."""
    try:
        where(url)
    except StoreUnfit as malformed:
        raise Unusable(f"Invalid value for '--redis' (env var: 'EVENFOLD_REDIS_URL'): {malformed}") from None


async def warnings(settings: Settings) -> tuple[str, ...]:
    """Return a sentence for all that may lose commands or do them twice; raise KeysUnfit or StoreUnfit."""
    secret = secret_from(settings.keys, settings.secret)
    signer_from(settings.keys, settings.signing_key)  # Each process would end by it, and be started again.
    client = await connect(settings.redis)
    try:
        await require(client, settings.redis, settings.durability)
        await require_whole(client, settings.redis)
        durability = [f"{concern} {DURABLE}" for concern in await concerns(client)]
        durability += await worries(client, settings.durability)
        at_home = await is_at_home(secret, client)
    except RedisError as error:
        raise StoreUnfit(f"The store at {where(settings.redis)} can't be looked at: {error}.") from None
    finally:
        await client.aclose()
    return (*durability,) if at_home else (*durability, _other_secret(settings))


def announce(what: str, *sentences: str) -> None:
    """Say on the standard output what runs now, with its version, and what there is to know about it."""
    console = Console(soft_wrap=True, highlight=False, emoji=False)
    console.print(f"Evenfold {version()} {what}")
    for sentence in sentences:
        console.print(sentence, markup=False)
    sys.stdout.flush()


def _other_secret(settings: Settings) -> str:
    source = f"the one in {settings.keys}" if settings.secret is None else "the one in EVENFOLD_SECRET"
    return (
        f"The store was first served with another secret than {source}: a request that is repeated with its "
        "Idempotency-Key may be done twice, so give all servers of a store the same --keys."
    )
