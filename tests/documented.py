"""The document as a judge: whether an answer is one that the document says its route can give.

Every answer that a test gets through httpx is judged (`judging`, tests/conftest.py): by the document of the games
that the server was started with, those that ship where nothing is known of it.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import httpx
import jsonschema_rs
import msgspec
import pytest

from service import games
from service.api.document import document
from service.api.problems import MEDIA_TYPE
from service.app import endpoints
from service.web import HEADERS as PAGE_HEADERS

Schema = dict[str, Any]

# What an answer may carry without a word in the document: HTTP's own, and what browsers, caches and proxies go by.
PLAIN = frozenset(
    [
        "Content-Type",
        "Content-Length",
        "Transfer-Encoding",
        "Connection",
        "Date",
        "Cache-Control",
        "Vary",
        "X-Accel-Buffering",
        "Traceparent",
        "Tracestate",
        "X-Accel-Buffering",
        "Access-Control-Allow-Headers",
        "Access-Control-Allow-Methods",
        "Access-Control-Allow-Origin",
        "Access-Control-Expose-Headers",
        "Access-Control-Max-Age",
        *PAGE_HEADERS,
    ]
)

_games_of: dict[str, tuple[str, ...]] = {}


@cache
def documented(*modules: str) -> "Documented":
    """Return the judge by the document of the games that ship and of these modules."""
    known = games.find(*modules)
    return Documented(msgspec.json.decode(msgspec.json.encode(document(endpoints(known), known))))


@contextmanager
def serving_games(url: str, *modules: str) -> Iterator[None]:
    """Judge the answers of a server by the document of its games."""
    _games_of[url] = modules
    yield
    _games_of.pop(url, None)


@contextmanager
def judging() -> Iterator[None]:
    """Judge every answer that a client of httpx gets; of one that is streamed only what comes before its body."""
    send, send_async = httpx.Client.send, httpx.AsyncClient.send

    def judged(client: httpx.Client, request: httpx.Request, *, stream: bool = False, **rest: Any) -> httpx.Response:  # noqa: ANN401 as httpx passes them
        response = send(client, request, stream=stream, **rest)
        _judge_of(response).check(response, whole=not stream)
        return response

    async def judged_async(
        client: httpx.AsyncClient,
        request: httpx.Request,
        *,
        stream: bool = False,
        **rest: Any,  # noqa: ANN401 as httpx passes them
    ) -> httpx.Response:
        response = await send_async(client, request, stream=stream, **rest)
        _judge_of(response).check(response, whole=not stream)
        return response

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpx.Client, "send", judged)
        patch.setattr(httpx.AsyncClient, "send", judged_async)
        yield


def _judge_of(response: httpx.Response) -> "Documented":
    url = response.request.url
    return documented(*_games_of.get(f"{url.scheme}://{url.netloc.decode()}", ()))


class Documented:
    """Judges answers by a document."""

    def __init__(self, document: Schema) -> None:
        """Judge by this document."""
        self._document = document
        self._paths = {re.compile(re.sub(r"\{\w+\}", "[^/]+", path)): path for path in document["paths"]}
        self._validators: dict[int, jsonschema_rs.Draft202012Validator] = {}
        self.seen: set[tuple[str, int]] = set()

    def check(self, response: httpx.Response, *, whole: bool = True) -> None:
        """Fail where a status, a header, a media type or, of a whole answer, its body is not in the document."""
        operation = self._operation(response.request)
        if operation is None:
            self._check_no_operation(response, whole=whole)
            return
        name, stated = operation["operationId"], operation["responses"]
        assert str(response.status_code) in stated, (name, response.status_code, response.text if whole else "")
        self.seen.add((name, response.status_code))
        answer = self._referred(stated[str(response.status_code)])
        self._check_headers(name, answer.get("headers", {}), response)
        if whole and response.request.method != "HEAD":
            response.read()
            self._check_body(name, answer, response)

    def _operation(self, request: httpx.Request) -> Schema | None:
        """Return what a request asks for, None where no path or no method of it is described; HEAD asks for GET's."""
        written = request.url.raw_path.partition(b"?")[0].decode()
        found = [path for pattern, path in self._paths.items() if pattern.fullmatch(written)]
        if not found:
            return None
        path = min(found, key=lambda path: path.count("{"))
        method = "get" if request.method == "HEAD" else request.method.lower()
        operation: Schema | None = self._document["paths"][path].get(method)
        return operation

    def _check_no_operation(self, response: httpx.Response, *, whole: bool) -> None:
        if response.request.method == "OPTIONS" and response.status_code == 204:
            preflight = "Access-Control-Allow-Methods" in response.headers
            assert "OPTIONS" in response.headers["Access-Control-Allow-Methods" if preflight else "Allow"]
            return
        assert response.status_code in {404, 405}, (response.request, response.status_code)
        assert ("Allow" in response.headers) is (response.status_code == 405), response.headers
        problem = self._document["components"]["schemas"]["Problem"]
        if whole:
            self._check_body("", {"content": {MEDIA_TYPE: {"schema": problem}}}, response)

    def _check_headers(self, name: str, stated: Schema, response: httpx.Response) -> None:
        described = {header: self._referred(reference) for header, reference in stated.items()}
        for header, schema in described.items():
            value = response.headers.get(header)
            assert value is not None or not schema["required"], (name, response.status_code, header)
            if value is not None:
                whole = schema["schema"].get("type") == "integer"
                self._validate(schema["schema"], int(value) if whole else value, (name, header))
        plain = {header.lower() for header in (*PLAIN, *described)}
        assert response.headers.keys() <= plain, (name, response.status_code, set(response.headers) - plain)

    def _check_body(self, name: str, answer: Schema, response: httpx.Response) -> None:
        if "content" not in answer:
            assert response.content == b"", (name, response.text)
            return
        media = response.headers["Content-Type"].partition(";")[0]
        assert media in answer["content"], (name, response.status_code, media)
        schema = answer["content"][media]["schema"]
        for body in _bodies(media, response):
            self._validate(schema, body, (name, response.status_code))

    def _validate(self, schema: Schema, value: object, place: object) -> None:
        # By identity: schemas of one document, which this judge keeps alive.
        if id(schema) not in self._validators:
            whole = {**schema, "components": self._document["components"]}
            self._validators[id(schema)] = jsonschema_rs.Draft202012Validator(whole)
        for error in self._validators[id(schema)].iter_errors(value):
            raise AssertionError(place, list(error.instance_path), error.message)

    def _referred(self, schema: Schema) -> Schema:
        if "$ref" not in schema:
            return schema
        _, _, kind, name = schema["$ref"].split("/")
        component: Schema = self._document["components"][kind][name]
        return component


def _bodies(media: str, response: httpx.Response) -> Iterator[object]:
    if media == "application/x-ndjson":
        yield from (json.loads(line) for line in response.text.splitlines() if line)
    else:
        yield response.json() if media.endswith("json") else response.text
