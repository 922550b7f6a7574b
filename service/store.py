"""The store's address, and whether what answers there is fit to keep a log: any Redis from 7.0 on, or Valkey.

`redis://`, `rediss://` (TLS) and `unix://` all lead to an ordinary client; what is unfit is found at the start, before
a command depends on it, and told in one sentence that never holds the password. The user of the address needs INFO and
FUNCTION; with CONFIG GET besides, `concerns` knows more.

Left out: Sentinel and Cluster (refused, in a sentence), and the appending of decisions, which is service/log.py's.
"""

import asyncio
import os
import re
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias
from urllib.parse import parse_qs, unquote, urlsplit
from weakref import WeakValueDictionary

from redis import exceptions
from redis.asyncio import BlockingConnectionPool, Redis, SSLConnection
from redis.asyncio.client import Pipeline
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.driver_info import DriverInfo

from service.errors import StoreDown

OLDEST = (7, 0)
"""The first Redis with functions. Valkey calls itself 7.2.4 here, whatever its own version."""

ANSWER_S = 5.0
"""How long one connection or one answer may take: an fsync on a busy disk takes long, a dead host takes for ever."""

LOADING_S = 60.0
"""How long a server may be loading its data at our start."""

CONNECTIONS = 64
"""How many connections a client opens at most; whoever needs one more waits for one, ANSWER_S at most."""

RESTORING_KEY = "service:restoring"
"""Is there from the beginning of the restoring of a backup to its end."""

OPTIONS = frozenset(
    {
        "db",
        "username",
        "password",
        "ssl_ca_certs",
        "ssl_ca_path",
        "ssl_certfile",
        "ssl_keyfile",
        "ssl_cert_reqs",
        "ssl_check_hostname",
    }
)
"""What an address may say after its question mark: who we are, and whom TLS trusts. The rest is decided here."""

_DRIVER = DriverInfo()

_AWAY = (
    exceptions.ConnectionError,  # loading and failed sign-in among them
    exceptions.TimeoutError,
    exceptions.ReadOnlyError,
    exceptions.OutOfMemoryError,
    exceptions.NoPermissionError,
    exceptions.ClusterDownError,
)

_UNFIT = re.compile(
    r"(?:LOADING|OOM|READONLY|MISCONF|MASTERDOWN|NOREPLICAS|CLUSTERDOWN|BUSY|NOPERM) "
    # What an allow-list says within a function, in the words of Valkey and of Redis.
    r"|ERR (?:ACL failure in script|The user executing the script can't run)"
)
"""How a server's error begins that starts up, is full, has become a replica, can't write, is held up, or forbids it."""

Facts = Mapping[str, object]
"""What INFO says."""


Call: TypeAlias = Callable[..., Awaitable[object]]
"""Has the store do one command, as `Redis.execute_command` does, or a quicker way."""


class StoreUnfit(Exception):
    """The store can't be used; the message is one sentence that says why, without the password."""


def dial(url: str, *, answer_s: float = ANSWER_S) -> Redis:
    """Make a client without connecting yet; raise StoreUnfit if the address is none."""
    where(url)
    try:
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=CONNECTIONS,
            timeout=answer_s,
            socket_connect_timeout=answer_s,
            socket_timeout=answer_s,
            health_check_interval=15,  # Finds out a connection that a firewall forgot before a command goes out on it.
            # Never send a command a second time behind its caller's back: it may have been executed. Whoever can tell
            # (the log, by an entry's salt) sends it again; a closed connection in the pool is replaced without that.
            retry=Retry(NoBackoff(), 0),
            # Else every connection looks up the version of an installed package, which takes longer than to connect.
            driver_info=_DRIVER,
            # RESP2: we need none of RESP3's pushes, and a server too old to know HELLO can say how old it is.
            protocol=2,
        )
        pool.connection_class(**pool.connection_kwargs)  # Options are looked at here, and nothing is sent.
    except (ValueError, TypeError, exceptions.RedisError):
        raise _malformed() from None
    return Redis.from_pool(pool)


async def connect(url: str, *, answer_s: float = ANSWER_S, loading_s: float = LOADING_S) -> Redis:
    """Connect to the store and see that it is fit; raise StoreUnfit.

    Fit is what can be reached, accepts our name, is new enough, stands alone, takes writes, has functions and never
    evicts: a log with a hole can't be mended, so eviction is refused. Less durability is the host's to choose: see
    `concerns`.
    """
    client = dial(url, answer_s=answer_s)
    try:
        await _await_loaded(client, loading_s)
        _check(await client.info())
        await _check_functions(client)
    except _Unfit as unfit:
        await client.aclose()
        raise StoreUnfit(f"The store at {where(url)} {unfit}.") from None
    except exceptions.RedisError as error:
        await client.aclose()
        raise StoreUnfit(f"The store at {where(url)} {_complaint(error, client, answer_s)}.") from None
    except BaseException:
        await client.aclose()
        raise
    return client


async def require_whole(client: Redis, url: str) -> None:
    """Raise StoreUnfit for a store whose restoring from a backup has not come to its end: it lacks what it should have.

    Raise it too where the store does not tell.
    """
    try:
        begun = await client.get(RESTORING_KEY)
    except exceptions.RedisError as error:
        raise StoreUnfit(f"The store at {where(url)} does not tell whether it is whole: {error}.") from None
    if begun is not None:
        raise StoreUnfit(
            f"The store at {where(url)} is being filled from a backup, or was and that has not come to its end: then"
            " empty it, and restore the backup again."
        )


async def concerns(client: Redis) -> tuple[str, ...]:
    """Say, a sentence each, how a fit store may still lose acknowledged commands: to be told loudly at the start."""
    facts = await client.info("persistence")
    if not facts.get("aof_enabled"):
        return ("The store keeps no append-only file: if it stops, commands that were acknowledged are lost.",)
    try:
        answer = await client.config_get("appendfsync")
    except exceptions.ResponseError:
        return ("The store does not tell when it syncs its log (CONFIG GET is forbidden): see that it is always.",)
    if answer.get("appendfsync") != "always":
        return (
            "The store does not sync its log on every write (appendfsync): a power cut loses acknowledged commands.",
        )
    return ()


def where(url: str) -> str:
    """Say where an address leads without what is secret in it; raise StoreUnfit if it isn't one we know."""
    try:
        parts = urlsplit(url)
        port = parts.port or 6379
    except ValueError:  # Its message quotes what it took for a port, which may be a password.
        raise _malformed() from None
    if parts.fragment:
        raise _malformed()
    known = {option for option in OPTIONS if parts.scheme == "rediss" or not option.startswith("ssl_")}
    if parse_qs(parts.query, keep_blank_values=True).keys() - known:
        raise StoreUnfit(
            f"The store's address has an unknown option: {parts.scheme}:// has {', '.join(sorted(known))}."
        )
    match parts.scheme, parts.hostname:
        case "unix", None if len(parts.path) > 1:
            return f"unix://{unquote(parts.path)}"
        case "redis" | "rediss", str(host) if re.fullmatch(r"(/\d*)?", parts.path):
            return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}"
        case _:
            raise _malformed()


@contextmanager
def answered() -> Iterator[None]:
    """Raise StoreDown if the store does not answer what is asked of it in this block, or can't write now."""
    try:
        yield
    except _AWAY as error:
        raise StoreDown("The store does not answer.") from error
    except exceptions.ResponseError as error:
        if not is_unfit(error):
            raise
        raise StoreDown("The store can't do its work now.") from error


def heed_cancelling() -> None:
    """End the task if it was cancelled: redis-py may swallow that, and answer as if nothing had been asked of it."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def is_unfit(error: exceptions.ResponseError) -> bool:
    """Say whether a server's error, quoted whole, tells of the server's own state and not of what was asked."""
    return _UNFIT.match(str(error)) is not None


class Turns:
    """Whose turn it is in this process, by name: rivals in a transaction would only make each other begin again."""

    def __init__(self) -> None:
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def of(self, name: str) -> asyncio.Lock:
        """Return what to hold while it is one's turn."""
        return self._turns.get(name) or self._turns.setdefault(name, asyncio.Lock())


def begin(pipe: Pipeline) -> None:
    """Begin what a transaction writes, after what it reads."""
    pipe.multi()  # type: ignore[no-untyped-call] # redis-py has not annotated it


class _Unfit(Exception):
    """Why the store is unfit, as the rest of a sentence about it."""


def _malformed() -> StoreUnfit:
    return StoreUnfit(
        "The store's address is malformed: write redis://[[user]:password@]host[:port][/db], rediss:// for TLS, "
        "or unix:///path, special characters in a password as %XX."
    )


async def _await_loaded(client: Redis, loading_s: float) -> None:
    until = time.monotonic() + loading_s
    while True:
        try:
            await client.ping()
        except exceptions.ConnectionError as error:
            if not isinstance(_chain(error)[-1], exceptions.BusyLoadingError):
                raise
            if time.monotonic() > until:
                raise _Unfit(f"was still loading its data after {loading_s:g} seconds") from None
            await asyncio.sleep(0.05)
        else:
            return


def _check(facts: Facts) -> None:
    version = str(facts.get("redis_version", "unknown"))
    numbers = re.match(r"(\d+)\.(\d+)", version)
    policy = facts.get("maxmemory_policy", "noeviction")
    if "sentinel" in {facts.get("redis_mode"), facts.get("server_mode")}:
        raise _Unfit("is a Sentinel, which can't be used yet; name the primary itself")
    if numbers is None or (int(numbers[1]), int(numbers[2])) < OLDEST:
        raise _Unfit(f"is version {version}; Redis 7.0 or newer is needed, or Valkey")
    if facts.get("cluster_enabled"):
        raise _Unfit("is a node of a cluster; clusters can't be used yet")
    if facts.get("role") == "slave":
        raise _Unfit("is a replica and takes no writes; name its primary")
    if policy != "noeviction":
        raise _Unfit(f"would evict keys ({policy}) and so destroy tables; set its maxmemory-policy to noeviction")


async def _check_functions(client: Redis) -> None:
    try:
        await client.function_list(library="evenfold_*")
    except exceptions.ResponseError as error:
        raise _Unfit(f"does not let us use functions ({_scrubbed(error, client)})") from None


def _complaint(error: exceptions.RedisError, client: Redis, answer_s: float) -> str:
    """Say what went wrong, as the rest of a sentence about the store."""
    chain = _chain(error)
    root = chain[-1]
    over = " over TLS" if issubclass(client.connection_pool.connection_class, SSLConnection) else ""
    match [link for link in chain if isinstance(link, exceptions.RedisError)][-1]:
        case exceptions.AuthenticationError() if _password(client):
            return "does not accept this user and password"
        case exceptions.AuthenticationError():
            return "wants a password, and its address gives none"
        case exceptions.TimeoutError():
            return f"did not answer{over} within {answer_s:g} seconds"
        case exceptions.ConnectionError() if isinstance(root, OSError) and (over or not _hung_up(root)):
            return f"can't be reached{over}: {_reason(root)}"
        case exceptions.ConnectionError() if not over:
            return "closed the connection; if it speaks TLS, its address begins with rediss://"
        case exceptions.ConnectionError():
            return "closed the connection"
        case exceptions.ResponseError() as answer:
            return f"refuses to serve us: {_scrubbed(answer, client)}"
        case _:
            return "does not answer as a Redis does"


def _chain(error: BaseException) -> list[BaseException]:
    """List an error and what it came from: the client wraps what it meets, twice where it meets it while connecting."""
    chain = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None:
        chain.append(cause)
    return chain


def _hung_up(error: OSError) -> bool:
    return isinstance(error, ConnectionResetError | BrokenPipeError)


def _reason(error: OSError) -> str:
    """Say what the system says; asyncio puts addresses in its place, TLS and the resolver have numbers of their own."""
    match error:
        case ssl.SSLCertVerificationError():
            return error.verify_message
        case ssl.SSLError():
            return error.reason or "the handshake failed"
        case OSError(errno=int(number)) if not isinstance(error, socket.gaierror):
            return os.strerror(number)
        case _:
            return error.strerror or str(error)


def _password(client: Redis) -> str:
    return str(client.connection_pool.connection_kwargs.get("password") or "")


def _scrubbed(error: exceptions.ResponseError, client: Redis) -> str:
    """Quote a server's error: without the arguments it may repeat, one of which may be the password."""
    text = str(error).split(", with args", 1)[0].rstrip(".")
    password = _password(client)
    return text.replace(password, "…") if password else text
