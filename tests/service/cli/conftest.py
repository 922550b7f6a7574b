"""A server that tests may share while they leave it as it is, and the command line without a process of its own."""

import logging
import os
import sys
from collections.abc import Iterator

import pytest

from service.__main__ import main
from tests.service.cli.processes import CLEAN, Called, Outcome, Server, serving


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
