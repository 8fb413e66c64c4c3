"""When a recurring task is due next, for the rules that are supported.

The rules are a part of those of the Tasks plugin of Obsidian, whose dates these are. Anything else
is refused, because a guessed date would be worse than none.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass, replace
from datetime import MAXYEAR, date, timedelta
from enum import StrEnum

SUPPORTED = (
    "every [N] days, weeks, months or years; every weekday; every Monday; every [N] weeks on Monday"
    " and Friday; every [N] months on the 15th, on the 1st and last, or on the 2nd last Friday;"
    " every January, or every April and July on the 1st; each also with `when done`"
)
"""The rules, for messages."""

LAST = -1
"""The last day of a month."""

_WEEKDAYS = ("mo", "tu", "we", "th", "fr", "sa", "su")
_WORKDAYS = (0, 1, 2, 3, 4)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ORDINALS = {"first": 1, "second": 2, "third": 3, "last": LAST}
_MOST_DAYS, _MOST_WEEKS = 31, 5  # in a month

_WEEKDAY = (
    r"(?:mo(?:n(?:day)?)?|tu(?:e(?:s(?:day)?)?)?|we(?:d(?:n(?:esday)?)?)?|th(?:u(?:r(?:sday)?)?)?"
    r"|fr(?:i(?:day)?)?|sa(?:t(?:urday)?)?|su(?:n(?:day)?)?)"
)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_ORDINAL = r"(?:[1-9][0-9]?(?:st|nd|rd|th)|first|second|third|last)"
_AND = r"(?:[ ]*,[ ]*(?:and[ ]+)?|[ ]+and[ ]+)"
_WEEKDAY_LIST = rf"{_WEEKDAY}(?:{_AND}{_WEEKDAY}){{0,6}}"
_MONTH_LIST = rf"{_MONTH}(?:{_AND}{_MONTH}){{0,11}}"
# A day of a month: the 2nd, the last, the 2nd last Friday.
_PLACE = rf"{_ORDINAL}(?:[ ]+last)?(?:[ ]+(?:day|{_WEEKDAY})\b)?"
# Behind "and the" the plugin reads nothing.
_PLACES = rf"(?:the[ ]+)?{_PLACE}(?:{_AND}{_PLACE}){{0,30}}"
_RULE = re.compile(
    rf"""every\ +(?:
      (?P<workdays>weekdays?)
    | (?P<weekdays>{_WEEKDAY_LIST})
    | (?P<months>{_MONTH_LIST})(?:\ +on\ +(?P<in_months>{_PLACES}))?
    | year\ +on\ +(?P<month>{_MONTH})\ +(?P<in_month>{_PLACES})
    | (?:(?P<every>[1-9][0-9]{{0,3}})\ +)?(?:
        (?P<unit>day|week|month|year)s?
      | weeks?\ +on\ +(?P<on_weekdays>{_WEEKDAY_LIST})
      | months?\ +on\ +(?P<places>{_PLACES})
      )
    )(?P<when_done>\ when\ done)?""",
    re.VERBOSE,
)
_PARTS = re.compile(
    rf"(?P<ordinal>{_ORDINAL})(?P<last>[ ]+last)?(?:[ ]+(?:day|(?P<weekday>{_WEEKDAY}))\b)?"
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
    days: tuple[int, ...] = ()  # of a month: 1 to 31, or from its end: LAST is -1
    in_month: tuple[tuple[int, int], ...] = ()  # weekdays of a month: (2, 4) is the 2nd Friday
    months: tuple[int, ...] = ()  # of a year: 1 to 12. Without days: that of the start
    when_done: bool = False  # whether to count from the day it is done, and not from its dates


def parse_rule(text: str) -> Rule | None:
    """Return the rule that a text says, in any letter case, or None if it is not supported."""
    match = _RULE.fullmatch(text.strip().lower())
    if match is None:
        return None
    every = int(match["every"] or 1)
    when_done = match["when_done"] is not None
    if match["unit"]:
        return Rule(Unit(match["unit"]), every, when_done=when_done)
    if match["workdays"]:
        return Rule(Unit.WEEK, weekdays=_WORKDAYS, when_done=when_done)
    if names := match["weekdays"] or match["on_weekdays"]:
        return Rule(Unit.WEEK, every, _numbers(_WEEKDAY, _WEEKDAYS, names), when_done=when_done)
    rule = Rule(Unit.MONTH, every, when_done=when_done)
    if named := match["months"] or match["month"]:
        months = tuple(number + 1 for number in _numbers(_MONTH, _MONTHS, named))
        rule = Rule(Unit.YEAR, months=months, when_done=when_done)
    places = match["places"] or match["in_months"] or match["in_month"]
    return rule if places is None else _placed(rule, places)


def _placed(rule: Rule, text: str) -> Rule | None:
    """Return a rule with these days of its months, or None if there can be no such day."""
    days: set[int] = set()
    weekdays: set[tuple[int, int]] = set()
    for part in _PARTS.finditer(text):
        word = part["ordinal"]
        number = _ORDINALS.get(word) or int(word[:-2])
        if part["last"]:
            if word in ("first", "last"):  # the plugin does not know these
                return None
            number = -number
        if part["weekday"] is None:
            days.add(number)
        else:
            (weekday,) = _numbers(_WEEKDAY, _WEEKDAYS, part["weekday"])
            weekdays.add((number, weekday))
    if days and weekdays:  # the plugin takes the days that are both
        return None
    if any(abs(day) > _MOST_DAYS for day in days):
        return None
    if any(abs(place) > _MOST_WEEKS for place, _ in weekdays):
        return None
    return replace(rule, days=tuple(sorted(days)), in_month=tuple(sorted(weekdays)))


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
        if rule.days or rule.in_month or rule.months:
            return _on_days(rule, start)
        year, month = _later(start, rule.every * (12 if rule.unit is Unit.YEAR else 1))
        return date(year, month, min(start.day, monthrange(year, month)[1]))
    except (OverflowError, ValueError):  # after the last year
        return None


def _numbers(name: str, short: tuple[str, ...], text: str) -> tuple[int, ...]:
    """Return the places of the names in a text, in order. `short` has their first letters."""
    letters = len(short[0])
    return tuple(sorted({short.index(word[:letters]) for word in re.findall(name, text)}))


def _in_weeks(rule: Rule, start: date) -> date:
    weekday = start.weekday()
    for later in rule.weekdays:
        if later > weekday:
            return start + timedelta(days=later - weekday)
    first = rule.weekdays[0] if rule.weekdays else weekday
    return start + timedelta(days=7 * rule.every + first - weekday)


def _on_days(rule: Rule, start: date) -> date | None:
    """Return the first of the named days after the start. Months without one are passed over."""
    step = rule.every if rule.unit is Unit.MONTH else 1
    for months in range(0, 12 * (MAXYEAR - start.year + 1), step):
        year, month = _later(start, months)
        if rule.months and month not in rule.months:
            continue
        first, length = monthrange(year, month)
        days = [day if day > 0 else length + 1 + day for day in rule.days]
        for place, weekday in rule.in_month:
            same = range(1 + (weekday - first) % 7, length + 1, 7)
            days += [same[place - (place > 0)]] if abs(place) <= len(same) else []
        if not (rule.days or rule.in_month):
            days = [start.day]
        for day in sorted(days):
            if 1 <= day <= length and (following := date(year, month, day)) > start:
                return following
    return None


def _later(start: date, months: int) -> tuple[int, int]:
    """Return the year and month that come a number of months after a day's."""
    years, month = divmod(start.month - 1 + months, 12)
    return start.year + years, month + 1
