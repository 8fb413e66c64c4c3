"""Searches the notes of a project and of the global vault, by the score that memory has.

Files, tags and age count as there, but every note is searched, and one that is about anything that
was asked for is returned.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from vault_agent.memory.candidates import frequencies
from vault_agent.memory.parts import address_of, parts_of
from vault_agent.memory.recall import RECENCY_DAYS, candidates_of, match_type
from vault_agent.memory.score import Signals, rank
from vault_agent.model.memory import FoundNote, FoundNotes, RecallWeights
from vault_agent.model.search import Filters, SearchQuery

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vault_agent.memory.facts import Known
    from vault_agent.memory.parts import Part
    from vault_agent.memory.recall import Memory
    from vault_agent.memory.score import Scored
    from vault_agent.model.memory import Address, NoteQuery
    from vault_agent.model.search import Hit
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.vaults.several import Several

_HITS = 50


async def search_notes(
    memory: Memory,
    several: Several,
    vault: OpenVault,
    query: NoteQuery,
) -> FoundNotes:
    """Return the notes that have words of the text, a file or a tag, the best first.

    Raises:
        VaultAgentError: as a search does. Without the global vault it is a warning.
    """
    within = Filters(scope=query.scope)
    async with AsyncExitStack() as stack:
        known, warnings = await memory.facts.around(
            stack, vault, query.scope, with_global=not (query.alone or query.project), every=True
        )
        asked = SearchQuery(query.text, None, _HITS, within)
        if len(known) == 1:
            answer = await vault.search(asked)
        else:
            answer = await several.search([each.name for each in known], asked)
        signals = Signals(query.files, query.tags, words=True)
        candidates, _ = candidates_of(known, signals, answer.hits)
        indexes = [each.notes for each in known]
        ranked = rank(
            candidates,
            signals,
            frequencies(indexes, candidates),
            today=memory.today(),
            weights=RecallWeights(),
            recency_days=query.recency_days or RECENCY_DAYS,
            global_types=None,
        )
        best = [each for each in ranked if each.relevance > 0][: query.limit]
        hits = _best_hits(answer.hits, known)
        # Those that have a file or a tag, but no word of the text, show their beginning.
        others = [each for each in best if address_of(each) not in hits]
        parts = await parts_of(known, others, {address_of(each): 0 for each in others})
        notes = tuple(_found(each, known, hits.get(address_of(each)), parts) for each in best)
    return FoundNotes(notes, (*warnings, *answer.warnings))


def _best_hits(hits: Sequence[Hit], known: Sequence[Known]) -> dict[Address, Hit]:
    """Return the best hit of each note: the first one."""
    found: dict[Address, Hit] = {}
    for hit in hits:
        found.setdefault((hit.vault or known[0].name, hit.note_id), hit)
    return found


def _found(
    scored: Scored,
    known: Sequence[Known],
    hit: Hit | None,
    parts: Mapping[Address, Part],
) -> FoundNote:
    note = scored.candidate
    index = next(each.notes for each in known if each.name == note.vault)
    facts = index.notes[index.ids[note.note_id]]
    return FoundNote(
        vault=note.vault,
        note_id=note.note_id,
        id=facts.identifier,
        path=note.path,
        title=note.title,
        type=note.type,
        score=round(scored.score, 4),
        match_type=match_type(scored),
        snippet=hit.snippet if hit is not None else _matters(parts.get(address_of(scored))),
        matches=hit.matches if hit is not None else (),
        created=facts.created,
    )


def _matters(part: Part | None) -> str:
    return part.matters if part is not None else ""
