"""Notes that are in several vaults: only one of them stays in a list of results.

Two notes are the same if they have one frontmatter `id`, if one is promoted to the other, or if
their texts are equal after normalisation.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from vault_agent.model.search import Elsewhere
from vault_agent.store.index import fields, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vault_agent.model.search import Hit
    from vault_agent.search.combined import CombinedSnapshot
    from vault_agent.store.database import Connection
    from vault_agent.store.index.fields import NamedRow

MAX_CHUNKS = 50
"""The texts of longer notes are not compared."""

Note: TypeAlias = Elsewhere
"""A note by its vault and ID."""


class _Signed(NamedTuple):
    """A note, its size, and what other notes of its group share."""

    note: Note
    row: NamedRow
    signs: list[str]


async def without_doubles(snapshot: CombinedSnapshot, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Return the results without notes that a preferred vault also has among them.

    The parts of the snapshot are in the order of preference. A note that stays has the others in
    `also`. Equal notes of one vault all stay.
    """
    asked = list(dict.fromkeys(Note(hit.vault or "", hit.note_id) for hit in hits))
    if len({note.vault for note in asked}) < 2:
        return tuple(hits)
    order = {part.name: place for place, part in enumerate(snapshot.parts)}
    others: dict[Note, list[Note]] = {}
    dropped: set[Note] = set()
    for group in _groups(await _signed(snapshot, asked)):
        preferred = min((note.vault for note in group), key=lambda vault: order[vault])
        doubles = [note for note in group if note.vault != preferred]
        dropped |= set(doubles)
        others |= {note: doubles for note in group if note.vault == preferred}
    kept: list[Hit] = []
    for hit in hits:
        note = Note(hit.vault or "", hit.note_id)
        if note not in dropped:
            kept.append(replace(hit, also=tuple(others[note])) if others.get(note) else hit)
    return tuple(kept)


def _groups(signed: Iterable[_Signed]) -> list[list[Note]]:
    """Return the groups of notes that share a sign, directly or by a third one."""
    group_of: dict[str, list[Note]] = {}
    for note, _, signs in signed:
        merged = [note]
        joined = {id(group): group for sign in signs if (group := group_of.get(sign)) is not None}
        for group in joined.values():
            merged += group
        for sign, group in group_of.items():
            if id(group) in joined:
                group_of[sign] = merged
        group_of |= dict.fromkeys(signs, merged)
    distinct = {id(group): group for group in group_of.values()}
    return [sorted(group) for group in distinct.values() if len(group) > 1]


async def _signed(snapshot: CombinedSnapshot, asked: Sequence[Note]) -> list[_Signed]:
    found: list[_Signed] = []
    for part in snapshot.parts:
        ids = [note.note_id for note in asked if note.vault == part.name]
        if ids:
            found += await part.snapshot.read(_by_fields, part.name, ids)
    # Equal texts have as many chunks.
    sizes = Counter({size: len(vaults) for size, vaults in _vaults_by_size(found).items()})
    for part in snapshot.parts:
        equal = [
            each
            for each in found
            if each.note.vault == part.name
            and sizes[each.row.chunk_count] > 1
            and 0 < each.row.chunk_count <= MAX_CHUNKS
        ]
        texts = await part.snapshot.read(text.bodies, [each.row.rowid for each in equal])
        for each, body in zip(equal, texts, strict=True):
            each.signs.append(f"text:{_digest(body)}")
    return found


def _vaults_by_size(found: Iterable[_Signed]) -> dict[int, set[str]]:
    vaults: dict[int, set[str]] = {}
    for each in found:
        vaults.setdefault(each.row.chunk_count, set()).add(each.note.vault)
    return vaults


def _by_fields(connection: Connection, vault: str, note_ids: Sequence[str]) -> list[_Signed]:
    rows = fields.rows_of_ids(connection, note_ids)
    rowids = [row.rowid for row in rows]
    ids = fields.values_of(connection, rowids, "id")
    to = fields.values_of(connection, rowids, "promoted_to")
    return [
        _Signed(
            Note(vault, row.id),
            row,
            [
                *(f"id:{value}" for value in ids.get(row.rowid, ())[:1]),
                # `promoted_to` is such as `global:patterns/Name.md`: a vault and a path in it.
                f"note:{vault}:{row.path}",
                *(f"note:{value}" for value in to.get(row.rowid, ())[:1]),
            ],
        )
        for row in rows
    ]


def _digest(body: bytes) -> str:
    """Return a hash of a text that ignores white space and the form of characters."""
    words = unicodedata.normalize("NFC", body.decode("utf-8", "replace")).split()
    return sha256(" ".join(words).encode()).hexdigest()
