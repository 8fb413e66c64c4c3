"""The dates of recurring tasks, against dateutil and against the library that the plugin uses."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from datetime import date, datetime, time, timedelta
from pathlib import Path

import pytest
from dateutil import rrule
from tests.support.node import node

from vault_agent.markdown.recurrence import LAST, Rule, Unit, next_day, parse_rule

DRIVER = Path(__file__).parent / "recurrence.mjs"
RRULE = "rrule@2.8.1"  # what the plugin depends on
_FREQUENCIES = {
    Unit.DAY: rrule.DAILY,
    Unit.WEEK: rrule.WEEKLY,
    Unit.MONTH: rrule.MONTHLY,
    Unit.YEAR: rrule.YEARLY,
}
_MONTHS = ("January", "Feb", "march", "April", "June", "Sept", "December")
_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("every day", Rule(Unit.DAY)),
        ("every 3 days", Rule(Unit.DAY, 3)),
        ("Every 2 Weeks when done", Rule(Unit.WEEK, 2, when_done=True)),
        ("every month", Rule(Unit.MONTH)),
        ("every 10 years", Rule(Unit.YEAR, 10)),
        ("every weekday", Rule(Unit.WEEK, weekdays=(0, 1, 2, 3, 4))),
        ("every Sunday", Rule(Unit.WEEK, weekdays=(6,))),
        ("every Tue, thursday and Sat", Rule(Unit.WEEK, weekdays=(1, 3, 5))),
        ("every week on Wed", Rule(Unit.WEEK, weekdays=(2,))),
        ("every 2 weeks on fri,mo", Rule(Unit.WEEK, 2, (0, 4))),
        ("every month on the 1st", Rule(Unit.MONTH, days=(1,))),
        ("every 3 months on the 22nd when done", Rule(Unit.MONTH, 3, days=(22,), when_done=True)),
        ("every month on the last day", Rule(Unit.MONTH, days=(LAST,))),
        ("every month on the second", Rule(Unit.MONTH, days=(2,))),
        ("every month on the 1st and 15th", Rule(Unit.MONTH, days=(1, 15))),
        ("every month on the 1st, 10th and last", Rule(Unit.MONTH, days=(-1, 1, 10))),
        ("every month on the 2nd last", Rule(Unit.MONTH, days=(-2,))),
        ("every month on the last Friday", Rule(Unit.MONTH, in_month=((-1, 4),))),
        (
            "every month on the 2nd last Fri when done",
            Rule(Unit.MONTH, in_month=((-2, 4),), when_done=True),
        ),
        ("every 6 months on the 2nd Wednesday", Rule(Unit.MONTH, 6, in_month=((2, 2),))),
        (
            "every month on the first Monday and third Monday",
            Rule(Unit.MONTH, in_month=((1, 0), (3, 0))),
        ),
        ("every January", Rule(Unit.YEAR, months=(1,))),
        ("every January on the 15th", Rule(Unit.YEAR, days=(15,), months=(1,))),
        ("every February on the last", Rule(Unit.YEAR, days=(-1,), months=(2,))),
        (
            "every April and December on the 1st and 24th",
            Rule(Unit.YEAR, days=(1, 24), months=(4, 12)),
        ),
        ("every year on February the 29th", Rule(Unit.YEAR, days=(29,), months=(2,))),
        ("every November on the 4th Thursday", Rule(Unit.YEAR, in_month=((4, 3),), months=(11,))),
    ],
)
def test_a_supported_rule_is_read(text: str, rule: Rule):
    assert parse_rule(text) == rule


@pytest.mark.parametrize(
    "text",
    [
        "",
        "daily",
        "every",
        "every 0 days",
        "every 02 days",
        "every -1 days",
        "every 12345 days",
        "every other week",
        "every two weeks",
        "every 2 weekdays",
        "every 2 Mondays",
        "every hour",
        "every week on",
        "every week on Monday Tuesday",
        "every week on the 1st",
        "every month on the 0th",
        "every month on the 32nd",
        "every month on the 15",
        "every year on the 1st",
        "every 2 years on February the 1st",
        "every 2 Januaries",
        "every month on the 15th and the last Friday",
        "every month on the 6th Friday",
        "every month on the last last",
        "every month on the 1st and the 15th",
        "every month on Friday",
        "every January on Friday",
        "every day when done!",
        "every day when  done",
        "every day for 3 times",
        "every day until 2030",
        "every day, every week",
    ],
)
def test_any_other_rule_is_not_supported(text: str):
    assert parse_rule(text) is None


@pytest.mark.parametrize(
    ("text", "start", "expected"),
    [
        ("every month", "2022-01-31", "2022-02-28"),
        ("every month", "2024-01-30", "2024-02-29"),
        ("every 2 months", "2021-12-31", "2022-02-28"),
        ("every year", "2024-02-29", "2025-02-28"),
        ("every 4 years", "2096-02-29", "2100-02-28"),
        ("every month on the 31st", "2022-01-31", "2022-03-31"),
        ("every month on the last", "2022-01-31", "2022-02-28"),
        ("every month on the last", "2022-02-10", "2022-02-28"),
        ("every weekday", "2021-04-23", "2021-04-26"),
        ("every Sunday", "2021-04-25", "2021-05-02"),
        ("every 2 weeks on Monday", "2021-04-25", "2021-05-03"),
    ],
)
def test_the_next_day_is_the_plugin_s(text: str, start: str, expected: str):
    assert str(next_day(rule_of(text), date.fromisoformat(start))) == expected


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("every day", "9999-12-31"),
        ("every 9999 years", "2024-01-01"),
        ("every week on Monday", "9999-12-31"),
        ("every 12 months on the 31st", "2024-02-01"),
        ("every February on the 30th", "2024-02-01"),
        ("every February", "2024-01-30"),
    ],
)
def test_a_rule_without_a_next_day_has_none(text: str, start: str):
    assert next_day(rule_of(text), date.fromisoformat(start)) is None


def rule_of(text: str) -> Rule:
    rule = parse_rule(text)
    assert rule is not None
    return rule


def examples(count: int, seed: int) -> list[tuple[str, date]]:
    """Return rules and days, with many days at the ends of months."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        start = date(2020, 1, 1) + timedelta(days=chance.randrange(365 * 12))
        if chance.random() < 0.4:  # near the end of a month
            start = start.replace(day=1) - timedelta(days=chance.randrange(1, 5))
        number = chance.choice(["", "", "2 ", "3 ", "4 ", "6 ", "11 ", "12 ", "30 "])
        plural = "s" if number or chance.random() < 0.1 else ""
        names = chance.sample(_NAMES, chance.randint(1, 4))
        if chance.random() < 0.3:
            names = [name[:3].lower() for name in names]
        listed = chance.choice([", ", " and ", ","]).join(names)
        day = chance.randint(1, 31)
        suffix = {1: "st", 2: "nd", 3: "rd"}.get(day % 10 if day not in (11, 12, 13) else 0, "th")
        if chance.random() < 0.5:
            place, other = (
                f"{chance.choice(['first', '2nd', '3rd', '4th', '5th', 'last', '2nd last'])} {name}"
                for name in chance.sample(_NAMES, 2)
            )
        else:
            place, other = chance.sample(["1st", "2nd last", "10th", "29th", "31st", "last"], 2)
        text = chance.choice(
            [
                f"every {number}day{plural}",
                f"every {number}week{plural}",
                f"every {number}month{plural}",
                f"every {number}month{plural}",
                f"every {number}year{plural}",
                "every weekday",
                f"every {names[0]}",
                f"every {listed}",
                f"every {number}week{plural} on {listed}",
                f"every {number}month{plural} on the {day}{suffix}",
                f"every {number}month{plural} on the last",
                f"every {number}month{plural} on the {chance.choice(['first', 'second', 'third'])}",
                f"every {number}month{plural} on the {place}",
                f"every {number}month{plural} on the {place} and {other}",
                f"every {chance.choice(_MONTHS)}",
                f"every {chance.choice(_MONTHS)} on the {place}",
                f"every {' and '.join(chance.sample(_MONTHS, 2))} on the {place} and {other}",
                f"every year on {chance.choice(_MONTHS)} the {day}{suffix}",
            ]
        )
        found.append((text + chance.choice(["", "", " when done"]), start))
    return found


def by_dateutil(rule: Rule, start: date) -> date | None:
    """Return what dateutil and the plugin's rule for short months give.

    If a month or year is passed over, the plugin starts one day earlier, until none is.
    """
    day = datetime.combine(start, time())
    while True:
        found = rrule.rrule(
            _FREQUENCIES[rule.unit],
            dtstart=day,
            interval=rule.every,
            byweekday=rule.weekdays
            or [rrule.weekday(day, nth) for nth, day in rule.in_month]
            or None,
            bymonthday=rule.days or None,
            bymonth=rule.months or None,
            wkst=rrule.MO,
        ).after(day)
        if found is None:
            return None
        months = (found.year - day.year) * 12 + found.month - day.month
        named = rule.days or rule.in_month or rule.months
        over = rule.unit is Unit.MONTH and months > rule.every
        over = over or (rule.unit is Unit.YEAR and found.year - day.year > rule.every)
        if named or not over:
            return found.date()
        day -= timedelta(days=1)


def check(count: int, seed: int) -> None:
    for text, start in examples(count, seed):
        rule = rule_of(text)
        assert next_day(rule, start) == by_dateutil(rule, start), (text, start)


@pytest.mark.fault(
    "Names, tasks, templates",
    "the next day of a recurring task at the end of a month or in a leap year",
    "that of the Tasks plugin",
)
def test_dates_agree_with_dateutil():
    check(500, seed=1)


@pytest.mark.long
def test_ten_thousand_dates_agree_with_dateutil():
    check(10_000, seed=2)


@pytest.mark.plugin
def test_ten_thousand_dates_agree_with_the_plugin_s_library(tmp_path: Path):
    """Node reads the text itself, so this also compares what the rules mean."""
    subprocess.run(
        [node("npm"), "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", RRULE],
        cwd=tmp_path, check=True, stdout=subprocess.DEVNULL, timeout=300,
    )  # fmt: skip
    shutil.copy(DRIVER, tmp_path)
    asked = examples(10_000, seed=3)
    done = subprocess.run(
        [node(), DRIVER.name],
        cwd=tmp_path,
        input=json.dumps([[text, str(start)] for text, start in asked]),
        env={**os.environ, "TZ": "UTC"},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=600,
    )
    theirs = json.loads(done.stdout)
    assert len(theirs) == len(asked)
    for (text, start), expected in zip(asked, theirs, strict=True):
        ours = next_day(rule_of(text), start)
        assert (ours and str(ours)) == expected, (text, start)
