"""What a game is to the rest of the service: one value, `Game`, and the few words it is spoken to with.

A game's module, or package, ends in `GAME`. Nothing outside a game's own files knows its events, commands or state;
routes, documents, bots, clocks, replay and laws read this value alone.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar, get_args

from msgspec import Struct

from events.base import By, Event, Version
from projections.fold import Projection
from projections.table import Table, View
from service.chance import Shuffles

T = TypeVar("T")
PLAY = TypeVar("PLAY")
OPTIONS = TypeVar("OPTIONS")


class Refused(Exception):
    """A rule says no; `reason` is one of the closed list of codes (`REASONS`, and the game's own).

    Where a table is in play, `version` and `legal` tell at which version, and what would be legal there.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.sentence = REASONS.get(reason, reason)
        self.version: int | None = None
        self.legal: tuple[Command, ...] | None = None


class NotSeated(Refused):
    """The player has no seat at this table."""

    def __init__(self) -> None:
        super().__init__("not_seated")


class NotHost(Refused):
    """The player is not the host of this table."""

    def __init__(self) -> None:
        super().__init__("not_host")


# The reasons that every table knows; a game adds its own in `Game.reasons`.
REASONS: Mapping[str, str] = {
    "not_open": "The table is not open any more: play has begun or ended.",
    "not_started": "Play has not begun; a seat is given up by `DELETE …/seats/me` before.",
    "ended": "Play has ended.",
    "not_ended": "Play has not ended yet; until then there is no record, no place to correct, and nobody sees through "
    "another seat's eyes.",
    "not_seated": "The player has no seat at this table.",
    "not_host": "Only the host of the table may do this.",
    "not_your_turn": "Another seat must act now.",
    "not_now": "This command does not belong to the present phase.",
    "turn_over": "The command's `turn` is not the prompt that stands now.",
    "seat_taken": "Somebody sits there already.",
    "already_seated": "The account has a seat at this table, or had another one than this.",
    "no_such_seat": "The table has no seat of that number.",
    "table_full": "No seat is free.",
    "resigned": "The player has given this seat up.",
    "seats_missing": "The game can't start with the seats taken now: too few, or not all where all must be.",
    "seats_out_of_range": "The game is not played by so many seats; `GET /v1/games/{game}` tells by how many.",
    "options_conflict": "Two options contradict each other; the rules page tells which go together.",
    "paused": "An arbiter has paused play; only resigning, and disputes, are possible meanwhile.",
    "not_paused": "Play is not paused.",
    "arbiter_concerned": "An arbiter who hosts the table, sits there or sat there has no say in it, and no look.",
    "dispute_open": "The player has filed a dispute already that no arbiter has ruled on yet.",
    "dispute_closed": "An arbiter has ruled on this dispute.",
    "dispute_window_over": "Play ended more than 30 days ago: nothing of it can be disputed any more.",
    "disputes_exhausted": "The table has had 1,000 disputes.",
    "no_such_dispute": "The table has no dispute of that number.",
    "no_such_versions": "The table does not have these versions, or the last comes before the first.",
    "no_such_deal": "The match has not come to a deal of that number.",
    "deal_too_old": "Only the deal in progress and the one before it can be played again.",
    "deal_without_players": "All who played that deal have given up since.",
    "deals_exhausted": "The table has been dealt 65,535 deals, and no further one can be numbered.",
    "no_running_scores": "No deal of this game adds to another, so there are no scores that play could go on from.",
    "no_such_places": "Places count from 1; level seats share the better place, and the next one comes after them all.",
    "ruling_contradicts_itself": "The verdict does not go with what comes with it; see `/docs/disputes`.",
    "places_missing": "Once play has ended, a correction states the places that hold from then on.",
    "one_for_each_seat": "Scores and places are stated for every seat that is taken, and null for all others.",
    "no_such_bot": "No bot has that name; `GET /v1/games/{game}` lists them.",
    "bot_takes_no_nonce": "A bot gives no nonce: the shuffles take only what people give.",
}


class Command(Struct, frozen=True, tag_field="type", omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """What somebody asks for at a table; `turn` names the prompt it answers, absent: whichever stands now."""

    turn: Version | None = None


class NoChance(Shuffles):
    """The chance of a command that is decided only to learn whether and why it is refused."""

    def shuffle(self, pack: Sequence[T], c: int) -> tuple[T, ...]:
        """Fail: a refused command shuffles nothing."""
        message = f"shuffle {c} of {len(pack)} cards was asked for where there is no chance"
        raise AssertionError(message)


class Ask(NamedTuple):
    """A command as it is decided: who asks, what, when (UTC ms), with what chance, and which seats are forfeit.

    `forfeits` lists the seats in the order in which they were given up. A game always gets its table's chance.
    """

    by: By
    command: Any
    at: int
    chance: Shuffles = NoChance()
    forfeits: tuple[int, ...] = ()


class Seats(NamedTuple):
    """How many may play: from `least` to `most`, `usual` where nothing is said."""

    least: int
    most: int
    usual: int


@dataclass(frozen=True, kw_only=True)
class Game(Generic[PLAY, OPTIONS]):
    """One ruleset of one game; the newest ruleset of a name is what new tables play.

    title        the game's name as people write it
    projection   its events, options, fold and views
    commands     the union of its commands
    seats        how many may play
    check        raise Refused("options_conflict") where options contradict each other
    start        yield what happens when play begins: lots, packs, the first deal, the first prompt
    again        yield the deal that begins in the state `then` once more, play having come to `now`: the same dealer,
                 sides and place in the match, and what all have seen of it that does not hang on the cards dealt
    decide       yield what a command makes happen, or raise Refused: at least one event; the last of them prompts or
                 ends, unless the prompt that stood before stands on: where others must answer it too, or where a seat
                 acted that was not prompted
    legal        every command this seat may give now, without `turn`, prompted or not; of one type at most 101
                 (`LISTED`); who must act is for prompts to say, and what may be done unasked is listed here alone
    idle         the command that stands for this seat when its player is silent or has resigned; total
    places       one place per seat if play ended now; forfeited seats, in the order given up, after all others
    reveal       yield what the game itself kept sealed, when play ends
    reasons      its own codes of refusal, each with a sentence
    in_play      the seats that are in play, or may come into it now: once all of these are forfeit play ends, whoever
                 else has a seat; None where players are never out
    rival        the name of the bot that takes all seats but the lowest of a table that says nothing of bots; None
                 where all seats wait for people
    """

    title: str
    projection: Projection[PLAY, OPTIONS]
    commands: object
    seats: Seats
    check: Callable[[OPTIONS], None]
    start: Callable[[PLAY, Shuffles], Iterator[Event]]
    again: Callable[[PLAY, PLAY, Shuffles], Iterator[Event]]
    decide: Callable[[PLAY, Ask], Iterator[Event]]
    legal: Callable[[PLAY, int], Iterator[Command]]
    idle: Callable[[PLAY, int], Command]
    places: Callable[[PLAY, tuple[int, ...]], tuple[int | None, ...]]
    reveal: Callable[[PLAY], Iterator[Event]]
    reasons: Mapping[str, str]
    in_play: Callable[[PLAY], Sequence[int]] | None = None
    rival: str | None = None

    @property
    def name(self) -> str:
        """The game's name in routes, tags and the log."""
        return self.projection.name

    @property
    def ruleset(self) -> str:
        """The ruleset that tables are pinned to, `<name>/<number>`."""
        return self.projection.ruleset

    @cached_property
    def command_types(self) -> tuple[type[Command], ...]:
        """The members of the union of commands."""
        return get_args(self.commands) or (self.commands,)


# Whichever game, with a table and a view of it: all that the rest of the service and the tests know of them.
AnyGame = Game[Any, Any]
AnyTable = Table[Any, Any]
AnyView = View[Any]

# Of one type of command up to this many bodies are listed; above it the type is open, with a schema and one example.
LISTED = 100


def tag_of(command: type[Command]) -> str:
    """Return the `type` that a command goes by on the wire."""
    return str(command.__struct_config__.tag)
