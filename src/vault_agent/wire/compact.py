"""The compact profile: a list of results for a reader who pays for every byte.

Ten results fit into 1.5 KB. A row holds its values in the order of `columns`; the path and the ID
are never cut, the heading and the snippet share what is left of the row's bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import orjson

if TYPE_CHECKING:
    from vault_agent.model.search import Hit

ROW_BYTES = 134
"""What a row may take: (1,500 - 155 of envelope) / 10."""

_HEADING_CHARACTERS = 32


class CompactRow(NamedTuple):
    """One result: the ID to fetch it by, and enough to decide whether to."""

    id: str
    path: str
    heading: str | None
    snippet: str
    score: float


COLUMNS = CompactRow._fields


def compact_row(hit: Hit) -> CompactRow:
    """Return a result as a row of at most ROW_BYTES, unless its path alone is longer."""
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
    # A character takes a byte at least, so no more than `budget` of them can fit.
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
