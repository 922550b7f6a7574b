"""Two servers on one store, as two workers are: each with what it remembers of a table, often not the newest."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.clients import Sitting, people, sitting
from tests.served import Person, served


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of the secret that both servers share."""
    return tmp_path_factory.mktemp("keys")


@pytest.fixture(scope="session")
def url(valkey_url: str, keys: Path) -> Iterator[str]:
    """Give the address of a server on the shared store."""
    with served(valkey_url, keys) as address:
        yield address


@pytest.fixture(scope="session")
def other_url(valkey_url: str, keys: Path) -> Iterator[str]:
    """Give the address of another server on the same store."""
    with served(valkey_url, keys) as address:
        yield address


@pytest.fixture
def ada(url: str) -> Iterator[Person]:
    """Give somebody with an account."""
    with people(url, 1) as (person,):
        yield person


@pytest.fixture
def match(url: str) -> Iterator[Sitting]:
    """Give a table whose match has just begun."""
    with sitting(url, "chinkway", 5) as begun:
        yield begun
