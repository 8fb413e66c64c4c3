"""Notes that are in several vaults: only one of them stays in a list of results.

Two notes are one if they have the same frontmatter `id`, if one is promoted to the other, or if
their files are equal.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vault_agent.model.search import Elsewhere
from vault_agent.store.index import fields

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vault_agent.model.search import Hit
    from vault_agent.store.database import Connection


def signs_of(
    connection: Connection, vault: str, note_ids: Sequence[str]
) -> dict[Elsewhere, tuple[str, ...]]:
    """Return the signs of some notes of a vault. Notes that share one are the same note."""
    rows = fields.rows_of_ids(connection, note_ids)
    rowids = [row.rowid for row in rows]
    ids = fields.values_of(connection, rowids, "id")
    promoted = fields.values_of(connection, rowids, "promoted_to")
    return {
        Elsewhere(vault, row.id): (
            f"file:{row.hash.hex()}",
            f"note:{vault}:{row.path}",
            *(f"id:{value}" for value in ids.get(row.rowid, ())[:1]),
            # `promoted_to` is such as `global:patterns/Name.md`: a vault and a path in it.
            *(f"note:{value}" for value in promoted.get(row.rowid, ())[:1]),
        )
        for row in rows
    }


def without_duplicates(
    hits: Sequence[Hit], signs: Mapping[Elsewhere, tuple[str, ...]]
) -> tuple[Hit, ...]:
    """Return the results without notes that a preferred vault also has among them.

    `signs` has the notes of preferred vaults first. A note that stays has the others in `also`.
    Equal notes of one vault all stay.
    """
    kept_by_sign: dict[str, Elsewhere] = {}
    others: dict[Elsewhere, list[Elsewhere]] = {}
    dropped: set[Elsewhere] = set()
    for note, shared in signs.items():
        kept = next((kept_by_sign[sign] for sign in shared if sign in kept_by_sign), note)
        if kept.vault != note.vault:
            others.setdefault(kept, []).append(note)
            dropped.add(note)
        for sign in shared:
            kept_by_sign.setdefault(sign, kept)
    return tuple(
        replace(hit, also=tuple(others.get(note, ())))
        for hit in hits
        if (note := Elsewhere(hit.vault or "", hit.note_id)) not in dropped
    )
