"""What the tests of records share."""

from functools import partial
from pathlib import Path

import pytest

from tests.laws.matches import Match
from tests.service.audit.records import match_of, record_of
from tests.service.audit.verifier import Verified, verified_in


@pytest.fixture(name="verified")
def _verified(tmp_path: Path) -> Verified:
    """Give the verifier in JavaScript as a function of many records."""
    return partial(verified_in, tmp_path)


@pytest.fixture(scope="session")
def match() -> Match:
    """Give a match."""
    return match_of("kowah")


@pytest.fixture(scope="session")
def lines(match: Match) -> list[bytes]:
    """Give the lines of its record, with their newlines."""
    return record_of(match).splitlines(keepends=True)
