"""The document: one truth about every route, bounded everywhere, its unions told apart, equal to the committed file."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from msgspec import Struct
from openapi_spec_validator import validate

from service import games
from service.api.catalogue import ENDPOINTS as CATALOGUE
from service.api.document import document, written
from service.api.endpoint import Endpoint, Link
from service.api.examples import examples
from service.api.schemas import Schemas
from service.app import endpoints
from service.game import REASONS

ROOT = Path(__file__).parents[3]
TOY = "tests.toy.service.toy"

Schema = dict[str, Any]

GAMES = games.find(TOY)
ROUTES = endpoints(GAMES)
DOCUMENT = document(ROUTES, GAMES)
SCHEMAS: dict[str, Schema] = DOCUMENT["components"]["schemas"]

# Objects that hold JSON Schemas, or the document itself.
OPEN = {"CommandType/properties/schema", "GameDetails/properties/options", "getDocument"}


def nodes(schema: Schema, place: str) -> Iterator[tuple[str, Schema]]:
    """Yield a schema and all that it is made of, each with its place."""
    yield place, schema
    for name, part in schema.get("properties", {}).items():
        yield from nodes(part, f"{place}/properties/{name}")
    for keyword in ("items", "additionalProperties", "propertyNames"):
        if isinstance(schema.get(keyword), dict):
            yield from nodes(schema[keyword], f"{place}/{keyword}")
    for keyword in ("oneOf", "anyOf", "allOf", "prefixItems"):
        for number, part in enumerate(schema.get(keyword, ())):
            yield from nodes(part, f"{place}/{keyword}/{number}")


def everywhere() -> Iterator[tuple[str, Schema]]:
    """Yield every schema of the document with its place: components, parameters, headers, bodies, answers."""
    for name, schema in SCHEMAS.items():
        yield from nodes(schema, name)
    for name, header in DOCUMENT["components"]["headers"].items():
        yield from nodes(header["schema"], name)
    for operation in operations():
        name = operation["operationId"]
        for parameter in operation.get("parameters", ()):
            yield from nodes(parameter["schema"], f"{name}?{parameter['name']}")
        for answer in operation["responses"].values():
            for content in answer.get("content", {}).values():
                yield from nodes(content["schema"], name)


def operations() -> Iterator[Schema]:
    for path in DOCUMENT["paths"].values():
        yield from path.values()


def types(schema: Schema) -> list[str]:
    kind = schema.get("type", [])
    return [kind] if isinstance(kind, str) else list(kind)


def is_finite(pattern: str) -> bool:
    """Tell whether a pattern matches from end to end, and only texts up to some length."""
    without_sets = re.sub(r"\[[^]]*\]", "x", pattern)
    return re.fullmatch(r"\^[^*+]*\$", without_sets) is not None and re.search(r"\{\d+,\}", without_sets) is None


def is_bounded(schema: Schema) -> bool:
    """Tell whether a schema says how large, long or many everything is that it allows."""
    kinds = types(schema)
    if "enum" in schema or "const" in schema:
        return True
    if schema.get("contentMediaType") == "text/event-stream":
        return True  # It goes on for as long as it is open.
    return (
        ("integer" not in kinds or {"minimum", "maximum"} <= schema.keys())
        and ("string" not in kinds or "maxLength" in schema or is_finite(schema.get("pattern", "^.*$")))
        and ("array" not in kinds or "maxItems" in schema)
        and "number" not in kinds
    )


def unions() -> dict[str, Schema]:
    return {place: schema for place, schema in everywhere() if "oneOf" in schema}


def referred(schema: Schema) -> Schema:
    return SCHEMAS[schema["$ref"].rpartition("/")[2]]


def validator(schema: Schema) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator({**schema, "components": DOCUMENT["components"]})


# --- The whole ---


def test_the_document_is_valid_openapi_3_1() -> None:
    validate(DOCUMENT)
    assert DOCUMENT["openapi"] == "3.1.0"


def test_the_committed_document_is_what_the_routes_say_now() -> None:
    shipped = games.find()
    committed = (ROOT / "openapi" / "openapi.json").read_bytes()
    assert written(endpoints(shipped), shipped) == committed, "the contract moved; look at it, then: make openapi"


def test_every_route_is_an_operation_under_its_own_name() -> None:
    assert sorted(operation["operationId"] for operation in operations()) == sorted(route.name for route in ROUTES)
    assert len({route.name for route in ROUTES}) == len(ROUTES)


def test_a_name_given_to_two_routes_is_an_error() -> None:
    twice = (CATALOGUE[2], replace(CATALOGUE[2], path="/v1/again"))
    with pytest.raises(ValueError, match="share a name"):
        document(twice, GAMES)


def test_every_part_of_a_path_is_a_parameter_and_the_other_way_round() -> None:
    for path, methods in DOCUMENT["paths"].items():
        for operation in methods.values():
            named = {one["name"] for one in operation.get("parameters", ()) if one["in"] == "path"}
            assert named == set(re.findall(r"\{(\w+)\}", path)), path


def test_routes_that_need_a_token_say_so_and_answer_401() -> None:
    for route, operation in zip(ROUTES, operations(), strict=True):
        ways = [way for alternative in operation["security"] for way in alternative.items()]
        needed = [set(roles) for scheme, roles in ways if scheme == "bearer"]
        assert [roles for scheme, roles in ways if scheme == "ticket"] == [[]] * route.ticketed
        stated = [*route.scope, *(enough for scopes in route.scope_of.values() for enough in scopes if route.scope)]
        assert needed == ([set(enough) for enough in stated] or [set()] if route.token else []), route.name
        assert not stated or all(f"`{scope}`" in operation["description"] for enough in stated for scope in enough)
        assert ("401" in operation["responses"]) is route.token, route.name


def test_every_tag_is_described() -> None:
    described = {tag["name"] for tag in DOCUMENT["tags"]}
    assert {tag for operation in operations() for tag in operation["tags"]} == described


# --- Components ---


def test_every_component_is_referred_to_and_every_reference_leads_to_one() -> None:
    text = json.dumps(DOCUMENT)
    used = set(re.findall(r'"#/components/(\w+/[\w.-]+)"', text))
    there = {f"{kind}/{name}" for kind, parts in DOCUMENT["components"].items() for name in parts}
    assert used <= there
    assert {name for name in there if name.startswith(("schemas/", "responses/"))} <= used


def test_components_are_named_by_whose_they_are() -> None:
    assert {"chinkway.Play", "chinkway.Played", "chinkway.View", "chinkway.Options", "table.Resign"} <= SCHEMAS.keys()
    assert {"chinkway.NewTable", "chinkway.Done", "chinkway.Decisions", "chinkway.Decision"} <= SCHEMAS.keys()
    assert {"chinkway.Actions", "chinkway.Event", "chinkway.Command", "table.SeatTaken", "Player"} <= SCHEMAS.keys()


def test_a_game_of_any_other_place_has_its_own_components() -> None:
    shipped = games.find()
    others = document(endpoints(shipped), shipped)["components"]["schemas"]
    added = SCHEMAS.keys() - others.keys()
    assert {"toy.View", "toy.Options", "toy.Command", "toy.Event", "toy.Done", "toy.TableProblem"} <= added
    assert [name for name in added if not name.startswith("toy.")] == []
    assert {name: SCHEMAS[name] for name in others} == others


def test_two_types_of_one_name_are_an_error() -> None:
    class Player(Struct):
        """Somebody else."""

    schemas = Schemas(GAMES)
    for route in ROUTES:
        for kind in route.answers.values():
            if kind is not None:
                schemas.answer(kind)
    with pytest.raises(ValueError, match="called Player"):
        schemas.answer(Player)


def test_everything_with_a_name_is_described() -> None:
    named = {**SCHEMAS, **DOCUMENT["components"]["headers"], **DOCUMENT["components"]["responses"]}
    assert [name for name, part in named.items() if not part.get("description")] == []
    for operation in operations():
        named = {parameter["name"]: parameter for parameter in operation.get("parameters", ())}
        assert operation["summary"].endswith("."), operation["operationId"]
        assert [name for name, part in named.items() if not part["description"].endswith(".")] == []
        assert [
            status for status, part in operation["responses"].items() if "$ref" not in part and not part["description"]
        ] == []


# --- Unions ---


def test_a_union_is_exclusive_and_its_structs_are_told_apart_by_their_type() -> None:
    assert {"chinkway.Command", "chinkway.Event", "toy.Command"} <= unions().keys()
    for place, union in unions().items():
        structs = [part for part in union["oneOf"] if part.get("$ref") and "properties" in referred(part)]
        # Of what a stream's lines hold, decisions alone have no type: they are as they are in a page. The lines of a
        # record are told apart by what they must have, and so are the messages to a socket.
        known = {"By", "SocketMessage"}
        if len(structs) < 2 or place in known or place.endswith("Record") or structs[1]["$ref"].endswith("/Word"):
            continue
        assert len(structs) == len(union["oneOf"]), place
        mapping = union["discriminator"]["mapping"]
        assert union["discriminator"]["propertyName"] == "type"
        assert set(mapping.values()) == {part["$ref"] for part in structs}, place
        for tag, reference in mapping.items():
            struct = referred({"$ref": reference})
            assert struct["properties"]["type"] == {"type": "string", "const": tag}
            assert "type" in struct["required"]


def test_a_message_to_a_socket_is_one_of_three() -> None:
    message = validator(SCHEMAS["SocketMessage"])
    watch, command = {"table": "0" * 26}, {"id": "c", "path": "/v1"}
    for right in ({"watch": {**watch, "after": 4}}, {"watch": watch}, {"unwatch": watch}, {"command": command}):
        assert message.is_valid(right), right
    assert not message.is_valid({"watch": watch, "unwatch": watch})
    for name, part in (("look", watch), ("watch", {}), ("command", {"id": "c"})):
        assert not message.is_valid({name: part}), name


def test_no_union_is_anything_but_one_of() -> None:
    assert [place for place, schema in everywhere() if "anyOf" in schema or "allOf" in schema] == []


def test_whoever_asked_is_a_seat_or_a_role_or_the_service() -> None:
    by = validator(SCHEMAS["By"])
    player = "0" * 26
    for right in ({"seat": 2, "player": player}, {"role": "host", "player": player}, {"service": "clock"}):
        assert by.is_valid(right), right
    for wrong in ({}, {"seat": 2}, {"service": "clock", "player": player}, {"seat": 2, "role": None, "player": player}):
        assert not by.is_valid(wrong), wrong


# --- Bounds ---


def test_everything_that_has_a_size_has_bounds() -> None:
    assert [place for place, schema in everywhere() if not is_bounded(schema)] == []


def test_a_pattern_means_the_same_to_every_dialect() -> None:
    r"""`\s`, `\w` and the like are wider or narrower in Python, JavaScript and Rust: a client would check otherwise."""
    patterns = {schema["pattern"] for _, schema in everywhere() if "pattern" in schema}
    assert patterns
    assert [pattern for pattern in patterns if re.search(r"\\[sSwWdDbB]|\(\?", pattern)] == []


def test_no_object_takes_a_field_that_is_not_described() -> None:
    loose = {
        place
        for place, schema in everywhere()
        if "object" in types(schema) and schema["additionalProperties"] is not False
    }
    mapped = {place for place, schema in everywhere() if "propertyNames" in schema}
    assert loose - mapped == OPEN | {place for place in loose if re.fullmatch(r"\w+\.Open/properties/schema", place)}
    for place, schema in everywhere():
        if place in mapped:
            assert "maxProperties" in schema, place


def test_null_is_one_more_type_or_one_more_option_and_never_a_value() -> None:
    nullable = [schema for _, schema in everywhere() if {"type": "null"} in schema.get("oneOf", ())]
    assert nullable
    for schema in nullable:
        (other,) = (part for part in schema["oneOf"] if part != {"type": "null"})
        assert "$ref" in other or "enum" in other, schema
    assert [place for place, schema in everywhere() if None in schema.get("enum", ())] == []


def test_what_is_left_out_of_an_answer_is_not_null() -> None:
    done = SCHEMAS["chinkway.Done"]
    assert "view" not in done["required"]
    assert done["properties"]["view"] == {"$ref": "#/components/schemas/chinkway.View"}


def test_a_body_may_leave_out_what_an_answer_states() -> None:
    assert set(SCHEMAS["chinkway.Options"]["required"]) == SCHEMAS["chinkway.Options"]["properties"].keys()
    assert SCHEMAS["chinkway.ChosenOptions"]["required"] == []
    assert SCHEMAS["chinkway.ChosenOptions"]["properties"]["deals"]["default"] == 10


def test_every_example_is_one_of_what_it_is_an_example_of() -> None:
    for place, schema in everywhere():
        for example in schema.get("examples", ()):
            assert validator(schema).is_valid(example), (place, example)
    for operation in operations():
        for parameter in operation.get("parameters", ()):
            if "example" in parameter:
                assert validator(parameter["schema"]).is_valid(parameter["example"]), (
                    operation["operationId"],
                    parameter,
                )


# --- Links ---


def links() -> Iterator[tuple[Schema, str, Schema]]:
    """Yield every link with the operation it leads from, and its name."""
    for operation in operations():
        for answer in operation["responses"].values():
            for name, link in answer.get("links", {}).items():
                yield operation, name, link


def test_a_link_gives_its_target_all_that_this_must_have() -> None:
    targets = {operation["operationId"]: operation for operation in operations()}
    for source, name, link in links():
        parameters = {parameter["name"]: parameter for parameter in targets[name].get("parameters", ())}
        must = {name for name, parameter in parameters.items() if parameter["required"]}
        assert must <= link["parameters"].keys() <= parameters.keys(), (source["operationId"], name)


def test_no_two_components_have_one_name_where_generators_leave_out_the_dots() -> None:
    plain = [re.sub(r"\W", "", name).lower() for name in SCHEMAS]
    assert {name for name in plain if plain.count(name) > 1} == set()


def test_the_name_of_an_operation_can_be_that_of_a_function_in_any_language() -> None:
    assert [route.name for route in ROUTES if not re.fullmatch("[a-z][A-Za-z0-9]*", route.name)] == []


def test_whoever_opens_a_table_is_led_to_all_that_is_done_there() -> None:
    for game in GAMES:
        kind = game.name.title()
        led = {name for source, name, _ in links() if source["operationId"] == f"open{kind}Table"}
        assert led >= {f"get{kind}Table", f"take{kind}Seat", f"get{kind}Actions", f"post{kind}Command"}


def test_a_link_that_leads_nowhere_is_an_error() -> None:
    lost = replace(CATALOGUE[0], links=(Link("nowhere", {}),))
    with pytest.raises(ValueError, match="leads to nowhere"):
        document((lost,), GAMES)


# --- Bodies ---


@pytest.mark.parametrize("route", [route for route in ROUTES if route.body], ids=lambda route: route.name)
def test_every_example_fits_its_body(route: Endpoint) -> None:
    content = DOCUMENT["paths"][route.path][route.method.lower()]["requestBody"]["content"]["application/json"]
    shown = [example["value"] for example in content["examples"].values()]
    assert shown
    assert shown == examples(route)
    for body in shown:
        validator(content["schema"]).validate(body)


def test_every_type_of_command_has_an_example() -> None:
    for game in GAMES:
        body = next(route for route in ROUTES if route.path == f"/v1/{game.name}/tables/{{table}}/commands")
        shown = {example["type"] for example in examples(body)}
        assert shown == SCHEMAS[f"{game.name}.Command"]["discriminator"]["mapping"].keys()


# --- Answers ---


def test_every_error_is_a_problem_with_a_closed_list_of_codes() -> None:
    for route, operation in zip(ROUTES, operations(), strict=True):
        for status in route.errors:
            assert operation["responses"][str(status)]["$ref"], route.name
    for answer in DOCUMENT["components"]["responses"].values():
        (content,) = answer["content"].values()
        assert answer["content"].keys() == {"application/problem+json"}
        assert referred(content["schema"])["properties"]["code"]["enum"]


def test_a_problem_at_a_table_names_its_reasons_commands_and_events() -> None:
    problem = SCHEMAS["chinkway.TableProblem"]["properties"]
    reasons = set(problem["reason"]["enum"])
    chinkway = GAMES.named("chinkway")
    assert chinkway is not None
    assert reasons == {*REASONS, *chinkway.reasons}
    assert reasons < set(problem["code"]["enum"])
    assert problem["legal"]["items"] == {"$ref": "#/components/schemas/chinkway.LegalCommand"}
    assert problem["missed"]["items"] == {"$ref": "#/components/schemas/chinkway.Decision"}
    assert not reasons & set(SCHEMAS["Problem"]["properties"]["code"]["enum"])


def test_429_and_503_say_when_to_try_again_and_a_401_what_is_wanted() -> None:
    answers = DOCUMENT["components"]["responses"]
    assert {name for name, answer in answers.items() if "Retry-After" in answer.get("headers", {})} == {
        name for name in answers if name.endswith(("429", "503"))
    }
    assert answers["401"]["headers"].keys() == {"WWW-Authenticate", "X-Request-Id"}


def test_304_has_a_tag_and_no_body() -> None:
    answer = DOCUMENT["paths"]["/v1/chinkway/tables/{table}"]["get"]["responses"]["304"]
    assert "content" not in answer
    assert answer["headers"].keys() == {"ETag", "X-Request-Id"}


def test_decisions_come_as_a_page_or_one_a_line() -> None:
    content = DOCUMENT["paths"]["/v1/chinkway/tables/{table}/events"]["get"]["responses"]["200"]["content"]
    assert content["application/json"]["schema"] == {"$ref": "#/components/schemas/chinkway.Decisions"}
    assert content["application/x-ndjson"]["schema"]["oneOf"] == [
        {"$ref": "#/components/schemas/chinkway.Decision"},
        {"$ref": "#/components/schemas/Word"},
        {"$ref": "#/components/schemas/CheckpointLine"},
    ]
    assert content["text/event-stream"]["schema"]["contentMediaType"] == "text/event-stream"
    assert "line" in content["application/x-ndjson"]["schema"]["description"]


def test_every_status_is_one_that_http_knows() -> None:
    for operation in operations():
        assert all(HTTPStatus(int(status)) for status in operation["responses"])
