"""Reads the links around a note's neighbours, in the thread of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.store.database import json_array, translated

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Sequence

MAX_NEIGHBOURS = 2_000
MAX_LINKS = 3_000
"""Links that are read. A neighbour with more of them says little about any of its own."""


def circles(
    connection: sqlite3.Connection,
    rowids: Sequence[int],
    within: Collection[int] | None = None,
) -> dict[int, set[int]]:
    """Return the notes of `within`, or all, that each of some notes links to or is linked from.

    Of `rowids`, it takes the first 2,000, and of these the ones with the fewest links, as long as
    they have at most 3,000 links in all. The others are left out.
    """
    asked = json_array(rowids[:MAX_NEIGHBOURS])
    inside = "" if within is None else _INSIDE
    known = () if within is None else (json_array(within),)
    chosen: list[int] = []
    with translated():
        counts = connection.execute(_COUNTS.format(inside=inside), (*known, asked)).fetchall()
        left = MAX_LINKS
        for count, rowid in sorted((count, rowid) for rowid, count in counts):
            left -= count
            if left < 0:
                break
            chosen.append(rowid)
        walked = json_array(chosen)
        links = connection.execute(_OUTGOING, (walked,)).fetchall()
        links += connection.execute(_INCOMING.format(inside=inside), (walked, *known)).fetchall()
    found: dict[int, set[int]] = {rowid: set() for rowid in chosen}
    for rowid, other in links:
        if rowid != other and (within is None or other in within):
            found[rowid].add(other)
    return found


_LAST_PLACE = (1 << CHUNK_BITS) - 1
_OF = f"link.key >= each.value << {CHUNK_BITS} AND link.key < (each.value + 1) << {CHUNK_BITS}"

_INSIDE = f"AND link.key >> {CHUNK_BITS} IN (SELECT value FROM json_each(?))"

# The links of a note are numbered from 0, so its last key tells their number without reading them.
_COUNTS = f"""
SELECT each.value,
    coalesce((SELECT (max(key) & {_LAST_PLACE}) + 1 FROM link WHERE {_OF}), 0)
    + (SELECT count(*) FROM (
        SELECT 1 FROM link WHERE dest = note.handle {{inside}} LIMIT {MAX_LINKS + 1}
    ))
FROM json_each(?) AS each CROSS JOIN note ON note.rowid = each.value
"""

_OUTGOING = f"""
SELECT each.value, note.rowid FROM json_each(?) AS each
CROSS JOIN link ON {_OF} CROSS JOIN note ON note.handle = link.dest
"""

_INCOMING = f"""
SELECT each.value, link.key >> {CHUNK_BITS} FROM json_each(?) AS each
CROSS JOIN note ON note.rowid = each.value
CROSS JOIN link ON link.dest = note.handle {{inside}}
"""
