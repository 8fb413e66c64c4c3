"""Templates: notes with places that are filled when a new note is made of them.

`{{title}}`, `{{date}}` and `{{time}}`, these two with a format after a colon, are written as in
Obsidian's own templates. `{{var:name}}` is a value that is given. Anything else in braces is text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vault_agent.errors import Conflict, InvalidRequest
from vault_agent.text.placeholders import has_command

from . import frontmatter
from .edit import insertable
from .yaml.edit import read_keys
from .yaml.write import DOUBLE, within, written

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

DATE_FORMAT, TIME_FORMAT = "YYYY-MM-DD", "HH:mm"
MAX_FORMAT = 100

_PLACE = re.compile(
    r"\{\{(?:(?P<title>title)|(?P<now>date|time)(?::(?P<format>[^{}\r\n]*))?"
    r"|var:(?P<name>[^{}\r\n]{1,200}))\}\}"
)
_GIVEN = re.compile(r"\{\{(?:title|var:[^{}\r\n]{1,200})\}\}")
# A line of frontmatter: what is before the value, and the value without a comment behind it.
_LINE = re.compile(
    r"""(?P<before>[ \t]*(?:-[ ]+)*(?:(?:[^\s#:"'{}\[\]][^\r\n:]*|"[^"\r\n]*"|'[^'\r\n]*'):[ \t]+)?)
    (?P<value>"[^"\r\n]*"|'[^'\r\n]*'|[^\r\n]*?)(?P<after>[ \t]*(?:[ \t]\#[^\r\n]*)?)$""",
    re.MULTILINE | re.VERBOSE,
)
_QUOTED_OR_ITEM = re.compile(r"""\"[^"]*\"|'[^']*'|(?:\{\{[^{}]*\}\}|[^\[\]{},:"'])+""")

_KNOWN = re.compile(r"\{\{(id|project|session|agent)\}\}")

_TOKEN = re.compile(r"\[([^\[\]]*)\]|YYYY|MMMM|MMM|MM|DD|dddd|ddd|dd|HH|mm|ss|WW|.", re.DOTALL)
_OTHER_TOKENS = frozenset("YMDdHhmsSWwEeGgQAakZzXxLlNyo")
"""Letters with a meaning in formats of Obsidian that is not supported here."""
_FORMAT = "Use YYYY MM MMM MMMM DD dd ddd dddd WW HH mm ss, and brackets around text."
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def with_known(template: str) -> str:
    """Return a template whose `{{id}}`, `{{project}}`, `{{session}}` and `{{agent}}` are variables.

    Elsewhere they are text, as in Obsidian.
    """
    return _KNOWN.sub(r"{{var:\1}}", template)


def variables(template: str) -> tuple[str, ...]:
    """Return the names of the variables that a template needs, in order."""
    names = (match["name"] for match in _PLACE.finditer(template))
    return tuple(dict.fromkeys(name.strip() for name in names if name is not None))


def fill(template: str, *, title: str, now: datetime, values: Mapping[str, str]) -> str:
    """Return a template's text with its places filled. What is filled in is not filled again.

    In frontmatter the title and the variables are quoted where YAML needs it.

    Raises:
        InvalidRequest: `TEMPLATE_VARIABLE_MISSING` with the names, `INVALID_REQUEST` if a note
            cannot contain a value.
        Conflict: `TEMPLATE_UNSUPPORTED` for Templater's commands, for formats of dates that are not
            supported, and if a value would change the structure of the frontmatter.
    """
    if has_command(template):
        what = "The template has commands (`<% %>`), which are never run."
        raise Conflict("TEMPLATE_UNSUPPORTED", what)
    missing = [name for name in variables(template) if name not in values]
    if missing:
        raise InvalidRequest(
            "TEMPLATE_VARIABLE_MISSING",
            "The template needs a value for each of its variables.",
            {"variables": missing},
        )
    for value in (title, *values.values()):
        insertable(value)

    def filled(match: re.Match[str]) -> str:
        if match["title"]:
            return title
        if match["name"] is not None:
            return values[match["name"].strip()]
        default = DATE_FORMAT if match["now"] == "date" else TIME_FORMAT
        return formatted(now, match["format"] or default)

    end = frontmatter.bounds(template).end
    head = _filled_head(template[:end], filled)
    _check_keys(template[:end], head)
    return head + _PLACE.sub(filled, template[end:])


def formatted(now: datetime, form: str) -> str:
    """Return a time in a format of these tokens: YYYY MM MMM MMMM DD dd ddd dddd WW HH mm ss.

    What is in brackets is text. Names are in English.

    Raises:
        Conflict: `TEMPLATE_UNSUPPORTED` for any other letter that Obsidian would replace.
    """
    if len(form) > MAX_FORMAT:
        raise _unsupported(f"A format of dates has over {MAX_FORMAT} characters.", _FORMAT)
    day, month = _DAYS[now.weekday()], _MONTHS[now.month - 1]
    known = {
        "YYYY": f"{now.year:04}",
        "MMMM": month,
        "MMM": month[:3],
        "MM": f"{now.month:02}",
        "DD": f"{now.day:02}",
        "dddd": day,
        "ddd": day[:3],
        "dd": day[:2],
        "HH": f"{now.hour:02}",
        "mm": f"{now.minute:02}",
        "ss": f"{now.second:02}",
        "WW": f"{now.isocalendar().week:02}",
    }

    def token(match: re.Match[str]) -> str:
        if match[1] is not None:
            return match[1]
        if match[0] in _OTHER_TOKENS:
            what = f"The format of dates has {match[0]}, which is not supported."
            raise _unsupported(what, _FORMAT)
        return known.get(match[0], match[0])

    return _TOKEN.sub(token, form)


def _filled_head(head: str, filled: Callable[[re.Match[str]], str]) -> str:
    """Fill frontmatter line by line, and write values that are given as YAML."""

    def item(text: str, *, flow: bool) -> str:
        """Fill one scalar."""
        if _PLACE.search(text) is None:
            return text
        content = text.strip()
        around = text.partition(content)
        quote = content[0] if content[0] in "\"'" and content[-1] == content[0] else None
        if quote is not None:
            # What is between the places is quoted already.
            return around[0] + _in_quotes(content, quote, filled) + around[2]
        new = _PLACE.sub(filled, content)
        if _GIVEN.search(content) is not None:
            new = written(new, flow=flow)
        return around[0] + new + around[2]

    def one_line(match: re.Match[str]) -> str:
        return " ".join(filled(match).split())

    def line(match: re.Match[str]) -> str:
        value = match["value"]
        if not value or _PLACE.search(match[0]) is None:
            return match[0]
        if match[0].lstrip(" \t").startswith("#"):
            return _PLACE.sub(one_line, match[0])
        if value[0] == "[" or (value[0] == "{" and _PLACE.match(value) is None):
            value = _QUOTED_OR_ITEM.sub(lambda each: item(each[0], flow=True), value)
        else:
            value = item(value, flow=False)
        before, after = (_PLACE.sub(one_line, match[part]) for part in ("before", "after"))
        return before + value + after

    return _LINE.sub(line, head)


def _in_quotes(content: str, quote: str, filled: Callable[[re.Match[str]], str]) -> str:
    """Fill a scalar in quotation marks."""
    values = [filled(match) for match in _PLACE.finditer(content)]
    if quote == "'" and any(written(each, quote=quote)[0] != quote for each in values):
        # Single quotes can't escape: such a value needs double ones, and the text between does too.
        plain = within(content[1:-1].replace("''", "'"), DOUBLE)
        content, quote = f'"{plain}"', DOUBLE
    return _PLACE.sub(lambda match: written(filled(match), quote=quote)[1:-1], content)


def _check_keys(template: str, head: str) -> None:
    """Check that the frontmatter has the keys that it has with values that need no quotes."""
    plain = _PLACE.sub("x", template)
    try:
        expected = list(read_keys(plain.encode()))
    except Conflict:
        return  # the template's own frontmatter is broken: that is its author's
    try:
        found = list(read_keys(head.encode()))
    except Conflict:
        found = []
    if len(found) != len(expected):
        raise _unsupported(
            "A value would change the structure of the frontmatter.",
            "Give another value, or put quotation marks around its place in the template.",
        )


def _unsupported(what: str, remedy: str) -> Conflict:
    return Conflict("TEMPLATE_UNSUPPORTED", what, remedy=remedy)
