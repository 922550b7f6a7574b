"""Patterns of texts match from end to end, whatever they are made of."""

import re

import pytest

from events.base import whole


@pytest.mark.parametrize("pattern", ["0|1", "(a)|b", "[|]|x"])
def test_alternatives_without_parentheses_are_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="need parentheses"):
        whole(pattern)


@pytest.mark.parametrize(
    ("pattern", "right", "wrong"), [("(0|10)", "10", "100"), ("[|]", "|", "||"), ("a", "a", "a\n")]
)
def test_a_whole_text_is_matched(pattern: str, right: str, wrong: str) -> None:
    assert re.search(whole(pattern), right)
    assert not re.search(whole(pattern), wrong)
