"""What can happen at any table, whatever is played there: the neutral events.

Everything that is not a game reads these alone. Sealed parts (`Seeded.seed`, `Shuffled.order`) are null for
everybody until `Opened` states them all.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from events.base import MAX_SEATS, BotLabel, Event, GameName, Id, Millis, PlayerId, Ruleset, Seat, Version, whole

NUMBERS_PER_DEAL: Final = 65_536
"""How many shuffles a deal may number: shuffle 65536 · d makes the pack of deal d."""

LAST_DEAL: Final = 65_535
"""No deal after it can be numbered."""

MOST_POINTS: Final = 1_000_000
"""What a ruling may state at most, and a deal give."""

Points = Annotated[int, Meta(ge=-MOST_POINTS, le=MOST_POINTS)]
# A match of as many deals as can be numbered, each worth some thousands, after an arbiter has stated a million.
Total = Annotated[int, Meta(ge=-1_000_000_000, le=1_000_000_000, description="Points added up.")]
Place = Annotated[int, Meta(ge=1, le=8, description="1 is best; level seats share the better place.")]
DealNumber = Annotated[int, Meta(ge=0, le=LAST_DEAL, description="Counted from 1; 0 before the first deal.")]
ShuffleNumber = Annotated[int, Meta(ge=0, lt=2**32, description="65536 times the deal, plus which shuffle of it.")]
Hex256 = Annotated[str, Meta(pattern=whole("[0-9a-f]{64}"), description="256 bits in lower-case hex.")]
Nonce = Annotated[
    str,
    Meta(max_length=64, pattern=whole("[A-Za-z0-9_-]*"), description="A player's own share in the shuffles; public."),
]
StartRule = Literal["full", "host"]
Outcome = Literal["finished", "abandoned", "annulled", "adjudicated"]
CardName = Annotated[str, Meta(min_length=1, max_length=8, description="A card of any pack.")]
Sealed = Annotated[tuple[CardName | Seat, ...], Meta(max_length=1_024, description="Top first: cards, or seats.")]
Seats = Annotated[tuple[Seat, ...], Meta(max_length=MAX_SEATS)]
Scores = Annotated[tuple[Total | None, ...], Meta(max_length=MAX_SEATS, description="One a seat.")]
PointsPerSeat = Annotated[tuple[Points | None, ...], Meta(max_length=MAX_SEATS, description="One a seat.")]
Places = Annotated[tuple[Place | None, ...], Meta(max_length=MAX_SEATS, description="One a seat.")]
OptionName = Annotated[str, Meta(min_length=1, max_length=32)]
OptionValue = bool | Annotated[int, Meta(ge=-(2**53), le=2**53)] | Annotated[str, Meta(min_length=1, max_length=32)]
Chosen = Annotated[dict[OptionName, OptionValue], Meta(max_length=64, description="Every option of the game.")]


DisputeNumber = Annotated[int, Meta(ge=1, le=1_000, description="Counts the disputes of a table, from 1.")]
DisputeReason = Literal["rules", "conduct", "outage", "mistake", "other"]
Verdict = Literal["upheld", "corrected", "annulled", "replayed"]


class TextRef(msgspec.Struct, frozen=True, gc=False):
    """A text that somebody wrote, which is kept beside the log for as long as it may be.

    `hash` is SHA-256("evenfold/text/1" 00 salt text): 16 bytes of salt, then the text as UTF-8.
    """

    id: Id
    hash: Hex256


class Created(Event, frozen=True, tag="table.created"):
    """A table was opened; `options` holds every option of the game, defaults included."""

    game: GameName
    ruleset: Ruleset
    seats: Annotated[int, Meta(ge=1, le=8)]
    options: Chosen
    start: StartRule
    host: PlayerId
    commitment: Hex256


class Seeded(Event, frozen=True, tag="table.seeded"):
    """The seed of all the table's shuffles was drawn; sealed."""

    seed: Hex256 | None


class SeatTaken(Event, frozen=True, tag="table.seat_taken"):
    """A player sat down; `bot` names a bot and its build, null for a person."""

    seat: Seat
    player: PlayerId
    nonce: Nonce
    bot: BotLabel | None


class SeatLeft(Event, frozen=True, tag="table.seat_left"):
    """A player stood up before play."""

    seat: Seat
    player: PlayerId


class Started(Event, frozen=True, tag="table.started"):
    """Play began with the seats that were taken, in ascending order."""

    seats: Seats


class Shuffled(Event, frozen=True, tag="table.shuffled"):
    """Shuffle number `c` was made of cards (their names) or, for a lot, of seats; its order is sealed."""

    c: ShuffleNumber
    order: Sealed | None


class TurnBegan(Event, frozen=True, tag="table.turn_began"):
    """A prompt went out to these seats; its turn is the version of this decision."""

    seats: Seats


class Answered(Event, frozen=True, tag="table.answered"):
    """A seat answered a prompt that waits for others too; for them it stands, and its turn with it."""

    seat: Seat


class Scored(Event, frozen=True, tag="table.scored"):
    """A deal was scored: what each seat gained by it, and the score it shows from now on; null for untaken seats."""

    deal: DealNumber
    points: Scores
    scores: Scores


class Resigned(Event, frozen=True, tag="table.resigned"):
    """A player gave up; the seat is forfeit."""

    seat: Seat


class Ended(Event, frozen=True, tag="table.ended"):
    """Play ended; one place per seat, null for untaken seats and where nothing was played."""

    outcome: Outcome
    places: Places


class DisputeFiled(Event, frozen=True, tag="table.dispute_filed"):
    """A player disputes what happened from version `first` to `last`; who, the decision's `by` tells.

    `text` names what the player wrote, null where that was nothing. The dispute is open until a ruling.
    """

    dispute: DisputeNumber
    first: Version
    last: Version
    reason: DisputeReason
    text: TextRef | None


class Paused(Event, frozen=True, tag="table.paused"):
    """An arbiter stopped play: until it is resumed no seat must act, nor may; seats that are forfeit still move."""


class Resumed(Event, frozen=True, tag="table.resumed"):
    """Play goes on: the prompt that stood stands again, its turn as before."""


class Looked(Event, frozen=True, tag="table.looked"):
    """An arbiter looks behind the cards of versions `first` to `last`, for a dispute, and may until `until`."""

    dispute: DisputeNumber
    first: Version
    last: Version
    until: Millis


class Ruled(Event, frozen=True, tag="table.ruled"):
    """An arbiter ruled on a dispute, which closes it.

    What follows from the verdict:

    - `upheld`: nothing; everything stands as it is.
    - `corrected`: the `scores` and `places` stated here hold from now on, null for those that stand; `forfeits` are
      the seats that are given up by it.
    - `annulled`: the table counts for nobody.
    - `replayed`: deal number `deal` of the match is played again; what was played of it, and since, counts for nobody.

    Once play has ended, a correction makes the outcome `adjudicated`, and an annulment `annulled`, without places.
    """

    dispute: DisputeNumber
    verdict: Verdict
    scores: PointsPerSeat | None
    places: Places | None
    forfeits: Seats
    deal: DealNumber | None
    text: TextRef | None


class DealReplayed(Event, frozen=True, tag="table.deal_replayed"):
    """Play and scores are as they were before deal `deal` of the match, which is dealt anew now.

    `number` is the next that no deal was shuffled by: shuffle `65536 · number` is the pack, and every later deal of the
    match is as far ahead of its place in it.
    """

    deal: DealNumber
    number: DealNumber


class Order(msgspec.Struct, frozen=True, gc=False):
    """The order that shuffle number `c` gave."""

    c: ShuffleNumber
    order: Sealed


class Opened(Event, frozen=True, tag="table.opened"):
    """Everything sealed by chance was opened: the seed, and the order of every shuffle that was made."""

    seed: Hex256
    orders: Annotated[tuple[Order, ...], Meta(max_length=2**20)]


TableEvent = (
    Created
    | Seeded
    | SeatTaken
    | SeatLeft
    | Started
    | Shuffled
    | TurnBegan
    | Answered
    | Scored
    | Resigned
    | Ended
    | Opened
    | DisputeFiled
    | Paused
    | Resumed
    | Looked
    | Ruled
    | DealReplayed
)
