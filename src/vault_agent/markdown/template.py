"""Templates: notes with places that are filled when a new note is made of them.

`{{title}}`, `{{date}}` and `{{time}}`, these two with a format after a colon, are written as in
Obsidian's own templates. `{{var:name}}` is a value that is given. Anything else in braces is text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from yaml import ScalarNode, SequenceNode

from vault_agent.errors import Conflict, InvalidRequest
from vault_agent.markdown import frontmatter
from vault_agent.markdown.frontmatter_edit import read_keys
from vault_agent.markdown.lines import insertable
from vault_agent.markdown.yaml_values import UnreadableYaml, compose, written
from vault_agent.text.placeholders import has_command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

DATE_FORMAT, TIME_FORMAT = "YYYY-MM-DD", "HH:mm"
MAX_FORMAT = 100

_PLACE = re.compile(
    r"\{\{(?:(?P<title>title)|(?P<now>date|time)(?::(?P<format>[^{}\r\n]*))?"
    r"|var:(?P<name>[^{}\r\n]{1,200}))\}\}"
)
# It stands for a place while the frontmatter is read: braces would be a mapping of YAML.
_MARK = "\ue000"
_MARKED = re.compile(f"{_MARK}([0-9]{{1,6}}){_MARK}")

_KNOWN = re.compile(r"\{\{(id|project|session|agent)\}\}")

_TOKEN = re.compile(r"\[([^\[\]]*)\]|YYYY|MMMM|MMM|MM|DD|dddd|ddd|dd|HH|mm|ss|WW|.", re.DOTALL)
_OTHER_TOKENS = frozenset("YMDdHhmsSWwEeGgQAakZzXxLlNyo")
"""Letters with a meaning in formats of Obsidian that is not supported here."""
_FORMAT = "Use YYYY MM MMM MMMM DD dd ddd dddd WW HH mm ss, and brackets around text."
_DIRECTIVES = {
    "YYYY": "%Y", "MMMM": "%B", "MMM": "%b", "MM": "%m", "DD": "%d", "dddd": "%A", "ddd": "%a",
    "dd": "%a", "HH": "%H", "mm": "%M", "ss": "%S", "WW": "%V",
}  # fmt: skip
"""The tokens of a format as `strftime` has them. Nothing sets a locale, so names are English."""


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
        InvalidRequest: `INVALID_REQUEST` with the names, `INVALID_REQUEST` if a note
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
            "INVALID_REQUEST",
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
    head = _fill_head(template[:end], filled)
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

    def token(match: re.Match[str]) -> str:
        if match[1] is not None:
            return match[1]
        if match[0] in _OTHER_TOKENS:
            what = f"The format of dates has {match[0]}, which is not supported."
            raise _unsupported(what, _FORMAT)
        text = now.strftime(_DIRECTIVES[match[0]]) if match[0] in _DIRECTIVES else match[0]
        return text[:2] if match[0] == "dd" else text

    return _TOKEN.sub(token, form)


def _fill_head(head: str, filled: Callable[[re.Match[str]], str]) -> str:
    """Fill frontmatter. A value with a title or a variable is written as YAML, quoted if needed."""
    places = list(_PLACE.finditer(head))
    unquoted = {number for number, place in enumerate(places) if not place["now"]}
    numbers = iter(range(len(places)))
    marked = _PLACE.sub(lambda _: f"{_MARK}{next(numbers)}{_MARK}", head)

    def text_of(match: re.Match[str]) -> str:
        number = int(match[1])
        return filled(places[number]) if number < len(places) else match[0]

    def one_line(text: str) -> str:
        return _MARKED.sub(lambda match: " ".join(text_of(match).split()), text)

    bounds = frontmatter.bounds(marked)
    start = bounds.block or 0
    try:
        root = compose(marked[start : bounds.fence or 0])
    except UnreadableYaml:
        root = None  # that is its author's
    pieces: list[str] = []
    done = 0
    for scalar, flow in _scalars(root):
        first, last = start + scalar.start_mark.index, start + scalar.end_mark.index
        own = {int(number) for number in _MARKED.findall(marked[first:last])}
        if scalar.style in ("|", ">") or not own & unquoted:
            continue
        quote = scalar.style if scalar.style in ("'", '"') else None
        value = _MARKED.sub(text_of, scalar.value)
        pieces += one_line(marked[done:first]), written(value, quote=quote, flow=flow)
        done = last
    return "".join(pieces) + one_line(marked[done:])


def _scalars(node: Any, *, flow: bool = False) -> Iterator[tuple[Any, bool]]:
    """Yield the scalars that are values, in order, and whether each is in brackets or braces."""
    if isinstance(node, ScalarNode):
        yield node, flow
    elif node is not None:
        items = node.value if isinstance(node, SequenceNode) else [child for _, child in node.value]
        for item in items:
            yield from _scalars(item, flow=flow or bool(node.flow_style))


def _check_keys(template: str, head: str) -> None:
    """Check that the frontmatter has the keys that it has with values that need no quotes."""
    plain = _PLACE.sub("x", template)
    try:
        expected = list(read_keys(plain.encode()))
    except Conflict:
        return  # the template's own frontmatter is broken: that is its author's
    try:
        keys = list(read_keys(head.encode()))
    except Conflict:
        keys = []
    if len(keys) != len(expected):
        raise _unsupported(
            "A value would change the structure of the frontmatter.",
            "Give another value, or put quotation marks around its place in the template.",
        )


def _unsupported(what: str, remedy: str) -> Conflict:
    return Conflict("TEMPLATE_UNSUPPORTED", what, remedy=remedy)
