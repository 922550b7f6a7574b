"""A clock that steps back stops nothing, and the log's times never do."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from service.parts import Sources
from tests.faults.clients import Post, sitting
from tests.faults.ledger import lines_of
from tests.served import served

NOW = 1_790_000_000_000
HOUR = 3_600_000


def stepping(seed: int) -> Callable[[], int]:
    """Return a clock that steps by up to an hour, back as often as forth."""
    rng, at = Random(seed), NOW

    def tell() -> int:
        nonlocal at
        at += rng.randrange(-HOUR, HOUR)
        return at

    return tell


@pytest.mark.parametrize("seed", range(3))
def test_commands_go_on_and_no_decision_is_older_than_the_one_before(
    valkey_url: str, tmp_path: Path, seed: int
) -> None:
    clocks = [Sources(clock=stepping(10 * seed + number)) for number in range(2)]
    with (
        served(valkey_url, tmp_path, sources=clocks[0]) as url,
        served(valkey_url, tmp_path, sources=clocks[1]) as other,
        sitting(url, "chinkway", 5) as match,
    ):
        for number in range(20):
            answer = match.move(f"once-{number}").at((url, other)[number % 2]).send()
            assert answer.status_code == 201
        lines = lines_of(valkey_url, match.table)
        assert len(lines) == 6 + 20
        stored = [line.says["at"] for line in lines]
        assert stored == sorted(stored)
        assert len(set(stored)) < len(stored)
        shown = match.people[0].get(f"{match.path}/events").json()["decisions"]
        assert [decision["at"] for decision in shown] == stored
        # The clock says when a decision was made, never whether a request was made before.
        opened = Post(match.people[0], "/v1/chinkway/tables", {}, "once")
        assert opened.send().content == opened.at(other).send().content
