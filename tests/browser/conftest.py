"""A browser, and a service with bots whose pages come from elsewhere."""

from collections.abc import Iterator

import pytest

from tests.browser.chromium import CHROMIUM, DRIVER, Browser, browsing
from tests.served import Person
from tests.service.cli.processes import Server, serving


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Give a browser, which all tests of a process share."""
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("there is no Chromium with its driver here: apt-get install chromium chromium-driver")
    with browsing(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Give a server with bots that don't pause."""
    with serving(tmp_path_factory.mktemp("server")) as shared:
        yield shared


@pytest.fixture
def browser(chromium: Browser, server: Server) -> Browser:
    """Give a browser whose page somebody has signed up on."""
    chromium.open(server.url)
    chromium.run("await evenfold.signUp('Ada')")
    return chromium


def onlooker(server: Server) -> Person:
    """Return somebody who looks on without a browser."""
    return Person(server.url, "Bob")
