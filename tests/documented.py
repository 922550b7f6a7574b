"""The document as a judge: whether an answer is one that the document says its route can give."""

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import jsonschema

Schema = dict[str, Any]


class Documented:
    """Judges answers by a document; hang `check` on a client's answers."""

    def __init__(self, document: Schema) -> None:
        """Judge by this document."""
        self._document = document
        self._paths = {re.compile(re.sub(r"\{\w+\}", "[^/]+", path)): path for path in document["paths"]}
        self.seen: set[tuple[str, int]] = set()

    def check(self, response: httpx.Response) -> None:
        """Fail where a status, a header, a media type or a body is not in the document."""
        response.read()
        operation = self._operation(response.request)
        stated = operation["responses"]
        assert str(response.status_code) in stated, (operation["operationId"], response.status_code, response.text)
        self.seen.add((operation["operationId"], response.status_code))
        answer = self._referred(stated[str(response.status_code)])
        for name, stated_header in answer.get("headers", {}).items():
            header = self._referred(stated_header)
            assert name in response.headers or not header["required"], (operation["operationId"], name)
        for schema, body in self._bodies(answer, response):
            validator = jsonschema.Draft202012Validator({**schema, "components": self._document["components"]})
            validator.validate(body)

    def _operation(self, request: httpx.Request) -> Schema:
        found = [path for pattern, path in self._paths.items() if pattern.fullmatch(request.url.path)]
        path = min(found, key=lambda path: path.count("{"))
        operation: Schema = self._document["paths"][path][request.method.lower()]
        return operation

    def _bodies(self, answer: Schema, response: httpx.Response) -> Iterator[tuple[Schema, object]]:
        if "content" not in answer:
            assert response.content == b""
            return
        media = response.headers["Content-Type"].partition(";")[0]
        schema = answer["content"][media]["schema"]
        if media.endswith("json") and media != "application/x-ndjson":
            yield schema, response.json()
        elif media == "application/x-ndjson":
            yield from ((schema, json.loads(line)) for line in response.text.splitlines())
        else:
            yield schema, response.text

    def _referred(self, schema: Schema) -> Schema:
        if "$ref" not in schema:
            return schema
        _, _, kind, name = schema["$ref"].split("/")
        component: Schema = self._document["components"][kind][name]
        return component
