"""Times are shown and typed as people say them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from asyncclick import BadParameter

from vault_agent.cli.terminal import DAY, local_time


def test_a_time_is_shown_as_it_is_here():
    then = datetime(2026, 5, 20, 12, 0).astimezone()
    assert local_time(then.astimezone(UTC).isoformat()) == "2026-05-20 12:00"
    assert local_time("some\x1bday") == "some\\x1bday"


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
