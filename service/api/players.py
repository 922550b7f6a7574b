"""Routes of players: sign up, names, who I am."""

import msgspec
from litestar.response.base import ASGIResponse

from events.base import Id
from service.api.answers import MAX_IDS, Ids, Me, NewPlayer, Player, Players, Welcome, answer
from service.api.endpoint import Endpoint, Parameter
from service.api.requests import AnyRequest, body, identity, known_query
from service.auth.accounts import SIGN_UP, Account, Accounts
from service.errors import Forbidden, Malformed

_new_player = msgspec.json.Decoder(NewPlayer)


async def sign_up(request: AnyRequest) -> ASGIResponse:
    """Open an account and return its first token."""
    known_query(request)
    if not request.app.state.settings.sign_up:
        raise Forbidden("Sign-up is closed here; ask the host for a token.")
    accounts = _accounts(request)
    wanted = await body(request, _new_player)
    account = await accounts.create(wanted.name)
    token = await accounts.issue_token(account.id, SIGN_UP)
    return answer(Welcome(_player(account), token), 201, {"Cache-Control": "no-store"})


async def players(request: AnyRequest) -> ASGIResponse:
    """Return the names of up to 100 players."""
    await identity(request)
    known_query(request, "id")
    ids = request.query_params.getall("id", [])
    if not 1 <= len(ids) <= MAX_IDS:
        raise Malformed(f"Ask for 1 to {MAX_IDS} players: ?id=…&id=…", "id")
    found = await _accounts(request).named(ids)
    return answer(Players(tuple(map(_player, found))))


async def player(request: AnyRequest) -> ASGIResponse:
    """Return a player's name."""
    await identity(request)
    known_query(request)
    found = await _accounts(request).find(request.path_params["player"])
    return answer(_player(found))


async def me(request: AnyRequest) -> ASGIResponse:
    """Return whom the token speaks for, and what it may do."""
    who = await identity(request)
    known_query(request)
    found = await _accounts(request).find(who.account)
    return answer(Me(_player(found), tuple(sorted(who.scopes))))


def _accounts(request: AnyRequest) -> Accounts:
    accounts: Accounts = request.app.state.accounts
    return accounts


def _player(account: Account) -> Player:
    return Player(account.id, account.name)


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="POST",
        path="/v1/players",
        name="signUp",
        summary="Open an account and get its first token, shown this once.",
        handler=sign_up,
        body=NewPlayer,
        answers={201: Welcome},
        errors=(400, 403, 409, 413, 415, 503),
        token=False,
        tag="players",
    ),
    Endpoint(
        method="GET",
        path="/v1/players",
        name="getPlayers",
        summary="The names of up to 100 players, in the order asked for.",
        handler=players,
        parameters=(Parameter("id", "query", Ids, "A player's id; may come up to 100 times.", required=True),),
        answers={200: Players},
        errors=(400, 401, 404, 503),
        tag="players",
    ),
    Endpoint(
        method="GET",
        path="/v1/players/{player}",
        name="getPlayer",
        summary="A player's name.",
        handler=player,
        parameters=(Parameter("player", "path", Id, "A player's id.", required=True),),
        answers={200: Player},
        errors=(400, 401, 404, 503),
        tag="players",
    ),
    Endpoint(
        method="GET",
        path="/v1/me",
        name="getMe",
        summary="Whom the token speaks for, and what it may do.",
        handler=me,
        answers={200: Me},
        errors=(400, 401, 503),
        tag="players",
    ),
)
