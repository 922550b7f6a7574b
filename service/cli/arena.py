"""Bots against one another: many deals in memory, through the referee alone, without a store or a server.

It knows no game: who did better it reads from the places, how much better from the points of the neutral events. The
same cards are played again with the bots a seat further, until each has sat everywhere, so that luck weighs alike on
all of them. Such a round is one observation; intervals are Student's, over the rounds.
"""

import random
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from operator import sub
from typing import NamedTuple

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as Sheet

from events.base import By, Event
from events.table import Scored
from projections import fold
from projections.table import Table
from service import bots
from service.bots import Bot, Bots, Choose
from service.chance import SEED_BYTES, Draws
from service.cli.games import found
from service.cli.sentences import Failed, Unusable, printing, say, several
from service.game import AnyGame, AnyTable, AnyView, Ask, Command, Refused
from service.ids import new_id
from service.reactors.bots import bot_to_act, choice
from service.referee import Create, Referee

LEVEL = 0.95
"""How often an interval holds what it is for."""

FEWEST = 3
"""How many observations an interval needs."""

ALIKE = 1e-9
"""Observations that lie no further apart are alike, but for how they were rounded."""

BARREN = 100
"""After so many rounds in a row in which no deal was scored, none will be."""

MS_PER_S = 1_000

Options = Mapping[str, bool | int | str]


class Wanted(NamedTuple):
    """What to play: the game and the bots by name, the seats (None: as many as it usually has), the options.

    `deals` is how many are played at least, `moves` after how many a match is left as it stands, `seed` that of all
    cards and choices (None: any).
    """

    game: str
    bots: Sequence[str]
    seats: int | None
    options: Options
    deals: int
    moves: int
    seed: int | None


class Arena(NamedTuple):
    """A game, the bots that can be seated, who sits where at first (by label), the game's options, when to leave."""

    game: AnyGame
    bots: Bots
    lineup: tuple[str, ...]
    options: Options
    moves: int


class Gain(NamedTuple):
    """What a seat made of a match, or a bot on average of its seats.

    Its place, the points it gained a deal, and its share of the win: of a first place that two hold, half.
    """

    place: float
    wins: float
    points: float


class Result(NamedTuple):
    """What came of a match: each seat's gain, how many deals were scored, and whether it was left before its end."""

    gains: tuple[Gain, ...]
    deals: int
    left: bool


class Round(NamedTuple):
    """What the same cards gave each bot, by label, in all matches that were played with them."""

    gains: Mapping[str, Gain]
    matches: int
    deals: int
    left: int


class Estimate(NamedTuple):
    """A mean, and how far from it the true one may lie.

    None where observations tell nothing of that: they are too few, or all alike, as the share of a bot that sits alone.
    """

    mean: float
    within: float | None


def arena(wanted: Wanted, modules: Sequence[str]) -> None:
    """Play the deals and print what each bot made of them, also of those that were played when it is stopped.

    Raise Unusable where they can't be played, and Failed where fewer were.
    """
    clock = _Clock()
    prepared = prepare(wanted, clock.watched(bots.find()), modules)
    seed = random.SystemRandom().randrange(2**32) if wanted.seed is None else wanted.seed
    played: list[Round] = []
    stopped = False
    try:
        played.extend(_shown(rounds(prepared, seed), wanted.deals))
    except KeyboardInterrupt:
        stopped = True
    if not played:
        raise Failed("It was stopped before a round was over")
    labels = tuple(dict.fromkeys(prepared.lineup))
    with printing():
        _print(prepared.game.title, labels, played, seed)
    say(clock.told(labels))
    if stopped:
        raise Failed(f"It was stopped before {_many(wanted.deals, 'deal')} were played")


def _print(title: str, labels: Sequence[str], played: Sequence[Round], seed: int) -> None:
    sheets = Console(highlight=False, emoji=False)
    sheets.print(_of_bots(title, labels, played))
    if len(labels) > 1:
        sheets.print(_of_pairs(labels, played))
    sys.stdout.write("Games count points up or down; who plays better is told by the place.\n")
    sys.stdout.write(_summary(played, seed))


def prepare(wanted: Wanted, known: Bots, modules: Sequence[str] = ()) -> Arena:
    """Find the game and the bots, and seat them; raise Unusable."""
    games = found(modules)
    game = games.named(wanted.game)
    if game is None:
        raise Unusable(f"There is no game {wanted.game!r}; there are {', '.join(each.name for each in games)}")
    labels = [_named(known, name).label for name in wanted.bots]
    seats = wanted.seats or max(game.seats.usual, len(labels))
    if not game.seats.least <= seats <= game.seats.most:
        raise Unusable(f"{game.title} is played by {game.seats.least} to {game.seats.most}, not by {seats}")
    if len(labels) > seats:
        raise Unusable(f"{several(len(labels), 'bot', 'bots')} can't sit on {several(seats, 'seat', 'seats')}")
    lineup = tuple(labels[seat % len(labels)] for seat in range(seats))
    return Arena(game, known, lineup, _options(game, wanted.options), wanted.moves)


def _named(known: Bots, name: str) -> Bot:
    bot = known.named(name)
    if bot is None or name not in {bot.name, bot.label}:
        raise Unusable(f"There is no bot {name!r}; there are {', '.join(each.label for each in known)}")
    return bot


def _options(game: AnyGame, stated: Options) -> Options:
    """Return every option of the game, by what is stated of them."""
    try:
        options = msgspec.convert(dict(stated), game.projection.options)
        game.check(options)
    except msgspec.ValidationError as error:
        raise Unusable(f"{game.title} has no such options: {error}") from None
    except Refused as refused:
        raise Unusable(refused.sentence) from None
    every: Options = msgspec.to_builtins(options)
    return every


def rounds(arena: Arena, seed: int) -> Iterator[Round]:
    """Yield one round after another, without end; the same seed gives the same ones."""
    chance = random.Random(seed)  # noqa: S311 cards of bots, no secrets
    lineups = list(dict.fromkeys(_turned(arena.lineup, by) for by in range(len(arena.lineup))))
    while True:
        table, cards = new_id(chance.randbytes), chance.randbytes(SEED_BYTES)
        yield _round(lineups, [match(arena._replace(lineup=lineup), table, cards) for lineup in lineups])


def _turned(lineup: tuple[str, ...], by: int) -> tuple[str, ...]:
    return (*lineup[-by:], *lineup[:-by]) if by else lineup


def _round(lineups: Sequence[Sequence[str]], results: Sequence[Result]) -> Round:
    of_bot: dict[str, list[Gain]] = {}
    for lineup, result in zip(lineups, results, strict=True):
        for label, gain in zip(lineup, result.gains, strict=True):
            of_bot.setdefault(label, []).append(gain)
    gains = {label: Gain(*map(statistics.fmean, zip(*own, strict=True))) for label, own in of_bot.items()}
    return Round(gains, len(results), sum(each.deals for each in results), sum(each.left for each in results))


def match(arena: Arena, table_id: str, seed: bytes) -> Result:
    """Play one match to its end, or until it is left: then it counts as it stands."""
    game, referee = arena.game, Referee()
    table: AnyTable = Table(id=table_id)
    scored: list[Scored] = []
    command = Create(
        game=game.name,
        ruleset=game.ruleset,
        seats=len(arena.lineup),
        options=dict(arena.options),
        start="full",
        bots=arena.lineup,
    )
    _add(game, table, referee.create(game, table, Ask(By(role="host", player="arena"), command, 0), seed), scored)
    moves = 0
    while table.status == "playing" and moves < arena.moves:
        seat = bot_to_act(table)
        if seat is None:
            raise AssertionError(f"{game.name} prompts no seat at version {table.version}: {table.to_act}")
        asked = Ask(By(seat=seat), choice(game, table, seat, arena.bots), 0)
        _add(game, table, referee.decide(game, table, asked), scored)
        moves += 1
    return _result(game, table, scored)


def _add(game: AnyGame, table: AnyTable, events: tuple[Event, ...], scored: list[Scored]) -> None:
    table.version += 1
    for event in events:
        fold.evolve(game.projection, table, event)
        # What comes for a deal after its score, as when players come back, is not what they made of it.
        if isinstance(event, Scored) and not any(event.deal == known.deal for known in scored[-1:]):
            scored.append(event)


def _result(game: AnyGame, table: AnyTable, scored: Sequence[Scored]) -> Result:
    places = game.places(table.play, ()) if table.places is None else table.places
    shared = places.count(1)
    gains = []
    for seat, place in enumerate(places):
        points = [gained for event in scored if (gained := event.points[seat]) is not None]
        if place is None:
            raise AssertionError(f"seat {seat} of {game.name} has no place: {places}")
        gains.append(Gain(place, 1 / shared if place == 1 else 0, statistics.fmean(points) if points else 0))
    return Result(tuple(gains), len(scored), table.status == "playing")


def estimate(values: Sequence[float]) -> Estimate:
    """Return the mean of observations that hang on nothing in common, and half the interval around it."""
    within = None
    if len(values) >= FEWEST and max(values) - min(values) > ALIKE:
        within = _student(len(values) - 1) * statistics.stdev(values) / len(values) ** 0.5
    return Estimate(statistics.fmean(values), within)


def _student(freedom: int) -> float:
    """Return Student's quantile for an interval of `LEVEL`, from the normal one (Abramowitz and Stegun, 26.7.5)."""
    z = statistics.NormalDist().inv_cdf((1 + LEVEL) / 2)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92_160,
    )
    return sum(term / float(freedom) ** power for power, term in enumerate(terms))


def of_bot(played: Sequence[Round], label: str) -> tuple[Estimate, ...]:
    """Return what a bot gained: its place, wins and points."""
    return tuple(map(estimate, zip(*(each.gains[label] for each in played), strict=True)))


def of_pair(played: Sequence[Round], one: str, other: str) -> tuple[Estimate, ...]:
    """Return what one bot gained more than another with the same cards: in place, wins and points."""
    pairs = ((each.gains[one], each.gains[other]) for each in played)
    return tuple(map(estimate, zip(*(tuple(map(sub, *pair)) for pair in pairs), strict=True)))


def _shown(coming: Iterator[Round], deals: int) -> Iterator[Round]:
    """Yield rounds until so many deals were played, and show on the error stream how far it is.

    A round may bring none, as all its matches were left before; raise Failed where one after another does.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("Deals", total=deals)
        played = barren = 0
        for each in coming:
            yield each
            played += each.deals
            progress.update(bar, completed=played)
            if played >= deals:
                return
            barren = 0 if each.deals else barren + 1
            if barren == BARREN:
                raise Failed(f"In {BARREN} rounds in a row no deal was scored; --moves may leave them too early")


def _of_bots(title: str, labels: Sequence[str], played: Sequence[Round]) -> Sheet:
    sheet = _sheet(title, "bot")
    for label in labels:
        sheet.add_row(label, *map(_cell, of_bot(played, label)))
    return sheet


def _of_pairs(labels: Sequence[str], played: Sequence[Round]) -> Sheet:
    sheet = _sheet("Differences", "bots")
    for one, other in combinations(labels, 2):
        sheet.add_row(f"{one} − {other}", *map(_cell, of_pair(played, one, other)))
    return sheet


def _sheet(title: str, first: str) -> Sheet:
    sheet = Sheet(title=title)
    sheet.add_column(first)
    for column in ("place (1 is best)", "wins a seat", "points a deal"):
        sheet.add_column(column, justify="right")
    return sheet


def _cell(each: Estimate) -> str:
    return f"{each.mean:.3f} ± {'–' if each.within is None else f'{each.within:.3f}'}"


def _summary(played: Sequence[Round], seed: int) -> str:
    deals, matches = sum(each.deals for each in played), sum(each.matches for each in played)
    left = sum(each.left for each in played)
    as_stood = "counts as it stood" if left == 1 else "count as they stood"
    unended = f", of which {left} did not end and {as_stood}" if left else ""
    counted = f"{_many(deals, 'deal')}, {_many(matches, 'match', 'matches')}{unended}; {_many(len(played), 'round')}"
    return f"{counted}, ± for {LEVEL:.0%}; --seed {seed}\n"


def _many(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"


class _Clock:
    """Takes the time that bots take to choose."""

    def __init__(self) -> None:
        self._seconds = defaultdict[str, float](float)
        self._moves = Counter[str]()

    def watched(self, known: Bots) -> Bots:
        """Return the bots, with their choices timed."""
        return Bots(bot._replace(choose=self._timed(bot)) for bot in known)

    def _timed(self, bot: Bot) -> Choose:
        def choose(view: AnyView, legal: Sequence[Command], draws: Draws) -> Command:
            start = time.perf_counter()
            chosen = bot.choose(view, legal, draws)
            self._seconds[bot.label] += time.perf_counter() - start
            self._moves[bot.label] += 1
            return chosen

        return choose

    def told(self, labels: Sequence[str]) -> str:
        """Return a sentence on how long each bot took."""
        ms = {label: MS_PER_S * self._seconds[label] / max(self._moves[label], 1) for label in labels}
        return f"A move took {', '.join(f'{label} {each:.3f} ms' for label, each in ms.items())}."
