"""Finds the one section or block that a caller means. It never guesses among several."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rapidfuzz import fuzz, process

from vault_agent.errors import Conflict, InvalidRequest, NotFound
from vault_agent.markdown.headings import plain, spelling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.markdown.document import Block, Document, Section

MAX_LISTED = 20
NEAREST = 3
_HEADING_ID = re.compile(r"h:(\d{1,7}):([0-9a-f]{8})\Z")


@dataclass(frozen=True, slots=True)
class PartAddress:
    """What a caller names: one of a path of headings, the ID of a heading, the ID of a block."""

    heading: tuple[str, ...] = ()
    heading_id: str = ""
    block_id: str = ""  # with or without `^`


def find_section(document: Document, address: PartAddress) -> Section:
    """Return the section of a heading.

    The index of an ID is only a hint: after lines have moved, the one heading with its hash counts.

    Raises:
        Conflict: `HEADING_AMBIGUOUS` with the IDs, lines and paths of those that match.
        InvalidRequest: `INVALID_REQUEST` if the address is empty or not an ID.
        NotFound: `HEADING_NOT_FOUND` with the nearest headings.
    """
    if address.heading_id:
        return _by_id(document, address.heading_id)
    if not address.heading:
        raise InvalidRequest("INVALID_REQUEST", "The request names no heading.")
    matches = [document.sections[index] for index in document.headings.find(address.heading)]
    if not matches:
        raise _not_found(document, address.heading[-1])
    return _only(matches)


def find_block(document: Document, name: str) -> Block:
    """Return the block with an ID.

    Raises:
        Conflict: `HEADING_AMBIGUOUS` if several blocks have the ID.
        NotFound: `BLOCK_NOT_FOUND`.
    """
    matches = document.blocks_named(name)
    if not matches:
        raise NotFound("BLOCK_NOT_FOUND", "The note has no block with this ID.")
    if len(matches) > 1:
        raise Conflict(
            "HEADING_AMBIGUOUS",
            f"The note has {len(matches)} blocks with this ID.",
            {"lines": [block.line for block in matches[:MAX_LISTED]]},
            remedy="Give each block an ID of its own in an editor.",
        )
    return matches[0]


def _by_id(document: Document, name: str) -> Section:
    match = _HEADING_ID.match(name)
    if match is None:
        raise InvalidRequest("INVALID_REQUEST", "This is not the ID of a heading.")
    index = int(match[1])
    if index < len(document.sections) and document.sections[index].id == name:
        return document.sections[index]
    digits = match[2]
    matches = [section for section in document.sections if section.id.endswith(f":{digits}")]
    if not matches:
        raise _not_found(document, "")
    return _only(matches)


def _only(matches: Sequence[Section]) -> Section:
    if len(matches) == 1:
        return matches[0]
    raise Conflict(
        "HEADING_AMBIGUOUS",
        f"The note has {len(matches)} such headings.",
        {"headings": [_describe(section) for section in matches[:MAX_LISTED]]},
    )


def _not_found(document: Document, name: str) -> NotFound:
    sections = document.sections
    nearest = sections[:NEAREST]
    if name:
        texts = [spelling(section.text) for section in sections]
        ranked = process.extract(spelling(plain(name)), texts, scorer=fuzz.ratio, limit=NEAREST)
        nearest = [sections[index] for _, _, index in ranked]
    return NotFound(
        "HEADING_NOT_FOUND",
        "The note has no such heading.",
        {
            "headings": [f"{'#' * section.level} {section.text}" for section in nearest],
            "more": len(sections) - len(nearest),
            "nearest": [_describe(section) for section in nearest],
        },
    )


def _describe(section: Section) -> dict[str, Any]:
    return {"headingId": section.id, "line": section.line, "headingPath": list(section.path)}
