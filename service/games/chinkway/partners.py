"""Partners of five players that change from deal to deal: the dealer alone against two pairs.

Players are counted clockwise from the dealer, who is player 1, so every pairing turns with the deal.
"""

from projections.games.chinkway import SEATS

# Pairs by player, as places after the dealer's: 1 is player 2, at the dealer's left.
_NEIGHBOURS = ((1, 2), (3, 4))
_ALTERNATE = ((1, 3), (2, 4))
_MIRRORED = ((1, 4), (2, 3))

# From this deal on, partners who `switch` sit apart.
_SWITCHED_FROM = 6


def dealer_of(first: int, deal: int) -> int:
    """Return the seat that deals this deal, counted from 1, when seat `first` dealt the first."""
    return (first + deal - 1) % SEATS


def sides_of(partners: str, deal: int, dealer: int) -> tuple[tuple[int, ...], ...]:
    """Return the sides of a deal, counted from 1: the dealer, then both pairs, by the option `partners`."""
    if partners == "five":
        pairs = _MIRRORED
    elif partners == "switch" and deal >= _SWITCHED_FROM:
        pairs = _ALTERNATE
    else:
        pairs = _NEIGHBOURS
    return ((dealer,), *(tuple((dealer + place) % SEATS for place in pair) for pair in pairs))
