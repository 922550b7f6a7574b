"""The laws: what is true of every game, held against random matches of all of them. A fourth game is held by existing.

A law's checker stands in playing.py, replaying.py, secrecy.py or worlds.py, so that test_the_laws_bite.py can show that
it notices a game that breaks it.
"""

import pytest

from tests.laws import playing, replaying, secrecy, worlds
from tests.laws.matches import Match, has_ended, played
from tests.laws.setups import Setup, setups


@pytest.fixture(scope="module", params=setups(), ids=str)
def match(request: pytest.FixtureRequest) -> Match:
    """Give a match of each setup; tests of one match run one after another."""
    setup: Setup = request.param
    return played(setup)


def test_a_match_ends_or_goes_on_until_it_is_left(match: Match) -> None:
    """That one which may end does, `test_every_game.py` shows with players who are silent."""
    assert has_ended(match) or len(match.stored) == match.setup.longest


def test_a_view_is_the_same_from_the_log_and_from_what_its_viewer_was_sent(match: Match) -> None:
    """Law 1: whatever a view says beyond it was computed from secrets."""
    secrecy.a_view_needs_no_secrets(match)


def test_a_choice_is_the_same_whatever_lies_hidden(match: Match) -> None:
    """Law 3: a bot, and the list of what is legal, must not know what the seat does not."""
    worlds_found = worlds.a_choice_needs_no_secrets(match)
    assert worlds_found > 0, "no hidden card could be changed about, so nothing was shown"


def test_each_field_of_an_event_reaches_its_stated_audience_alone(match: Match) -> None:
    """The code that redacts is held against a table that people read, so that no one file can open a secret."""
    secrecy.redacted_as_stated(match)


def test_all_seats_together_see_what_any_of_them_may(match: Match) -> None:
    """Whoever looks at all hands must see them all, and still not how the stock lies."""
    secrecy.seen_together_as_stated(match)


def test_what_a_view_says_to_all_is_the_same_for_all(match: Match) -> None:
    secrecy.viewed_as_stated(match)


def test_no_card_is_named_to_a_viewer_before_it_is_shown(match: Match) -> None:
    secrecy.no_hidden_card_is_named(match)


def test_no_card_is_lost_and_none_comes_twice(match: Match) -> None:
    """Conservation: a fold that drops or doubles a card deals a false deal from then on."""
    replaying.cards_are_conserved(match)


def test_the_log_folds_to_the_views_that_were_served(match: Match) -> None:
    """Replay: a worker that reads the log must show what the one showed that decided it."""
    replaying.refolds(match)


def test_heads_chain_over_dense_versions(match: Match) -> None:
    replaying.heads_chain(match)


def test_every_command_decided_again_makes_the_same_happen(match: Match) -> None:
    """An arbiter decides a dispute by deciding again; chance, idle moves and resignations are part of that."""
    replaying.decides_again(match)


def test_a_deal_that_is_played_again_begins_as_it_began(match: Match) -> None:
    """Whoever played it must find nothing of what was played of it, but what all have seen."""
    replaying.deals_begin_again(match)


def test_deciding_and_looking_change_nothing(match: Match) -> None:
    """One folded state serves many requests at once; whoever changed it would change it for all of them."""
    replaying.nothing_is_changed(match)


def test_what_is_listed_is_accepted(match: Match) -> None:
    """A client that knows no rules plays by posting what is listed."""
    playing.listed_is_legal(match)


def test_what_is_not_listed_is_refused(match: Match) -> None:
    """A client that shows only what is listed must not keep its player from a move that others have."""
    playing.unlisted_is_illegal(match)


def test_who_is_not_asked_is_refused_with_the_reason(match: Match) -> None:
    playing.others_are_refused(match)


def test_somebody_can_always_move(match: Match) -> None:
    playing.somebody_can_move(match)


def test_a_silent_seat_has_a_legal_move_in_every_state(match: Match) -> None:
    """Clocks and resignations move by it, so it may never fail."""
    playing.idle_is_total(match)


def test_a_turn_stands_until_the_next_prompt(match: Match) -> None:
    """A command names its turn; were it to change while the prompt stands, the command would be late without fault."""
    playing.turns_are_coherent(match)


def test_play_ends_with_lawful_places_and_everything_opened(match: Match) -> None:
    playing.the_end_is_lawful(match)
