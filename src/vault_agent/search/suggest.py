"""Suggests notes whose names are similar to a name that no note has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapidfuzz.fuzz import ratio
from rapidfuzz.process import extract

from vault_agent.model.scope import EVERYTHING
from vault_agent.store.index import notes as reading
from vault_agent.text.names import fold, stem, unmarked

if TYPE_CHECKING:
    from vault_agent.model.scope import Scope
    from vault_agent.store.current import Snapshot
    from vault_agent.store.database import Connection

SUGGESTIONS = 5
_SIMILAR = 75.0
"""Lowest similarity, of 100."""
_MAX_CHARACTERS = 200


async def similar_notes(snapshot: Snapshot, name: str, scope: Scope = EVERYTHING) -> list[str]:
    """Return the paths of up to five notes whose name or alias is similar, the closest first.

    Only notes of `scope` count, and paths are relative to its folder.
    """
    return await snapshot.read(_closest, stem(name), scope)


def _closest(connection: Connection, name: str, scope: Scope) -> list[str]:
    names: list[str] = []
    paths: list[str] = []
    for outer, aliases in reading.names(connection):
        if not scope.contains(outer):
            continue
        path = scope.inner(outer)
        for each in (stem(path), *map(unmarked, aliases)):
            names.append(fold(each[:_MAX_CHARACTERS]))
            paths.append(path)
    wanted = fold(name[:_MAX_CHARACTERS])
    found = extract(wanted, names, scorer=ratio, score_cutoff=_SIMILAR, limit=4 * SUGGESTIONS)
    ordered = sorted(found, key=lambda each: (-each[1], paths[each[2]]))
    return list(dict.fromkeys(paths[place] for _, _, place in ordered))[:SUGGESTIONS]
