"""The compact profile: search results for agents, in few bytes.

Ten results fit into 1.5 KB. The values of a row are in the order of `columns`. The path and the ID
are never cut. The heading and the snippet share the remaining bytes of the row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import orjson

from vault_agent.model.search import CompactAnswer

if TYPE_CHECKING:
    from vault_agent.model.search import Answer, Hit

ROW_BYTES = 125
"""Bytes of a row: (1,500 - 250 for the envelope with a cursor) / 10."""

_HEADING_CHARACTERS = 32


COLUMNS = ("id", "path", "heading", "snippet", "score")
VAULT_COLUMNS = (*COLUMNS, "vault")

Row: TypeAlias = tuple[str | float | None, ...]
"""The values of one result in the order of `COLUMNS`, or of `VAULT_COLUMNS` if it has a vault."""


def compact(answer: Answer) -> CompactAnswer:
    """Return the results of a search in the compact profile."""
    return CompactAnswer(
        answer.requested_mode,
        answer.used_mode,
        answer.limit,
        VAULT_COLUMNS if any(hit.vault for hit in answer.hits) else COLUMNS,
        tuple(compact_row(hit) for hit in answer.hits),
        answer.indexed_at,
        answer.has_more,
        answer.next_cursor,
        answer.truncated,
    )


def compact_row(hit: Hit) -> Row:
    """Return a result as a row of at most ROW_BYTES, unless its ID and path are longer.

    The name of the vault comes on top of that.
    """
    heading = _cut(hit.heading, _HEADING_CHARACTERS) if hit.heading else None
    score = round(hit.score, 2)
    # The comma between rows counts too.
    left = ROW_BYTES - len(orjson.dumps((hit.id, hit.path, heading, "", score))) - 1
    if left < 0:
        heading = None
    row = (hit.id, hit.path, heading, _excerpt(hit, left), score)
    return row if hit.vault is None else (*row, hit.vault)


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
