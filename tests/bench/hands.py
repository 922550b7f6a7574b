"""What it costs to lay a hand out: the best layout of eight cards, and what each discard would leave."""

import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence

from events.cards import SPANISH, SPANISH_40
from service.rules.melds import Melds
from tests.bench.report import Sheet
from tests.bench.size import Size


def sheet(size: Size) -> Sheet:
    """Measure hands of eight, dealt at random from one pack of 40 cards and from two of 48, each once."""
    found = Sheet("Hands of eight, laid out")
    rng = random.Random(1)
    kinds: list[tuple[str, list[str], int]] = [
        ("one pack of 40", list(SPANISH_40), 1),
        ("two packs of 48", list(SPANISH), 2),
    ]
    for _ in range(size.rounds):
        for name, pack, packs in kinds:
            melds = Melds(pack, {card: int(card[1:]) for card in pack}, packs=packs)
            hands = [rng.sample(pack * packs, 8) for _ in range(size.requests)]
            works: list[tuple[str, Callable[[list[str]], object]]] = [
                ("best layout", melds.best),
                ("points without each card", melds.points_without),
            ]
            for what, work in works:
                spent = sorted(_spent_us(work, hands))
                figures = {"median µs": statistics.median(spent), "p99 µs": spent[len(spent) * 99 // 100]}
                found.add(f"{what}, {name}", figures)
    return found


def _spent_us(work: Callable[[list[str]], object], hands: Sequence[list[str]]) -> Iterator[float]:
    for hand in hands:
        begun = time.perf_counter_ns()
        work(hand)
        yield (time.perf_counter_ns() - begun) / 1_000
