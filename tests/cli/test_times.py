"""Times are shown as people say them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from asyncclick import BadParameter

from vault_agent.cli.terminal import DAY, ago

NOW = datetime(2026, 5, 20, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("before", "shown"),
    [
        ({"seconds": 3}, "just now"),
        ({"seconds": 42}, "42 seconds ago"),
        ({"seconds": 119}, "1 minute ago"),
        ({"minutes": 59, "seconds": 59}, "59 minutes ago"),
        ({"hours": 1}, "1 hour ago"),
        ({"hours": 47}, "1 day ago"),
        ({"days": 30}, "30 days ago"),
    ],
)
def test_a_time_is_shown_as_how_long_ago_it_was(before: dict[str, int], shown: str):
    then = NOW - timedelta(**before)
    assert ago(then.isoformat(), NOW) == shown
    assert ago(then.strftime("%Y-%m-%dT%H:%M:%S.000Z"), NOW) == shown


def test_old_future_and_invalid_times_are_shown_as_they_are():
    assert ago("2020-02-03T12:00:00Z", NOW) == "2020-02-03"
    assert ago("2027-01-01T00:00:00Z", NOW) == "2027-01-01T00:00:00Z"
    assert ago("some\x1bday", NOW) == "some\\x1bday"


@pytest.mark.parametrize(
    ("typed", "days"),
    [("today", 0), ("Tomorrow", 1), ("yesterday", -1), ("+7", 7), ("-30d", -30), ("+0", 0)],
)
def test_a_day_may_be_a_word_or_a_number_of_days(typed, days):
    today = datetime.now().astimezone().date()
    assert DAY.convert(typed, None, None) == (today + timedelta(days)).isoformat()


@pytest.mark.parametrize("typed", ["2026-13-02", "7", "next week", ""])
def test_what_is_no_day_is_refused_with_the_forms_of_one(typed):
    with pytest.raises(BadParameter, match="not a date: YYYY-MM-DD, today"):
        DAY.convert(typed, None, None)
    assert DAY.convert("2026-01-02", None, None) == "2026-01-02"
