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

SpanishSuit = Literal["O", "C", "E", "B"]

# Oros, copas, espadas, bastos; 10 is the sota, 11 the caballo, 12 the rey. A pack of 40 has neither eights nor nines.
SpanishCard = Literal[
    "O1", "O2", "O3", "O4", "O5", "O6", "O7", "O8", "O9", "O10", "O11", "O12",
    "C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9", "C10", "C11", "C12",
    "E1", "E2", "E3", "E4", "E5", "E6", "E7", "E8", "E9", "E10", "E11", "E12",
    "B1", "B2", "B3", "B4", "B5", "B6", "B7", "B8", "B9", "B10", "B11", "B12",
]  # fmt: skip

SPANISH: tuple[SpanishCard, ...] = get_args(SpanishCard)
SPANISH_40: tuple[SpanishCard, ...] = tuple(card for card in SPANISH if card[1:] not in ("8", "9"))

# Coins, strings, myriads; the Old Thousand, the Red Flower, the White Flower.
MoneyCard = Literal[
    "C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9",
    "S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9",
    "M1", "M2", "M3", "M4", "M5", "M6", "M7", "M8", "M9",
    "OT", "RF", "WF",
]  # fmt: skip

MONEY: tuple[MoneyCard, ...] = get_args(MoneyCard)
