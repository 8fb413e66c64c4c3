"""The fields of a task's text, as the Tasks plugin of Obsidian and Dataview write them.

Emoji fields are read from the end, so that one in the middle of the text is text. Dataview fields
stand in brackets anywhere: `[due:: 2025-05-01]` or `(priority:: high)`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vault_agent.model.lists import TaskFields

if TYPE_CHECKING:
    from collections.abc import Callable

_DATES = {
    "📅": "due", "📆": "due", "🗓": "due", "⏳": "scheduled", "⌛": "scheduled", "🛫": "start",
    "➕": "created", "✅": "done", "❌": "cancelled",
}  # fmt: skip
_PRIORITIES = {"🔺": "highest", "⏫": "high", "🔼": "medium", "🔽": "low", "⏬": "lowest"}
_DATE = re.compile(rf"({'|'.join(_DATES)})\ufe0f?\s*(\d{{4}}-\d\d-\d\d)\Z")
_PRIORITY = re.compile(rf"({'|'.join(_PRIORITIES)})\ufe0f?\Z")
_RECURRENCE = re.compile(r"🔁\ufe0f?\s*([a-zA-Z0-9, !]{1,200})\Z")
_ON_COMPLETION = re.compile(r"🏁\ufe0f?\s*[a-zA-Z]{1,20}\Z")
_ID = re.compile(r"🆔\ufe0f?\s*([a-zA-Z0-9_-]{1,100})\Z")
_DEPENDS_ON = re.compile(r"⛔\ufe0f?\s*([a-zA-Z0-9_-]{1,100}(?:\s*,\s*[a-zA-Z0-9_-]{1,100})*)\Z")
_TAG = re.compile(r"(?:^|(?<=\s))#([^\s!@#$%^&*(),.?\":{}|<>\[\]]{1,200})")
_TAG_AT_END = re.compile(r"(?:^|(?<=\s))#[^\s!@#$%^&*(),.?\":{}|<>\[\]]{1,200}\Z")
_BLOCK = re.compile(r"\s\^[A-Za-z0-9-]{1,100}\Z")
_LAST = 400
"""Characters at the end in which one field is looked for."""

_INLINE = re.compile(r"[\[(]\s*([A-Za-z]{2,20})::\s*([^\])]{0,200}?)\s*[\])]")
_INLINE_NAMES = {
    "due": "due", "scheduled": "scheduled", "start": "start", "created": "created",
    "completion": "done", "cancelled": "cancelled", "priority": "priority", "repeat": "recurrence",
    "id": "id", "dependsOn": "depends_on",
}  # fmt: skip
_INLINE_DATES = {"due", "scheduled", "start", "created", "done", "cancelled"}
_DAY = re.compile(r"\d{4}-\d\d-\d\d\Z")


def task_fields(text: str) -> TaskFields:
    """Return the fields of a task's text, and its description without them."""
    found: dict[str, str] = {}
    tags = tuple(dict.fromkeys(match[1].rstrip("/") for match in _TAG.finditer(text)))
    rest = _BLOCK.sub("", text.rstrip())
    rest, kept = _peeled(rest, found)
    form = "emoji" if found else None
    if "::" in rest:
        inline: dict[str, str] = {}
        rest = _INLINE.sub(_reader(inline), rest)
        if inline:
            found = {**inline, **found}
            form = form or "dataview"
    depends_on = tuple(each.strip() for each in found.pop("depends_on", "").split(",") if each)
    description = " ".join([rest.strip(), *kept]).strip()
    return TaskFields(description, depends_on=depends_on, tags=tags, format=form, **found)


def _peeled(rest: str, found: dict[str, str]) -> tuple[str, list[str]]:
    """Take emoji fields and tags from the end. Return the rest, and the tags in their order."""
    kept: list[str] = []
    while True:
        rest = rest.rstrip()
        end = rest[-_LAST:]
        match = _field(end, found)
        if match is None and (match := _TAG_AT_END.search(end)) is not None:
            kept.insert(0, match[0])
        if match is None:
            return rest, kept
        rest = rest[: len(rest) - len(end) + match.start()]


def _field(end: str, found: dict[str, str]) -> re.Match[str] | None:
    if match := _DATE.search(end):
        found.setdefault(_DATES[match[1]], match[2])
    elif match := _PRIORITY.search(end):
        found.setdefault("priority", _PRIORITIES[match[1]])
    elif match := _RECURRENCE.search(end):
        found.setdefault("recurrence", match[1].strip())
    elif match := _ID.search(end):
        found.setdefault("id", match[1])
    elif match := _DEPENDS_ON.search(end):
        found.setdefault("depends_on", match[1])
    else:
        match = _ON_COMPLETION.search(end)
    return match


def _reader(found: dict[str, str]) -> Callable[[re.Match[str]], str]:
    """Return a function that takes a known Dataview field out of the text."""

    def read(match: re.Match[str]) -> str:
        name, value = _INLINE_NAMES.get(match[1]), match[2]
        if name is None or not value or (name in _INLINE_DATES and not _DAY.match(value)):
            return match[0]
        found[name] = value
        return ""

    return read
