"""The names of cards: suit first, so that each name is an identifier.

A type lists its cards in printed order, the order in which a pack lies before it is shuffled.
"""

from typing import Literal, get_args

FrenchSuit = Literal["S", "H", "D", "C"]

FrenchCard = Literal[
    "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9", "ST", "SJ", "SQ", "SK", "SA",
    "H2", "H3", "H4", "H5", "H6", "H7", "H8", "H9", "HT", "HJ", "HQ", "HK", "HA",
    "D2", "D3", "D4", "D5", "D6", "D7", "D8", "D9", "DT", "DJ", "DQ", "DK", "DA",
    "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9", "CT", "CJ", "CQ", "CK", "CA",
]  # fmt: skip

FRENCH: tuple[FrenchCard, ...] = get_args(FrenchCard)
