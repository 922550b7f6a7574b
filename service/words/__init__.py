"""Words for what happens: each event of a log as a sentence, from message catalogues keyed by the event's tag.

Events hold no prose. A catalogue is a Fluent file (projectfluent.org): plural forms and selectors belong to the
language that a file is written in, so English, German, Russian, Swedish and Spanish each say it their own way; gettext
has no selectors, and ICU's messages need a system library. `fluent.runtime` is the syntax's reference in Python (Apache
2.0, kept by Mozilla).

The neutral catalogue is table.<language>.ftl here; a game brings `<game>.<language>.ftl` beside its rules.

How a catalogue speaks of an event (`.` in its tag is `-` in the message's name, a field `f` is the variable `$f`):

- A seat or a player is a name, `$f_number` the seat's number; a card is written by the game's message `card`,
  where it has one, of `$suit`, `$rank` (a number where it is one) and `$card`, the name whole. Each attribute `.a` of
  that message is one more way to write a card, as a language's articles and cases want it: `$f_a`. But `.between` is
  what stands between the cards of a row, where that isn't a space.
- Null, an empty text and an empty list are `none`, for a selector. In an event that was redacted, null means hidden.
- A struct's fields are `$f_<its field>`; a list's length is `$f_count`. From `$first` to `$last` there are `$versions`.
- A list or an object is written entry by entry by the message's attribute `.f`, where it has one: there `$item` is the
  entry (a struct's fields bear their own names), `$seat` the name of the seat of that number, `$name` a member's name.
  Where the message itself does not write `$f`, each entry is a line of its own after it.
- A list inside an entry, its field `g`, is written entry by entry by the message's attribute `.f_g`, where it has one.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import msgspec
from babel.lists import format_list
from fluent.runtime import FluentBundle, FluentResource
from fluent.syntax import ast, visitor

from events.base import By, Event
from service.game import AnyGame
from service.words.kinds import ANY, Kind, kinds_of

Value = str | int
Arguments = dict[str, Value]

ENGLISH = "en"
"""The language that every catalogue is there in."""

NOTHING = "none"
ENTRIES = "; "
BETWEEN = "between"


class Names(NamedTuple):
    """What people are called: those who sit, by seat, and everybody who is named in the log, by id."""

    seats: Sequence[str]
    players: Mapping[str, str]


class Words:
    """The words of one game in one language."""

    def __init__(self, game: AnyGame, language: str = ENGLISH) -> None:
        """Read the catalogues; raise ValueError where one can't be read, OSError where there is none."""
        self._language = language
        self._bundle = FluentBundle([language], use_isolating=False)  # Isolating marks are noise on a terminal.
        for catalogue in (neutral_catalogue(language), game_catalogue(game, language)):
            self._bundle.add_resource(_resource(catalogue))
        self._card = cache(self._write_card)
        self._between = self._row_of_cards()
        self._apart = cache(self._find_apart)

    def tell(self, event: Event, names: Names) -> list[str]:
        """Return what happened, as a line, and what is told entry by entry as one each."""
        message = str(event.__struct_config__.tag).replace(".", "-")
        writing = _Writing(self, message, names)
        lines = [self.say(message, writing.members(event))]
        kinds = kinds_of(type(event))
        for field in filter(kinds.__contains__, self._apart(message)):
            lines += writing.entries(field, kinds[field], getattr(event, field))
        return lines

    def who(self, by: By, names: Names) -> str:
        """Return who asked for a decision."""
        player = NOTHING if by.player is None else names.players.get(by.player, by.player)
        seat: Value = NOTHING if by.seat is None else by.seat
        return self.say("by", {"player": player, "seat": seat, "role": by.role or by.service or NOTHING})

    def say(self, message: str, arguments: Mapping[str, Value], attribute: str | None = None) -> str:
        """Return a message, or one of its attributes; raise ValueError where the catalogue is at fault."""
        found = self._bundle.get_message(message)
        pattern = found.value if attribute is None else found.attributes[attribute]
        if pattern is None:
            raise ValueError(f"the message {message} has no text in {self._language}")
        text, errors = self._bundle.format_pattern(pattern, dict(arguments))
        if errors:
            raise ValueError(f"the message {message}.{attribute} of {self._language} fails: {errors}")
        return str(text)

    def has(self, message: str, attribute: str) -> bool:
        """Tell whether a message says how the entries of this field are written."""
        return attribute in self._bundle.get_message(message).attributes

    def tells_apart(self, message: str, field: str) -> bool:
        """Tell whether the entries of this field are lines of their own."""
        return field in self._apart(message)

    def card(self, name: str) -> Mapping[str, str]:
        """Return a card as people write it, under "", and as each attribute of the message for cards writes it."""
        return self._card(name)

    def cards(self, texts: Sequence[str]) -> str:
        """Return cards in a row."""
        return self._between.join(texts)

    def listed(self, items: Sequence[str]) -> str:
        """Return things in a row, with the language's word for `and`."""
        return format_list(items, locale=self._language)

    def _find_apart(self, message: str) -> tuple[str, ...]:
        """Find the attributes that the message does not write itself: the library limits how long a variable may be."""
        found = self._bundle.get_message(message)
        written = _Variables()
        written.visit(found.value)
        return tuple(attribute for attribute in found.attributes if attribute not in written.names)

    def _write_card(self, name: str) -> Mapping[str, str]:
        if not self._bundle.has_message("card"):
            return {"": name}
        rank = name[1:]
        arguments: Arguments = {"card": name, "suit": name[0], "rank": int(rank) if rank.isdecimal() else rank}
        ways = (way for way in self._bundle.get_message("card").attributes if way != BETWEEN)
        return {"": self.say("card", arguments), **{way: self.say("card", arguments, way) for way in ways}}

    def _row_of_cards(self) -> str:
        """Return what stands between the cards of a row."""
        return self.say("card", {}, BETWEEN) if self._bundle.has_message("card") and self.has("card", BETWEEN) else " "


class _Writing(NamedTuple):
    """How the fields of one event, or of an entry of its list `within`, become the variables of its message."""

    words: Words
    message: str
    names: Names
    within: str = ""

    def members(self, struct: msgspec.Struct, prefix: str = "") -> Arguments:
        """Return every field as variables."""
        arguments: Arguments = {}
        for field, kind in kinds_of(type(struct)).items():
            arguments |= self.variables(prefix + field, kind, getattr(struct, field))
        first, last = arguments.get("first"), arguments.get("last")
        if isinstance(first, int) and isinstance(last, int):
            # Of a range of versions; messages can't compare two variables.
            arguments["versions"] = last - first + 1
        return arguments

    def variables(self, name: str, kind: Kind, value: object) -> Arguments:
        """Return a value of this annotation as the variables that stand for it."""
        match value:
            case msgspec.Struct():
                return self.members(value, f"{name}_")
            case tuple() | list() | dict():
                apart = not self.within and self.words.tells_apart(self.message, name)
                text = self.row(name, kind, value) if value and not apart else NOTHING
                return {name: text, f"{name}_count": len(value)}
            case int() if kind.is_a_seat:
                return {name: self.names.seats[value], f"{name}_number": value}
            case None:
                return {name: NOTHING, f"{name}_number": NOTHING, f"{name}_count": 0}
            case str() if value and kind.is_a_card:
                return {f"{name}_{way}" if way else name: text for way, text in self.words.card(value).items()}
            case _:
                return {name: self.one(kind, value)}

    def row(self, name: str, kind: Kind, items: Sequence[object] | Mapping[str, object]) -> str:
        """Return a list, entry by entry where the message says how."""
        if self.words.has(self.message, self._attribute(name)) or isinstance(items, Mapping):
            return ENTRIES.join(self.entries(name, kind, items)) or NOTHING
        kinds = kind.items(len(items))
        texts = [str(self.one(kind, item)) for kind, item in zip(kinds, items, strict=True)]
        all_cards = all(isinstance(item, str) and kind.is_a_card for kind, item in zip(kinds, items, strict=True))
        return self.words.cards(texts) if all_cards else self.words.listed(texts)

    def entries(self, name: str, kind: Kind, items: object) -> Iterator[str]:
        """Yield the entries of a list or an object as the attribute writes them, but for those it has no words for."""
        match items:
            case dict():
                variables = [{"name": key, "item": self.one(ANY, item)} for key, item in items.items()]
            case tuple() | list():
                kinds = kind.items(len(items))
                writing = self._replace(within=self._attribute(name))
                variables = [writing.entry(*entry) for entry in enumerate(zip(kinds, items, strict=True))]
            case _:  # Null: hidden, or there is none.
                variables = []
        attribute = self._attribute(name)
        return filter(None, (self.words.say(self.message, entry, attribute) for entry in variables))

    def one(self, kind: Kind, value: object) -> Value:
        """Return a value as one variable."""
        match value:
            case None | "":
                return NOTHING
            case bool():
                return "true" if value else "false"
            case int():
                return self.names.seats[value] if kind.is_a_seat else value
            case tuple() | list():
                return self.row("", kind, value) if value else NOTHING
            case str() if kind.is_a_player:
                return self.names.players.get(value, value)
            case str() if kind.is_a_card:
                return self.words.card(value)[""]
            case _:
                return str(value)

    def entry(self, index: int, entry: tuple[Kind, object]) -> Arguments:
        """Return an entry of the list that this is within, of its annotation, as variables."""
        kind, item = entry
        seats = self.names.seats
        arguments: Arguments = {"seat": seats[index]} if index < len(seats) else {}
        return arguments | (
            self.members(item) if isinstance(item, msgspec.Struct) else self.variables("item", kind, item)
        )

    def _attribute(self, name: str) -> str:
        """Return the attribute that writes the entries of this field."""
        return f"{self.within}_{name}" if self.within else name


class _Variables(visitor.Visitor):
    """The variables that a pattern writes or selects by."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def visit_VariableReference(self, node: ast.VariableReference) -> None:  # noqa: N802 the library finds it by name
        self.names.add(node.id.name)


def languages(game: AnyGame) -> tuple[str, ...]:
    """Return the languages that a game's tables can be told in, English first."""
    own, neutral = (
        {path.suffixes[-2].lstrip(".") for path in folder.glob(f"{name}.*.ftl")}
        for folder, name in ((_folder(game), game.name), (Path(__file__).parent, "table"))
    )
    return (ENGLISH, *sorted((own & neutral) - {ENGLISH}))


def neutral_catalogue(language: str) -> str:
    """Return the catalogue of the events that every game speaks."""
    return (files(__name__) / f"table.{language}.ftl").read_text(encoding="utf-8")


def game_catalogue(game: AnyGame, language: str) -> str:
    """Return a game's own catalogue, found beside the module that decides it."""
    return (_folder(game) / f"{game.name}.{language}.ftl").read_text(encoding="utf-8")


def _folder(game: AnyGame) -> Path:
    return Path(sys.modules[game.decide.__module__].__file__ or "").parent


def _resource(catalogue: str) -> ast.Resource:
    """Parse a catalogue; what the parser can't read it would leave out without a word."""
    resource = FluentResource(catalogue)
    if unread := [entry.content for entry in resource.body if isinstance(entry, ast.Junk)]:
        raise ValueError(f"a catalogue can't be read from here on: {unread[0]}")
    return resource
