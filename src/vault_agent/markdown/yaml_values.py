"""The YAML of frontmatter: its values and their types, how it is read, and how it is written.

A plain scalar is read by the core schema of YAML 1.2, as Obsidian reads it. Dates stay text: those
that Obsidian takes for dates (help.obsidian.md, Properties) have a type of their own in the index.

A block is read as nodes with their places. No constructor runs, so that scalars stay as written,
and values which no constructor reads (`{{date}}`) pass through.

All text that becomes YAML is quoted here. It is written plain only if YAML 1.1 and 1.2 read it back
as the same text.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import yaml
from frontmatter.default_handlers import YAMLHandler
from yaml.resolver import Resolver

from vault_agent.errors import InvalidRequest
from vault_agent.markdown.lines import insertable, line_ends, with_line_ends
from vault_agent.model.notes import PropertyType

if TYPE_CHECKING:
    _Base = yaml.SafeLoader
else:
    _Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Value: TypeAlias = "Scalar | list[Value] | dict[str, Value] | None"

NULLS = frozenset(("", "~", "null", "Null", "NULL"))
"""Scalars without quotes that are no value."""
_TRUE = frozenset(("true", "True", "TRUE"))
_FALSE = frozenset(("false", "False", "FALSE"))
_INTEGER = re.compile(r"[-+]?[0-9]+\Z")
_OCTAL = re.compile(r"0o[0-7]+\Z")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_NUMBER_STARTS = frozenset("+-.0123456789")
_MOST_DIGITS = 4_000  # Python refuses to convert more
_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?\Z",
    re.ASCII,
)


class Scalar(str):
    """A scalar as written, and its place in the file and in the block."""

    __slots__ = ("column", "end", "line", "plain", "start")
    line: int  # 1-based, of the file
    column: int  # 1-based
    start: int  # offset in the block, its quotes included
    end: int
    plain: bool  # without quotes: may be a number, a date or a boolean

    @classmethod
    def at(cls, text: str, line: int, column: int, start: int, end: int, *, plain: bool) -> Scalar:
        """Return a scalar with its place."""
        scalar = cls(text)
        scalar.line, scalar.column = line, column
        scalar.start, scalar.end = start, end
        scalar.plain = plain
        return scalar


def scalar_value(text: str, *, plain: bool) -> Json:
    """Return what a scalar means. Anything but null, booleans and finite numbers is text."""
    if not plain:
        return text
    if text in NULLS:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if text[0] not in _NUMBER_STARTS or len(text) > _MOST_DIGITS:
        return text
    if _INTEGER.match(text):
        return int(text)  # also with zeros before it
    if _OCTAL.match(text) or _HEXADECIMAL.match(text):
        return int(text, 0)
    if _FLOAT.match(text):
        value = float(text)
        return value if abs(value) != float("inf") else text
    return text


def type_of(text: str, *, plain: bool) -> PropertyType:
    """Return the type of a scalar that is on one line."""
    if not text:
        return PropertyType.EMPTY
    value = scalar_value(text, plain=plain)
    if isinstance(value, bool):
        return PropertyType.BOOLEAN
    if isinstance(value, (int, float)):
        return PropertyType.NUMBER
    return PropertyType.DATE if plain and _DATE.match(text) else PropertyType.TEXT


def same(one: Json, other: Json) -> bool:
    """Whether two values are equal as JSON: 1 is 1.0, but not true."""
    return identity(one) == identity(other)


def identity(value: Json) -> object:
    """Return a hashable object that is equal for equal values."""
    if isinstance(value, list):
        return ("list", tuple(map(identity, value)))
    if isinstance(value, dict):
        return ("map", frozenset((key, identity(member)) for key, member in value.items()))
    return (isinstance(value, bool), value)


def json_of(value: Value) -> Json:
    """Return what a value means."""
    if isinstance(value, Scalar):
        return scalar_value(str(value), plain=value.plain)
    if isinstance(value, list):
        return [json_of(item) for item in value]
    return None if value is None else {key: json_of(item) for key, item in value.items()}


# --- reading ------------------------------------------------------------------------------------

MAX_READ_DEPTH = 100
FIRST_LINE = 2
"""The line of a file at which its YAML starts. The opening fence is the first one."""
PLAIN = "plain"
"""The tag of a scalar without quotes and without a tag of its own."""
_MAX_CUTS = 3


class UnreadableYaml(Exception):
    """The YAML of a block cannot be read. `problem` quotes nothing of it.

    `offset` is about where it is, and `context` is where the value starts that has the problem.
    """

    def __init__(self, problem: str, offset: int | None = None, context: int | None = None) -> None:
        super().__init__(problem)
        self.problem, self.offset, self.context = problem, offset, context


class _Loader(_Base):
    """A loader that returns nodes, and counts their depth before it goes deeper."""

    depth = 0

    def get_single_data(self) -> yaml.Node | None:
        """Return the node of the only document."""
        node: yaml.Node | None = self.get_single_node()
        return node

    def resolve(self, kind: type[yaml.Node], _value: Any, implicit: Any) -> str:
        """Return the tag of a node without a tag."""
        return PLAIN if kind is yaml.ScalarNode and implicit[0] else ""

    def descend_resolver(self, parent: yaml.Node | None, _index: Any) -> None:
        """Count a level of nesting."""
        self.depth += 1
        if self.depth > MAX_READ_DEPTH and parent is not None:
            raise UnreadableYaml("nested too deeply", parent.start_mark.index)

    def ascend_resolver(self) -> None:
        """Leave a level of nesting."""
        self.depth -= 1


def compose(text: str) -> yaml.Node | None:
    """Return the root node of a block, or None if the block is empty.

    Raises:
        UnreadableYaml: if it is not valid YAML, is nested over 100 levels deep, or has anchors or
            aliases. A few of these can make a value of any size.
    """
    try:
        if "&" in text or "*" in text:
            for event in yaml.parse(text, Loader=_Loader):
                if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
                    raise UnreadableYaml(
                        "anchors and aliases are not read", _index(event, "start_mark")
                    )
        node: yaml.Node | None = YAMLHandler().load(text, Loader=_Loader)
    except (yaml.YAMLError, ValueError) as error:  # the reader rejects half of a character
        # A character that the reader rejects has a position instead of a mark.
        offset = _index(error, "problem_mark", getattr(error, "position", None))
        raise UnreadableYaml("not valid YAML", offset, _index(error, "context_mark")) from None
    return node


def _index(source: object, name: str, default: int | None = None) -> int | None:
    mark: Any = getattr(source, name, None)
    return default if mark is None else int(mark.index)


def line_of(text: str, offset: int) -> int:
    """Return the line in the file of an offset of its YAML."""
    return FIRST_LINE + line_ends(text[:offset])


def load(text: str) -> tuple[Value, str | None]:
    """Return the value of a block as written, and why some of it could not be read.

    Of a key that is given twice the first value counts. Top-level keys are lower case, because
    Obsidian compares them so. Lines before an error are kept.
    """
    problem: str | None = None
    readable = text
    for _ in range(_MAX_CUTS):
        try:
            node = compose(readable)
        except UnreadableYaml as error:
            if problem is None:
                has_line = error.problem == "not valid YAML" and error.offset is not None
                line = f" (line {line_of(text, error.offset or 0)})" if has_line else ""
                problem = error.problem + line
            readable = _before_error(readable, error)
        else:
            reader = Reader()
            value = None if node is None else reader.value(node, fold=True)
            return value, problem or next(iter(reader.problems), None)
    return None, problem


def _before_error(text: str, error: UnreadableYaml) -> str:
    """Return the lines before an error, or before the value that is not closed at the end."""
    lines = with_line_ends(text)
    for offset in (error.offset, error.context):
        start = lines.rfind("\n", 0, offset or 0) + 1
        if start < len(text.rstrip()):
            return text[:start]
    return ""


class Reader:
    """Turns nodes into values. `problems` says what was left out.

    Lines and columns are those of YAML: U+0085, U+2028 and U+2029 end a line, too.
    """

    def __init__(self) -> None:
        self.problems: list[str] = []

    def value(self, node: yaml.Node, *, fold: bool = False) -> Value:
        """Return the value of a node. With `fold`, its own keys become lower case."""
        if isinstance(node, yaml.ScalarNode):
            plain = node.tag == PLAIN
            if plain and node.value in NULLS:
                return None
            start = node.start_mark
            line, column = start.line + FIRST_LINE, start.column + 1
            end = node.end_mark.index
            return Scalar.at(node.value, line, column, start.index, end, plain=plain)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item) for item in node.value]
        values: dict[str, Value] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.problems.append("a key is not plain text")
                continue
            name = key.value.lower() if fold else key.value
            if name in values:
                line = key.start_mark.line + FIRST_LINE
                self.problems.append(f"a key is given twice (line {line})")
            else:
                values[name] = self.value(value)
        return values


# --- writing ------------------------------------------------------------------------------------

MAX_WRITTEN_DEPTH = 32
DOUBLE = '"'

_NOT_FINITE = re.compile(r"(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z")
# The spec of YAML 1.1 has these too, but PyYAML does not.
_OLD_BOOLEANS = frozenset(("y", "Y", "n", "N"))
_STRING = "tag:yaml.org,2002:str"
# Dates are written as Obsidian writes them. Other programs may read them as dates.
_PLAIN_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?)?\Z", re.ASCII)

# Written as escapes in double quotes: controls, breaks that only some parsers know, the byte order
# mark and what is no character.
_ESCAPED = re.compile('[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff"\\\\]')
_SHORT = {"\n": r"\n", "\t": r"\t", "\r": r"\r", '"': r"\"", "\\": r"\\"}
_INDICATORS = frozenset("-?:,[]{}#&*!|>'\"%@`=<~. ")
_NEVER_PLAIN = re.compile(r": |:\Z| #| \Z|[^\S ]")
_NOT_PLAIN = re.compile(r": |:\Z| #|\A[\s\-?:,\[\]{}#&*!|>'\"%@`]|\s\Z")
_BRACKETS = re.compile(r"[,\[\]{}]")
_NEVER_IN_FLOW = re.compile(r"[,\[\]{}:#]")


def check_value(value: Json, depth: int = 0) -> None:
    """Check that a value can be written.

    Raises:
        InvalidRequest: `INVALID_REQUEST` if it is nested over 32 levels deep, or has a number that
            is not finite, or text that a note cannot contain.
    """
    if depth > MAX_WRITTEN_DEPTH:
        raise InvalidRequest("INVALID_REQUEST", "The value is nested too deeply.")
    if isinstance(value, float) and not -float("inf") < value < float("inf"):
        raise InvalidRequest("INVALID_REQUEST", "A number must be finite.")
    if isinstance(value, int) and abs(value) >= 1 << 256:
        raise InvalidRequest("INVALID_REQUEST", "A number has too many digits.")
    if isinstance(value, str):
        insertable(value)
    for item in value if isinstance(value, list) else ():
        check_value(item, depth + 1)
    for key, item in value.items() if isinstance(value, dict) else ():
        check_value(key, depth + 1)
        check_value(item, depth + 1)


def written(value: Json, *, quote: str | None = None, flow: bool = False) -> str:
    """Return a value as YAML on one line, as in `key: value`. Null is the empty text.

    `quote` is the quotation mark of text, if it must have one. `flow` is whether the value is
    within brackets.
    """
    if value is None:
        return "null" if flow else ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, str):
        return _text(value, quote, flow=flow)
    if isinstance(value, list):
        return f"[{', '.join(written(item, quote=quote, flow=True) for item in value)}]"
    pairs = (
        f"{_text(key, None, flow=True, date=False)}: {written(item, quote=quote, flow=True)}"
        for key, item in value.items()
    )
    return f"{{{', '.join(pairs)}}}"


def written_key(name: str) -> str:
    """Return a new key as YAML.

    Raises:
        InvalidRequest: `INVALID_REQUEST` if it is empty, over 200 characters, or has controls.
    """
    if not 1 <= len(name) <= 200 or _has_controls(name):
        raise InvalidRequest(
            "INVALID_REQUEST", "A key must be one line of 1 to 200 characters without controls."
        )
    return _text(name, None, flow=False, date=False)


def within(text: str, quote: str, *, flow: bool = False) -> str | None:
    """Return text as a part of a scalar in quotation marks, or without if `quote` is empty.

    Return None if it cannot be written there. `flow` is whether a scalar without quotation marks
    may be within brackets.
    """
    if quote == DOUBLE:
        return _ESCAPED.sub(_escape, text)
    if _has_controls(text):
        return None
    if quote:
        return text.replace("'", "''")
    if _NOT_PLAIN.search(text) or (flow and _BRACKETS.search(text)):
        return None
    return text


def _has_controls(text: str) -> bool:
    return _ESCAPED.search(text.replace('"', "").replace("\\", "")) is not None


def _float(value: float) -> str:
    text = repr(value)
    if "e" in text and "." not in text:  # YAML 1.1 wants a point
        text = text.replace("e", ".0e")
    return text


def _text(text: str, quote: str | None, *, flow: bool, date: bool = True) -> str:
    if quote is None and _is_plain(text, flow=flow, date=date):
        return text
    inside = None if quote != "'" else within(text, quote)
    return f'"{within(text, DOUBLE)}"' if inside is None else f"'{inside}'"


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    return _SHORT.get(character) or f"\\u{ord(character):04X}"


def _is_plain(text: str, *, flow: bool, date: bool) -> bool:
    """Whether text without quotes is the same text in YAML 1.1 and 1.2."""
    if not text or text[0] in _INDICATORS or _ESCAPED.search(text) or _NEVER_PLAIN.search(text):
        return False
    if flow and _NEVER_IN_FLOW.search(text):
        return False
    if date and _PLAIN_DATE.match(text):
        return True
    if not isinstance(scalar_value(text, plain=True), str):
        return False
    if _NOT_FINITE.match(text) or text in _OLD_BOOLEANS:
        return False
    tag: str = _resolver().resolve(yaml.ScalarNode, text, (True, False))  # of YAML 1.1
    return tag == _STRING


_resolver: Any = cache(Resolver)  # its methods have no types
