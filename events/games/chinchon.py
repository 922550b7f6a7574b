"""What can happen in a match of Chinchón, and the options it is played with.

Every event states what follows from it, so that adding events up compares no cards. What some viewers may not see
(hands, the stock, cards drawn from it, closing cards, answers to an offer of re-entry) is null for them; `Opened`
states the closing cards once play has ended. With two packs a card that is there twice has one name.
Sections cited here are those of the game's rules page.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from events.base import Event, Seat
from events.cards import SpanishCard
from events.table import DealNumber, Points, Total

Hand = Annotated[
    tuple[SpanishCard, ...],
    Meta(max_length=9, description="Cards by suit (O, C, E, B), then rank; nine in a turn alone."),
]
Combination = Annotated[
    tuple[SpanishCard, ...],
    Meta(
        min_length=3,
        max_length=12,
        description="A set or a run, by suit (O, C, E, B), then rank, with what has been laid off on it.",
    ),
]
Combinations = Annotated[
    tuple[Combination, ...], Meta(max_length=2, description="What one seat has laid out, in the order of their cards.")
]
Pile = Annotated[tuple[SpanishCard, ...], Meta(max_length=96)]
PileSize = Annotated[int, Meta(ge=0, le=96, description="How many cards.")]
CombinationNumber = Annotated[
    int, Meta(ge=0, le=1, description="Which of the combinations that a seat has laid out, counted from 0.")
]
PerSeat = Meta(max_length=8, description="One a seat.")
Turns = Annotated[tuple[Seat, ...], Meta(max_length=8, description="Seats in the order in which they take turns.")]
SomeSeats = Annotated[tuple[Seat, ...], Meta(max_length=8, description="Seats, ascending.")]
Tokens = Annotated[int, Meta(ge=0, le=1_000_000, description="Tokens without any money value.")]
Times = Literal["unlimited"] | Annotated[int, Meta(ge=0, le=100)]


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a table plays Chinchón, agreed when it is opened and never changed (section 9)."""

    pack: Annotated[Literal[40, 48], Meta(description="The pack: 48 cards, or 40, without eights and nines.")] = 40
    limit: Annotated[Literal[70, 100], Meta(description="The total of points that puts a player out.")] = 100
    elimination: Annotated[
        Literal["over", "reach"],
        Meta(description="Who is out: `over`: who has more points than the limit; `reach`: who has as many or more."),
    ] = "over"
    stake: Annotated[int, Meta(ge=0, le=100, description="Tokens that each player puts into the pot.")] = 1
    reentries: Annotated[
        Times, Meta(description="How often a player who is out may come back; `unlimited`, or a number of times.")
    ] = "unlimited"
    floor_zero: Annotated[Literal["off", "on"], Meta(description="Whether a total below zero is counted as zero.")] = (
        "off"
    )
    courts: Annotated[
        Literal["ranked", "ten"],
        Meta(
            description="What sota, caballo and rey count: `ranked`: 8, 9, 10 in a pack of 40 and 10, 11, 12 in one of "
            "48; `ten`: ten each."
        ),
    ] = "ranked"
    sets: Annotated[
        Literal["any", "distinct_suits"],
        Meta(description="With two packs, whether a set may hold a suit twice: `any`, or only `distinct_suits`."),
    ] = "any"
    chinchon: Annotated[
        Literal["one_combination", "run_only"],
        Meta(description="What Chinchón is: seven cards in `one_combination`, or in one run alone (`run_only`)."),
    ] = "one_combination"
    chinchon_for: Annotated[
        Literal["any", "closer"],
        Meta(description="Whose seven cards are Chinchón, and earn `linked_bonus`: `any` player's, or the `closer`'s."),
    ] = "any"
    chinchon_wins: Annotated[Literal["off", "on"], Meta(description="Whether Chinchón wins the match at once.")] = "off"
    linked_bonus: Annotated[
        Literal[0, 10], Meta(description="Points taken off for seven cards that all combine without being Chinchón.")
    ] = 0
    close_limit: Annotated[
        int, Meta(ge=0, le=10, description="How many points the loose cards of who closes may count at most.")
    ] = 5
    first_round_close: Annotated[
        Literal["yes", "no"], Meta(description="Whether a player may close in their own first turn of a deal.")
    ] = "yes"
    layoff: Annotated[
        Literal["phases", "closer", "none"],
        Meta(
            description="Where cards may be laid off: `phases`: on each player's combinations in turn; `closer`: on "
            "those of who closed; `none`: nowhere."
        ),
    ] = "phases"
    recycle: Annotated[
        Literal["all", "keep_top"],
        Meta(description="What an empty stock is made of: `all` discards, or all but the top one (`keep_top`)."),
    ] = "all"
    recycles: Annotated[
        Times,
        Meta(
            description="How often a deal makes a new stock; when one is empty after that, choosing it ends the deal."
        ),
    ] = "unlimited"
    mistakes: Annotated[
        Literal["refuse", "table"],
        Meta(
            description="A second draw or discard in a turn: `refuse`: refused; `table`: taken as at a table of "
            "people, and a turn ends by `end_turn`."
        ),
    ] = "refuse"
    direction: Annotated[
        Literal["counter", "clockwise"],
        Meta(description="The way seats are drawn around the table; it changes nothing else."),
    ] = "counter"


class Staked(Event, frozen=True, tag="chinchon.staked"):
    """These seats put the stake into the pot, at the start of the match or to come back."""

    seats: SomeSeats
    pot: Tokens


class ForehandDrawn(Event, frozen=True, tag="chinchon.forehand_drawn"):
    """The lot fell on the first forehand."""

    forehand: Seat


class Dealt(Event, frozen=True, tag="chinchon.dealt"):
    """Everybody who is in got seven cards, one was turned up, the rest is the stock, top first and null for everybody.

    `order` begins with the forehand and ends with the dealer; `hands` holds one a seat, null where it is another's or
    where nobody plays.
    """

    deal: DealNumber
    order: Turns
    hands: Annotated[tuple[Hand | None, ...], PerSeat]
    up: SpanishCard
    stock: Pile | None
    left: PileSize


class StockRecycled(Event, frozen=True, tag="chinchon.stock_recycled"):
    """The discards, all but the one `kept` if any, were shuffled into a new stock of `count` cards.

    `stock` lies top first and is null for everybody.
    """

    seat: Seat
    count: PileSize
    kept: SpanishCard | None
    stock: Pile | None


class StockDrawn(Event, frozen=True, tag="chinchon.stock_drawn"):
    """A player drew the top card of the stock, null for everybody else; `left` stay in it."""

    seat: Seat
    card: SpanishCard | None
    left: PileSize


class UpCardTaken(Event, frozen=True, tag="chinchon.up_card_taken"):
    """A player took the last discard."""

    seat: Seat
    card: SpanishCard


class Discarded(Event, frozen=True, tag="chinchon.discarded"):
    """A player threw a card face up; `next` takes the next turn, null while this one goes on."""

    seat: Seat
    card: SpanishCard
    next: Seat | None


class HandIrregular(Event, frozen=True, tag="chinchon.irregular_hand"):
    """A player ended a turn with six or eight cards and may not close in this deal any more."""

    seat: Seat
    size: Annotated[int, Meta(ge=6, le=8)]


class TurnEnded(Event, frozen=True, tag="chinchon.turn_ended"):
    """A player said that the turn is over; `next` takes the next one."""

    seat: Seat
    next: Seat


class Closed(Event, frozen=True, tag="chinchon.closed"):
    """A player closed the deal by laying a card face down, null for everybody else."""

    seat: Seat
    card: SpanishCard | None


class StockExhausted(Event, frozen=True, tag="chinchon.stock_exhausted"):
    """A player chose the stock when it was empty for good: the deal is over and nobody has closed."""

    seat: Seat


class ExposureBegan(Event, frozen=True, tag="chinchon.exposure_began"):
    """A player's turn to lay out combinations came."""

    seat: Seat


class Exposed(Event, frozen=True, tag="chinchon.exposed"):
    """A player laid combinations out and holds `left` cards; `chinchon` if all seven cards lie in one of them."""

    seat: Seat
    combinations: Combinations
    left: Annotated[int, Meta(ge=0, le=8)]
    chinchon: bool


class LayOffBegan(Event, frozen=True, tag="chinchon.lay_off_began"):
    """A player's one opportunity came to lay cards off on the combinations of the seat `on`."""

    seat: Seat
    on: Seat


class LaidOff(Event, frozen=True, tag="chinchon.laid_off"):
    """A player laid a card off on a combination of the seat `on`, which is `combination` since.

    `closed` if the player may lay nothing more on it at this opportunity.
    """

    seat: Seat
    card: SpanishCard
    on: Seat
    number: CombinationNumber
    combination: Combination
    closed: bool


class Passed(Event, frozen=True, tag="chinchon.passed"):
    """A player lays off nothing more at this opportunity."""

    seat: Seat


class DealScored(Event, frozen=True, tag="chinchon.deal_scored"):
    """A deal was over: each seat's points and its total since; null for seats that did not play, but for their totals.

    `chinchon` and `linked` are the seats that got ten points off for Chinchón and for cards that all combine.
    """

    deal: DealNumber
    points: Annotated[tuple[Points | None, ...], PerSeat]
    totals: Annotated[tuple[Total | None, ...], PerSeat]
    chinchon: SomeSeats
    linked: SomeSeats


class WentOut(Event, frozen=True, tag="chinchon.went_out"):
    """These seats are out, lowest total first."""

    seats: Turns


class ReentryOffered(Event, frozen=True, tag="chinchon.reentry_offered"):
    """These seats may come back for a stake, each with this total; they answer without seeing one another's answers."""

    seats: SomeSeats
    total: Total


class ReentryAnswered(Event, frozen=True, tag="chinchon.reentry_answered"):
    """A player answered the offer; what, is null for everybody else until `ReentriesClosed`."""

    seat: Seat
    reenter: bool | None


class ReentriesClosed(Event, frozen=True, tag="chinchon.reentries_closed"):
    """Everybody had answered: these came back with this total, those stay out."""

    back: SomeSeats
    out: SomeSeats
    total: Total


class PotTaken(Event, frozen=True, tag="chinchon.pot_taken"):
    """The pot went to these seats, in turn order, with as many tokens each as `shares` say."""

    seats: Turns
    shares: Annotated[tuple[Tokens, ...], Meta(max_length=8)]


class ClosingCard(msgspec.Struct, frozen=True, gc=False):
    """The card that lay face down when a deal was closed; null for whoever may not see it."""

    deal: DealNumber
    seat: Seat
    card: SpanishCard | None


class Opened(Event, frozen=True, tag="chinchon.opened"):
    """What lay face down was opened: the closing cards, deal by deal."""

    closing_cards: Annotated[tuple[ClosingCard, ...], Meta(max_length=65_535)]


ChinchonEvent = (
    Staked
    | ForehandDrawn
    | Dealt
    | StockRecycled
    | StockDrawn
    | UpCardTaken
    | Discarded
    | HandIrregular
    | TurnEnded
    | Closed
    | StockExhausted
    | ExposureBegan
    | Exposed
    | LayOffBegan
    | LaidOff
    | Passed
    | DealScored
    | WentOut
    | ReentryOffered
    | ReentryAnswered
    | ReentriesClosed
    | PotTaken
    | Opened
)
