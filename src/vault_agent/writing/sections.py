"""Writes of one section or block of a note."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING

from vault_agent.errors import Conflict, InvalidRequest
from vault_agent.markdown import section_edit
from vault_agent.writing.costly import Costly
from vault_agent.writing.transaction import Planned

if TYPE_CHECKING:
    from vault_agent.markdown.address import Address
    from vault_agent.markdown.section_edit import Action, SectionEdit
    from vault_agent.model.writing import Write, Written
    from vault_agent.writing.write import Writing


async def edit_section(
    writing: Writing,
    path: str,
    write: Write,
    address: Address,
    action: Action,
    *,
    content: str,
    create_if_missing: bool = False,
    deep: bool = False,
) -> Written:
    """Edit a section or block of a note, as `markdown.section_edit` does.

    `write.expected_hash` is that of the section or of the whole note. `replace` requires one,
    except in a dry run. `renameHeading` leaves links to the heading as they are.

    Raises:
        InvalidRequest: `EXPECTED_HASH_REQUIRED`; `INVALID_REQUEST` for text that a note or heading
            cannot contain.
        NotFound: `HEADING_NOT_FOUND`, `BLOCK_NOT_FOUND`.
        Conflict: `HASH_MISMATCH`, `HEADING_AMBIGUOUS`, `ENCODING_NOT_WRITABLE`.
        VaultAgentError: as `Writing.edit`.
    """
    expected = write.expected_hash
    if action == "replace" and expected is None and not write.dry_run:
        raise InvalidRequest(
            "EXPECTED_HASH_REQUIRED",
            "Replacing a section needs its hash.",
            remedy="Read the section, then send its `sectionHash` as `expectedHash`.",
        )

    work = partial(
        section_edit.edit_section,
        address=address,
        action=action,
        content=content,
        create_if_missing=create_if_missing,
        deep=deep,
    )

    def planned(note: bytes, found: SectionEdit) -> Planned:
        check_hash(note, found, expected)
        return Planned(found.splices, section_hash=found.hash_after, created=found.created)

    # The hash is compared above, because it may be that of the section.
    own = replace(
        write,
        expected_hash=None,
        hash_required=False,
        retries=action in ("append", "prepend", "insertBefore", "insertAfter"),
    )
    return await writing.edit(path, own, Costly(work, planned))


def check_hash(note: bytes, found: SectionEdit, expected: str | None) -> None:
    """Compare what the caller expects with the hashes of a note and of its section.

    Raises:
        Conflict: `HASH_MISMATCH`.
    """
    if expected is None:
        return
    current = sha256(note).hexdigest()
    if current.startswith(expected) or (found.hash_before or "").startswith(expected):
        return
    raise Conflict(
        "HASH_MISMATCH",
        "The section has changed.",
        {"currentHash": current, "currentSectionHash": found.hash_before},
    )
