"""What the tests of records share."""

from functools import partial
from pathlib import Path

import pytest

from tests.service.audit.verifier import Verified, verified_in


@pytest.fixture(name="verified")
def _verified(tmp_path: Path) -> Verified:
    """Give the verifier in JavaScript as a function of many records."""
    return partial(verified_in, tmp_path)
