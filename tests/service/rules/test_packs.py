"""Facts about handing out packs."""

import pytest

from service.rules.packs import hands


def test_hands_come_off_the_top_whole_one_after_another() -> None:
    assert hands("abcdefg", (2, 3)) == (("a", "b"), ("c", "d", "e"))


def test_a_pack_too_small_for_its_hands_is_an_error() -> None:
    with pytest.raises(ValueError, match="7"):
        hands("abcdef", (3, 4))
