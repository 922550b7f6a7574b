"""No client of the last release is broken unasked: `make released` makes the present document the one to be kept.

The gate itself is tried on a document of one operation, changed in every way that matters.
"""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.contract.breaks import breaks

OPENAPI = Path(__file__).parents[2] / "openapi"

Json = dict[str, Any]
Change = Callable[[Json], object]


def test_the_present_document_breaks_no_client_of_the_last_release() -> None:
    released, present = (json.loads((OPENAPI / name).read_bytes()) for name in ("released.json", "openapi.json"))
    assert breaks(released, present) == [], "clients would break; if that is meant: make released"


def document() -> Json:
    return {
        "paths": {"/cards": {"post": operation()}, "/tables": {"post": secured()}},
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "description": "A token."}},
            "headers": {"ETag": {"required": True, "schema": {"type": "string", "pattern": "^[0-9]+$"}}},
            "responses": {"404": {"content": {"application/json": {"schema": reference("Problem")}}}},
            "schemas": {
                "Problem": fields({"code": {"type": "string", "enum": ["lost", "late"], "x-open": True}}, "code"),
                "Play": fields({"type": {"const": "play"}, "card": {"type": "string", "enum": ["S2", "S3"]}}, "card"),
                "Pass": fields({"type": {"const": "pass"}, "turn": {"type": "integer", "minimum": 0, "maximum": 9}}),
                "Command": union("Play", "Pass"),
                "Played": fields({"type": {"const": "played"}}),
                "Passed": fields({"type": {"const": "passed"}}),
                "Event": union("Played", "Passed"),
                "Spare": fields({}),
                "Options": fields({"bots": {"type": "array", "items": {"type": "integer", "multipleOf": 2}}}),
                "View": fields(
                    {
                        "score": {"type": "integer", "minimum": 0, "maximum": 99},
                        "due": {"type": ["integer", "null"]},
                        "status": {"enum": ["open", "ended"]},
                        "seats": {"type": "array", "items": {"type": "string", "maxLength": 9}, "maxItems": 5},
                        "last": reference("Event"),
                    },
                    "score",
                    "due",
                ),
            },
        },
    }


def operation() -> Json:
    return {
        "operationId": "play",
        "tags": ["cards"],
        "security": [],
        "parameters": [
            {"name": "limit", "in": "query", "required": False, "schema": {"type": "integer", "maximum": 9}}
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": reference("Command")}}},
        "responses": {
            "201": {
                "headers": {"ETag": {"$ref": "#/components/headers/ETag"}},
                "content": {"application/json": {"schema": reference("View")}},
                "links": {"open": {"operationId": "open", "parameters": {"at": "$response.body#/score"}}},
            },
            "404": {"$ref": "#/components/responses/404"},
        },
    }


def secured() -> Json:
    """Return an operation that a host may do, and an admin who plays."""
    return {
        "operationId": "open",
        "security": [{"bearer": ["host"]}, {"bearer": ["play", "admin"]}],
        "requestBody": {"content": {"application/json": {"schema": reference("Options")}}},
        "responses": {},
    }


def union(*names: str) -> Json:
    mapping = {name.lower(): reference(name)["$ref"] for name in names}
    return {"oneOf": [*map(reference, names)], "discriminator": {"propertyName": "type", "mapping": mapping}}


def reference(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def fields(properties: Json, *required: str) -> Json:
    return {"type": "object", "properties": properties, "required": [*required], "additionalProperties": False}


def play(changed: Json) -> Json:
    found: Json = changed["paths"]["/cards"]["post"]
    return found


def needs(*security: Json) -> Change:
    return lambda new: new["paths"]["/tables"]["post"].update(security=[*security])


def link(changed: Json) -> Json:
    found: Json = play(changed)["responses"]["201"]["links"]["open"]
    return found


def kinds(changed: Json, union: str) -> Json:
    found: Json = named(changed, union)["discriminator"]
    return found


def parameter(changed: Json) -> Json:
    found: Json = play(changed)["parameters"][0]
    return found


def header(changed: Json) -> Json:
    found: Json = changed["components"]["headers"]["ETag"]
    return found


def named(changed: Json, name: str) -> Json:
    found: Json = changed["components"]["schemas"][name]
    return found


def field(changed: Json, name: str, of: str) -> Json:
    found: Json = named(changed, of)["properties"][name]
    return found


BREAKING: dict[str, tuple[Change, str]] = {
    "a path goes": (lambda new: new["paths"].pop("/cards"), "POST /cards: removed"),
    "a method goes": (lambda new: new["paths"]["/cards"].pop("post"), "POST /cards: removed"),
    "an operation has another name": (lambda new: play(new).update(operationId="lay"), "operationId play became lay"),
    "an operation has another tag": (lambda new: play(new).update(tags=["table"]), "tags ['cards'] became ['table']"),
    "a token is needed": (lambda new: play(new).update(security=[{"bearer": []}]), "no token does no more"),
    "a further scope is needed": (
        needs({"bearer": ["host", "play"]}, {"bearer": ["play", "admin"]}),
        "POST /tables: {'bearer': ['host']} does no more",
    ),
    "another scope is needed": (needs({"bearer": ["play"]}), "{'bearer': ['host']} does no more"),
    "scopes that did do no more": (needs({"bearer": ["host"]}), "{'bearer': ['play', 'admin']} does no more"),
    "another scheme is needed": (needs({"basic": ["host"]}), "{'bearer': ['host']} does no more"),
    "a scheme is another": (
        lambda new: new["components"]["securitySchemes"]["bearer"].update(scheme="basic"),
        "securitySchemes bearer: {'type': 'http', 'scheme': 'bearer'} became",
    ),
    "a parameter goes": (lambda new: play(new).update(parameters=[]), "query limit: removed"),
    "a parameter is needed": (lambda new: parameter(new).update(required=True), "query limit: required now"),
    "a parameter takes less": (lambda new: parameter(new)["schema"].update(maximum=8), "maximum 9 is outside 8"),
    "a needed parameter comes": (
        lambda new: play(new)["parameters"].append({"name": "seat", "in": "query", "required": True, "schema": {}}),
        "query seat: a further one that is required",
    ),
    "a body's media type goes": (
        lambda new: play(new)["requestBody"].update(content={"text/plain": {"schema": {}}}),
        "body application/json: removed",
    ),
    "a body goes": (lambda new: play(new).pop("requestBody"), "body: removed"),
    "a command goes": (lambda new: named(new, "Command")["oneOf"].pop(), "Command: can't be pass any more"),
    "a value is not taken": (lambda new: field(new, "card", "Play")["enum"].pop(), "play/card: 'S3' is not taken now"),
    "a field is not taken": (lambda new: named(new, "Pass")["properties"].pop("turn"), "pass/turn: removed"),
    "a field is needed": (lambda new: named(new, "Pass").update(required=["turn"]), "pass/turn: required now"),
    "a field takes another type": (
        lambda new: field(new, "turn", "Pass").update(type="string"),
        "pass/turn: can't be integer any more",
    ),
    "a field takes a pattern": (
        lambda new: named(new, "Play")["properties"].update(card={"type": "string", "pattern": "^S"}),
        "another pattern, None is not ^S",
    ),
    "a field has another default": (
        lambda new: field(new, "turn", "Pass").update(default=1),
        "another default, None became 1",
    ),
    "a status goes": (lambda new: play(new)["responses"].pop("404"), "POST /cards 404: removed"),
    "a success of another status comes": (
        lambda new: play(new)["responses"].update({"202": {}}),
        "POST /cards 202: a further answer",
    ),
    "a header goes": (lambda new: play(new)["responses"]["201"].pop("headers"), "201 ETag: removed"),
    "a header may be absent": (lambda new: header(new).update(required=False), "201 ETag: may be absent now"),
    "an answer's field goes": (lambda new: named(new, "View")["properties"].pop("score"), "View/score: removed"),
    "an answer's field may be absent": (
        lambda new: named(new, "View").update(required=["due"]),
        "View/score: may be absent now",
    ),
    "an answer can be null": (
        lambda new: field(new, "score", "View").update(type=["integer", "null"]),
        "View/score: can be null now",
    ),
    "an answer can be larger": (
        lambda new: field(new, "score", "View").update(maximum=100),
        "View/score: maximum 100 is outside 99",
    ),
    "an answer's list can be longer": (
        lambda new: field(new, "seats", "View").update(maxItems=8),
        "View/seats: maxItems 8 is outside 5",
    ),
    "an answer's items can be longer": (
        lambda new: field(new, "seats", "View")["items"].update(maxLength=10),
        "View/seats items: maxLength 10 is outside 9",
    ),
    "an answer has a new value": (
        lambda new: field(new, "status", "View")["enum"].append("paused"),
        "View/status: 'paused' can come now",
    ),
    "an answer has any value": (
        lambda new: named(new, "View")["properties"].update(status={}),
        "View/status: 'anything' can come now",
    ),
    "a command's fields must be there": (
        lambda new: named(new, "Pass").update(minProperties=1),
        "Command pass: minProperties 0 is outside 1",
    ),
    "a body's items must differ": (
        lambda new: field(new, "bots", "Options").update(uniqueItems=True),
        "Options/bots: uniqueItems False is outside True",
    ),
    "a number must be a multiple": (
        lambda new: field(new, "turn", "Pass").update(multipleOf=3),
        "pass/turn: multipleOf None is outside 3",
    ),
    "a number must be another multiple": (
        lambda new: field(new, "bots", "Options")["items"].update(multipleOf=4),
        "Options/bots items: multipleOf 2 is outside 4",
    ),
    "a number must be above": (
        lambda new: field(new, "turn", "Pass").update(exclusiveMinimum=0),
        "pass/turn: exclusiveMinimum -inf is outside 0",
    ),
    "a number must be below": (
        lambda new: field(new, "turn", "Pass").update(exclusiveMaximum=9),
        "pass/turn: exclusiveMaximum inf is outside 9",
    ),
    "a command's tag means nothing": (
        lambda new: kinds(new, "Command")["mapping"].pop("pass"),
        "Command: pass meant Pass, which became None",
    ),
    "an event's tag means nothing": (
        lambda new: kinds(new, "Event")["mapping"].pop("passed"),
        "Event: passed meant Passed, which became None",
    ),
    "a tag means another component": (
        lambda new: kinds(new, "Event")["mapping"].update(passed=reference("Played")["$ref"]),
        "Event: passed meant Passed, which became #/components/schemas/Played",
    ),
    "something else tells commands apart": (
        lambda new: kinds(new, "Command").update(propertyName="kind"),
        "Command: told apart by type, which became kind",
    ),
    "nothing tells commands apart": (
        lambda new: named(new, "Command").pop("discriminator"),
        "Command: told apart by type, which became None",
    ),
    "a link goes": (lambda new: play(new)["responses"]["201"]["links"].pop("open"), "201 link open: removed"),
    "all links go": (lambda new: play(new)["responses"]["201"].pop("links"), "201 link open: removed"),
    "a link leads elsewhere": (
        lambda new: link(new).update(operationId="close"),
        "201 link open: operationId open became close",
    ),
    "a link gives no parameter": (
        lambda new: link(new).pop("parameters"),
        "201 link open: at $response.body#/score became None",
    ),
    "a component goes": (lambda new: new["components"]["schemas"].pop("Spare"), "schemas Spare: removed"),
    "a union has another name": (
        lambda new: (
            new["components"]["schemas"].update(Order=named(new, "Command")),
            play(new)["requestBody"]["content"]["application/json"].update(schema=reference("Order")),
        ),
        "body: Command became Order",
    ),
    "a component has another name": (
        lambda new: (
            new["components"]["schemas"].update(Sight=named(new, "View")),
            play(new)["responses"]["201"]["content"]["application/json"].update(schema=reference("Sight")),
        ),
        "can be Sight now",
    ),
}

ADDED: dict[str, Change] = {
    "nothing": lambda _: None,
    "a path": lambda new: new["paths"].update({"/seats": {"get": operation()}}),
    "a parameter": lambda new: play(new)["parameters"].append({"name": "at", "in": "query", "schema": {}}),
    "a command": lambda new: (
        new["components"]["schemas"].update(Draw=fields({"type": {"const": "draw"}})),
        named(new, "Command")["oneOf"].append(reference("Draw")),
    ),
    "a field of a body": lambda new: named(new, "Pass")["properties"].update(why={"type": "string"}),
    "a value of a body": lambda new: field(new, "card", "Play")["enum"].append("S4"),
    "a wider bound of a body": lambda new: field(new, "turn", "Pass").update(maximum=10),
    "a field of an answer": lambda new: named(new, "View")["properties"].update(places={"type": "array"}),
    "a value that comes no more": lambda new: field(new, "status", "View")["enum"].pop(),
    "a narrower bound of an answer": lambda new: field(new, "score", "View").update(maximum=98),
    "a problem": lambda new: play(new)["responses"].update({"409": {"$ref": "#/components/responses/404"}}),
    "a value of an open list": lambda new: field(new, "code", "Problem")["enum"].append("new"),
    "further scopes that will do": needs({"bearer": ["host"]}, {"bearer": ["admin"]}, {"bearer": ["bot"]}),
    "any token that will do": needs({"bearer": []}),
    "a token needed no more": needs(),
    "a scheme's description": lambda new: new["components"]["securitySchemes"]["bearer"].update(description="Yours."),
    "a component": lambda new: new["components"]["schemas"].update(Sight={}),
    "an event that comes no more": lambda new: (
        named(new, "Event")["oneOf"].pop(),
        kinds(new, "Event")["mapping"].pop("passed"),
    ),
    "a coarser multiple of a body": lambda new: field(new, "bots", "Options")["items"].update(multipleOf=1),
    "a link": lambda new: play(new)["responses"]["201"]["links"].update(again={"operationId": "play"}),
    "a parameter of a link": lambda new: link(new)["parameters"].update(limit=9),
    "a description": lambda new: play(new).update(description="Plays a card."),
}


@pytest.mark.parametrize("case", BREAKING)
def test_what_breaks_a_client_is_named_with_its_place(case: str) -> None:
    change, told = BREAKING[case]
    new = copy.deepcopy(document())
    change(new)
    found = breaks(document(), new)
    assert [one for one in found if told in one], found


@pytest.mark.parametrize("case", ADDED)
def test_what_is_added_breaks_nobody(case: str) -> None:
    new = copy.deepcopy(document())
    ADDED[case](new)
    assert breaks(document(), new) == []
