"""A server for the tests of the contract, one a process, and somebody who visits it."""

from collections.abc import Iterator

import pytest

from tests.contract.api import Visitor
from tests.served import served


@pytest.fixture(scope="session")
def url(valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the address of a server on the shared store."""
    with served(valkey_url, tmp_path_factory.mktemp("keys")) as address:
        yield address


@pytest.fixture
def visitor(url: str) -> Iterator[Visitor]:
    """Give somebody new."""
    new = Visitor(url)
    yield new
    new.close()
