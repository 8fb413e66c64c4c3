"""What is shown of a note that is recalled."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vault_agent.memory.candidates import part_that_matters
from vault_agent.memory.passages import bare, passage_of
from vault_agent.model.identifiers import CHUNK_BITS
from vault_agent.store.index import notes as reading
from vault_agent.text.names import is_note

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vault_agent.memory.candidates import FactIndex
    from vault_agent.memory.facts import Known
    from vault_agent.memory.score import Candidate, Scored
    from vault_agent.model.memory import Address, RecallQuery
    from vault_agent.store.index.notes import StoredChunk
    from vault_agent.vaults.open_vault import OpenVault

_MAX_CHUNKS = 60
_SEEN = 40
"""Characters of a passage by which it is known again."""


def address_of(scored: Scored) -> Address:
    """Return what calls a scored note: its vault and its ID."""
    return scored.candidate.vault, scored.candidate.note_id


class Part(NamedTuple):
    """What is shown of a note: the passage for a prompt, and the sections that matter."""

    passage: str
    matters: str


async def parts_of(
    known: Sequence[Known],
    notes: Sequence[Scored],
    places: Mapping[Address, int],
    query: RecallQuery | None = None,
) -> dict[Address, Part]:
    """Return what is shown of each note. `places` are the chunks that were found."""
    parts: dict[Address, Part] = {}
    for name, vault, index in known:
        rows = {
            index.ids[each.candidate.note_id]: each.candidate
            for each in notes
            if each.candidate.vault == name
        }
        for rowid, chunks in (await chunks_of(vault, index, rows, places)).items():
            note = rows[rowid]
            address = (name, note.note_id)
            best = places.get(address)
            key = None if best is None else (rowid << CHUNK_BITS) + best
            passage = passage_of(chunks, key, query.prompt, note.title) if query is not None else ""
            matters = part_that_matters(note.type, chunks, key)
            if query is not None and best is not None and passage[:_SEEN] not in bare(matters):
                matters = f"{passage}\n{matters}"
            parts[address] = Part(passage, matters)
    return parts


async def chunks_of(
    vault: OpenVault,
    index: FactIndex,
    rows: dict[int, Candidate],
    places: Mapping[Address, int],
) -> dict[int, list[StoredChunk]]:
    """Return the first chunks of some notes; of attachments only those that were found."""
    attached = {
        rowid: places.get((note.vault, note.note_id), 0)
        for rowid, note in rows.items()
        if not is_note(note.path)
    }
    keys = [
        (rowid << CHUNK_BITS) + place
        for rowid in rows
        if rowid not in attached
        for place in range(min(index.notes[rowid].chunk_count, _MAX_CHUNKS))
    ]
    keys += [(rowid << CHUNK_BITS) + place for rowid, place in attached.items()]
    async with vault.snapshot() as snapshot:
        found = await snapshot.read(reading.chunks, keys)
    chunks: dict[int, list[StoredChunk]] = {rowid: [] for rowid in rows}
    for chunk in sorted(found.values()):
        chunks[chunk.key >> CHUNK_BITS].append(chunk)
    return chunks
