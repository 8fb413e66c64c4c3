"""The types of notes in project and global vaults, and the fields of their frontmatter."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final, TypeVar

from vault_agent.text.names import slug

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDERS: Final = {
    "journals": "journal",
    "adr": "decision",
    "decisions": "decision",
    "modules": "module",
    "bugs": "bug",
    "patterns": "pattern",
    "snippets": "snippet",
}
"""The type of a note without one, by its first folder."""

PLAIN: Final = "note"
TYPES: Final = ("journal", "decision", "module", "note", "pattern", "bug", "snippet")

FOLDER_OF: Final = {kind: folder for folder, kind in FOLDERS.items()}
"""The folder of new notes, by their type. Those of other types lie in `OTHERS`."""
OTHERS: Final = "notes"

FIELDS: Final = (
    "id", "type", "title", "created", "updated", "tags", "links", "files", "project", "session",
    "agent", "promoted", "status", "model", "duration_minutes", "cost_usd", "commits", "tokens_in",
    "tokens_out", "generator", "incomplete_reason", "promoted_to", "promoted_from",
    "source_files",
)  # fmt: skip
"""The fields of a note in their order. Others follow."""

Value = TypeVar("Value")
_DIGITS = "abcdefghijklmnopqrstuvwxyz234567"


def in_order(values: Mapping[str, Value]) -> dict[str, Value]:
    """Return the fields of a note in their order."""
    order = {name: place for place, name in enumerate(FIELDS)}
    return dict(sorted(values.items(), key=lambda pair: order.get(pair[0], len(order))))


def new_note_id(kind: str, day: str) -> str:
    """Return an `id` for a new note of a type: `{type}-{YYYY-MM-DD}-{6 random characters}`.

    Of a type that somebody has written, only letters and digits stay.
    """
    return f"{slug(kind, 40) or PLAIN}-{day}-{''.join(secrets.choice(_DIGITS) for _ in range(6))}"


def type_of_folder(path: str) -> str:
    """Return the type of a note without one, from its vault-relative path."""
    return FOLDERS.get(path.partition("/")[0].lower(), PLAIN) if "/" in path else PLAIN
