"""The devlog: one note a topic, one line for each thing that was done or learned."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vault_agent.errors import InvalidRequest
from vault_agent.markdown import edit
from vault_agent.model.authoring import DevlogEntry, DevlogKind
from vault_agent.text.names import slug, stem
from vault_agent.vault.naming import NOTE_SUFFIX, note_path
from vault_agent.vault.read import decode, read_bytes
from vault_agent.vault.scan import scan
from vault_agent.vault.skipped import Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from vault_agent.model.scope import Scope
    from vault_agent.model.writing import Write, Written
    from vault_agent.vault.root import VaultRoot
    from vault_agent.writing.write import Writing

MAX_TEXT = 2_000
MAX_BYTES = 4 << 20
"""The end of a topic's note that is read for its last entries."""
_TAG_WIDTH = len("[problem]")
_ENTRY = re.compile(r"\[(impl|problem|insight|verify)\][ \t]+(\d{4}-\d\d-\d\d)[ \t]+(\S.*)")


def topic_path(folder: str, topic: str) -> str:
    """Return the path of a topic's note.

    Raises:
        InvalidRequest: `INVALID_REQUEST` if the topic has no letters and no digits.
    """
    name = slug(topic)
    if not name:
        raise InvalidRequest("INVALID_REQUEST", "A topic needs letters or digits.")
    return note_path(f"{folder}/{name}{NOTE_SUFFIX}")


def entry_line(kind: DevlogKind, day: date, text: str) -> str:
    """Return an entry as its line. Line ends in the text become spaces.

    Raises:
        InvalidRequest: `INVALID_REQUEST` if the text is empty, too long, or no text of a note.
    """
    text = " ".join(filter(None, (line.strip() for line in text.splitlines())))
    if not text or len(text) > MAX_TEXT:
        raise InvalidRequest("INVALID_REQUEST", f"An entry has 1 to {MAX_TEXT:,} characters.")
    edit.insertable(text)
    return f"{f'[{kind}]':<{_TAG_WIDTH}} {day}  {text}"


async def add_entry(
    writing: Writing,
    write: Write,
    folder: str,
    *,
    kind: DevlogKind,
    topic: str,
    text: str,
    today: date,
) -> Written:
    """Append an entry to the note of its topic, which is made if it does not exist.

    Raises:
        InvalidRequest: `INVALID_REQUEST`, `INVALID_NOTE_NAME`.
        VaultAgentError: as `Writing.upsert`.
    """
    content = f"{entry_line(kind, today, text)}\n"
    return await writing.upsert(
        topic_path(folder, topic),
        write,
        content.encode(),
        lambda note: edit.append(note, content),
    )


def last_entries(
    root: VaultRoot, folder: str, scope: Scope, *, topic: str | None, limit: int
) -> list[DevlogEntry]:
    """Return the last entries of a topic, or of all, in the order of their days and lines."""
    path = folder if topic is None else topic_path(folder, topic)
    found: list[DevlogEntry] = []
    for entry in scan(root, paths=(path,)).notes:
        if scope.contains(entry.path):
            found += list(_entries(root, entry.path))[-limit:]
    return sorted(found, key=lambda each: each.date)[-limit:]


def _entries(root: VaultRoot, path: str) -> Iterator[DevlogEntry]:
    try:
        content = read_bytes(root, path, MAX_BYTES)
        text, _ = decode(content.data, path)
    except Skipped:
        return
    for number, line in enumerate(text.splitlines(), 1):
        match = _ENTRY.match(line)
        if match is not None:
            yield DevlogEntry(
                stem(path), path, number, DevlogKind(match[1]), match[2], match[3].rstrip()
            )
