"""The outline and the frontmatter of a note's current file, as edits address them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.errors import TooLarge
from vault_agent.markdown.document import Document, section_hash
from vault_agent.markdown.tag_edit import tags_in
from vault_agent.markdown.yaml.edit import keys_of
from vault_agent.model.reading import NoteFrontmatter, NoteOutline, OutlineBlock, OutlineHeading
from vault_agent.model.scope import EVERYTHING
from vault_agent.search.named import note_or_file
from vault_agent.search.part import read_whole, too_costly
from vault_agent.system.cancelling import in_thread

if TYPE_CHECKING:
    from vault_agent.markdown.yaml.values import Json
    from vault_agent.model.scope import Scope
    from vault_agent.search.fetch import NoteFile
    from vault_agent.store.current import Snapshot
    from vault_agent.system.allowance import Allowance
    from vault_agent.vault.root import VaultRoot


MAX_PARTS = 20_000
"""Headings and blocks of an outline."""


async def note_outline(
    snapshot: Snapshot,
    root: VaultRoot,
    note_id: str,
    path: str | None,
    allowance: Allowance,
    *,
    scope: Scope = EVERYTHING,
) -> NoteOutline:
    """Return the headings and blocks of a note's current file.

    The exact `path` finds the file of a note that is not in the index yet.

    Raises:
        InvalidRequest: `INVALID_ID`.
        NotFound: `NOTE_NOT_FOUND`, also if the file is missing or unreadable now.
        TooLarge: `NOTE_TOO_LARGE` over 16 MiB or `MAX_PARTS`, or beyond the allowance.
    """
    path, file = await _read(snapshot, root, note_id, path, scope)
    with too_costly():
        return await allowance.run(file.size, _outline, note_id, path, file)


async def note_frontmatter(
    snapshot: Snapshot,
    root: VaultRoot,
    note_id: str,
    path: str | None,
    allowance: Allowance,
    *,
    scope: Scope = EVERYTHING,
) -> NoteFrontmatter:
    """Return the frontmatter and the tags of a note's current file.

    Raises:
        Conflict: `FRONTMATTER_INVALID` with the line if it cannot be read.
        VaultAgentError: as `note_outline`.
    """
    path, file = await _read(snapshot, root, note_id, path, scope)
    with too_costly():
        values, listed = await allowance.run(file.size, _properties, file.text)
    return NoteFrontmatter(note_id, path, values, listed, file.hash.hex())


async def _read(
    snapshot: Snapshot, root: VaultRoot, note_id: str, path: str | None, scope: Scope
) -> tuple[str, NoteFile]:
    stored = await note_or_file(snapshot, root, note_id, path, scope, attachments=False)
    file = await in_thread(read_whole, root, stored.path)
    return stored.path, file


def _properties(text: str) -> tuple[dict[str, Json], tuple[str, ...]]:
    values = keys_of(text)
    return values, tags_in(text, values)


def _outline(note_id: str, path: str, file: NoteFile) -> NoteOutline:
    found = Document(file.text, has_blocks=True)
    if (count := len(found.sections) + len(found.blocks)) > MAX_PARTS:
        raise TooLarge(
            "NOTE_TOO_LARGE",
            f"The note has over {MAX_PARTS:,} headings and blocks.",
            {"parts": count, "limit": MAX_PARTS},
            remedy="Search in it instead.",
        )
    headings = tuple(
        OutlineHeading(
            each.id,
            each.level,
            each.text,
            each.path,
            each.line,
            each.end_line,
            section_hash(file.text, each),
        )
        for each in found.sections
    )
    blocks = tuple(
        OutlineBlock(f"^{each.id}", each.line, each.end_line, section_hash(file.text, each))
        for each in found.blocks
    )
    return NoteOutline(note_id, path, headings, blocks, file.hash.hex())
