"""Recalls the notes of earlier sessions that matter for a task.

`Memory.recall` makes a text for an agent. `Memory.search_notes` lists the notes that are about
anything that was asked for: files, tags and age count as in a recall, but every note is searched.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault_agent.config.vault_list import Role
from vault_agent.memory.facts import (
    MAX_FILES,
    Facts,
    frequencies,
    named_files,
    named_tags,
    type_of,
)
from vault_agent.memory.preamble import (
    Remembered,
    asks_to_continue,
    identifiers,
    index_of,
    is_open,
    names_it,
    parts_of,
    preamble,
    same_subject,
    says_something,
)
from vault_agent.memory.score import (
    BAR_IF_ASKED,
    Candidate,
    LeftOut,
    Scored,
    Signals,
    is_about,
    is_signal,
    needed_share,
    rank,
)
from vault_agent.model.identifiers import GLOBAL, identify
from vault_agent.model.lexical import without_operators
from vault_agent.model.memory import (
    FoundNote,
    FoundNotes,
    Recalled,
    RecalledNote,
    RecallSignals,
    RecallWeights,
    WordMatch,
)
from vault_agent.model.modes import Mode
from vault_agent.model.scope import EVERYTHING
from vault_agent.model.search import Answer, Coverage, SearchQuery
from vault_agent.system.cancelling import in_thread
from vault_agent.system.git import changed_files, committed_at
from vault_agent.text.redaction import redact
from vault_agent.text.terms import terms
from vault_agent.text.words import common_terms, without_hiragana
from vault_agent.vaults.federated_search import FederatedSearch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date

    from vault_agent.config.sections import MemorySettings
    from vault_agent.memory.facts import FactIndex, VaultFacts
    from vault_agent.model.memory import Address, NoteQuery, RecallQuery
    from vault_agent.model.scope import Scope
    from vault_agent.model.search import Hit
    from vault_agent.model.warning import Warning
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.vaults.vaults import Vaults


RECENCY_DAYS = 14.0
"""Days after which a note counts as half as recent."""
_MAX_NOTES = 5
MAX_TOKENS = 1_000
"""Of a text that was asked for."""
_MAX_NOTE_TOKENS = 160
_LEAST_RELEVANCE = 0.35
_HITS = 50
_GIT_SECONDS = 0.2
"""A repository that is slower than this is not waited for."""
_MAX_LOOKED = 2_000
"""Files of notes whose times are looked at when a session starts."""
_FEW = 2
"""So few notes have a name that says by itself what a prompt is about."""
_READ = 30
"""Notes whose texts are compared, of those that pass."""
_TAGGED = re.compile(r"#\S+")
_OPEN_JOURNALS = 2
"""The latest journals, which a start names if something is open in them."""


class Memory:
    """Recalls notes of several vaults. Made by `open_app`."""

    def __init__(self, vaults: Vaults, settings: MemorySettings, secrets: Sequence[str]) -> None:
        """Take the user's own regular expressions for secrets, which no text of a note may have."""
        self._secrets = [re.compile(pattern, re.MULTILINE) for pattern in secrets]
        self._vaults = vaults
        self._federated = FederatedSearch(vaults)
        self.facts = Facts(vaults, settings)
        self.today: Callable[[], date] = lambda: datetime.now(UTC).date()
        """The day from which the age of notes is counted."""

    async def recall(
        self, vault: OpenVault, query: RecallQuery, *, index_seconds: float = 2.0
    ) -> Recalled:
        """Return what is remembered for a task in a vault, and in the global one.

        Changes of their notes are indexed before, in so many seconds or later.

        Raises:
            VaultAgentError: as a search does. Without the global vault it is a warning.
        """
        entry = self._vaults.entry(vault.identity)
        is_project = entry is not None and entry.role is Role.PROJECT
        # An agent that sees a part of the vault learns nothing of the project around it.
        root = entry.root if entry and is_project and vault.scope == EVERYTHING else None
        vaults, warnings = await self.facts.around(
            vault, with_global=query.with_global, index_seconds=index_seconds
        )
        indexes = [facts.notes for facts in vaults]
        worked = await _files_at_work(root, vaults[0]) if query.start and root else ()
        continues = query.bar is not None and asks_to_continue(query.prompt)
        named = named_files(query.prompt, indexes)
        files = tuple(dict.fromkeys((*query.files, *named, *worked)))[:MAX_FILES]
        words = query.prompt
        if query.bar is not None:  # a word may be a tag by chance
            words = " ".join(_TAGGED.findall(words))
        tags = (*query.tags, *named_tags(words, indexes))
        hits, match, mode, more = await self._search(vaults, query)
        signals = Signals(files, tuple(dict.fromkeys(tags)), words=bool(hits))
        candidates, chunks = candidates_of(vaults, signals, hits, query.pinned)
        ranked = rank(
            candidates,
            signals,
            frequencies(indexes, candidates),
            today=self.today(),
            recency_days=RECENCY_DAYS,
        )
        most = query.max_notes if query.max_notes is not None else _MAX_NOTES
        chosen, left, texts = await self._choose(
            vaults, ranked, chunks, most, query, wants_open=query.start or continues
        )
        folder = _folder(root, query)
        limit = query.max_tokens if query.max_tokens is not None else MAX_TOKENS
        remembered = [_remembered(scored, texts, vault.scope, self._secrets) for scored in chosen]
        if query.bar is not None:
            by_address = {note.address: row for note, row in zip(remembered, chosen, strict=True)}
            remembered = _newest_first(remembered, query.prompt)
            chosen = [by_address[note.address] for note in remembered]
            remembered = [
                note._replace(changed=await self._changed(note, root)) for note in remembered
            ]
            made = index_of(remembered, max_tokens=limit, folder=folder)
        else:
            made = preamble(
                remembered,
                project=entry.name if entry is not None else vault.full_name,
                max_tokens=limit,
                max_note_tokens=_MAX_NOTE_TOKENS,
                folder=folder,
            )
        left += [LeftOut(scored, "budget") for scored in chosen[made.notes :]]
        left.sort(key=lambda row: -row.scored.score)
        return Recalled(
            text=made.text,
            tokens=made.tokens,
            notes=tuple(_recalled(scored, vault.scope, query) for scored in chosen[: made.notes]),
            left_out=tuple(_recalled(scored, vault.scope, query, why) for scored, why in left)
            if query.explain
            else (),
            used_mode=mode,
            signals=RecallSignals(
                files,
                signals.tags,
                prompt=bool(query.prompt) and match is not None and match.is_enough,
            ),
            weights=RecallWeights(),
            word_match=WordMatch(round(match.share, 4), round(match.needed, 4)) if match else None,
            max_tokens=limit,
            warnings=(*warnings, *more),
        )

    async def search_notes(self, vault: OpenVault, query: NoteQuery) -> FoundNotes:
        """Return the notes that have words of the text, a file or a tag, the best first.

        Raises:
            VaultAgentError: as a search does. Without the global vault it is a warning.
        """
        vaults, warnings = await self.facts.around(
            vault, with_global=not (query.alone or query.project), every=True
        )
        answer = Answer(None, Mode.LEXICAL, _HITS, ())
        if query.text:
            answer = await self._ask(vaults, SearchQuery(query.text, None, _HITS))
        signals = Signals(query.files, query.tags, words=True)
        candidates, _ = candidates_of(vaults, signals, answer.results)
        ranked = rank(
            candidates,
            signals,
            frequencies([facts.notes for facts in vaults], candidates),
            today=self.today(),
            recency_days=query.recency_days or RECENCY_DAYS,
            global_types=None,
        )
        best = [scored for scored in ranked if scored.relevance > 0][: query.limit]
        # Of several passages of a note, the first one is the best.
        hits = {(hit.vault or vaults[0].name, hit.note_id): hit for hit in reversed(answer.results)}
        # Those that have a file or a tag, but no word of the text, show their beginning.
        others = [scored for scored in best if scored.address not in hits]
        parts = await parts_of(vaults, others, {scored.address: 0 for scored in others})
        notes = []
        for scored in best:
            hit = hits.get(scored.address)
            snippet = parts[scored.address].matters if hit is None else hit.snippet
            matches = () if hit is None else hit.matches
            fields = _fields_of(scored)
            created = scored.candidate.note.created
            notes.append(FoundNote(**fields, snippet=snippet, matches=matches, created=created))
        return FoundNotes(tuple(notes), (*warnings, *answer.warnings))

    async def _changed(self, note: Remembered, root: Path | None) -> int:
        """Return how many of a note's files were committed after it was written."""
        if root is None or note.day is None or note.from_global or not note.files:
            return 0
        since = f"{note.day}T23:59:59"
        return len(await changed_files(root.parent.parent, since, note.files, seconds=_GIT_SECONDS))

    async def _search(
        self, vaults: Sequence[VaultFacts], query: RecallQuery
    ) -> tuple[Sequence[Hit], WordMatch | None, Mode | None, tuple[Warning, ...]]:
        """Return what search finds that is about a prompt, and how much of it one passage has.

        Only the words say what is about it: semantic search always finds something that is near.
        Without a signal there is neither.
        """
        if not (is_signal(query.prompt) or identifiers(query.prompt)):
            return (), None, None, ()
        text = without_operators(query.prompt)[:1_000]
        if query.bar is not None:
            text = without_hiragana(text)
        query_by_words = SearchQuery(text, Mode.LEXICAL, _HITS, coverage=True)
        lexical = await self._ask(vaults, query_by_words)
        covered = lexical.coverage or Coverage(0, 0, {})
        needed = needed_share(covered.words, covered.passages)
        subject = {*terms(text)} - common_terms()
        about = {
            (hit.vault, hit.note_id)
            for hit in lexical.results
            if is_about(
                covered.notes[hit.vault, hit.note_id],
                hit.score,
                needed,
                query.bar,
                named=not subject.isdisjoint(terms(hit.title)),
            )
        }
        # One name that few notes have says what a prompt is about, whatever else is in it.
        named = [
            hit for hit in lexical.results if names_it(query.prompt, f"{hit.title}\n{hit.snippet}")
        ]
        if len({(hit.vault, hit.note_id) for hit in named}) <= _FEW:
            about |= {(hit.vault, hit.note_id) for hit in named}
        answer = lexical
        # Nobody waits for an embedding at a prompt: what is about it is known by now.
        if query.bar is None and vaults[0].vault.embedder is not None and about:
            answer = await self._ask(vaults, SearchQuery(text, None, _HITS))
        hits = [hit for hit in answer.results if (hit.vault, hit.note_id) in about]
        share = max((match.share for match in covered.notes.values()), default=0.0)
        least = needed * (BAR_IF_ASKED if query.bar is None else query.bar)
        if not about and query.bar is not None:  # enough words, but not of a subject
            share = 0.0
        return hits, WordMatch(share, least), answer.used_mode, answer.warnings

    async def _ask(self, vaults: Sequence[VaultFacts], query: SearchQuery) -> Answer:
        if len(vaults) == 1:
            return await vaults[0].vault.search(query)
        return await self._federated.search([facts.name for facts in vaults], query)

    async def _choose(
        self,
        vaults: Sequence[VaultFacts],
        ranked: Sequence[Scored],
        places: dict[Address, int],
        most: int,
        query: RecallQuery,
        *,
        wants_open: bool,
    ) -> tuple[list[Scored], list[LeftOut], dict[Address, str]]:
        """Return the notes to remember, the others, and what is shown of the first."""
        by_address = {scored.address: scored for scored in ranked}
        pinned = [by_address[address] for address in query.pinned if address in by_address]
        left: list[LeftOut] = []
        others: list[Scored] = []
        for scored in ranked:
            near = scored.relevance >= _LEAST_RELEVANCE
            if (why := _why_not(scored, vaults[0].notes, query)) is not None:
                left.append(LeftOut(scored, why if near else "relevance"))
            elif scored not in pinned:
                others.append(scored)
        pinned = [scored for scored in pinned if scored.address not in query.without]
        latest = _latest_journals(others) if wants_open else []
        near_ones = [scored for scored in others if scored.relevance >= _LEAST_RELEVANCE]
        reading = [*pinned, *latest, *near_ones][:_READ]
        parts = await parts_of(vaults, reading, places, query)
        open_ones = [
            replace(scored, reasons=(*scored.reasons, "open"))
            for scored in latest
            if not query.start or query.bar is None or is_open(parts[scored.address].matters)
        ]
        first = {scored.address for scored in (*pinned, *open_ones)}
        chosen = [*pinned, *open_ones]
        for scored in others:
            address = scored.address
            if address in first:
                continue
            part = parts.get(address)
            if scored.relevance < _LEAST_RELEVANCE:
                left.append(LeftOut(scored, "relevance"))
            elif part is None or len(chosen) >= most:
                left.append(LeftOut(scored, "limit"))
            elif not says_something(scored.candidate.note.title, part.matters):
                left.append(LeftOut(scored, "empty"))
            else:
                chosen.append(scored)
        texts = {
            address: part.passage if query.bar is not None else part.matters
            for address, part in parts.items()
        }
        return chosen, left, texts


def _newest_first(notes: Sequence[Remembered], prompt: str) -> list[Remembered]:
    """Return notes by their date, the newest first.

    Of two that speak of the same file and the same subject, the older one is a part of the newer.
    """
    kept: list[Remembered] = []
    for note in sorted(notes, key=lambda note: note.day or "", reverse=True):
        newer = next(
            (
                place
                for place, other in enumerate(kept)
                if not other.earlier
                and set(other.files) & set(note.files)
                and same_subject(prompt, other.text, note.text)
            ),
            None,
        )
        if newer is None:
            kept.append(note)
        else:
            kept[newer] = kept[newer]._replace(earlier=note.text)
    return kept


async def _files_at_work(root: Path, facts: VaultFacts) -> tuple[str, ...]:
    """Return the files of notes that were changed since the last commit, for a vault's root.

    Only their times are looked at: git would run the filters of a repository to compare them.
    """
    project = root.parent.parent
    since = await committed_at(project, seconds=_GIT_SECONDS)
    if since is None:
        return ()
    named = list(facts.notes.files)[:_MAX_LOOKED]
    return await in_thread(_changed_since, project, named, since)


def _changed_since(project: Path, files: Sequence[str], since: float) -> tuple[str, ...]:
    changed = []
    for file in files:
        with suppress(OSError, ValueError):
            if (project / file).stat().st_mtime > since:
                changed.append(file)
    return tuple(changed)


def candidates_of(
    vaults: Sequence[VaultFacts],
    signals: Signals,
    hits: Sequence[Hit],
    pinned: Sequence[Address] = (),
) -> tuple[list[Candidate], dict[Address, int]]:
    """Return the notes to score, and the place of the best chunk of those that were found."""
    scores: dict[Address, float] = {}
    places: dict[Address, int] = {}
    for hit in hits:
        address = (hit.vault or vaults[0].name, hit.note_id)
        if hit.score > scores.get(address, -1.0):
            scores[address] = hit.score
            if hit.chunk_index is not None:
                places[address] = hit.chunk_index
    made = []
    for place, (name, _, index) in enumerate(vaults):
        rows = index.near(signals.files, signals.tags) | set(index.newest)
        rows |= {
            index.ids[note_id]
            for vault, note_id in (*scores, *pinned)
            if vault == name and note_id in index.ids
        }
        for note in (index.notes[rowid] for rowid in sorted(rows)):
            note_id = identify(note.path)
            score = scores.get((name, note_id))
            made.append(Candidate(name, note_id, type_of(note), note, score, from_global=place > 0))
    return made, places


def _latest_journals(ranked: Sequence[Scored]) -> list[Scored]:
    journals = [scored for scored in ranked if scored.candidate.type == "journal"]
    return sorted(journals, key=lambda scored: -scored.recency)[:_OPEN_JOURNALS]


def match_type(scored: Scored) -> str:
    """Return whether a note was found by a file or tag, by words, or by both."""
    both = scored.tag > 0 and scored.semantic > 0
    return "both" if both else "semantic" if scored.semantic > 0 else "tag"


def _folder(root: Path | None, query: RecallQuery) -> str | None:
    """Return the folder of a project's vault as its agent finds it, None if it cannot."""
    if root is None:
        return None
    project = root.parent.parent
    is_there = query.cwd is None or Path(query.cwd).is_relative_to(project)
    return root.relative_to(project).as_posix() if is_there else str(root)  # in a worktree


def _why_not(scored: Scored, project: FactIndex, query: RecallQuery) -> str | None:
    """Return why a note is not recalled whatever it is about, or None."""
    why = query.without.get(scored.address)
    if why is not None or scored.address in query.pinned:
        return why
    note = scored.candidate.note
    if query.session_id is not None and note.session == query.session_id:
        return "session"
    if scored.candidate.from_global and note.promoted_from is not None:
        # The ID in the project follows the vault's own one. A note without one has its note ID.
        original = note.promoted_from.rpartition(":")[2]
        if original in project.identifiers or original in project.ids:
            return "duplicate"
    return None


def _remembered(
    scored: Scored, texts: dict[Address, str], scope: Scope, secrets: Sequence[re.Pattern[str]]
) -> Remembered:
    candidate, note = scored.candidate, scored.candidate.note
    return Remembered(
        kind="Session" if candidate.type == "journal" else candidate.type.capitalize(),
        title=redact(note.title, more=secrets).text,
        day=candidate.day.isoformat() if candidate.day is not None else None,
        # A note of a person, or of an older version, may have secrets; prompts may not.
        text=redact(texts.get(scored.address, ""), more=secrets).text,
        address=f"{GLOBAL}:{note.path}" if candidate.from_global else scope.to_caller(note.path),
        files=note.files,
        from_global=candidate.from_global,
    )


def _recalled(
    scored: Scored, scope: Scope, query: RecallQuery, why: str | None = None
) -> RecalledNote:
    is_pinned = why is None and scored.address in query.pinned
    fields = _fields_of(scored, scope)
    if is_pinned:
        fields["reasons"] = ("pinned", *scored.reasons)
    return RecalledNote(**fields, left_out=why)


def _fields_of(scored: Scored, scope: Scope = EVERYTHING) -> dict[str, Any]:
    """Return what a reply says of a note, with its score."""
    note = scored.candidate.note
    return {
        "vault": scored.candidate.vault,
        "note_id": scored.candidate.note_id,
        "id": note.identifier,
        "path": scope.to_caller(note.path),
        "title": note.title,
        "type": scored.candidate.type,
        "updated": note.updated,
        "score": round(scored.score, 4),
        "match_type": match_type(scored),
        "tag": round(scored.tag, 4),
        "semantic": round(scored.semantic, 4),
        "recency": round(scored.recency, 4),
        "reasons": scored.reasons,
        "hash": note.hash.hex(),
    }
