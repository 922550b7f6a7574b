"""Routes of tables, made anew for each game: its options, commands, events and views are typed in all of them."""

from typing import Annotated, Any, Generic, TypeVar

import msgspec
from litestar.response.base import ASGIResponse
from msgspec import UNSET, Meta, Struct, UnsetType

from events.base import Seat
from events.table import Nonce, SeatTaken, StartRule
from service.actions import Actions
from service.api.answers import BotName, Seated, answer, empty
from service.api.endpoint import Endpoint, Link
from service.api.eyes import AS_ONE, SCOPE_OF_AS, eyes
from service.api.gameroutes import (
    AT,
    COMMAND_ERRORS,
    COMMAND_PARAMETERS,
    TABLE,
    VIEW_HEADERS,
    GameRoutes,
    at,
    done_answer,
    tables_of,
    typed,
    view_of,
)
from service.api.parameters import IDEMPOTENCY_KEY, IF_MATCH, IF_NONE_MATCH, PREFER
from service.api.requests import (
    AnyRequest,
    already_has,
    body,
    identity,
    no_body,
    once,
    require,
)
from service.auth.scopes import HOST, PLAY
from service.game import AnyGame, AnyView
from service.presence import Attendees, Presence
from service.referee import Abandon, Create, Leave, Resign, Sit, Start

OPTIONS = TypeVar("OPTIONS")

PRESENCE_HEADERS = {"Cache-Control": "private, no-store", "Vary": "Authorization"}


class NewTable(Struct, Generic[OPTIONS], frozen=True, forbid_unknown_fields=True):
    """What opening a table takes; all of it may be left out.

    `bots` fill the highest seats at once, the first named the lowest of them; without a word of them there are none,
    but in a game that has a `rival`, which takes all seats but the lowest. With `start` `full` the last seat taken
    starts play, with `host` the host does, with the seats taken by then.
    """

    seats: Annotated[int, Meta(ge=1, le=8)] | UnsetType = UNSET
    options: OPTIONS | UnsetType = UNSET
    bots: Annotated[tuple[BotName, ...], Meta(max_length=8)] | UnsetType = UNSET
    start: StartRule = "full"


class TakeSeat(Struct, frozen=True, forbid_unknown_fields=True):
    """Which seat to take, the lowest free one if none is named; `nonce` is the player's share in the shuffles.

    The host may name a `bot` to sit there instead.
    """

    seat: Seat | UnsetType = UNSET
    nonce: Nonce = ""
    bot: BotName | UnsetType = UNSET


# The table of an answer, and that of its request, for the routes that these lead to.
_OPENED = {"table": "$response.body#/table"}
_SAME = {"table": "$request.path.table"}
_SINCE = {**_SAME, "after": "$response.body#/version"}

_take_seat = msgspec.json.Decoder(TakeSeat)


class TableRoutes(GameRoutes):
    """The routes of one game's tables: each a value, which the document is made from, and its handler below."""

    def __init__(self, game: AnyGame) -> None:
        """Make the routes of this game."""
        super().__init__(game)
        self._new_table = msgspec.json.Decoder(NewTable[game.projection.options])  # type: ignore[name-defined] # a type known at run time
        self._command = msgspec.json.Decoder(self.commands)
        self._view_type = view_of(game)

    @property
    def commands(self) -> object:
        """The union of all that a seat or the host may post at a table of this game."""
        return self.game.commands | Resign | Abandon

    def endpoints(self) -> tuple[Endpoint, ...]:
        """Return the routes, typed for this game."""
        return (
            self._post_table(),
            self._get_table(),
            self._post_seat(),
            self._delete_seat(),
            self._post_start(),
            self._get_actions(),
            self._post_command(),
            self._get_presence(),
        )

    def _post_table(self) -> Endpoint:
        return Endpoint(
            method="POST",
            path=self.tables,
            name=f"open{self.kind}Table",
            summary=f"Open a table of {self.game.title} as its host.",
            about="""
            Whoever opens a table is its host, and sits down like everybody else, at `…/seats`. What is left out of the
            options has its default; options that contradict each other are refused with 409 `options_conflict`.
            """,
            links=(
                Link(f"get{self.kind}Table", _OPENED),
                Link(f"take{self.kind}Seat", _OPENED),
                Link(f"get{self.kind}Actions", _OPENED),
                Link(f"post{self.kind}Command", _OPENED),
                Link(f"get{self.kind}Events", _OPENED),
            ),
            handler=self.create,
            body=typed(NewTable, self.game.projection.options),
            parameters=(IDEMPOTENCY_KEY,),
            answers={201: self._view_type},
            headers=("ETag", "Location"),
            errors=(400, 401, 403, 409, 413, 415, 422, 429, 503),
            scope=HOST,
            tag=self.game.name,
            socket=True,
        )

    async def create(self, request: AnyRequest) -> ASGIResponse:
        """Open a table."""
        who = await identity(request, HOST)
        wanted = await body(request, self._new_table)
        tables = tables_of(request)
        command = self._create(wanted)
        done = await tables.create(who.account, self.game, command, once(request, who.account))
        view = await tables.view_after(done)
        return answer(view, 201, {"Location": f"{self.tables}/{view.table}", **_view_headers(view)})

    def _get_table(self) -> Endpoint:
        return Endpoint(
            method="GET",
            path=self.table,
            name=f"get{self.kind}Table",
            summary="The table as you may see it, now or at a version.",
            about="""
            `to_act` names the seats that must act now, `version` is also the `ETag`: with `If-None-Match` a look at
            what you know already costs next to nothing. A past version (`at`) is shown with the rights you have today.
            Once play has ended `as` shows it through the eyes of any seat; all of them are at `…/views`.
            """,
            links=(Link(f"get{self.kind}Actions", _SAME), Link(f"get{self.kind}Events", _SINCE)),
            handler=self.look,
            parameters=(TABLE, AT, AS_ONE, IF_NONE_MATCH),
            answers={200: self._view_type, 304: None},
            headers=("ETag",),
            errors=(400, 401, 403, 404, 409, 429, 503),
            scope_of=SCOPE_OF_AS,
            tag=self.game.name,
        )

    async def look(self, request: AnyRequest) -> ASGIResponse:
        """Return the table as its viewer may see it, now or at a version."""
        who = await identity(request)
        asked = self.asked(request, who, eyes(request, who, AS_ONE))
        version = at(request)
        _, (view,) = await tables_of(request).views(asked, version)
        if version is not None:
            # Of a past version the seat held today decides what is seen: it has no tag, for the seat may change.
            return answer(view, headers=VIEW_HEADERS)
        headers = _view_headers(view)
        if already_has(request, headers["ETag"]):
            return empty(304, headers)
        return answer(view, headers=headers)

    def _post_seat(self) -> Endpoint:
        return Endpoint(
            method="POST",
            path=f"{self.table}/seats",
            name=f"take{self.kind}Seat",
            summary="Take a seat, or seat a bot as the host.",
            about="""
            An account sits once at a table. Unless the table was opened with `start` `host`, the last seat taken starts
            play. A `nonce` is your share in all of the table's shuffles; it is public from then on.
            """,
            links=(
                Link(f"get{self.kind}Table", _SAME),
                Link(f"get{self.kind}Actions", _SAME),
                Link(f"leave{self.kind}Seat", _SAME),
                Link(f"start{self.kind}Table", _SAME),
            ),
            handler=self.sit,
            body=TakeSeat,
            examples=({}, {"seat": 2, "nonce": "dice-4163"}, {"bot": "anyone"}),
            parameters=(TABLE, IDEMPOTENCY_KEY, IF_MATCH),
            answers={201: Seated},
            errors=COMMAND_ERRORS,
            scope=PLAY,
            scope_of={"a body with `bot`": HOST},
            tag=self.game.name,
            socket=True,
        )

    async def sit(self, request: AnyRequest) -> ASGIResponse:
        """Take a seat, or seat a bot."""
        who = await identity(request)
        wanted = await body(request, _take_seat)
        require(who, PLAY if wanted.bot is UNSET else HOST)
        seat = None if wanted.seat is UNSET else wanted.seat
        bot = None if wanted.bot is UNSET else wanted.bot
        done = await self.act(request, who.account, Sit(seat=seat, nonce=wanted.nonce, bot=bot))
        taken = next(event.seat for event in done.decision.events if isinstance(event, SeatTaken))
        return answer(Seated(taken, done.decision.version, done.decision.head), 201)

    def _delete_seat(self) -> Endpoint:
        return Endpoint(
            method="DELETE",
            path=f"{self.table}/seats/me",
            name=f"leave{self.kind}Seat",
            summary="Stand up before play.",
            handler=self.leave,
            parameters=(TABLE, IF_MATCH, PREFER),
            answers={200: self.done_type},
            headers=("Preference-Applied",),
            errors=(400, 401, 403, 404, 409, 412, 413, 429, 503),
            scope=PLAY,
            tag=self.game.name,
        )

    async def leave(self, request: AnyRequest) -> ASGIResponse:
        """Stand up before play."""
        who = await identity(request, PLAY)
        await no_body(request)
        done = await self.act(request, who.account, Leave())
        return await done_answer(request, done, 200)

    def _post_start(self) -> Endpoint:
        return Endpoint(
            path=f"{self.table}/start",
            name=f"start{self.kind}Table",
            summary="Start play with the seats taken, as the host.",
            handler=self.start,
            parameters=(TABLE, *COMMAND_PARAMETERS),
            scope=HOST,
            **self.taking,
        )

    async def start(self, request: AnyRequest) -> ASGIResponse:
        """Start play with the seats taken, as the host."""
        who = await identity(request, HOST)
        await no_body(request)
        done = await self.act(request, who.account, Start())
        return await done_answer(request, done, 201)

    def _post_command(self) -> Endpoint:
        return Endpoint(
            path=f"{self.table}/commands",
            name=f"post{self.kind}Command",
            summary="Take one command.",
            about="""
            The answer is the decision that the command became. `turn` names the prompt it is meant for: if that is over
            the command is refused with 409 `turn_over`; without it the command is taken for whatever stands now.
            `table.resign` and, from the host, `table.abandon` are taken in every game. A refusal lists what would be
            legal.
            """,
            links=(
                Link(f"get{self.kind}Actions", _SAME),
                Link(f"get{self.kind}Events", _SINCE),
                Link(f"file{self.kind}Dispute", _SAME),
            ),
            handler=self.command,
            body=self.commands,
            parameters=(TABLE, *COMMAND_PARAMETERS),
            scope=PLAY,
            scope_of={"`table.abandon`": HOST},
            **self.taking,
        )

    async def command(self, request: AnyRequest) -> ASGIResponse:
        """Take one command."""
        who = await identity(request)
        command = await body(request, self._command)
        require(who, HOST if isinstance(command, Abandon) else PLAY)
        done = await self.act(request, who.account, command)
        return await done_answer(request, done, 201)

    def _get_actions(self) -> Endpoint:
        return Endpoint(
            method="GET",
            path=f"{self.table}/actions",
            name=f"get{self.kind}Actions",
            summary="What you may do now: each entry of `legal` is a complete body for the commands' route.",
            about="""
            A client that knows no rules plays by posting one of them whenever there are any. Types of command with too
            many bodies to list stand in `open`, each with the JSON Schema of its body and an example; `complete` is
            false then. `refused` says why the other types are not legal now.
            """,
            links=(Link(f"post{self.kind}Command", _SAME, "$response.body#/legal/0"),),
            handler=self.actions,
            parameters=(TABLE,),
            answers={200: typed(Actions, self.game.commands)},
            errors=(400, 401, 404, 429, 503),
            tag=self.game.name,
        )

    async def actions(self, request: AnyRequest) -> ASGIResponse:
        """Return what the viewer's seat may do now."""
        who = await identity(request)
        found = await tables_of(request).actions(self.asked(request, who))
        return answer(found, headers=VIEW_HEADERS)

    def _get_presence(self) -> Endpoint:
        return Endpoint(
            method="GET",
            path=f"{self.table}/presence",
            name=f"get{self.kind}Presence",
            summary="Who of the host and those who hold a seat is there, as these alone may know.",
            about="""
            Whoever reads the table, commands there or has a stream of it open is present, for 15 seconds from then on.
            It is told to within a few seconds, and to nobody else: who looks on, or has given up a seat, gets 403
            `not_seated`. Nothing of it is ever in the view, the `ETag` or the events. What it means is at
            `/docs/lobby`.
            """,
            handler=self.presence,
            parameters=(TABLE,),
            answers={200: Attendees},
            errors=(400, 401, 403, 404, 429, 503),
            tag=self.game.name,
        )

    async def presence(self, request: AnyRequest) -> ASGIResponse:
        """Return who is there, to those who have a part in the table."""
        who = await identity(request)
        table = await tables_of(request).look(self.asked(request, who))
        kept: Presence = request.app.state.presence
        return answer(await kept.at(table, who.account), headers=PRESENCE_HEADERS)

    def _create(self, wanted: NewTable[Any]) -> Create:
        options = self.game.projection.options() if wanted.options is UNSET else wanted.options
        seats = self.game.seats.usual if wanted.seats is UNSET else wanted.seats
        rivals = (self.game.rival,) * (seats - 1) if self.game.rival is not None else ()
        return Create(
            game=self.game.name,
            ruleset=self.game.ruleset,
            seats=seats,
            options=msgspec.to_builtins(options),
            start=wanted.start,
            bots=rivals if wanted.bots is UNSET else wanted.bots,
        )


def _view_headers(view: AnyView) -> dict[str, str]:
    return {"ETag": f'"{view.version}"', **VIEW_HEADERS}
