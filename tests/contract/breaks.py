"""What a newer document breaks for clients of an older one, as sentences that name the place.

What a client sends must still be taken: operations, parameters, fields and values may be added, none removed or
narrowed, nothing optional may become necessary, and every token that would do must do. What it is answered must still
be understood: fields may be added, but none may vanish or become optional, and no value may come that could not come
before, save where a list is declared open (`x-open`). Links lead where they led. Names of operations, tags and
components are names in generated clients; they stay, and so does what tells the kinds of a union apart.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

Schema = Mapping[str, Any]

# Of a bound, whether a larger value allows more, and what stands for its absence.
BOUNDS = {
    "minimum": (False, -math.inf),
    "minLength": (False, 0),
    "minItems": (False, 0),
    "minProperties": (False, 0),
    "exclusiveMinimum": (False, -math.inf),
    "uniqueItems": (False, False),
    "maximum": (True, math.inf),
    "exclusiveMaximum": (True, math.inf),
    "maxLength": (True, math.inf),
    "maxItems": (True, math.inf),
    "maxProperties": (True, math.inf),
}


def breaks(old: Schema, new: Schema) -> list[str]:
    """Return what clients of the old document would trip over in the new one."""
    return sorted(set(_Comparison(old, new).all()))


class _Side(NamedTuple):
    """A schema of one of the documents."""

    document: Schema
    schema: Schema

    def at(self, schema: Schema) -> "_Side":
        return _Side(self.document, schema)

    def resolved(self) -> "_Side":
        reference = self.schema.get("$ref")
        return self if reference is None else self.at(_referred(self.document, reference)).resolved()

    def alternatives(self) -> dict[str, "_Side"]:
        """Return what a value can be, by a component's name, a tag, or a type."""
        whole = self.resolved()
        if "oneOf" in whole.schema:
            parts = [self.at(part).alternatives() for part in whole.schema["oneOf"]]
            return {name: part for found in parts for name, part in found.items()}
        tag = whole.schema.get("properties", {}).get("type", {}).get("const")
        if tag is not None or "$ref" in self.schema:
            return {tag or _name(self.schema["$ref"]): whole}
        kinds = whole.schema.get("type", "anything")
        return dict.fromkeys([kinds] if isinstance(kinds, str) else kinds, whole)

    def is_open(self) -> bool:
        return bool(self.resolved().schema.get("x-open"))

    def values(self) -> list[object] | None:
        """Return the only values there are, None where they aren't listed."""
        listed = [self.schema["const"]] if "const" in self.schema else self.schema.get("enum")
        return None if listed is None else list(listed)


class _Comparison:
    def __init__(self, old: Schema, new: Schema) -> None:
        self._old, self._new = old, new
        self._compared: set[tuple[str, str, bool]] = set()

    def all(self) -> Iterator[str]:
        for path, methods in self._old["paths"].items():
            for method, old in methods.items():
                new = self._new["paths"].get(path, {}).get(method)
                if new is None:
                    yield f"{method.upper()} {path}: removed"
                else:
                    yield from self._operation(f"{method.upper()} {path}", old, new)
        yield from self._components()

    def _components(self) -> Iterator[str]:
        after = self._new["components"]
        for kind, components in self._old["components"].items():
            yield from (f"{kind} {name}: removed" for name in components.keys() - after.get(kind, {}).keys())
        schemes = after.get("securitySchemes", {})
        for name, scheme in self._old["components"].get("securitySchemes", {}).items():
            if name in schemes and _undescribed(scheme) != _undescribed(schemes[name]):
                yield f"securitySchemes {name}: {_undescribed(scheme)} became {_undescribed(schemes[name])}"

    def _operation(self, place: str, old: Schema, new: Schema) -> Iterator[str]:
        for name in ("operationId", "tags"):
            if old.get(name) != new.get(name):
                yield f"{place}: {name} {old.get(name)} became {new.get(name)}"
        enough = _securities(self._new, new)
        for held in _securities(self._old, old):
            if not any(_suffices(held, needed) for needed in enough):
                yield f"{place}: {held or 'no token'} does no more, it needs {enough} now"
        yield from self._parameters(place, old, new)
        yield from self._bodies(f"{place} body", old.get("requestBody"), new.get("requestBody"))
        for status, answer in old["responses"].items():
            told = new["responses"].get(status)
            if told is None:
                yield f"{place} {status}: removed"
            else:
                yield from self._answer(f"{place} {status}", _of(self._old, answer), _of(self._new, told))
        for status in new["responses"].keys() - old["responses"].keys():
            if status < "400":
                yield f"{place} {status}: a further answer"

    def _parameters(self, place: str, old: Schema, new: Schema) -> Iterator[str]:
        before, after = ({(one["in"], one["name"]): one for one in side.get("parameters", ())} for side in (old, new))
        for (where, name), one in before.items():
            told = after.get((where, name))
            if told is None:
                yield f"{place} {where} {name}: removed"
                continue
            if told.get("required") and not one.get("required"):
                yield f"{place} {where} {name}: required now"
            yield from self._taken(f"{place} {where} {name}", one["schema"], told["schema"])
        for (where, name), one in after.items():
            if (where, name) not in before and one.get("required"):
                yield f"{place} {where} {name}: a further one that is required"

    def _bodies(self, place: str, old: Schema | None, new: Schema | None) -> Iterator[str]:
        if old is None or new is None:
            if old is not None:
                yield f"{place}: removed"
            if new is not None and new.get("required"):
                yield f"{place}: required now"
            return
        if new.get("required") and not old.get("required"):
            yield f"{place}: required now"
        for media, content in old["content"].items():
            if media not in new["content"]:
                yield f"{place} {media}: removed"
            else:
                yield from self._taken(place, content["schema"], new["content"][media]["schema"])

    def _answer(self, place: str, old: Schema, new: Schema) -> Iterator[str]:
        for name, header in old.get("headers", {}).items():
            if name not in new.get("headers", {}):
                yield f"{place} {name}: removed"
                continue
            before, after = _of(self._old, header), _of(self._new, new["headers"][name])
            if before.get("required") and not after.get("required"):
                yield f"{place} {name}: may be absent now"
            yield from self._given(f"{place} {name}", before["schema"], after["schema"])
        for media, content in old.get("content", {}).items():
            if media not in new.get("content", {}):
                yield f"{place} {media}: removed"
            else:
                yield from self._given(place, content["schema"], new["content"][media]["schema"])
        for name, link in old.get("links", {}).items():
            yield from _link(f"{place} link {name}", link, new.get("links", {}).get(name))

    def _taken(self, place: str, old: Schema, new: Schema) -> Iterator[str]:
        """Compare what a client sends: all that it could send must still be taken."""
        return self._schemas(place, _Side(self._old, old), _Side(self._new, new), answer=False)

    def _given(self, place: str, old: Schema, new: Schema) -> Iterator[str]:
        """Compare what a client is answered: nothing may come that could not come before."""
        return self._schemas(place, _Side(self._old, old), _Side(self._new, new), answer=True)

    def _schemas(self, place: str, old: _Side, new: _Side, *, answer: bool) -> Iterator[str]:
        names = (old.schema.get("$ref", ""), new.schema.get("$ref", ""))
        if all(names):
            if (*names, answer) in self._compared:
                return
            self._compared.add((*names, answer))
            if names[0] != names[1]:
                yield f"{place}: {_name(names[0])} became {_name(names[1])}"
            place = _name(names[0])
        yield from _discriminator(place, old.resolved().schema, new.resolved().schema, answer=answer)
        before, after = old.alternatives(), new.alternatives()
        if answer and not old.is_open():
            yield from (f"{place}: can be {name} now" for name in after.keys() - before.keys())
        if not answer:
            yield from (f"{place}: can't be {name} any more" for name in before.keys() - after.keys())
        for name in before.keys() & after.keys():
            where = f"{place} {name}" if len(before) > 1 else place
            yield from self._alternative(where, before[name], after[name], answer=answer)

    def _alternative(self, place: str, old: _Side, new: _Side, *, answer: bool) -> Iterator[str]:
        inner, outer = (new, old) if answer else (old, new)
        listed, allowed = inner.values(), outer.values()
        if allowed is not None and not (answer and old.is_open()):
            more = [value for value in listed or ["anything"] if value not in allowed]
            yield from (f"{place}: {value!r} {'can come' if answer else 'is not taken'} now" for value in more)
        elif allowed is None and not place.endswith(" null"):
            yield from _bounds(place, inner.schema, outer.schema)
        if not answer and old.schema.get("default") != new.schema.get("default"):
            yield f"{place}: another default, {old.schema.get('default')!r} became {new.schema.get('default')!r}"
        for keyword in ("items", "additionalProperties", "propertyNames"):
            if isinstance(old.schema.get(keyword), Mapping) and isinstance(new.schema.get(keyword), Mapping):
                parts = old.at(old.schema[keyword]), new.at(new.schema[keyword])
                yield from self._schemas(f"{place} {keyword}", *parts, answer=answer)
        if not answer and old.schema.get("additionalProperties") and new.schema.get("additionalProperties") is False:
            yield f"{place}: takes no other fields any more"
        yield from self._fields(place, old, new, answer=answer)

    def _fields(self, place: str, old: _Side, new: _Side, *, answer: bool) -> Iterator[str]:
        before, after = old.schema.get("properties", {}), new.schema.get("properties", {})
        must_before, must_now = set(old.schema.get("required", ())), set(new.schema.get("required", ()))
        yield from (f"{place}/{name}: removed" for name in before.keys() - after.keys())
        if answer:
            yield from (f"{place}/{name}: may be absent now" for name in (must_before - must_now) & after.keys())
        else:
            yield from (f"{place}/{name}: required now" for name in must_now - must_before)
        for name in before.keys() & after.keys():
            yield from self._schemas(f"{place}/{name}", old.at(before[name]), new.at(after[name]), answer=answer)


def _bounds(place: str, inner: Schema, outer: Schema) -> Iterator[str]:
    """Yield where the outer schema does not allow all that the inner one does."""
    for name, (more, absent) in BOUNDS.items():
        value, limit = inner.get(name, absent), outer.get(name, absent)
        if value > limit if more else value < limit:
            yield f"{place}: {name} {value} is outside {limit}"
    if "multipleOf" in outer and inner.get("multipleOf", math.nan) % outer["multipleOf"] != 0:
        yield f"{place}: multipleOf {inner.get('multipleOf')} is outside {outer['multipleOf']}"
    if "pattern" in outer and inner.get("pattern") != outer["pattern"]:
        yield f"{place}: another pattern, {inner.get('pattern')} is not {outer['pattern']}"
    if inner.get("format") != outer.get("format"):
        yield f"{place}: another format, {inner.get('format')} is not {outer.get('format')}"


def _discriminator(place: str, old: Schema, new: Schema, *, answer: bool) -> Iterator[str]:
    """Yield what tells the kinds of a union apart no more; a kind that is answered no more may go with its value."""
    if "discriminator" not in old:
        return
    before, after = old["discriminator"], new.get("discriminator", {})
    if before["propertyName"] != after.get("propertyName"):
        yield f"{place}: told apart by {before['propertyName']}, which became {after.get('propertyName')}"
    mapping = after.get("mapping", {})
    left = [part.get("$ref") for part in new.get("oneOf", ())]
    for value, reference in before.get("mapping", {}).items():
        if mapping.get(value) != reference and (value in mapping or reference in left or not answer):
            yield f"{place}: {value} meant {_name(reference)}, which became {mapping.get(value)}"


def _link(place: str, old: Schema, new: Schema | None) -> Iterator[str]:
    """Yield whether a link is gone or leads elsewhere; it may give further parameters."""
    if new is None:
        yield f"{place}: removed"
        return
    for name in ("operationId", "requestBody"):
        if old.get(name) != new.get(name):
            yield f"{place}: {name} {old.get(name)} became {new.get(name)}"
    for name, value in old.get("parameters", {}).items():
        if new.get("parameters", {}).get(name) != value:
            yield f"{place}: {name} {value} became {new.get('parameters', {}).get(name)}"


def _securities(document: Schema, operation: Schema) -> list[Schema]:
    """Return what is enough for an operation, each by scheme and scopes; no scheme at all where it needs no token."""
    return list(operation.get("security", document.get("security", ()))) or [{}]


def _suffices(held: Schema, needed: Schema) -> bool:
    return all(scheme in held and {*scopes} <= {*held[scheme]} for scheme, scopes in needed.items())


def _undescribed(part: Schema) -> dict[str, object]:
    return {name: value for name, value in part.items() if name != "description"}


def _name(reference: str) -> str:
    return reference.rpartition("/")[2]


def _of(document: Schema, part: Schema) -> Schema:
    return _referred(document, part["$ref"]) if "$ref" in part else part


def _referred(document: Schema, reference: str) -> Schema:
    part = document
    for step in reference.removeprefix("#/").split("/"):
        part = part[step]
    return part
