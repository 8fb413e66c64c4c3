"""When a recurring task is due next, for the rules that are supported.

The rules are a part of those of the Tasks plugin of Obsidian, whose dates these are. Anything else
is refused, because a guessed date would be worse than none.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import MAXYEAR, date, timedelta
from enum import StrEnum

SUPPORTED = (
    "every [N] days, weeks, months or years; every weekday; every Monday; every [N] weeks on Monday"
    " and Friday; every [N] months on the 15th, or on the last; each also with `when done`"
)
"""The rules, for messages."""

LAST = -1
"""The last day of a month."""

_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WORKDAYS = (0, 1, 2, 3, 4)
_ORDINALS = {"first": 1, "second": 2, "third": 3, "last": LAST}

_WEEKDAY = (
    r"(?:mo(?:n(?:day)?)?|tu(?:e(?:s(?:day)?)?)?|we(?:d(?:n(?:esday)?)?)?|th(?:u(?:r(?:sday)?)?)?"
    r"|fr(?:i(?:day)?)?|sa(?:t(?:urday)?)?|su(?:n(?:day)?)?)"
)
_WEEKDAY_LIST = rf"{_WEEKDAY}(?:(?:[ ]*,[ ]*(?:and[ ]+)?|[ ]+and[ ]+){_WEEKDAY}){{0,6}}"
_RULE = re.compile(
    rf"""every\ +(?:
      (?P<workdays>weekdays?)
    | (?P<weekdays>{_WEEKDAY_LIST})
    | (?:(?P<every>[1-9][0-9]{{0,3}})\ +)?(?:
        (?P<unit>day|week|month|year)s?
      | weeks?\ +on\ +(?P<on_weekdays>{_WEEKDAY_LIST})
      | months?\ +on\ +(?:the\ +)?(?:(?P<day>[1-9][0-9]?)(?:st|nd|rd|th)
          |(?P<ordinal>first|second|third|last))(?:\ +day)?
      )
    )(?P<when_done>\ when\ done)?""",
    re.VERBOSE | re.IGNORECASE,
)


class Unit(StrEnum):
    """What a rule counts."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class Rule:
    """A supported rule."""

    unit: Unit
    every: int = 1
    weekdays: tuple[int, ...] = ()  # of a week: 0 is Monday. Empty: the weekday of the start
    day: int | None = None  # of a month: 1 to 31, or LAST. None: the day of the start
    when_done: bool = False  # whether to count from the day it is done, and not from its dates


def parse_rule(text: str) -> Rule | None:
    """Return the rule that a text says, in any letter case, or None if it is not supported."""
    match = _RULE.fullmatch(text.strip())
    if match is None:
        return None
    every = int(match["every"] or 1)
    when_done = match["when_done"] is not None
    if match["unit"]:
        return Rule(Unit(match["unit"].lower()), every, when_done=when_done)
    if match["workdays"]:
        return Rule(Unit.WEEK, weekdays=_WORKDAYS, when_done=when_done)
    if names := match["weekdays"] or match["on_weekdays"]:
        found = re.findall(_WEEKDAY, names, re.IGNORECASE)
        return Rule(Unit.WEEK, every, _weekdays(found), when_done=when_done)
    day = int(match["day"]) if match["day"] else _ORDINALS[match["ordinal"].lower()]
    return None if day > 31 else Rule(Unit.MONTH, every, day=day, when_done=when_done)


def next_day(rule: Rule, start: date) -> date | None:
    """Return the first day of a rule after the day that it counts from, or None if there is none.

    A month or year without the start's day has its last day instead: a month after 31 January is 28
    February. A rule that names a day passes over the months without it: on the 31st, the next one
    after 31 January is 31 March.
    """
    try:
        if rule.unit is Unit.DAY:
            return start + timedelta(days=rule.every)
        if rule.unit is Unit.WEEK:
            return _in_weeks(rule, start)
        if rule.unit is Unit.MONTH and rule.day is not None:
            return _on_day(rule.every, rule.day, start)
        return _in_months(start, rule.every * (12 if rule.unit is Unit.YEAR else 1))
    except (OverflowError, ValueError):  # after the last year
        return None


def _weekdays(names: list[str]) -> tuple[int, ...]:
    numbers = {
        next(number for number, day in enumerate(_WEEKDAYS) if day.startswith(name[:3].lower()))
        for name in names
    }
    return tuple(sorted(numbers))


def _in_weeks(rule: Rule, start: date) -> date:
    weekday = start.weekday()
    for later in rule.weekdays:
        if later > weekday:
            return start + timedelta(days=later - weekday)
    first = rule.weekdays[0] if rule.weekdays else weekday
    return start + timedelta(days=7 * rule.every + first - weekday)


def _in_months(start: date, months: int) -> date:
    year, month = _later(start, months)
    return date(year, month, min(start.day, monthrange(year, month)[1]))


def _on_day(every: int, day: int, start: date) -> date | None:
    months = 0
    while True:
        year, month = _later(start, months)
        if year > MAXYEAR:
            return None
        length = monthrange(year, month)[1]
        wanted = length if day == LAST else day
        if wanted <= length and (found := date(year, month, wanted)) > start:
            return found
        months += every


def _later(start: date, months: int) -> tuple[int, int]:
    """Return the year and month that come a number of months after a day's."""
    years, month = divmod(start.month - 1 + months, 12)
    return start.year + years, month + 1
