"""The compact profile: search results for agents, in few bytes.

Ten results fit into 1.5 KB. The values of a row are in the order of `columns`. The path and the ID
are never cut. The heading and the snippet share the remaining bytes of the row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import orjson

if TYPE_CHECKING:
    from vault_agent.model.search import Hit

ROW_BYTES = 125
"""Bytes of a row: (1,500 - 250 for the envelope with a cursor) / 10."""

_HEADING_CHARACTERS = 32


class CompactRow(NamedTuple):
    """One result: its ID, and enough to decide whether to fetch it."""

    id: str
    path: str
    heading: str | None
    snippet: str
    score: float


class CompactVaultRow(NamedTuple):
    """One result of a search over several vaults."""

    id: str
    path: str
    heading: str | None
    snippet: str
    score: float
    vault: str


COLUMNS = CompactRow._fields
VAULT_COLUMNS = CompactVaultRow._fields


def compact_row(hit: Hit) -> CompactRow | CompactVaultRow:
    """Return a result as a row of at most ROW_BYTES, unless its ID and path are longer.

    The name of the vault comes on top of that.
    """
    row = _row(hit)
    return row if hit.vault is None else CompactVaultRow(*row, hit.vault)


def _row(hit: Hit) -> CompactRow:
    heading = _cut(hit.heading, _HEADING_CHARACTERS) if hit.heading else None
    row = CompactRow(hit.id, hit.path, heading, "", round(hit.score, 2))
    left = ROW_BYTES - len(orjson.dumps(tuple(row))) - 1  # the comma between rows
    if left < 0:
        row = row._replace(heading=None)
    return row._replace(snippet=_excerpt(hit, left))


def _excerpt(hit: Hit, budget: int) -> str:
    """Return the words around the first match, within `budget` bytes of JSON."""
    if budget <= 1:
        return ""
    # A character takes at least one byte, so at most `budget` characters fit.
    first = hit.matches[0][0] if hit.matches else 0
    start = max(0, min(first - budget // 4, len(hit.snippet) - budget))
    if start and (border := hit.snippet.find(" ", start, first)) >= 0:
        start = border + 1
    text = hit.snippet[start : start + budget]
    whole = start + budget >= len(hit.snippet)
    while text and _size(text) > budget:
        text, whole = text[:-1], False
    if not whole and (border := text.rfind(" ")) > 0:
        text = text[:border]
    return text.strip()


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def _size(text: str) -> int:
    return len(orjson.dumps(text)) - 2
