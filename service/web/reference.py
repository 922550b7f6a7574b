"""The API reference: the OpenAPI document as one page to read and to search in, made on the server.

The viewers that are commonly used need scripts, styles in attributes and half a megabyte of somebody else's code; this
page needs a browser, or none: it reads well as text and on paper.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

from service.web import rendered, shown

Schema = Mapping[str, Any]

REF = "#/components/"


def reference(document: Schema, links: Mapping[str, str]) -> str:
    """Return the page of a document; `links` lead to further pages, by what they are about."""
    info = document["info"]
    intro = f"<h1>{escape(info['title'])} <span class=note>{escape(info['version'])}</span></h1>"
    listed = "".join(f'<li><a href="{escape(where)}">{escape(what)}</a></li>' for what, where in links.items())
    parts = [
        intro,
        rendered(info["description"]),
        f"<h2>More to read</h2><ul>{listed}</ul>",
        *_tokens(document["components"]["securitySchemes"]),
        *(_area(document, tag) for tag in document["tags"]),
        "<h2 id=schemas>Schemas</h2>",
        *(_component(name, schema) for name, schema in document["components"]["schemas"].items()),
    ]
    return shown("API", f"<div class=reference>{_contents(document)}<main>{''.join(parts)}</main></div>")


def _tokens(schemes: Schema) -> Iterator[str]:
    for title, scheme in zip(("Tokens", "Tickets"), schemes.values(), strict=True):
        yield f"<h2>{title}</h2>{rendered(scheme['description'])}"


def _contents(document: Schema) -> str:
    def areas() -> Iterator[str]:
        for tag in document["tags"]:
            yield f"<h2>{escape(tag['name'])}</h2><ul>"
            for path, verb, operation in _operations(document, tag):
                yield f'<li title="{escape(path)}">{_verb(verb)} <a href="#{operation["operationId"]}">'
                yield f"{escape(operation['operationId'])}</a></li>"
            yield "</ul>"
        yield "<h2>Schemas</h2><ul>"
        for name in document["components"]["schemas"]:
            yield f'<li><a href="#{name}">{name}</a></li>'
        yield "</ul>"

    return f"<nav><strong>{escape(document['info']['title'])}</strong>{''.join(areas())}</nav>"


def _operations(document: Schema, tag: Schema) -> Iterator[tuple[str, str, Schema]]:
    for path, verbs in document["paths"].items():
        for verb, operation in verbs.items():
            if tag["name"] in operation["tags"]:
                yield path, verb, operation


def _area(document: Schema, tag: Schema) -> str:
    sections = (_operation(document, *operation) for operation in _operations(document, tag))
    return f"<h2>{escape(tag['description'].rstrip('.'))}</h2>{''.join(sections)}"


def _operation(document: Schema, path: str, verb: str, operation: Schema) -> str:
    name = operation["operationId"]
    access = _access({scheme for either in operation["security"] for scheme in either})
    return "".join(
        [
            f'<section id="{name}"><h3>{_verb(verb)} <code>{escape(path)}</code></h3>',
            f"<p>{_prose(operation['summary'])} <span class=note>{access} <code>{name}</code></span></p>",
            rendered(operation.get("description", "")),
            _parameters(operation.get("parameters", ())),
            _body(operation.get("requestBody")),
            _answers(document, operation["responses"]),
            "</section>",
        ]
    )


def _access(schemes: set[str]) -> str:
    if "ticket" in schemes:
        return "Needs a bearer token, or a ticket."
    return "Needs a bearer token." if schemes else "Needs no token."


def _parameters(parameters: Iterable[Schema]) -> str:
    rows = [
        [
            f"<code>{escape(one['name'])}</code>{'' if one['required'] else _note('optional')}",
            one["in"],
            _type(one["schema"]),
            _prose(one["description"]),
        ]
        for one in parameters
    ]
    return _table("Parameters", ["Name", "In", "Type", ""], rows)


def _body(body: Schema | None) -> str:
    if body is None:
        return ""
    ((media, content),) = body["content"].items()
    examples = "\n".join(json.dumps(example["value"], ensure_ascii=False) for example in content["examples"].values())
    return (
        f"<h4>Body</h4><p>{_type(content['schema'])} {_note(media)}</p>"
        f"<details open><summary>Examples</summary><pre><code>{escape(examples)}</code></pre></details>"
    )


def _answers(document: Schema, answers: Mapping[str, Schema]) -> str:
    rows = []
    for status, stated in answers.items():
        answer = _referred(document, stated)
        content = [f"{_type(held['schema'])} {_note(media)}" for media, held in answer.get("content", {}).items()]
        headers = ", ".join(f"<code>{escape(name)}</code>" for name in answer.get("headers", {}))
        rows.append([f"<code>{status}</code>", _prose(answer["description"]), "<br>".join(content), headers])
    return _table("Answers", ["Status", "", "Body", "Headers"], rows)


def _component(name: str, schema: Schema) -> str:
    return "".join(
        [
            f'<section id="{name}"><h3><code>{name}</code></h3>',
            rendered(schema.get("description", "")),
            _fields(schema) if "properties" in schema else f"<p>{_type(schema)}</p>",
            "</section>",
        ]
    )


def _fields(schema: Schema) -> str:
    rows = [
        [
            f"<code>{escape(name)}</code>{'' if name in schema['required'] else _note('optional')}",
            _type(field),
            _prose(field.get("description", "")),
        ]
        for name, field in schema["properties"].items()
    ]
    return _table("", ["Field", "Type", ""], rows)


def _type(schema: Schema) -> str:
    """Return in a few words what a schema allows."""
    match schema:
        case {"$ref": str(reference)}:
            name = reference.rpartition("/")[2]
            return f'<a href="#{name}"><code>{name}</code></a>'
        case {"const": value}:
            return f"<code>{escape(json.dumps(value))}</code>"
        case {"oneOf": options}:
            return " or ".join(map(_type, options))
        case {"enum": values}:
            return " ".join(f"<code>{escape(json.dumps(value))}</code>" for value in values)
        case {"prefixItems": items}:
            return f"[{', '.join(map(_type, items))}]"
        case {"items": dict(items)}:
            return f"{_named(schema)}{_note(_bounds(schema))} of {_type(items)}"
        case {"additionalProperties": dict(values)}:
            return f"object{_note(_bounds(schema))} of {_type(values)}"
        case _:
            return _named(schema) + _note(_bounds(schema))


def _named(schema: Schema) -> str:
    kind = schema.get("type", "anything")
    return escape(kind if isinstance(kind, str) else " or ".join(kind))


def _bounds(schema: Schema) -> str:
    """Return the bounds of a schema: `0…7`, `at most 8`, a pattern."""
    for least, most in (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems")):
        if most in schema and "pattern" not in schema:
            low, high = schema.get(least), schema[most]
            return f"at most {high:,}" if low is None else f"{low:,}" if low == high else f"{low:,} … {high:,}"
    return str(schema.get("pattern", ""))


def _table(caption: str, heads: list[str], rows: list[list[str]]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{name}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    title = f"<h4>{caption}</h4>" if caption else ""
    return f"{title}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _verb(verb: str) -> str:
    return f'<span class="verb {verb}">{verb.upper()}</span>'


def _note(text: str) -> str:
    return f" <span class=note>{escape(text)}</span>" if text else ""


def _prose(markdown: str) -> str:
    """Return a line of Markdown as HTML, without the paragraph around it."""
    return rendered(markdown).strip().removeprefix("<p>").removesuffix("</p>")


def _referred(document: Schema, schema: Schema) -> Schema:
    """Return a part of the document, or the component that it refers to."""
    if "$ref" not in schema:
        return schema
    kind, _, name = schema["$ref"].removeprefix(REF).partition("/")
    component: Schema = document["components"][kind][name]
    return component
