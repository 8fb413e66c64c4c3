"""Suggests notes whose names are similar to a name that no note has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapidfuzz.fuzz import ratio
from rapidfuzz.process import extract

from vault_agent.model.scope import EVERYTHING
from vault_agent.store.index import notes as reading
from vault_agent.text.names import fold, stem, unmarked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.model.scope import Scope
    from vault_agent.store.current import Snapshot

SUGGESTIONS = 5
_SIMILAR = 60.0
"""Lowest similarity, of 100."""
_MAX_CHARACTERS = 200


async def similar_notes(snapshot: Snapshot, name: str, scope: Scope = EVERYTHING) -> list[str]:
    """Return the paths of up to five notes whose name or alias is similar, the closest first.

    Only notes of `scope` count, and paths are relative to its folder.
    """
    async with snapshot.connection() as connection:
        known = [
            (scope.inner(path), aliases)
            for path, aliases in await reading.names(connection)
            if scope.contains(path)
        ]
    return await snapshot.threads.run(_closest, known, stem(name))


def _closest(known: Sequence[tuple[str, tuple[str, ...]]], name: str) -> list[str]:
    names: list[str] = []
    paths: list[str] = []
    for path, aliases in known:
        for each in (stem(path), *map(unmarked, aliases)):
            names.append(fold(each[:_MAX_CHARACTERS]))
            paths.append(path)
    wanted = fold(name[:_MAX_CHARACTERS])
    found = extract(wanted, names, scorer=ratio, score_cutoff=_SIMILAR, limit=4 * SUGGESTIONS)
    ordered = sorted(found, key=lambda each: (-each[1], paths[each[2]]))
    return list(dict.fromkeys(paths[place] for _, _, place in ordered))[:SUGGESTIONS]
