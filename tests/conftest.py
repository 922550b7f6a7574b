"""Fixtures that every test may ask for, and the seed that all random tests share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import settings
from redis.asyncio import Redis

from service.embedded import Embedded
from service.store import connect
from tests.documented import judging

# The same examples on every run and machine, however slow it is.
settings.register_profile("evenfold", derandomize=True, database=None, deadline=None)
settings.load_profile("evenfold")


@pytest.fixture(scope="session", autouse=True)
def every_answer_is_as_documented() -> Iterator[None]:
    """Fail whatever test gets an answer over HTTP that the document does not know."""
    with judging():
        yield


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """Run `@pytest.mark.anyio` tests on the loop that serves: asyncio with uvloop."""
    return "asyncio", {"use_uvloop": True}


@pytest.fixture(scope="session")
def valkey_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the address of an embedded store that all tests of this process share; ask for `store` to find it empty."""
    with Embedded(tmp_path_factory.mktemp("store"), what="tests") as embedded:
        yield embedded.url


@pytest.fixture
async def store(anyio_backend: object, valkey_url: str) -> AsyncIterator[Redis]:  # noqa: ARG001 - the loop it runs on
    """Give a client of the shared store, emptied for this test; functions stay loaded."""
    client = await connect(valkey_url)
    await client.flushall()
    yield client
    await client.aclose()


@pytest.fixture
def own_store(tmp_path: Path) -> Iterator[Callable[..., Embedded]]:
    """Give a way to start an embedded store of one's own, to be killed: `own_store(folder=tmp_path / "data")`."""
    with ExitStack() as started:

        def start(folder: Path = tmp_path / "data") -> Embedded:
            return started.enter_context(Embedded(folder, what="a test"))

        yield start
