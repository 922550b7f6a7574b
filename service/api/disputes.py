"""Routes of disputes: what players file, and what arbiters do about it, at the tables of each game."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Annotated, Final, Generic, TypeVar

import msgspec
from litestar.response.base import ASGIResponse
from msgspec import UNSET, Meta, Struct, UnsetType

from events.base import MAX_EVENTS, Head, Id, Millis, Version, whole
from events.table import (
    DealNumber,
    DisputeFiled,
    DisputeNumber,
    DisputeReason,
    Places,
    PointsPerSeat,
    Seats,
    TextRef,
    Verdict,
)
from projections import table as projected
from service.api.answers import answer, encoded
from service.api.endpoint import Endpoint, Link, Parameter
from service.api.gameroutes import (
    COMMAND_ERRORS,
    COMMAND_PARAMETERS,
    TABLE,
    VIEW_HEADERS,
    GameRoutes,
    Past,
    done_answer,
    tables_of,
    typed,
)
from service.api.parameters import IDEMPOTENCY_KEY, IF_MATCH
from service.api.requests import AnyRequest, body, converted, identity, no_body
from service.auth.scopes import ARBITER, PLAY
from service.disputes import MOST, Pause, Resume, Rule
from service.disputes import Dispute as DisputeCommand
from service.disputes import Look as LookCommand
from service.errors import Malformed, NotFound
from service.game import AnyGame, Command
from service.tables import Asked
from service.texts import Texts, Writing, named_at
from service.written import MAX_CHARACTERS, Text

EVENT = TypeVar("EVENT")

# For one spelling in all dialects, escapes alone. The first are no more than space; the others are no part of a text:
# all control characters but tab and line feed, and those that embed, override or isolate a direction.
_SPACE: Final = r"\t\n \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_BARRED: Final = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069"

NewText = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=MAX_CHARACTERS,
        pattern=whole(f"[{_SPACE}]*[^{_SPACE}{_BARRED}][^{_BARRED}]*"),
        description="In your words. Everybody may read it; it goes with your account.",
        examples=["He showed me his hand."],
    ),
]
OldText = Annotated[str, Meta(max_length=MAX_CHARACTERS)]

DISPUTE: Final = Parameter("dispute", "path", DisputeNumber, "The dispute's number at this table.", required=True)

_SAME: Final = {"table": "$request.path.table"}


class NewDispute(Struct, frozen=True, forbid_unknown_fields=True):
    """What filing a dispute takes: which versions of the table it is about, why, and what there is to say of it."""

    first: Annotated[Past, Meta(examples=[1])]
    last: Annotated[Past, Meta(examples=[2])]
    reason: DisputeReason
    text: NewText | UnsetType = UNSET


class NewLook(Struct, frozen=True, forbid_unknown_fields=True):
    """Which versions of the table an arbiter would see all cards of."""

    first: Annotated[Past, Meta(examples=[1])]
    last: Annotated[Past, Meta(examples=[2])]


class NewRuling(Struct, frozen=True, forbid_unknown_fields=True):
    """What an arbiter rules.

    `corrected` takes at least one of `scores`, `places` and `forfeits`; places only once play has ended. `replayed`
    takes the `deal`, by its place in the match. `upheld` and `annulled` take none of these.
    """

    verdict: Verdict
    scores: PointsPerSeat | UnsetType = UNSET
    places: Places | UnsetType = UNSET
    forfeits: Seats | UnsetType = UNSET
    deal: DealNumber | UnsetType = UNSET
    text: NewText | UnsetType = UNSET


class Filed(Struct, Generic[EVENT], frozen=True):
    """The number of the dispute that was filed, and the decision that did it."""

    dispute: DisputeNumber
    version: Version
    head: Head
    events: Annotated[tuple[EVENT, ...], Meta(max_length=MAX_EVENTS)]


class Look(Struct, frozen=True):
    """An arbiter's look behind the cards of versions `first` to `last`, from `at` until a moment."""

    arbiter: Id
    at: Millis
    first: Version
    last: Version
    until: Millis


class Ruling(Struct, frozen=True):
    """An arbiter's ruling at a version; what was not stated is null, and so is a text that is gone."""

    arbiter: Id
    version: Version
    at: Millis
    verdict: Verdict
    scores: PointsPerSeat | None
    places: Places | None
    forfeits: Seats
    deal: DealNumber | None
    text: OldText | None


class Dispute(Struct, frozen=True):
    """A dispute over versions `first` to `last`, filed at `version`; `ruling` is null while it is open.

    `text` is null where nothing was written, and where it is gone with its author's account.
    """

    dispute: DisputeNumber
    player: Id
    version: Version
    at: Millis
    first: Version
    last: Version
    reason: DisputeReason
    text: OldText | None
    looks: Annotated[tuple[Look, ...], Meta(max_length=2**20)]
    ruling: Ruling | None


class Disputes(Struct, frozen=True):
    """All disputes of a table at its newest version, in the order of their filing."""

    version: Version
    disputes: Annotated[tuple[Dispute, ...], Meta(max_length=MOST)]


_new_dispute = msgspec.json.Decoder(NewDispute)
_new_look = msgspec.json.Decoder(NewLook)
_new_ruling = msgspec.json.Decoder(NewRuling)


class DisputeRoutes(GameRoutes):
    """The disputes of the tables of one game."""

    def __init__(self, game: AnyGame) -> None:
        """Make the routes of this game."""
        super().__init__(game)
        self._disputes = f"{self.table}/disputes"
        self._dispute = f"{self._disputes}/{{dispute}}"

    def endpoints(self) -> tuple[Endpoint, ...]:
        """Return the routes."""
        return (
            self._post_dispute(),
            self._get_disputes(),
            self._post_look(),
            self._post_ruling(),
            self._post_pause(),
            self._post_resume(),
        )

    def _post_dispute(self) -> Endpoint:
        return Endpoint(
            method="POST",
            path=self._disputes,
            name=f"file{self.kind}Dispute",
            summary="Dispute what happened at a table where you sit, or sat until you gave up.",
            about="""
            Once play has begun, and until 30 days after it ended. One dispute of yours may be open at a table; an
            arbiter's ruling closes it. Everybody sees that you filed it, and what you wrote. More at `/docs/disputes`.
            """,
            links=(Link(f"get{self.kind}Disputes", _SAME),),
            handler=self.file,
            body=NewDispute,
            parameters=(TABLE, IDEMPOTENCY_KEY, IF_MATCH),
            answers={201: typed(Filed, self.event_type)},
            errors=COMMAND_ERRORS,
            scope=PLAY,
            tag=self.game.name,
            socket=True,
        )

    async def file(self, request: AnyRequest) -> ASGIResponse:
        """File a dispute."""
        who = await identity(request, PLAY)
        wanted = await body(request, _new_dispute)
        asked = self.addressed(request, who.account)
        async with _kept(request, asked, wanted) as text:
            command = DisputeCommand(first=wanted.first, last=wanted.last, reason=wanted.reason, text=text)
            _, decision, _ = await tables_of(request).act(asked, command)
        number = next(event.dispute for event in decision.events if isinstance(event, DisputeFiled))
        return answer(Filed(number, decision.version, decision.head, decision.events), 201)

    def _get_disputes(self) -> Endpoint:
        return Endpoint(
            method="GET",
            path=self._disputes,
            name=f"get{self.kind}Disputes",
            summary="All disputes of a table, with what was written, the arbiters' looks and their rulings.",
            handler=self.disputes,
            parameters=(TABLE,),
            answers={200: Disputes},
            errors=(400, 401, 404, 429, 503),
            tag=self.game.name,
        )

    async def disputes(self, request: AnyRequest) -> ASGIResponse:
        """Return all disputes of a table."""
        who = await identity(request)
        table = await tables_of(request).look(self.asked(request, who))
        # Taken before the texts are awaited: the table is the cache's own.
        version, filed, looks = table.version, tuple(table.disputes), table.looks
        written = await _texts(request).find(named_at(table))
        return answer(Disputes(version, tuple([_dispute(one, looks, written) for one in filed])), headers=VIEW_HEADERS)

    def _post_look(self) -> Endpoint:
        return Endpoint(
            path=f"{self._dispute}/looks",
            name=f"look{self.kind}Dispute",
            summary="See all cards of a range of versions for an hour, as an arbiter, because of an open dispute.",
            about="""
            Everybody at the table is told at once. Until the hour is over these versions are shown to you through the
            eyes of any seat, or of all of them (`as`), also while play goes on. An arbiter who hosts the table, sits
            there or sat there gets 409 `arbiter_concerned`.
            """,
            handler=self.look,
            body=NewLook,
            parameters=(TABLE, DISPUTE, *COMMAND_PARAMETERS),
            scope=ARBITER,
            **self.taking,
        )

    async def look(self, request: AnyRequest) -> ASGIResponse:
        """Let an arbiter look behind the cards."""
        who = await identity(request, ARBITER)
        wanted = await body(request, _new_look)
        command = LookCommand(dispute=_number(request), first=wanted.first, last=wanted.last)
        return await done_answer(request, await self.act(request, who.account, command), 201)

    def _post_ruling(self) -> Endpoint:
        return Endpoint(
            path=f"{self._dispute}/ruling",
            name=f"rule{self.kind}Dispute",
            summary="Rule on an open dispute, as an arbiter.",
            about="""
            Scores and places are stated for every seat that is taken, null for all others. What each verdict brings
            about, in play and after it, is at `/docs/disputes`; the answer has all of its events.
            """,
            handler=self.rule,
            body=NewRuling,
            examples=(
                {"verdict": "upheld"},
                {"verdict": "corrected", "forfeits": [1], "text": "Seat 1 was told its partner's cards."},
                {"verdict": "replayed", "deal": 2},
            ),
            parameters=(TABLE, DISPUTE, *COMMAND_PARAMETERS),
            scope=ARBITER,
            **self.taking,
        )

    async def rule(self, request: AnyRequest) -> ASGIResponse:
        """Rule on a dispute."""
        who = await identity(request, ARBITER)
        wanted = await body(request, _new_ruling)
        asked, number = self.addressed(request, who.account), _number(request)
        async with _kept(request, asked, wanted) as text:
            done = await tables_of(request).act(asked, _rule(number, wanted, text))
        return await done_answer(request, done, 201)

    def _post_pause(self) -> Endpoint:
        return Endpoint(
            path=f"{self.table}/pause",
            name=f"pause{self.kind}Table",
            summary="Pause play, as an arbiter: until it is resumed nobody acts, nor may.",
            handler=self.pause,
            parameters=(TABLE, *COMMAND_PARAMETERS),
            scope=ARBITER,
            **self.taking,
        )

    async def pause(self, request: AnyRequest) -> ASGIResponse:
        """Pause play."""
        return await self._plain(request, Pause())

    def _post_resume(self) -> Endpoint:
        return Endpoint(
            path=f"{self.table}/resume",
            name=f"resume{self.kind}Table",
            summary="Let play go on, as an arbiter: whoever had to act must, by the same `turn`.",
            handler=self.resume,
            parameters=(TABLE, *COMMAND_PARAMETERS),
            scope=ARBITER,
            **self.taking,
        )

    async def resume(self, request: AnyRequest) -> ASGIResponse:
        """Let play go on."""
        return await self._plain(request, Resume())

    async def _plain(self, request: AnyRequest, command: Command) -> ASGIResponse:
        """Have the table take an arbiter's command that has no body."""
        who = await identity(request, ARBITER)
        await no_body(request)
        return await done_answer(request, await self.act(request, who.account, command), 201)


def _kept(
    request: AnyRequest, asked: Asked, wanted: NewDispute | NewRuling
) -> AbstractAsyncContextManager[TextRef | None]:
    """Keep what a request has to say for the decision that it asks for."""
    text = None if wanted.text is UNSET else wanted.text
    return _texts(request).kept(Writing(asked.player, text, encoded(wanted), asked.once))


def _texts(request: AnyRequest) -> Texts:
    texts: Texts = request.app.state.texts
    return texts


def _number(request: AnyRequest) -> int:
    """Return the number of the dispute in a request's path."""
    try:
        number: int = converted(request.path_params[DISPUTE.name], DisputeNumber, DISPUTE.name)
    except Malformed:
        # As of any part of a path: what is no number of a dispute is of nothing.
        raise NotFound from None
    return number


def _rule(number: int, wanted: NewRuling, text: TextRef | None) -> Rule:
    return Rule(
        dispute=number,
        verdict=wanted.verdict,
        scores=None if wanted.scores is UNSET else wanted.scores,
        places=None if wanted.places is UNSET else wanted.places,
        forfeits=() if wanted.forfeits is UNSET else wanted.forfeits,
        deal=None if wanted.deal is UNSET else wanted.deal,
        text=text,
    )


def _dispute(filed: projected.Dispute, looks: Iterable[projected.Look], written: Mapping[str, Text]) -> Dispute:
    """Return a dispute as it is listed, among all looks of its table, with the texts that still exist."""
    return Dispute(
        dispute=filed.number,
        player=filed.player,
        version=filed.filed,
        at=filed.filed_at,
        first=filed.first,
        last=filed.last,
        reason=filed.reason,
        text=_text(filed.text, written),
        looks=tuple(
            [
                Look(look.player, look.at, look.first, look.last, look.until)
                for look in looks
                if look.dispute == filed.number
            ]
        ),
        ruling=_ruling(filed, written),
    )


def _ruling(filed: projected.Dispute, written: Mapping[str, Text]) -> Ruling | None:
    ruled = filed.ruling
    if ruled is None or filed.arbiter is None or filed.ruled is None or filed.ruled_at is None:
        return None
    return Ruling(
        arbiter=filed.arbiter,
        version=filed.ruled,
        at=filed.ruled_at,
        verdict=ruled.verdict,
        scores=ruled.scores,
        places=ruled.places,
        forfeits=ruled.forfeits,
        deal=ruled.deal,
        text=_text(ruled.text, written),
    )


def _text(ref: TextRef | None, written: Mapping[str, Text]) -> str | None:
    return written[ref.id].text if ref is not None and ref.id in written else None
