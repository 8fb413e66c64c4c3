"""Recalls the notes of earlier sessions that matter for a task."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.config.registry import GLOBAL
from vault_agent.errors import VaultAgentError
from vault_agent.knowledge.preamble import Remembered, preamble
from vault_agent.knowledge.recall import (
    KINDS,
    FactIndex,
    frequencies,
    named_files,
    named_tags,
    part_that_matters,
)
from vault_agent.knowledge.score import (
    Candidate,
    LeftOut,
    Scored,
    Signals,
    choose,
    is_signal,
    rank,
)
from vault_agent.library.several import left_out
from vault_agent.model.identifiers import CHUNK_BITS, identify
from vault_agent.model.memory import Recalled, RecalledNote, RecallWeights
from vault_agent.model.search import Mode, SearchQuery
from vault_agent.store.index import facts
from vault_agent.store.index import notes as reading
from vault_agent.system.cancelling import in_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.config.settings import MemorySettings
    from vault_agent.library.library import Library
    from vault_agent.library.open_vault import OpenVault
    from vault_agent.model.memory import RecallQuery
    from vault_agent.model.search import Answer, Hit
    from vault_agent.model.warning import Warning
    from vault_agent.store.index.facts import NoteFacts
    from vault_agent.store.index.notes import StoredChunk

_HITS = 50
_READ = 30
"""Notes whose texts are compared, of those that pass."""
_MAX_CHUNKS = 60


class _Known(NamedTuple):
    """The facts about a vault, and what results call it."""

    name: str
    vault: OpenVault
    notes: FactIndex


class Memory:
    """Recalls notes of the vaults of a library. The facts of a revision are kept."""

    def __init__(self, library: Library, settings: MemorySettings) -> None:
        self._library = library
        self._settings = settings
        self._indexes: dict[str, tuple[str, FactIndex]] = {}  # by identity: revision and facts

    async def recall(self, vault: OpenVault, query: RecallQuery) -> Recalled:
        """Return what is remembered for a task in a vault, and in the global one.

        Raises:
            VaultAgentError: as a search does. Without the global vault it is a warning.
        """
        settings = self._settings
        weights = RecallWeights(
            settings.tag_weight, settings.semantic_weight, settings.recency_weight
        )
        async with AsyncExitStack() as stack:
            known, warnings = await self._known(stack, vault)
            indexes = [each.notes for each in known]
            files = tuple(dict.fromkeys((*query.files, *named_files(query.prompt, indexes))))
            tags = tuple(dict.fromkeys((*query.tags, *named_tags(query.prompt, indexes))))
            hits, best, mode, more = await self._search(known, query.prompt)
            signals = Signals(files, tags, best)
            candidates, chunks = self._candidates(known, signals, hits)
            ranked = rank(
                candidates,
                signals,
                frequencies(indexes, candidates),
                today=datetime.now(UTC).date(),
                weights=weights,
                recency_days=settings.recency_days,
            )
            most = query.max_notes if query.max_notes is not None else settings.max_notes
            chosen, left, shown = await self._choose(known, ranked, chunks, most)
        made = preamble(
            [_remembered(each, shown, known) for each in chosen],
            project=known[0].name.removeprefix("project:"),
            max_tokens=query.max_tokens if query.max_tokens is not None else settings.max_tokens,
            max_note_tokens=settings.max_note_tokens,
        )
        left += [LeftOut(each, "budget") for each in chosen[made.notes :]]
        return Recalled(
            text=made.text,
            tokens=made.tokens,
            notes=tuple(_recalled(each, known) for each in chosen[: made.notes]),
            left_out=tuple(_recalled(each, known, why) for each, why in left if query.explain),
            used_mode=mode,
            files=files,
            tags=tags,
            weights=weights,
            warnings=(*warnings, *more),
        )

    async def _known(
        self, stack: AsyncExitStack, vault: OpenVault
    ) -> tuple[list[_Known], list[Warning]]:
        """Return the facts about a vault and the global one."""
        known = [await self._facts(vault)]
        warnings: list[Warning] = []
        if not (self._settings.include_global and self._library.has_several):
            return known, warnings
        try:
            shared = await stack.enter_async_context(self._library.vault(GLOBAL))
            if shared.identity != vault.identity:
                known.append(await self._facts(shared))
        except VaultAgentError as error:
            if error.code != "VAULT_UNKNOWN":
                warnings.append(left_out(GLOBAL, error))
        return known, warnings

    async def _facts(self, vault: OpenVault) -> _Known:
        async with vault.snapshot() as snapshot:
            revision, kept = self._indexes.get(vault.identity, ("", None))
            if kept is None or revision != snapshot.revision:
                async with snapshot.connection() as connection:
                    rows = await facts.read_facts(connection)
                kept = await in_thread(FactIndex, self._included(rows))
                self._indexes[vault.identity] = (snapshot.revision, kept)
        return _Known(self._library.address_of(vault), vault, kept)

    def _included(self, rows: Sequence[NoteFacts]) -> list[NoteFacts]:
        left_out = {each.lower() for each in self._settings.exclude_types}
        return [row for row in rows if (row.type or "").lower() not in left_out]

    async def _search(
        self, known: Sequence[_Known], prompt: str
    ) -> tuple[Sequence[Hit], float | None, Mode | None, tuple[Warning, ...]]:
        """Return what search finds for a prompt, and the best lexical score, if it is a signal.

        Only a lexical score says whether any note is about the prompt: semantic search always finds
        something that is near.
        """
        if not is_signal(prompt):
            return (), None, None, ()
        text = prompt[:1_000]
        lexical = await self._ask(known, SearchQuery(text, Mode.LEXICAL, _HITS))
        best = max((hit.score for hit in lexical.hits), default=0.0)
        found = lexical
        if known[0].vault.embedder is not None:
            found = await self._ask(known, SearchQuery(text, None, _HITS))
        return found.hits, best, found.used_mode, found.warnings

    async def _ask(self, known: Sequence[_Known], query: SearchQuery) -> Answer:
        if len(known) == 1:
            return await known[0].vault.search(query)
        return await self._library.several.search([each.name for each in known], query)

    def _candidates(
        self, known: Sequence[_Known], signals: Signals, hits: Sequence[Hit]
    ) -> tuple[list[Candidate], dict[tuple[str, str], int]]:
        """Return the notes to score, and the place of the best chunk of those that were found."""
        scores: dict[tuple[str, str], float] = {}
        places: dict[tuple[str, str], int] = {}
        for hit in hits:
            note = (hit.vault or known[0].name, hit.note_id)
            if hit.score > scores.get(note, -1.0):
                scores[note] = hit.score
                if hit.chunk_index is not None:
                    places[note] = hit.chunk_index
        made = []
        for place, (name, _, index) in enumerate(known):
            rows = index.near(signals.files, signals.tags) | set(index.newest)
            rows |= {
                index.ids[note_id]
                for vault, note_id in scores
                if vault == name and note_id in index.ids
            }
            ids = [identify(index.notes[rowid].path) for rowid in sorted(rows)]
            made += [
                index.candidate(
                    note_id, vault=name, found=scores.get((name, note_id)), from_global=place > 0
                )
                for note_id in ids
            ]
        return made, places

    async def _choose(
        self,
        known: Sequence[_Known],
        ranked: Sequence[Scored],
        places: dict[tuple[str, str], int],
        most: int,
    ) -> tuple[list[Scored], list[LeftOut], dict[tuple[str, str], str]]:
        """Return the notes to remember, the others, and what is shown of the first."""
        least = self._settings.min_relevance
        passing = [each for each in ranked if each.relevance >= least][:_READ]
        shown: dict[tuple[str, str], str] = {}
        texts: dict[tuple[str, str], str] = {}
        for name, vault, index in known:
            rows = {
                index.ids[each.candidate.note_id]: each.candidate
                for each in passing
                if each.candidate.vault == name
            }
            for rowid, chunks in (await _chunks(vault, index, rows)).items():
                note = rows[rowid]
                address = (name, note.note_id)
                best = places.get(address)
                key = None if best is None else (rowid << CHUNK_BITS) + best
                shown[address], texts[address] = part_that_matters(note.type, chunks, key)
        with_texts = [
            replace(each, candidate=replace(each.candidate, text=text))
            for each in ranked
            for text in [texts.get((each.candidate.vault, each.candidate.note_id), "")]
        ]
        chosen, left = choose(with_texts, least=least, most=most)
        return chosen, left, shown


async def _chunks(
    vault: OpenVault, index: FactIndex, rows: dict[int, Candidate]
) -> dict[int, list[StoredChunk]]:
    """Return the first chunks of some notes."""
    keys = [
        (rowid << CHUNK_BITS) + place
        for rowid in rows
        for place in range(min(index.notes[rowid].chunk_count, _MAX_CHUNKS))
    ]
    async with vault.snapshot() as snapshot, snapshot.connection() as connection:
        found = await reading.chunks(connection, keys)
    chunks: dict[int, list[StoredChunk]] = {rowid: [] for rowid in rows}
    for chunk in sorted(found, key=lambda each: each.key):
        chunks[chunk.key >> CHUNK_BITS].append(chunk)
    return chunks


def _remembered(
    scored: Scored, shown: dict[tuple[str, str], str], known: Sequence[_Known]
) -> Remembered:
    candidate = scored.candidate
    facts_of = _facts_of(candidate, known)
    kind = KINDS.get(candidate.type, candidate.type.capitalize())
    return Remembered(
        kind=kind,
        title=candidate.title,
        day=candidate.updated.isoformat() if candidate.updated is not None else None,
        text=shown.get((candidate.vault, candidate.note_id), ""),
        address=facts_of.identifier or candidate.path,
        files=candidate.files,
        from_global=candidate.from_global,
    )


def _recalled(scored: Scored, known: Sequence[_Known], why: str | None = None) -> RecalledNote:
    candidate = scored.candidate
    facts_of = _facts_of(candidate, known)
    both = scored.tag > 0 and scored.semantic > 0
    return RecalledNote(
        vault=candidate.vault,
        note_id=candidate.note_id,
        id=facts_of.identifier,
        path=candidate.path,
        title=candidate.title,
        type=candidate.type,
        updated=facts_of.updated,
        score=round(scored.score, 4),
        match_type="both" if both else "semantic" if scored.semantic > 0 else "tag",
        tag=round(scored.tag, 4),
        semantic=round(scored.semantic, 4),
        recency=round(scored.recency, 4),
        reasons=scored.reasons,
        left_out=why,
    )


def _facts_of(candidate: Candidate, known: Sequence[_Known]) -> NoteFacts:
    index = next(each.notes for each in known if each.name == candidate.vault)
    return index.notes[index.ids[candidate.note_id]]
