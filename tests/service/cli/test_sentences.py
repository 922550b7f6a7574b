"""What a number is told with agrees with it."""

import pytest

from service.cli.sentences import several


@pytest.mark.parametrize(("number", "told"), [(0, "0 tables went"), (1, "1 table went"), (2, "2 tables went")])
def test_one_is_told_in_the_singular(number: int, told: str) -> None:
    assert several(number, "table went", "tables went") == told
