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
    " and Friday; every [N] months on the 15th, or on the 1st and last; each also with `when done`"
)
"""The rules, for messages."""

LAST = -1
"""The last day of a month."""

_WEEKDAYS = ("mo", "tu", "we", "th", "fr", "sa", "su")
_WORKDAYS = (0, 1, 2, 3, 4)
_ORDINALS = {"first": 1, "second": 2, "third": 3, "last": LAST}
_MOST_DAYS = 31

_WEEKDAY = (
    r"(?:mo(?:n(?:day)?)?|tu(?:e(?:s(?:day)?)?)?|we(?:d(?:n(?:esday)?)?)?|th(?:u(?:r(?:sday)?)?)?"
    r"|fr(?:i(?:day)?)?|sa(?:t(?:urday)?)?|su(?:n(?:day)?)?)"
)
_ORDINAL = r"(?:[1-9][0-9]?(?:st|nd|rd|th)|first|second|third|last)"
_AND = r"(?:[ ]*,[ ]*(?:and[ ]+)?|[ ]+and[ ]+)"
_WEEKDAY_LIST = rf"{_WEEKDAY}(?:{_AND}{_WEEKDAY}){{0,6}}"
_DAY = rf"{_ORDINAL}(?:[ ]+day\b)?"
# Behind "and the" the plugin reads nothing.
_DAY_LIST = rf"(?:the[ ]+)?{_DAY}(?:{_AND}{_DAY}){{0,30}}"
_RULE = re.compile(
    rf"""every\ +(?:
      (?P<workdays>weekdays?)
    | (?P<weekdays>{_WEEKDAY_LIST})
    | (?:(?P<every>[1-9][0-9]{{0,3}})\ +)?(?:
        (?P<unit>day|week|month|year)s?
      | weeks?\ +on\ +(?P<on_weekdays>{_WEEKDAY_LIST})
      | months?\ +on\ +(?P<on_days>{_DAY_LIST})
      )
    )(?P<when_done>\ when\ done)?""",
    re.VERBOSE,
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
    days: tuple[int, ...] = ()  # of a month: 1 to 31 or LAST. Empty: the day of the start
    when_done: bool = False  # whether to count from the day it is done, and not from its dates


def parse_rule(text: str) -> Rule | None:
    """Return the rule that a text says, in any letter case, or None if it is not supported."""
    match = _RULE.fullmatch(text.strip().lower())
    if match is None:
        return None
    every = int(match["every"] or 1)
    when_done = match["when_done"] is not None
    if match["workdays"]:
        return Rule(Unit.WEEK, weekdays=_WORKDAYS, when_done=when_done)
    if names := match["weekdays"] or match["on_weekdays"]:
        weekdays = {_WEEKDAYS.index(name[:2]) for name in re.findall(_WEEKDAY, names)}
        return Rule(Unit.WEEK, every, tuple(sorted(weekdays)), when_done=when_done)
    if match["on_days"]:
        words = re.findall(_ORDINAL, match["on_days"])
        days = sorted({_ORDINALS.get(word) or int(word[:-2]) for word in words})
        rule = Rule(Unit.MONTH, every, days=tuple(days), when_done=when_done)
        return rule if days[-1] <= _MOST_DAYS else None
    return Rule(Unit(match["unit"]), every, when_done=when_done)


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
        if rule.days:
            return _on_days(rule, start)
        year, month = _later(start, rule.every * (12 if rule.unit is Unit.YEAR else 1))
        return date(year, month, min(start.day, monthrange(year, month)[1]))
    except (OverflowError, ValueError):  # after the last year
        return None


def _in_weeks(rule: Rule, start: date) -> date:
    weekday = start.weekday()
    for later in rule.weekdays:
        if later > weekday:
            return start + timedelta(days=later - weekday)
    first = rule.weekdays[0] if rule.weekdays else weekday
    return start + timedelta(days=7 * rule.every + first - weekday)


def _on_days(rule: Rule, start: date) -> date | None:
    """Return the first of the named days after the start. Months without one are passed over."""
    for months in range(0, 12 * MAXYEAR, rule.every):
        year, month = _later(start, months)
        length = monthrange(year, month)[1]
        for day in sorted(length if day == LAST else day for day in rule.days):
            if day <= length and (following := date(year, month, day)) > start:
                return following
    return None


def _later(start: date, months: int) -> tuple[int, int]:
    """Return the year and month that come a number of months after a day's."""
    years, month = divmod(start.month - 1 + months, 12)
    return start.year + years, month + 1
