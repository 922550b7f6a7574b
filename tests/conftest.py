"""Fixtures that every test may ask for, and the seed that all random tests share."""

from __future__ import annotations

import pytest
from hypothesis import settings

# The same examples on every run and machine, however slow it is.
settings.register_profile("evenfold", derandomize=True, database=None, deadline=None)
settings.load_profile("evenfold")


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """Run `@pytest.mark.anyio` tests on the loop that serves: asyncio with uvloop."""
    return "asyncio", {"use_uvloop": True}
