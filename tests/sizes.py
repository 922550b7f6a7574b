"""How large the tests are: `make test` shows what holds in minutes, CI looks longer, `make laws` as long as it takes.

Set by EVENFOLD_TESTS: `quick`, which is what counts unless another is said, `ci` or `full`.
"""

import os
from typing import TypeVar

T = TypeVar("T")

_SIZES = ("quick", "ci", "full")
_said = os.environ.get("EVENFOLD_TESTS") or "quick"
if _said not in _SIZES:
    raise ValueError(f"EVENFOLD_TESTS is {_said!r}, which is none of {', '.join(_SIZES)}")

FULL = _said == "full"
CI = _said != "quick"
"""Whether what takes long is tried too, if not at its full size."""


def sized(quick: T, ci: T, full: T) -> T:
    """Return what belongs to the size that the tests have."""
    return (quick, ci, full)[_SIZES.index(_said)]
