"""What can happen in a match of Chinkway, and the options it is played with.

Every event states what follows from it, so that adding events up compares no cards. What some viewers may not see
(hands, discards, the quest pack) is null for them; `Opened` states what was hidden once play has ended.
Sections cited here are those of the game's rules page.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from events.base import Event, Seat
from events.cards import FrenchCard
from events.table import DealNumber, Points, Total

Category = Literal["spades", "hearts", "diamonds", "clubs", "court"]
Trump = Literal["S", "H", "D", "C", "NT"]
Pair = tuple[FrenchCard, FrenchCard]
Five = tuple[FrenchCard, FrenchCard, FrenchCard, FrenchCard, FrenchCard]
Hand = Annotated[tuple[FrenchCard, ...], Meta(max_length=12, description="Cards in printed order.")]
Side = Annotated[tuple[Seat, ...], Meta(min_length=1, max_length=2, description="Seats that play together.")]
Sides = Annotated[
    tuple[Side, ...],
    Meta(max_length=3, description="The dealer alone, then the two pairs, each named clockwise from the dealer."),
]
Choices = Annotated[tuple[FrenchCard, ...], Meta(max_length=5, description="Cards of the trick, in order of play.")]
Parts = Annotated[int, Meta(ge=0, le=5, description="How many parts of the quest are met.")]
PerSeat = Meta(max_length=5, description="One a seat.")
# More than eleven, for a deal that a ruling has played again is one more.
OnePerDeal = Meta(max_length=255, description="One a deal.")
Share = Annotated[int, Meta(ge=0, le=5, description="How many of the quest's five parts are of this category.")]


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How a table plays Chinkway, agreed when it is opened and never changed (section 8)."""

    partners: Annotated[
        Literal["switch", "fixed", "five"],
        Meta(
            description="Who partners whom, players counted from the dealer: `switch`: 2 and 3, 4 and 5 in deals 1-5, "
            "then 2 and 4, 3 and 5; `fixed`: always 2 and 3, 4 and 5; `five`: 2 and 5, 3 and 4, with `deals` 5 alone."
        ),
    ] = "switch"
    deals: Annotated[Literal[10, 11, 5], Meta(description="How many deals; 5 goes with `partners` five alone.")] = 10
    final: Annotated[
        Literal["rotation"],
        Meta(description="What an eleventh deal is: `rotation`: the first dealer deals again, all else as before."),
    ] = "rotation"
    void: Annotated[
        Literal["free", "must_trump"],
        Meta(description="Who can't follow suit plays `free`: any card; `must_trump`: a trump if one is held."),
    ] = "free"
    quest_removed: Annotated[
        Literal["two_court", "two_any", "none"],
        Meta(description="What is taken out of the quest pack, unseen: two court cards, any two cards, or none."),
    ] = "two_court"
    quest_pack: Annotated[
        Literal["use_up", "reshuffle"],
        Meta(description="`use_up`: shuffled once, five cards a deal; `reshuffle`: all of it shuffled for every deal."),
    ] = "use_up"
    aces: Annotated[
        Literal["plain", "court"],
        Meta(description="An ace counts as a `plain` card of its suit or as a `court` card; it is the highest card."),
    ] = "plain"
    surplus: Annotated[
        Literal["allow", "refuse"],
        Meta(description="A capture that meets no further part: `allow`: allowed, worth nothing; `refuse`: refused."),
    ] = "allow"
    team_scoring: Annotated[
        Literal["pooled", "sum"],
        Meta(
            description="Partners score `pooled`: the parts they met together, to both; "
            "`sum`: each one's own points, added, to both."
        ),
    ] = "pooled"
    capture_timeout: Annotated[
        Literal["decline", "first_needed"],
        Meta(
            description="What stands for a silent winner of a trick: `decline`: no capture; "
            "`first_needed`: the first card played that meets a part."
        ),
    ] = "decline"


class Shares(msgspec.Struct, frozen=True, gc=False):
    """Parts of the quest by category: plain spades, hearts, diamonds, clubs, and court cards."""

    spades: Share
    hearts: Share
    diamonds: Share
    clubs: Share
    court: Share


class DealerDrawn(Event, frozen=True, tag="chinkway.dealer_drawn"):
    """The lot fell on the first dealer."""

    dealer: Seat


class QuestReduced(Event, frozen=True, tag="chinkway.quest_reduced"):
    """Two cards left the quest pack unseen; null until `Opened`."""

    cards: Pair | None


class QuestShuffled(Event, frozen=True, tag="chinkway.quest_shuffled"):
    """The quest pack was shuffled whole, its removed cards aside; `cards` lies top first and is null for everybody."""

    cards: Annotated[tuple[FrenchCard, ...], Meta(max_length=52)] | None


class Dealt(Event, frozen=True, tag="chinkway.dealt"):
    """Everybody got ten cards, the dealer twelve; `hands` holds one a seat, null where it is another's."""

    deal: DealNumber
    dealer: Seat
    sides: Sides
    hands: Annotated[tuple[Hand | None, ...], PerSeat]


class Discarded(Event, frozen=True, tag="chinkway.discarded"):
    """The dealer laid two cards out of play, face down; null for everybody else."""

    seat: Seat
    cards: Pair | None


class Declared(Event, frozen=True, tag="chinkway.declared"):
    """The dealer named trumps, or none."""

    seat: Seat
    trump: Trump


class QuestKept(Event, frozen=True, tag="chinkway.quest_kept"):
    """The deal is played again and its quest, which all have seen, stays: these five cards are turned in it."""

    cards: Five


class QuestTurned(Event, frozen=True, tag="chinkway.quest_turned"):
    """The next five quest cards were turned; `leader` leads to the first trick."""

    cards: Five
    wanted: Shares
    leader: Seat


class Played(Event, frozen=True, tag="chinkway.played"):
    """A card was played; `next` plays after it, null when the trick is full."""

    seat: Seat
    card: FrenchCard
    next: Seat | None


class TrickTaken(Event, frozen=True, tag="chinkway.trick_taken"):
    """A trick was taken; its taker leads to the next one and may first capture one of `choices`, where there are any.

    `needed` are those of them that would meet a part.
    """

    seat: Seat
    choices: Choices
    needed: Choices


class Captured(Event, frozen=True, tag="chinkway.captured"):
    """The taker of a trick captured a card of it; one more part of its category is met for `credited`, if anybody."""

    seat: Seat
    card: FrenchCard
    category: Category
    credited: Annotated[tuple[Seat, ...], Meta(max_length=2)]


class Declined(Event, frozen=True, tag="chinkway.declined"):
    """The taker of a trick captured nothing of it."""

    seat: Seat


class DealScored(Event, frozen=True, tag="chinkway.deal_scored"):
    """A deal was over: the parts met for each seat, the points they gave it and its total since."""

    deal: DealNumber
    parts: Annotated[tuple[Parts, ...], PerSeat]
    points: Annotated[tuple[Points, ...], PerSeat]
    totals: Annotated[tuple[Total, ...], PerSeat]


class DealDiscard(msgspec.Struct, frozen=True, gc=False):
    """What a dealer laid out of play; null for whoever may not see it."""

    seat: Seat
    cards: Pair | None


class Opened(Event, frozen=True, tag="chinkway.opened"):
    """What lay face down was opened: the cards removed from the quest pack, the discards of each deal in turn."""

    removed: Annotated[tuple[FrenchCard, ...], Meta(max_length=2)]
    discards: Annotated[tuple[DealDiscard, ...], OnePerDeal]


ChinkwayEvent = (
    DealerDrawn
    | QuestReduced
    | QuestShuffled
    | Dealt
    | Discarded
    | Declared
    | QuestKept
    | QuestTurned
    | Played
    | TrickTaken
    | Captured
    | Declined
    | DealScored
    | Opened
)
