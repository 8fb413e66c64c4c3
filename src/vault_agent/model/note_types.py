"""The types of notes in project and global vaults."""

from __future__ import annotations

from typing import Final

FOLDERS: Final = {
    "journals": "journal",
    "decisions": "decision",
    "adr": "decision",
    "modules": "module",
    "bugs": "bug",
    "patterns": "pattern",
    "snippets": "snippet",
}
"""The type of a note without one, by its first folder."""

PLAIN: Final = "note"
TYPES: Final = ("journal", "decision", "module", "note", "pattern", "bug", "snippet")


def type_of_folder(path: str) -> str:
    """Return the type of a note without one, from its vault-relative path."""
    return FOLDERS.get(path.partition("/")[0].lower(), PLAIN) if "/" in path else PLAIN
