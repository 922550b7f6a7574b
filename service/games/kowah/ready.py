"""Which eight cards are ready: a pair of one kind and two triplets (section 5).

Sections cited here are those of the rules page, kowah.en.md.
"""

from collections import Counter
from collections.abc import Sequence

from events.cards import MONEY, MoneyCard
from projections.games.kowah import printed
from service.game import Refused
from service.rules.packs import without

TRIPLET = 3

RANK: dict[MoneyCard, str] = {card: card[1:] if card[1:].isdigit() else card for card in MONEY}
"""What cards of a triplet have in common; honours match none but their own kind, so each is a rank by itself."""


def pairs(hand: Sequence[MoneyCard]) -> tuple[MoneyCard, ...]:
    """Return the kinds of pair with which a hand of eight is ready, in printed order: two kinds at most."""
    counts = Counter(hand)
    return tuple(sorted((kind for kind, n in counts.items() if n > 1 and _against(hand, kind) is None), key=printed))


def check(hand: Sequence[MoneyCard], kind: MoneyCard) -> None:
    """Raise Refused where a hand of eight is not ready with this pair, for the reason that comes first."""
    reason = "no_pair" if hand.count(kind) < 2 else _against(hand, kind)  # noqa: PLR2004 a pair is two
    if reason is not None:
        raise Refused(reason)


def _against(hand: Sequence[MoneyCard], kind: MoneyCard) -> str | None:
    """Return why the six cards beside a pair of this kind are not two triplets that suit it, None if they are."""
    rest = without(without(hand, kind), kind)
    # Six cards fall into triplets of one rank each if there are three of each rank, or six: no need to try each split.
    if any(n % TRIPLET for n in Counter(map(RANK.__getitem__, rest)).values()):
        return "no_triplets"
    alike = {card for card in rest if RANK[card] == RANK[kind]}
    # With the pair xx each triplet of its rank is yyz or yzz. Of six such cards there are at most four a suit, so
    # both triplets can be made so whenever both suits are there and x is not.
    return "not_two_two_one" if alike and (kind in alike or len(alike) != 2) else None  # noqa: PLR2004 y and z
