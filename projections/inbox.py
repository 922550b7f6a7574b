"""What of a table concerns whom: the notices that its decisions put into inboxes, and for whom it waits.

Both are folded from the neutral events alone, so that no game is known here, and from public parts of them alone, so
that no notice tells its reader what the reader's own view of the table does not. A further kind of notice is a class
and a line in `_told`.

Told are accounts. Who sits is told of every prompt, of the start and of the end; who has given a seat up, of the end
and the place that came of it; the host, with a seat or without, of the start and the end, and that all seats are taken
where play waits for the host; all of these of disputes, pauses, looks and rulings. Who stood up before play has no part
in the table any more. Bots' seats have no inbox.
"""

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias, TypedDict, assert_never

from msgspec import Raw, Struct
from msgspec.structs import replace

from events.base import Entry, GameName, Id, Millis, PlayerId, Ruleset, Version
from events.table import (
    Answered,
    Created,
    DealReplayed,
    DisputeFiled,
    Ended,
    Looked,
    Paused,
    Resigned,
    Resumed,
    Ruled,
    SeatLeft,
    Seats,
    SeatTaken,
    Started,
    StartRule,
    TurnBegan,
)
from projections.filters import EventFilter
from projections.notices import (
    AnyNotice,
    DisputeNotice,
    EndedNotice,
    FilledNotice,
    LookNotice,
    PauseNotice,
    ResumeNotice,
    RulingNotice,
    StartedNotice,
    YouLeft,
    YourTurn,
    YouSat,
)
from projections.table import SeatView, Status

_Contest: TypeAlias = DisputeFiled | Paused | Resumed | Looked | Ruled | DealReplayed
_Concerning: TypeAlias = Created | SeatTaken | SeatLeft | Started | TurnBegan | Answered | Resigned | Ended | _Contest
_filter: EventFilter[_Concerning] = EventFilter(_Concerning)


class Told(NamedTuple):
    """A notice, and whose inbox it goes to."""

    account: str
    notice: AnyNotice


class Company(Struct, frozen=True, kw_only=True):
    """Who has a part in a table, and for whom it waits.

    `prompted` are the seats whose prompt stands, also while play is paused. `since` is when that prompt went out or,
    before play, when a seat was last taken or left.
    """

    game: GameName
    table: Id
    ruleset: Ruleset
    host: PlayerId
    start: StartRule
    status: Status
    seats: tuple[SeatView, ...]
    prompted: Seats
    turn: Version
    since: Millis

    @property
    def to_act(self) -> Seats:
        """The seats that must act next: none while play is paused."""
        return () if self.status == "paused" else self.prompted

    @property
    def waits_for_host(self) -> bool:
        """Whether the table is open until its host starts play, however many sit there."""
        return self.status == "open" and self.start == "host"

    @property
    def taken(self) -> int:
        """How many seats are taken."""
        return sum(seat.player is not None for seat in self.seats)

    @property
    def has_people(self) -> bool:
        """Whether somebody sits there who is no bot and has not given up."""
        return any(seat.player is not None and seat.bot is None and not seat.resigned for seat in self.seats)

    def seat_of(self, account: str) -> int | None:
        """Return the seat of an account, given up or not; None if it has none."""
        return next((seat.seat for seat in self.seats if seat.player == account), None)

    def is_settled_for(self, account: str) -> bool:
        """Tell whether the table will never wait for an account, whatever may still happen at it."""
        match self.status:
            case "ended":
                return True
            case "open":
                return False
            case "playing" | "paused":
                seat = self.seat_of(account)
                return seat is None or self.seats[seat].resigned

    def people(self) -> Iterator[tuple[str, int | None]]:
        """Yield every account that has a part in the table, once, with its seat; the host may have none."""
        for seat in self.seats:
            if seat.player is not None and seat.bot is None:
                yield seat.player, seat.seat
        if self.seat_of(self.host) is None:
            yield self.host, None


class _About(TypedDict):
    game: str
    table: str
    version: int
    at: int


def add(company: Company | None, entry: bytes) -> tuple[Company | None, tuple[Told, ...]]:
    """Return a table with the stored entry that follows added, and who is told what; None is a table of no entries."""
    read = _filter.read(entry)
    if read is None:
        return company, ()
    decision, events = read
    told: list[Told] = []
    resumed = False
    for event in events:
        resumed = resumed or isinstance(event, Resumed)
        company = _evolved(company, event, decision)
        told += _told(company, event, decision.by.player or "", _about(company, decision))
    if company is not None:
        told += _told_at_last(company, _about(company, decision), resumed=resumed)
    return company, tuple(told)


def _about(company: Company, decision: Entry[Raw, Raw]) -> _About:
    return {"game": company.game, "table": company.table, "version": decision.version, "at": decision.at}


def _told(company: Company, event: _Concerning, by: str, about: _About) -> Iterator[Told]:
    """Yield whom an event concerns, at the table as it is right after it; `by` is who brought it about."""
    match event:
        case SeatTaken(seat, player, _, None):
            yield Told(player, YouSat(seat=seat, **about))
        case SeatLeft(seat, player):
            yield Told(player, YouLeft(seat=seat, **about))
        case Started():
            yield from (Told(account, StartedNotice(seat=own, **about)) for account, own in company.people())
        case Ended(outcome, places):
            for account, own in company.people():
                place = places[own] if own is not None else None
                yield Told(account, EndedNotice(outcome=outcome, seat=own, place=place, **about))
        case DisputeFiled() | Paused() | Resumed() | Looked() | Ruled():
            yield from (Told(account, _contested(event, own, by, about)) for account, own in company.people())
        case Created() | SeatTaken() | TurnBegan() | Answered() | Resigned() | DealReplayed():
            return
        case _:
            assert_never(event)


def _contested(
    event: DisputeFiled | Paused | Resumed | Looked | Ruled, seat: int | None, by: str, about: _About
) -> AnyNotice:
    """Return what whoever has a part in a table is told of a dispute, a pause, a look or a ruling."""
    match event:
        case DisputeFiled(number, first, last, reason):
            return DisputeNotice(dispute=number, player=by, first=first, last=last, reason=reason, **about)
        case Paused():
            return PauseNotice(**about)
        case Resumed():
            return ResumeNotice(**about)
        case Looked(number, first, last, until):
            return LookNotice(dispute=number, first=first, last=last, until=until, **about)
        case Ruled(number, verdict, _, places):
            place = places[seat] if places is not None and seat is not None else None
            return RulingNotice(dispute=number, verdict=verdict, seat=seat, place=place, **about)
        case _:
            assert_never(event)


def _told_at_last(company: Company, about: _About, *, resumed: bool) -> Iterator[Told]:
    """Yield whom a decision as a whole concerns: a prompt within it may have been answered for a silent seat."""
    match company.status:
        case "open" if company.waits_for_host and company.taken == len(company.seats):
            # A table that was full before can't have been added to without a seat being left, or play starting.
            yield Told(company.host, FilledNotice(**about))
        case "playing" if resumed or company.turn == about["version"]:
            for seat in company.to_act:
                sitting = company.seats[seat]
                if sitting.player is not None and sitting.bot is None:
                    yield Told(sitting.player, YourTurn(seat=seat, turn=company.turn, **about))
        case _:
            return


def _evolved(company: Company | None, event: _Concerning, decision: Entry[Raw, Raw]) -> Company:
    """Return the table with one event added."""
    if isinstance(event, Created):
        return _created(event, decision)
    if company is None:
        raise ValueError(f"{decision.stream} has no table.created before version {decision.version}")
    match event:
        case SeatTaken(seat, player, _, bot):
            return _seated(company, SeatView(seat, player, bot, resigned=False), decision.at)
        case SeatLeft(seat):
            return _seated(company, SeatView(seat, None, None, resigned=False), decision.at)
        case Started():
            return replace(company, status="playing")
        case TurnBegan(seats):
            return replace(company, prompted=seats, turn=decision.version, since=decision.at)
        case Answered(seat):
            return replace(company, prompted=_without(company.prompted, seat))
        case Resigned(seat):
            left = company.seats[seat]
            company = replace(company, prompted=_without(company.prompted, seat))
            return _with(company, SeatView(seat, left.player, left.bot, resigned=True))
        case Ended():
            return replace(company, status="ended", prompted=())
        case Paused():
            return replace(company, status="paused")
        case Resumed():
            return replace(company, status="playing", since=decision.at)
        case DealReplayed():
            return replace(company, prompted=())
        case DisputeFiled() | Looked() | Ruled():
            return company
        case _:
            assert_never(event)


def _created(event: Created, decision: Entry[Raw, Raw]) -> Company:
    return Company(
        game=event.game,
        table=decision.stream.removeprefix("table:"),
        ruleset=event.ruleset,
        host=event.host,
        start=event.start,
        status="open",
        seats=tuple(SeatView(seat, None, None, resigned=False) for seat in range(event.seats)),
        prompted=(),
        turn=0,
        since=decision.at,
    )


def _seated(company: Company, view: SeatView, at: int) -> Company:
    return replace(_with(company, view), since=at)


def _with(company: Company, view: SeatView) -> Company:
    return replace(company, seats=(*company.seats[: view.seat], view, *company.seats[view.seat + 1 :]))


def _without(seats: tuple[int, ...], seat: int) -> tuple[int, ...]:
    return tuple(other for other in seats if other != seat)
