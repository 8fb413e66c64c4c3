"""Writes of one section or block of a note."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING

from vault_agent.errors import Conflict, InvalidRequest
from vault_agent.markdown import section_edit
from vault_agent.markdown.broken import Anchors
from vault_agent.markdown.edit import editable, spliced
from vault_agent.markdown.parse import parse_note
from vault_agent.text.names import is_note
from vault_agent.writing.move import CANVASES_LEFT, notice_of_files, notice_of_links
from vault_agent.writing.plan import Costly, Planned

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vault_agent.markdown.address import PartAddress
    from vault_agent.markdown.section_edit import Action, SectionEdit
    from vault_agent.model.notes import Link
    from vault_agent.model.writing import Write, Written
    from vault_agent.store.index.links import LinkFrom
    from vault_agent.writing.vault_writer import VaultWriter


async def change_section(
    writer: VaultWriter,
    path: str,
    write: Write,
    action: Action,
    work: Callable[[bytes], SectionEdit],
) -> Written:
    """Edit a section or block of a note. `work` returns the edit, as `markdown.section_edit` does.

    `write.expected_hash` is that of the section or of the whole note. The action `replace` requires
    it, except in a dry run.

    Raises:
        InvalidRequest: `EXPECTED_HASH_REQUIRED`; `INVALID_REQUEST` for text that a note or heading
            cannot contain.
        NotFound: `HEADING_NOT_FOUND`, `BLOCK_NOT_FOUND`.
        Conflict: `HASH_MISMATCH`, `HEADING_AMBIGUOUS`, `ENCODING_NOT_WRITABLE`.
        VaultAgentError: as `VaultWriter.edit`.
    """
    expected = write.expected_hash
    if action == "replace" and expected is None and not write.dry_run:
        raise InvalidRequest(
            "EXPECTED_HASH_REQUIRED",
            "Replacing a section needs its hash.",
            remedy="Read the section, then send its `sectionHash` as `expectedHash`.",
        )

    def planned(note: bytes, edit: SectionEdit) -> Planned:
        _check_hash(note, edit, expected)
        return Planned(edit.splices, section_hash=edit.hash_after, created=edit.created)

    may_replan = action in ("append", "prepend", "insertBefore", "insertAfter")
    own = replace(_without_hash(write), may_replan=may_replan)
    return await writer.edit(path, own, Costly(work, planned))


async def rename_heading(
    writer: VaultWriter,
    path: str,
    write: Write,
    address: PartAddress,
    text: str,
    *,
    links: Sequence[LinkFrom],
    unread: Sequence[str],
) -> Written:
    """Give a heading another text. The reply names those of `links` that no longer lead to it.

    `links` lead to parts of the note. `unread` are canvases that may have more of them.

    Raises:
        VaultAgentError: as `change_section`.
    """
    work = partial(_rename, address=address, text=text, links=links)

    def planned(note: bytes, result: tuple[SectionEdit, list[LinkFrom]]) -> Planned:
        edit, broken = result
        _check_hash(note, edit, write.expected_hash)
        in_notes = [row for row in broken if is_note(row.source)]
        canvases = {row.source for row in broken if not is_note(row.source)}
        what = "Links that name the heading by its old text: {}."
        warnings = (
            *notice_of_links("LINKS_BROKEN", what, in_notes),
            *notice_of_files(CANVASES_LEFT, sorted(canvases.union(unread))),
        )
        return Planned(edit.splices, section_hash=edit.hash_after, warnings=warnings)

    return await writer.edit(path, _without_hash(write), Costly(work, planned))


def _rename(
    note: bytes, address: PartAddress, text: str, links: Sequence[LinkFrom]
) -> tuple[SectionEdit, list[LinkFrom]]:
    """Return the edit of a heading, and the links that it breaks."""
    edit = section_edit.edit_section(note, address, "renameHeading", text)
    before, after = _anchors(note), _anchors(spliced(note, edit.splices))

    def is_broken(link: Link) -> bool:
        fragment = link.fragment or ""
        return not before.fault(link.kind, fragment) and bool(after.fault(link.kind, fragment))

    return edit, [row for row in links if is_broken(row.link)]


def _anchors(note: bytes) -> Anchors:
    return Anchors(parse_note(editable(note).text, path="note.md").anchors)


def _without_hash(write: Write) -> Write:
    """Return a write whose plan compares the hash, because it may be that of the section."""
    return replace(write, expected_hash=None, hash_required=False)


def _check_hash(note: bytes, section: SectionEdit, expected: str | None) -> None:
    """Compare the expected hash with those of a note and of its section.

    Raises:
        Conflict: `HASH_MISMATCH`.
    """
    if expected is None:
        return
    current = sha256(note).hexdigest()
    if current.startswith(expected) or (section.hash_before or "").startswith(expected):
        return
    raise Conflict(
        "HASH_MISMATCH",
        "The section has changed.",
        {"currentHash": current, "currentSectionHash": section.hash_before},
    )
