"""Facts about places."""

from service.rules.standing import highest_wins, lowest_wins


def test_level_scores_share_the_better_place() -> None:
    assert highest_wins([10, 30, 30, 5, 10], ()) == (3, 1, 1, 5, 3)


def test_the_lowest_score_wins_where_low_is_good() -> None:
    assert lowest_wins([10, 30, 5], ()) == (2, 3, 1)


def test_a_forfeited_seat_comes_after_all_others_whatever_it_scored() -> None:
    assert highest_wins([99, 1, 2], (0,)) == (3, 2, 1)
    assert lowest_wins([-5, 1, 2], (0,)) == (3, 1, 2)


def test_who_gave_up_earlier_comes_later() -> None:
    assert highest_wins([50, 40, 30, 20, 10], (1, 0)) == (4, 5, 1, 2, 3)


def test_an_untaken_seat_has_no_place() -> None:
    assert highest_wins([5, None, 7], ()) == (2, None, 1)
    assert lowest_wins([5, None, 7], (0,)) == (2, None, 1)
