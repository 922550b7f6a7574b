"""Fixtures that every test may ask for."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """Run `@pytest.mark.anyio` tests on the loop that serves: asyncio with uvloop."""
    return "asyncio", {"use_uvloop": True}
