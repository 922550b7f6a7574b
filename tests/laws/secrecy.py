"""Laws of secrecy: who may see what. Each raises AssertionError where a match breaks it."""

import re

import msgspec

from events.table import Shuffled
from projections import fold
from tests.laws.audience import seen_by, seen_by_all, statement
from tests.laws.matches import Match

_encode = msgspec.json.Encoder().encode
_NAME = re.compile(rb'"([A-Za-z0-9]{2,4})"')


def a_view_needs_no_secrets(match: Match) -> None:
    """Hold law 1: for every prefix and viewer the view is the same, folded from the log or from what they were sent."""
    folded = {viewer: match.empty() for viewer in match.viewers}
    for table, entry, stored in match.versions():
        for viewer, own in folded.items():
            decision = match.received(match.redacted(entry, stored.h, viewer))
            fold.add(match.game.projection, own, decision, bytes.fromhex(decision.head))
            assert match.view(own, viewer) == match.view(table, viewer), f"{viewer} at version {table.version}"


def redacted_as_stated(match: Match) -> None:
    """Hold: each field of an event reaches those alone that its stated audience names."""
    for entry, stored in zip(match.entries(), match.stored, strict=True):
        for viewer in match.viewers:
            sent = msgspec.json.decode(match.redacted(entry, stored.h, viewer))["events"]
            for event, got in zip(entry.events, sent, strict=True):
                expected = seen_by(event, viewer)
                assert got == expected, f"{viewer} got {got} at version {entry.version}, not {expected}"


def seen_together_as_stated(match: Match) -> None:
    """Hold: all seats together see of each event all that anybody may see, and nothing of what nobody may."""
    for entry in match.entries():
        for event in entry.events:
            together = msgspec.json.decode(_encode(fold.together(match.game.projection, event)))
            expected = seen_by_all(event)
            assert together == expected, f"all see {together} at version {entry.version}, not {expected}"


def viewed_as_stated(match: Match) -> None:
    """Hold: what a view says to all is the same for every viewer, before play ends and after."""
    public = [name for name, audience in statement(match.game.name).view.items() if audience == "all"]
    for table, _, _ in match.versions():
        views = [match.game.projection.view(table, viewer) for viewer in match.viewers]
        for name in public:
            said = {_encode(getattr(view, name)) for view in views}
            assert len(said) == 1, f"{name} differs between viewers at version {table.version}: {said}"


def no_hidden_card_is_named(match: Match) -> None:
    """Hold: no card stands in a view or a decision of a viewer before an event that is stated to show it to them.

    Cards are told apart by name, so it is the first deal, in which each name is new once, that would show a leak most.
    """
    names: set[bytes] = set()
    told: dict[int | None, set[bytes]] = {viewer: set() for viewer in match.viewers}
    for table, entry, stored in match.versions():
        for event in entry.events:
            if isinstance(event, Shuffled):
                names.update(str(card).encode() for card in event.order or ())
            for viewer, known in told.items():
                known.update(_names(_encode(seen_by(event, viewer))))
        for viewer, known in told.items():
            hidden = names - known
            named = _names(match.view(table, viewer)) | _names(match.redacted(entry, stored.h, viewer))
            assert not named & hidden, f"{viewer} sees {named & hidden} at version {table.version}"


def _names(text: bytes) -> set[bytes]:
    return set(_NAME.findall(text))
