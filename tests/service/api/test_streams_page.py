"""The page on streams: what it shows runs as it stands there, and what it says is so."""

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from service.api.connection import Connection
from service.api.eventstream import BEAT_S, EVENT_STREAM, NDJSON, RETRY_MS
from service.app import create
from service.audit.checkpoints import CheckpointLine
from service.settings import NO_LIMITS, Limits, Settings
from service.watched import Kind
from tests.served import Person, running
from tests.tree import ROOT

PAGE = (ROOT / "service/web/pages/streams.md").read_text(encoding="utf-8")

Follow = Callable[..., Iterator[dict[str, Any]]]


def fenced(language: str) -> list[str]:
    """Return the blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def written() -> Follow:
    """Return the program's function; it hardly pauses."""
    program: dict[str, Any] = {}
    (text,) = fenced("python")
    exec(text, program)  # noqa: S102 the page's program
    program["PAUSE_S"] = 0.01
    follow: Follow = program["follow"]
    return follow


def ended(person: Person) -> str:
    """Return the path of a table that has ended with version 3."""
    path = person.post("/v1/chinkway/tables", {"start": "host"}).headers["Location"]
    person.post(f"{path}/seats")
    person.post(f"{path}/commands", {"type": "table.abandon"})
    return path


def below(path: str) -> str:
    """Return a table's path as the page's `table` has it."""
    return path.removeprefix("/v1")


def test_the_lines_for_curl_show_what_is_shown_below_them(url: str, ada: Person, tmp_path: Path) -> None:
    told = []
    for block in fenced("sh"):
        variables = {"api": f"{url}/v1", "table": below(ended(ada)), "token": ada.token, "PATH": "/usr/bin:/bin"}
        ran = subprocess.run(
            ["sh", "-c", block], env=variables, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        told.append(ran.stdout)
    events, lines, _ = told
    (kept,) = (tmp_path / "kept.ndjson").read_text().splitlines()
    assert msgspec.json.decode(kept, type=CheckpointLine).version == 3
    (shown,) = fenced("events")
    assert events.startswith(f'retry: {RETRY_MS}\n:\n\nid: 2\nevent: decision\ndata: {{"version":2,')
    assert shown.startswith(f'retry: {RETRY_MS}\n:\n\nid: 2\nevent: decision\ndata: {{"version":2,')
    assert events.endswith('id: 3\nevent: ended\ndata: {"version":3}\n\n')
    assert lines.startswith('\n{"version":2,')
    assert lines.endswith('\n{"type":"ended","version":3}\n')


def test_the_program_takes_each_decision_once_however_often_its_connection_breaks(
    valkey_url: str, tmp_path: Path
) -> None:
    follow = written()
    app = create(Settings(redis=valkey_url, keys=tmp_path, limits=NO_LIMITS))
    with running(app) as (url, server):
        ada = Person(url)
        path = ada.post("/v1/chinkway/tables", {"start": "host"}).headers["Location"]
        following = follow(f"{url}/v1", below(path), ada.token)
        got = [next(following)["version"]]
        for version in range(2, 5):
            for line in tuple(server.server_state.connections):
                assert isinstance(line, Connection)
                if line._current is not None:  # noqa: SLF001 the stream's: nothing else is being answered
                    line._loop.call_soon_threadsafe(line.transport.abort)  # noqa: SLF001 as when the network breaks
            done = ada.post(f"{path}/seats") if version % 2 == 0 else ada.delete(f"{path}/seats/me")
            assert done.json()["version"] == version
            got.append(next(following)["version"])
        ada.post(f"{path}/commands", {"type": "table.abandon"})
        got += [decision["version"] for decision in following]
        ada.http.close()
    assert got == [1, 2, 3, 4, 5]


def test_the_program_ends_with_what_a_problem_says(url: str, ada: Person) -> None:
    with pytest.raises(SystemExit) as refused:
        next(written()(f"{url}/v1", below(ended(ada)), "evf_none"))
    assert msgspec.json.decode(str(refused.value))["code"] == "unauthenticated"


def test_the_page_names_every_event_and_number_as_it_is() -> None:
    _accept, *rows = re.findall(r"^\| `(\w+)` \| ", PAGE, re.MULTILINE)
    assert rows == list(get_args(Kind))
    media = re.findall(r"^\| `([\w./+-]+/[\w.+-]+)` \| ", PAGE, re.MULTILINE)
    assert media == ["application/json", NDJSON, EVENT_STREAM]
    assert f"every {BEAT_S} seconds" in PAGE
    assert f"{Limits().streams} streams and sockets" in PAGE
