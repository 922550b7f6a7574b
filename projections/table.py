"""A table: what the neutral events add up to, and what each viewer may see of it.

The state is folded in place: `evolve` changes the table it is given. Whoever needs two versions folds twice.
"""

from typing import Annotated, Generic, Literal, TypedDict, TypeVar, assert_never

from msgspec import Meta, Struct
from msgspec.structs import replace

from events.base import MAX_SEATS, BotLabel, GameName, Head, Id, Millis, PlayerId, Ruleset, Seat, Version
from events.table import (
    NUMBERS_PER_DEAL,
    Answered,
    CardName,
    Created,
    DealReplayed,
    DisputeFiled,
    DisputeReason,
    Ended,
    Looked,
    Opened,
    Order,
    Outcome,
    Paused,
    Places,
    Resigned,
    Resumed,
    Ruled,
    Scored,
    Scores,
    SeatLeft,
    Seats,
    SeatTaken,
    Seeded,
    Shuffled,
    Started,
    StartRule,
    TableEvent,
    TextRef,
    TurnBegan,
)
from projections.own import own

PLAY = TypeVar("PLAY")
OPTIONS = TypeVar("OPTIONS")

Status = Literal["open", "playing", "paused", "ended"]


class Player(Struct, frozen=True, gc=False):
    """The person or bot that sits on a seat; `bot` names a bot and its build, None for a person."""

    id: str
    nonce: str
    bot: str | None


class Dispute(Struct, frozen=True, gc=False):
    """A dispute over what happened from version `first` to `last`.

    `filed` and `ruled` are the versions of its filing and of the ruling, `filed_at` and `ruled_at` when that was (UTC
    ms); the ruling, its version, its moment and its arbiter are None as long as the dispute is open.
    """

    number: int
    player: str
    filed: int
    filed_at: int
    first: int
    last: int
    reason: DisputeReason
    text: TextRef | None
    ruling: Ruled | None = None
    ruled: int | None = None
    ruled_at: int | None = None
    arbiter: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether nobody has ruled on it yet."""
        return self.ruling is None


class Look(Struct, frozen=True, gc=False):
    """An arbiter may see all cards of versions `first` to `last`, from `at` until a moment (UTC ms), for a dispute."""

    dispute: int
    player: str
    at: int
    first: int
    last: int
    until: int


class Beginning(Struct, Generic[PLAY], frozen=True):
    """How things stood when deal `deal` of the match was about to be dealt; nobody folds on this `play`."""

    deal: int
    scores: tuple[int | None, ...]
    play: PLAY


class Table(Struct, Generic[PLAY, OPTIONS]):
    """A table at one version; `play` is the state of its game, None before play.

    `options` are the game's own, None only at version 0. `players` has one place per seat, None where nobody sits;
    `former` remembers the seats of those who left before play, `resigned` the order in which seats were given up.
    `prompted` are the seats whose prompt stands, also while play is paused. `ended_at` is when play ended, None before.
    `seed` and `orders` are what `Opened` will state: None and empty in a fold of redacted decisions, until then.
    `dealt` is the number that the latest deal was shuffled by, `ahead` by how much numbers exceed places in the match:
    0 until a deal is replayed. `beginnings` are those of the latest deals, at most two, while play goes on.
    `scored` is the number that the latest deal that was scored was shuffled by.
    """

    id: str
    version: int = 0
    head: bytes = b""
    at: int = 0
    by: str = ""
    game: str = ""
    ruleset: str = ""
    host: str = ""
    start: StartRule = "full"
    status: Status = "open"
    outcome: Outcome | None = None
    options: OPTIONS | None = None
    players: list[Player | None] = []
    former: dict[str, int] = {}
    resigned: tuple[int, ...] = ()
    prompted: tuple[int, ...] = ()
    turn: int = 0
    scores: tuple[int | None, ...] = ()
    places: tuple[int | None, ...] | None = None
    ended_at: int | None = None
    disputes: list[Dispute] = []
    looks: tuple[Look, ...] = ()
    seed: str | None = None
    orders: list[Order] = []
    play: PLAY | None = None
    dealt: int = 0
    ahead: int = 0
    scored: int = 0
    beginnings: tuple[Beginning[PLAY], ...] = ()

    @property
    def to_act(self) -> tuple[int, ...]:
        """The seats that must act next: none while play is paused."""
        return () if self.status == "paused" else self.prompted

    @property
    def taken(self) -> tuple[int, ...]:
        """The seats somebody sits on, ascending."""
        return tuple(seat for seat, player in enumerate(self.players) if player is not None)

    @property
    def nonces(self) -> tuple[str, ...]:
        """The nonces that count, one per seat; an untaken seat's is empty."""
        return tuple(player.nonce if player is not None else "" for player in self.players)

    def beginning_of(self, deal: int) -> Beginning[PLAY] | None:
        """Return how a deal of the match began, None if that is not known any more, or not yet."""
        return next((beginning for beginning in self.beginnings if beginning.deal == deal), None)

    def seat_of(self, player_id: str) -> int | None:
        """Return the seat where the player of this id sits, None for a spectator."""
        for seat, player in enumerate(self.players):
            if player is not None and player.id == player_id:
                return seat
        return None

    def eyes_of(self, player_id: str) -> int | None:
        """Return the seat whose player's eyes this id has, None for a spectator, as who gave a seat up is one."""
        seat = self.seat_of(player_id)
        return None if seat in self.resigned else seat


def evolve(table: Table[PLAY, OPTIONS], event: TableEvent) -> None:
    """Add one neutral event to the table; its options and its play are the fold's to set."""
    match event:
        case TurnBegan(seats):
            table.prompted = seats
            table.turn = table.version
        case Answered(seat):
            table.prompted = tuple(other for other in table.prompted if other != seat)
        case Shuffled(c, order):
            _shuffle(table, c, order)
        case Scored(_, _, scores):
            table.scores, table.scored = scores, table.dealt
        case SeatTaken(seat, player_id, nonce, bot):
            table.players[seat] = Player(player_id, nonce, bot)
        case SeatLeft(seat, player_id):
            table.players[seat] = None
            table.former[player_id] = seat
        case Resigned(seat):
            table.resigned += (seat,)
            table.prompted = tuple(other for other in table.prompted if other != seat)
        case Created():
            _create(table, event)
        case Seeded(seed):
            table.seed = seed
        case Started(seats):
            table.status = "playing"
            table.scores = tuple(0 if seat in seats else None for seat in range(len(table.players)))
        case Ended(outcome, places):
            table.status = "ended"
            table.outcome = outcome
            table.places = places
            table.prompted = ()
            table.ended_at = table.at
            table.beginnings = ()
        case Opened(seed, _):
            table.seed = seed
        case DisputeFiled() | Looked() | Paused() | Resumed() | Ruled() | DealReplayed():
            _contest(table, event)
        case _:
            assert_never(event)


def _create(table: Table[PLAY, OPTIONS], event: Created) -> None:
    table.game = event.game
    table.ruleset = event.ruleset
    table.host = event.host
    table.start = event.start
    table.players = [None] * event.seats
    table.scores = (None,) * event.seats


def _shuffle(table: Table[PLAY, OPTIONS], c: int, order: tuple[str | int, ...] | None) -> None:
    """Keep an order, if it is seen, and how things stand if it is the pack of a deal."""
    if order is not None:
        table.orders.append(Order(c, order))
    number, which = divmod(c, NUMBERS_PER_DEAL)
    if number and which == 0 and table.play is not None:
        table.dealt = number
        beginning = Beginning(number - table.ahead, table.scores, own(table.play))
        table.beginnings = (*table.beginnings[-1:], beginning)


def _contest(
    table: Table[PLAY, OPTIONS], event: DisputeFiled | Looked | Paused | Resumed | Ruled | DealReplayed
) -> None:
    match event:
        case DisputeFiled(number, first, last, reason, text):
            table.disputes.append(Dispute(number, table.by, table.version, table.at, first, last, reason, text))
        case Looked(dispute, first, last, until):
            table.looks += (Look(dispute, table.by, table.at, first, last, until),)
        case Paused():
            table.status = "paused"
        case Resumed():
            table.status = "playing"
        case Ruled():
            _rule(table, event)
        case DealReplayed(deal, number):
            _replay(table, deal, number)
        case _:
            assert_never(event)


def _rule(table: Table[PLAY, OPTIONS], ruling: Ruled) -> None:
    """Close a dispute; what else follows while play goes on, other events of the same decision say."""
    place = ruling.dispute - 1
    table.disputes[place] = replace(
        table.disputes[place], ruling=ruling, ruled=table.version, ruled_at=table.at, arbiter=table.by
    )
    if ruling.scores is not None:
        _rescore(table, ruling.scores)
    if table.status != "ended":
        return
    if ruling.verdict == "annulled":
        table.outcome = "annulled"
        table.places = (None,) * len(table.players)
    elif ruling.verdict == "corrected":
        table.outcome = "adjudicated"
        table.resigned += tuple(seat for seat in ruling.forfeits if seat not in table.resigned)
        table.places = ruling.places if ruling.places is not None else table.places


def _rescore(table: Table[PLAY, OPTIONS], scores: tuple[int | None, ...]) -> None:
    """Set the scores, also those that the deal in progress is played again from."""
    if table.beginnings and table.scored < table.dealt:
        *before, now = table.beginnings
        table.beginnings = (*before, replace(now, scores=scores))
    table.scores = scores


def _replay(table: Table[PLAY, OPTIONS], deal: int, number: int) -> None:
    then = table.beginning_of(deal)
    if then is None:
        raise ValueError(f"how deal {deal} of table {table.id} began is not known at version {table.version}")
    table.play = own(then.play)
    table.scores = then.scores
    table.prompted = ()
    table.ahead = number - deal
    table.beginnings = tuple([before for before in table.beginnings if before.deal < deal])


def redact(event: TableEvent) -> TableEvent:
    """Return a neutral event as everybody may see it: the sealed parts of chance are null until `Opened`."""
    match event:
        case Seeded():
            return Seeded(None)
        case Shuffled(c, _):
            return Shuffled(c, None)
        case Created() | SeatTaken() | SeatLeft() | Started() | TurnBegan() | Answered():
            return event
        case Scored() | Resigned() | Ended() | Opened():
            return event
        case DisputeFiled() | Paused() | Resumed() | Looked() | Ruled() | DealReplayed():
            return event
        case _:
            assert_never(event)


class SeatView(Struct, frozen=True, gc=False):
    """A seat as everybody sees it; `player` is null where nobody sits, `bot` null unless a bot does."""

    seat: Seat
    player: PlayerId | None
    bot: BotLabel | None
    resigned: bool


class Public(TypedDict):
    """What every viewer of a table sees alike, and which seat is the viewer's own."""

    game: str
    table: str
    version: int
    head: str
    ruleset: str
    status: Status
    outcome: Outcome | None
    seats: tuple[SeatView, ...]
    you: int | None
    to_act: tuple[int, ...]
    turn: int
    due: int | None
    scores: tuple[int | None, ...]
    places: tuple[int | None, ...] | None


class View(Struct, Generic[OPTIONS], frozen=True, kw_only=True):
    """A table as one viewer may see it; a game's own view adds its own fields.

    `you` is the viewer's seat, null for a spectator. `to_act` names only the seats that must act next, `turn` is the
    version at which their prompt began, `due` the moment their time ends (null without a clock). `scores` and
    `places` hold one entry per seat, null for untaken seats. `seen` lists the cards that the viewer saw go by.
    """

    game: GameName
    table: Id
    version: Version
    head: Head
    ruleset: Ruleset
    status: Status
    outcome: Outcome | None
    options: OPTIONS
    seats: Annotated[tuple[SeatView, ...], Meta(max_length=MAX_SEATS)]
    you: Seat | None
    to_act: Seats
    turn: Version
    due: Millis | None
    scores: Scores
    places: Places | None
    seen: Annotated[tuple[CardName, ...], Meta(max_length=1_024)]


def public(table: Table[PLAY, OPTIONS], seat: int | None) -> Public:
    """State the neutral part of a view; a game adds `options`, `seen` and its own."""
    return {
        "game": table.game,
        "table": table.id,
        "version": table.version,
        "head": table.head.hex(),
        "ruleset": table.ruleset,
        "status": table.status,
        "outcome": table.outcome,
        "seats": tuple(_seat_view(table, number) for number in range(len(table.players))),
        "you": seat,
        "to_act": table.to_act,
        "turn": table.turn,
        "due": None,
        "scores": table.scores,
        "places": table.places,
    }


def _seat_view(table: Table[PLAY, OPTIONS], seat: int) -> SeatView:
    player = table.players[seat]
    resigned = seat in table.resigned
    return SeatView(seat, None, None, resigned) if player is None else SeatView(seat, player.id, player.bot, resigned)
