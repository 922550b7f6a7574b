"""A server that tests may share while they leave it as it is, and the command line without a process of its own."""

import logging
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis import Redis

from service.__main__ import main
from service.embedded import Embedded
from tests.service.cli.houses import House
from tests.service.cli.processes import CLEAN, Called, Outcome, Server, run, serving
from tests.stores import asking


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Give a server of two workers with a store of its own."""
    with serving(tmp_path_factory.mktemp("server"), "--workers", "2") as shared:
        yield shared


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Called:
    """Give the command line as a function: `called("serve", "--port", "0", EVENFOLD_WORKERS="0")`."""
    for name in os.environ.keys() - CLEAN.keys():
        monkeypatch.delenv(name)
    monkeypatch.setenv("LANG", CLEAN["LANG"])
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level

    def call(*arguments: str, **variables: str) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["evenfold", *arguments])
        with monkeypatch.context() as context:
            for name, value in variables.items():
                context.setenv(name, value)
            with pytest.raises(SystemExit) as left:
                main()
        # What it has had logs written to is closed with this test.
        root.handlers[:] = handlers
        root.setLevel(level)
        told = capsys.readouterr()
        return Outcome(int(left.value.code or 0), told.out, told.err)

    return call


@pytest.fixture
def house(own_store: Callable[..., Embedded], tmp_path: Path, called: Called) -> Iterator[House]:
    """Give a store with people and tables."""
    made = House(own_store(tmp_path / "data").url, tmp_path, called)
    yield made
    for person in made.people:
        person.http.close()


@pytest.fixture(scope="session")
def backup(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Give the file of a backup of such a store."""
    folder = tmp_path_factory.mktemp("house")

    def called(*arguments: str) -> Outcome:
        done = run(*arguments)
        return Outcome(done.returncode, done.stdout, done.stderr)

    with Embedded(folder / "data", what="a house") as store:
        made = House(store.url, folder, called)
        for person in made.people:
            person.http.close()
        assert called("backup", str(folder / "whole.gz"), "--redis", store.url).code == 0
    return (folder / "whole.gz").read_bytes()


@pytest.fixture
def other(own_store: Callable[..., Embedded], tmp_path: Path) -> Iterator[Redis]:
    """Give a client of another store, at `other`, that holds nothing."""
    store = own_store(tmp_path / "other")
    with asking(store.url) as client:
        yield client
