"""Tasks: list items with a check box, except in code, HTML and comments; and the fields of a text.

Fields are written as the Tasks plugin of Obsidian and Dataview do. Emoji fields are read from the
end, so that one in the middle of the text is text. Dataview fields stand in brackets anywhere:
`[due:: 2025-05-01]` or `(priority:: high)`.
"""

from __future__ import annotations

import re
import tomllib
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.model.lists import TaskFields

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vault_agent.markdown.lines import Lines

MAX_TEXT_CHARS = 1_000
_MAX_BEFORE = 200

_BOX = re.compile(r"\[([^\0\r\n])\](?=[ \t\r\n]|\Z)")
_MARKER = re.compile(r"((?:[ \t]*+>)*+[ \t]*+)(?:[-*+]|\d{1,9}[.)])[ \t]++\Z")


class TaskLine(NamedTuple):
    """A task of a note. `start` and `end` are those of its line, without the line end."""

    line: int  # from 1
    start: int
    box: int  # of the "["
    end: int
    indent: int

    @property
    def symbol(self) -> int:
        """Where the character in the box is."""
        return self.box + 1

    @property
    def rest(self) -> int:
        """Where the text after the box starts."""
        return self.box + 3


def line_digest(line: str) -> str:
    """Return the hash of a task's line that its ID contains: 8 hexadecimal digits."""
    return sha256(line.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def task_lines(source: str, text: str, lines: Lines, body: int) -> Iterator[TaskLine]:
    """Yield the tasks of a body that starts at an offset of a text with these lines.

    `text` is `source` with code, HTML and comments masked.
    """
    for match in _BOX.finditer(text):
        at = match.start()
        # Line ends are those of the source: a mask may cover them.
        line_start = source.rfind("\n", max(0, at - _MAX_BEFORE), at) + 1
        if not line_start and at > _MAX_BEFORE:
            continue
        before = _MARKER.match(text, line_start, at)
        if before is None:
            continue
        line_end = source.find("\n", at)
        if line_end < 0:
            line_end = len(source)
        elif source[line_end - 1] == "\r":
            line_end -= 1
        indent = len(before[1].rpartition(">")[2].expandtabs(4))
        start = body + line_start
        yield TaskLine(lines.line(start), start, body + at, body + line_end, indent)


# --- fields ---------------------------------------------------------------------------------------

EMOJI, DATAVIEW = "emoji", "dataview"

_FIELDS: dict[str, dict[str, str]] = tomllib.loads(
    files(__package__).joinpath("task_fields.toml").read_text("utf-8")
)
_DATES, _TEXTS, _PRIORITIES = _FIELDS["dates"], _FIELDS["texts"], _FIELDS["priorities"]
_NAMES = {**_DATES, **_TEXTS}
_FIELD = re.compile(
    rf"""(?:(?P<priority>{"|".join(_PRIORITIES)})\ufe0f?
    | (?P<date>{"|".join(_DATES)})\ufe0f?[ \t]*(?P<day>\d{{4}}-\d\d-\d\d)
    | (?P<recurrence>🔁)\ufe0f?[ \t]*(?P<rule>[a-zA-Z0-9, !]{{1,200}})
    | (?P<on_completion>🏁)\ufe0f?[ \t]*(?P<action>[a-zA-Z]{{1,20}})
    | (?P<id>🆔)\ufe0f?[ \t]*(?P<name>[a-zA-Z0-9_-]{{1,100}})
    | (?P<depends_on>⛔)\ufe0f?[ \t]*
        (?P<names>[a-zA-Z0-9_-]{{1,100}}(?:[ \t]*,[ \t]*[a-zA-Z0-9_-]{{1,100}})*)
    )\Z""",
    re.VERBOSE,
)
_TAG = re.compile(r"(?:^|(?<=\s))#([^\s!@#$%^&*(),.?\":{}|<>\[\]]{1,200})")
_TAG_AT_END = re.compile(r"(?:^|(?<=\s))#[^\s!@#$%^&*(),.?\":{}|<>\[\]]{1,200}\Z")
_BLOCK = re.compile(r"\s\^[A-Za-z0-9-]{1,100}\Z")
_LAST = 400
"""Characters at the end in which one field is looked for."""

# Linear: what has matched once is not tried in another way.
_INLINE = re.compile(
    r"\[\s*+([A-Za-z]{2,20})::\s*+([^\])]{0,200}+)\]"
    r"|\(\s*+([A-Za-z]{2,20})::\s*+([^\])]{0,200}+)\)"
)
_INLINE_NAMES = _FIELDS["dataview"]
_DAY = re.compile(r"\d{4}-\d\d-\d\d\Z")


class Field(NamedTuple):
    """A field in a task's text: its name, value and places. `form` is emoji or dataview."""

    name: str  # of TaskFields, or on_completion
    value: str
    start: int
    end: int
    value_start: int  # of a priority's emoji, the emoji
    form: str


class Placed(NamedTuple):
    """The fields of a task's text, and where new ones go.

    `fields` are in no order; of those with one name, the first is the one that counts.
    """

    fields: tuple[Field, ...]
    end: int  # of the text before a block ID and spaces
    tags: tuple[tuple[int, int], ...]  # those between the fields at the end, in order

    def of(self, name: str) -> Field | None:
        """Return the field with a name that counts, or None."""
        return next((field for field in self.fields if field.name == name), None)

    @property
    def form(self) -> str | None:
        """How the fields are written: emoji if one is, else dataview, or None without fields."""
        forms = {field.form for field in self.fields}
        return EMOJI if EMOJI in forms else next(iter(forms), None)


def placed_fields(text: str) -> Placed:
    """Return the fields of a task's text with their places in it."""
    end = _stripped(text, len(text))
    block = _BLOCK.search(text, max(0, end - _LAST), end)
    content = len(text[: block.start() if block else len(text)].rstrip(" \t"))
    fields: list[Field] = []
    tags: list[tuple[int, int]] = []
    rest = content
    while True:
        rest = _stripped(text, rest)
        start = max(0, rest - _LAST)
        if (match := _FIELD.search(text, start, rest)) is not None:
            fields.append(_emoji(match))
        elif (match := _TAG_AT_END.search(text, start, rest)) is not None:
            tags.append(match.span())
        else:
            break
        rest = match.start()
    inline = list(_inline(text[:rest])) if "::" in text else []
    return Placed((*fields, *reversed(inline)), content, tuple(reversed(tags)))


def task_fields(text: str) -> TaskFields:
    """Return the fields of a task's text, and its description without them."""
    placed = placed_fields(text)
    values = {field.name: field.value for field in reversed(placed.fields)}
    values.pop("on_completion", None)
    depends_on = tuple(name.strip() for name in values.pop("depends_on", "").split(",") if name)
    # What is between the fields at the end is spaces and tags.
    at_end = [field.start for field in placed.fields if field.form == EMOJI]
    rest = text[: min([placed.end, *at_end, *(start for start, _ in placed.tags)])]
    for field in placed.fields:
        if field.form == DATAVIEW:  # from the last to the first
            rest = rest[: field.start] + rest[field.end :]
    description = " ".join([rest.strip(), *(text[start:end] for start, end in placed.tags)]).strip()
    tags = tuple(dict.fromkeys(match[1].rstrip("/") for match in _TAG.finditer(text)))
    return TaskFields(description, depends_on=depends_on, tags=tags, format=placed.form, **values)


def written(name: str, value: str, form: str) -> str:
    """Return a field as text to put behind others, with the spaces before it.

    `name` is that of a date, `priority` or `recurrence`.
    """
    if form == DATAVIEW:
        key = next(key for key, field in _INLINE_NAMES.items() if field == name)
        return f"  [{key}:: {value}]"  # two spaces, because Obsidian hides some fields after one
    if name == "priority":
        return " " + next(emoji for emoji, priority in _PRIORITIES.items() if priority == value)
    return f" {next(emoji for emoji, field in _NAMES.items() if field == name)} {value}"


def _stripped(text: str, end: int) -> int:
    """Return the end without the white space before it."""
    while end and text[end - 1].isspace():
        end -= 1
    return end


def _emoji(match: re.Match[str]) -> Field:
    if match["priority"]:
        value = _PRIORITIES[match["priority"]]
        return Field("priority", value, *match.span(), match.start(), EMOJI)
    part = next(
        part for part in ("day", "rule", "action", "name", "names") if match[part] is not None
    )
    name = _NAMES[match[0][0]]
    return Field(name, match[part].strip(), *match.span(), match.start(part), EMOJI)


def _inline(text: str) -> Iterator[Field]:
    """Yield the known Dataview fields in order."""
    for match in _INLINE.finditer(text):
        key = 1 if match[1] is not None else 3
        name, value = _INLINE_NAMES.get(match[key]), match[key + 1].rstrip()
        if name is None or not value or (name in _DATES.values() and not _DAY.match(value)):
            continue
        yield Field(name, value, *match.span(), match.start(key + 1), DATAVIEW)
