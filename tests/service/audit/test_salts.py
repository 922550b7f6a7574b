"""A head that everybody sees while a card is hidden helps nobody to guess the card: a salt does that, and it alone."""

from collections.abc import Iterator
from itertools import pairwise

import msgspec
from msgspec import Raw

from events.base import Entry
from events.cards import MONEY
from service.streams import head_after
from tests.service.audit.records import edited, match_of

KNOWN = "A" * 22


def drawn() -> tuple[bytes, bytes, str]:
    """Return the head before a draw from the stock, its entry, and the card that nobody else may know."""
    stored = match_of("kowah").stored
    for before, after in pairwise(stored):
        for raw in msgspec.json.decode(after.e, type=Entry[Raw, Raw]).events:
            event = msgspec.json.decode(raw)
            if event["type"] == "kowah.stock_drawn":
                return before.h, after.e, event["card"]
    raise AssertionError("nobody drew")


def candidates(e: bytes, card: str, salt: str) -> Iterator[tuple[str, bytes]]:
    """Yield the entry as it would be with each card, and with a salt: all that somebody can try who knows the rest."""
    salted = edited(e, salt=salt)
    stated = f'"card":"{card}"'.encode()
    assert salted.count(stated) == 1
    for other in MONEY:
        yield other, salted.replace(stated, f'"card":"{other}"'.encode())


def fitting(head: bytes, before: bytes, e: bytes, card: str) -> list[str]:
    """Return the cards with which an entry of a known salt would have this head."""
    return [other for other, tried in candidates(e, card, KNOWN) if head_after(before, tried) == head]


def test_without_the_salt_no_candidate_fits_the_head() -> None:
    before, e, card = drawn()
    published = head_after(before, e)
    assert fitting(published, before, e, card) == []


def test_were_the_salt_known_the_card_would_be_too() -> None:
    before, e, card = drawn()
    published = head_after(before, edited(e, salt=KNOWN))
    assert fitting(published, before, e, card) == [card]


def test_no_two_entries_share_a_salt() -> None:
    salts = [msgspec.json.decode(stored.e)["salt"] for stored in match_of("kowah").stored]
    assert len(set(salts)) == len(salts)
