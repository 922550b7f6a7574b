"""Routes of players: sign up, names, who I am, and how to be forgotten."""

import msgspec
from litestar.response.base import ASGIResponse

from events.base import Id
from service.api.answers import MAX_IDS, Ids, Me, NewPlayer, Player, Players, Renaming, Welcome, answer, empty
from service.api.endpoint import Endpoint, Parameter
from service.api.forwarded import Proxies
from service.api.requests import AnyRequest, bearer, body, identity, no_body
from service.auth.accounts import Account, Accounts
from service.auth.scopes import ACCOUNT, SIGN_UP
from service.auth.tokens import UNKNOWN, Grant, Identity, Tokens
from service.erasing import Erasing
from service.errors import Forbidden, Malformed, NotFound, Unauthenticated
from service.limits import SignUps

UNCACHED = {"Cache-Control": "no-store"}

_new_player = msgspec.json.Decoder(NewPlayer)
_renaming = msgspec.json.Decoder(Renaming)


async def sign_up(request: AnyRequest) -> ASGIResponse:
    """Open an account and return its first token."""
    state = request.app.state
    if not state.settings.sign_up:
        raise Forbidden("Sign-up is closed here; ask the host for a token.")
    wanted = await body(request, _new_player)
    sign_ups: SignUps = state.sign_ups
    proxies: Proxies = state.proxies
    await sign_ups.take(proxies.client_of(request))
    account = await _accounts(request).create(wanted.name)
    tokens: Tokens = state.tokens
    issued = await tokens.issue(account.id, Grant(SIGN_UP))
    return answer(Welcome(_player(account), issued.secret), 201, UNCACHED)


async def players(request: AnyRequest) -> ASGIResponse:
    """Return the names of up to 100 players."""
    await identity(request)
    ids = request.query_params.getall("id", [])
    if not 1 <= len(ids) <= MAX_IDS:
        raise Malformed(f"Ask for 1 to {MAX_IDS} players: ?id=…&id=…", "id")
    found = await _accounts(request).named(ids)
    return answer(Players(tuple(map(_player, found))))


async def player(request: AnyRequest) -> ASGIResponse:
    """Return a player's name."""
    await identity(request)
    found = await _accounts(request).find(request.path_params["player"])
    return answer(_player(found))


async def me(request: AnyRequest) -> ASGIResponse:
    """Return whom the token speaks for, and what it may do."""
    who = await identity(request)
    try:
        return _me(await _accounts(request).find(who.account), who)
    except NotFound:
        raise Unauthenticated(UNKNOWN) from None


async def rename(request: AnyRequest) -> ASGIResponse:
    """Change the account's name."""
    who, _ = await bearer(request, ACCOUNT)
    wanted = await body(request, _renaming)
    try:
        return _me(await _accounts(request).rename(who.account, wanted.name), who)
    except NotFound:
        raise Unauthenticated(UNKNOWN) from None


async def erase(request: AnyRequest) -> ASGIResponse:
    """Erase the account."""
    who, _ = await bearer(request, ACCOUNT)
    await no_body(request)
    erasing: Erasing = request.app.state.erasing
    await erasing.erase(who.account)
    return empty(204)


def _me(account: Account, who: Identity) -> ASGIResponse:
    return answer(Me(_player(account), tuple(sorted(who.scopes))))


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
        errors=(400, 403, 409, 413, 415, 429, 503),
        token=False,
        tag="players",
    ),
    Endpoint(
        method="GET",
        path="/v1/players",
        name="getPlayers",
        summary="The names of up to 100 players, in the order asked for, without those that are erased.",
        handler=players,
        parameters=(Parameter("id", "query", Ids, "A player's id; may come up to 100 times.", required=True),),
        answers={200: Players},
        errors=(400, 401, 404, 429, 503),
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
        errors=(400, 401, 404, 429, 503),
        tag="players",
    ),
    Endpoint(
        method="GET",
        path="/v1/me",
        name="getMe",
        summary="Whom the token speaks for, and what it may do.",
        handler=me,
        answers={200: Me},
        errors=(400, 401, 429, 503),
        tag="players",
    ),
    Endpoint(
        method="PATCH",
        path="/v1/me",
        name="renameMe",
        summary="Change the account's name.",
        handler=rename,
        body=Renaming,
        answers={200: Me},
        errors=(400, 401, 403, 409, 413, 415, 429, 503),
        scope=ACCOUNT,
        tag="players",
    ),
    Endpoint(
        method="DELETE",
        path="/v1/me",
        name="eraseMe",
        summary="Erase the account for good: it gives up its seats, its tokens end, its name is forgotten.",
        handler=erase,
        answers={204: None},
        errors=(400, 401, 403, 413, 429, 503),
        scope=ACCOUNT,
        tag="players",
    ),
)
