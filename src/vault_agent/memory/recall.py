"""Recalls the notes of earlier sessions that matter for a task.

`Memory.recall` makes a text for an agent. `search_notes` lists the notes that are about anything
that was asked for: files, tags and age count as in a recall, but every note is searched.
"""

from __future__ import annotations

import re
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from vault_agent.config.registry import GLOBAL, Role
from vault_agent.memory.facts import (
    KINDS,
    MAX_FILES,
    Facts,
    frequencies,
    named_files,
    named_tags,
)
from vault_agent.memory.passages import (
    address_of,
    asks_to_continue,
    identifiers,
    is_open,
    names_it,
    parts_of,
    same_subject,
    says_something,
)
from vault_agent.memory.preamble import Remembered, index_of, preamble
from vault_agent.memory.score import (
    ASKED,
    Candidate,
    LeftOut,
    Scored,
    Signals,
    is_about,
    is_signal,
    needed_share,
    rank,
)
from vault_agent.model.identifiers import identify
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
from vault_agent.text.common_words import common_terms, without_hiragana
from vault_agent.text.redaction import redact
from vault_agent.text.terms import terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date

    from vault_agent.config.memory_sections import MemorySettings
    from vault_agent.memory.facts import Known
    from vault_agent.memory.passages import Part
    from vault_agent.memory.score import Scored
    from vault_agent.model.memory import Address, NoteQuery, RecallQuery
    from vault_agent.model.scope import Scope
    from vault_agent.model.search import Hit
    from vault_agent.model.warning import Warning
    from vault_agent.store.index.facts import NoteFacts
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.vaults.several import Several
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

    def __init__(
        self, vaults: Vaults, several: Several, settings: MemorySettings, secrets: Sequence[str]
    ) -> None:
        """Take the user's own regular expressions for secrets, which no text of a note may have."""
        self._secrets = [re.compile(each, re.MULTILINE) for each in secrets]
        self._vaults = vaults
        self._several = several
        self.facts = Facts(vaults, settings)
        self.today = _today
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
        async with AsyncExitStack() as stack:
            known, warnings = await self.facts.around(
                stack,
                vault,
                with_global=query.with_global,
                index_seconds=index_seconds,
            )
            indexes = [each.notes for each in known]
            worked = await _files_at_work(root, known[0]) if query.start and root else ()
            continues = query.bar is not None and asks_to_continue(query.prompt)
            named = named_files(query.prompt, indexes)
            files = tuple(dict.fromkeys((*query.files, *named, *worked)))[:MAX_FILES]
            words = query.prompt
            if query.bar is not None:  # a word may be a tag by chance
                words = " ".join(_TAGGED.findall(words))
            tags = (*query.tags, *named_tags(words, indexes))
            hits, match, mode, more = await self._search(known, query)
            signals = Signals(files, tuple(dict.fromkeys(tags)), words=bool(hits))
            candidates, chunks = candidates_of(known, signals, hits, query.pinned)
            ranked = rank(
                candidates,
                signals,
                frequencies(indexes, candidates),
                today=self.today(),
                recency_days=RECENCY_DAYS,
            )
            most = query.max_notes if query.max_notes is not None else _MAX_NOTES
            chosen, left, shown = await self._choose(
                known, ranked, chunks, most, query, wants_open=query.start or continues
            )
        folder = _folder(root, query)
        limit = query.max_tokens if query.max_tokens is not None else MAX_TOKENS
        remembered = [_remembered(each, shown, vault.scope, self._secrets) for each in chosen]
        if query.bar is not None:
            remembered, chosen = _newest_first(remembered, chosen, query.prompt)
            remembered = [
                note._replace(changed=await self._changed(note, root)) for note in remembered
            ]
            made = index_of(remembered, max_tokens=limit, folder=folder)
        else:
            made = preamble(
                remembered,
                project=entry.name if entry is not None else vault.address,
                max_tokens=limit,
                max_note_tokens=_MAX_NOTE_TOKENS,
                folder=folder,
            )
        left += [LeftOut(each, "budget") for each in chosen[made.notes :]]
        left.sort(key=lambda each: -each.scored.score)
        return Recalled(
            text=made.text,
            tokens=made.tokens,
            notes=tuple(_recalled(each, known, query) for each in chosen[: made.notes]),
            left_out=tuple(_recalled(each, known, query, why) for each, why in left)
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

    async def _changed(self, note: Remembered, root: Path | None) -> int:
        """Return how many of a note's files were committed after it was written."""
        if root is None or note.day is None or note.from_global or not note.files:
            return 0
        since = f"{note.day}T23:59:59"
        return len(await changed_files(root.parent.parent, since, note.files, seconds=_GIT_SECONDS))

    async def _search(
        self, known: Sequence[Known], query: RecallQuery
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
        asked = SearchQuery(text, Mode.LEXICAL, _HITS, coverage=True)
        lexical = await self._ask(known, asked)
        covered = lexical.coverage or Coverage(0, 0, {})
        needed = needed_share(covered.words, covered.passages)
        subject = {*terms(text)} - common_terms()
        about = {
            (hit.vault, hit.note_id)
            for hit in lexical.hits
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
            hit for hit in lexical.hits if names_it(query.prompt, f"{hit.title}\n{hit.snippet}")
        ]
        if len({(hit.vault, hit.note_id) for hit in named}) <= _FEW:
            about |= {(hit.vault, hit.note_id) for hit in named}
        found = lexical
        # Nobody waits for an embedding at a prompt: what is about it is known by now.
        if query.bar is None and known[0].vault.embedder is not None and about:
            found = await self._ask(known, SearchQuery(text, None, _HITS))
        hits = [hit for hit in found.hits if (hit.vault, hit.note_id) in about]
        share = max((match.share for match in covered.notes.values()), default=0.0)
        least = needed * (ASKED if query.bar is None else query.bar)
        if not about and query.bar is not None:  # enough words, but not of a subject
            share = 0.0
        return hits, WordMatch(share, least), found.used_mode, found.warnings

    async def _ask(self, known: Sequence[Known], query: SearchQuery) -> Answer:
        if len(known) == 1:
            return await known[0].vault.search(query)
        return await self._several.search([each.name for each in known], query)

    async def _choose(
        self,
        known: Sequence[Known],
        ranked: Sequence[Scored],
        places: dict[Address, int],
        most: int,
        query: RecallQuery,
        *,
        wants_open: bool,
    ) -> tuple[list[Scored], list[LeftOut], dict[Address, str]]:
        """Return the notes to remember, the others, and what is shown of the first."""
        by_address = {address_of(each): each for each in ranked}
        pinned = [by_address[each] for each in query.pinned if each in by_address]
        left: list[LeftOut] = []
        others: list[Scored] = []
        for each in ranked:
            near = each.relevance >= _LEAST_RELEVANCE
            if (why := _why_not(each, known, query)) is not None:
                left.append(LeftOut(each, why if near else "relevance"))
            elif each not in pinned:
                others.append(each)
        pinned = [each for each in pinned if address_of(each) not in query.without]
        latest = _latest_journals(others) if wants_open else []
        near_ones = [each for each in others if each.relevance >= _LEAST_RELEVANCE]
        reading = [*pinned, *latest, *near_ones][:_READ]
        parts = await parts_of(known, reading, places, query)
        open_ones = [
            replace(each, reasons=(*each.reasons, "open"))
            for each in latest
            if not query.start or query.bar is None or is_open(parts[address_of(each)].matters)
        ]
        first = {address_of(each) for each in (*pinned, *open_ones)}
        chosen = [*pinned, *open_ones]
        for each in others:
            address = address_of(each)
            if address in first:
                continue
            part = parts.get(address)
            if each.relevance < _LEAST_RELEVANCE:
                left.append(LeftOut(each, "relevance"))
            elif part is None or len(chosen) >= most:
                left.append(LeftOut(each, "limit"))
            elif not says_something(each.candidate.title, part.matters):
                left.append(LeftOut(each, "empty"))
            else:
                chosen.append(each)
        shown = {
            address: part.passage if query.bar is not None else part.matters
            for address, part in parts.items()
        }
        return chosen, left, shown


def _newest_first(
    notes: Sequence[Remembered], chosen: Sequence[Scored], prompt: str
) -> tuple[list[Remembered], list[Scored]]:
    """Return notes by their date, the newest first.

    Of two that speak of the same file and the same subject, the older one is a part of the newer.
    """
    order = sorted(range(len(notes)), key=lambda place: notes[place].day or "", reverse=True)
    kept: list[Remembered] = []
    placed: list[Scored] = []
    for place in order:
        note = notes[place]
        newer = next(
            (
                at
                for at, other in enumerate(kept)
                if not other.earlier
                and set(other.files) & set(note.files)
                and same_subject(prompt, other.text, note.text)
            ),
            None,
        )
        if newer is None:
            kept.append(note)
            placed.append(chosen[place])
        else:
            kept[newer] = kept[newer]._replace(earlier=note.text)
    return kept, placed


async def _files_at_work(root: Path, known: Known) -> tuple[str, ...]:
    """Return the files of notes that were changed since the last commit, for a vault's root.

    Only their times are looked at: git would run the filters of a repository to compare them.
    """
    project = root.parent.parent
    since = await committed_at(project, seconds=_GIT_SECONDS)
    if since is None:
        return ()
    named = list(known.notes.files)[:_MAX_LOOKED]
    return await in_thread(_changed_since, project, named, since)


def _changed_since(project: Path, files: Sequence[str], since: float) -> tuple[str, ...]:
    changed = []
    for file in files:
        with suppress(OSError, ValueError):
            if (project / file).stat().st_mtime > since:
                changed.append(file)
    return tuple(changed)


def candidates_of(
    known: Sequence[Known],
    signals: Signals,
    hits: Sequence[Hit],
    pinned: Sequence[Address] = (),
) -> tuple[list[Candidate], dict[Address, int]]:
    """Return the notes to score, and the place of the best chunk of those that were found."""
    scores: dict[Address, float] = {}
    places: dict[Address, int] = {}
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
            for vault, note_id in (*scores, *pinned)
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


def _latest_journals(ranked: Sequence[Scored]) -> list[Scored]:
    journals = [each for each in ranked if each.candidate.type == "journal"]
    return sorted(journals, key=lambda each: -each.recency)[:_OPEN_JOURNALS]


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


def _today() -> date:
    return datetime.now(UTC).date()


def _why_not(scored: Scored, known: Sequence[Known], query: RecallQuery) -> str | None:
    """Return why a note is not recalled whatever it is about, or None."""
    why = query.without.get(address_of(scored))
    if why is not None or address_of(scored) in query.pinned:
        return why
    note = _facts_of(scored.candidate, known)
    if query.session_id is not None and note.session == query.session_id:
        return "session"
    if scored.candidate.from_global and note.promoted_from is not None:
        # The ID in the project follows the vault's own one. A note without one has its note ID.
        original = note.promoted_from.rpartition(":")[2]
        if original in known[0].notes.identifiers or original in known[0].notes.ids:
            return "duplicate"
    return None


def _remembered(
    scored: Scored, shown: dict[Address, str], scope: Scope, secrets: Sequence[re.Pattern[str]]
) -> Remembered:
    candidate = scored.candidate
    kind = KINDS.get(candidate.type, candidate.type.capitalize())
    return Remembered(
        kind=kind,
        title=redact(candidate.title, more=secrets).text,
        day=candidate.updated.isoformat() if candidate.updated is not None else None,
        # A note of a person, or of an older version, may have secrets; prompts may not.
        text=redact(shown.get(address_of(scored), ""), more=secrets).text,
        address=f"{GLOBAL}:{candidate.path}"
        if candidate.from_global
        else scope.inner(candidate.path),
        files=candidate.files,
        from_global=candidate.from_global,
    )


def _recalled(
    scored: Scored, known: Sequence[Known], query: RecallQuery, why: str | None = None
) -> RecalledNote:
    candidate = scored.candidate
    is_pinned = why is None and address_of(scored) in query.pinned
    facts_of = _facts_of(candidate, known)
    return RecalledNote(
        vault=candidate.vault,
        note_id=candidate.note_id,
        id=facts_of.identifier,
        path=known[0].vault.scope.inner(candidate.path),
        title=candidate.title,
        type=candidate.type,
        updated=facts_of.updated,
        score=round(scored.score, 4),
        match_type=match_type(scored),
        tag=round(scored.tag, 4),
        semantic=round(scored.semantic, 4),
        recency=round(scored.recency, 4),
        reasons=("pinned", *scored.reasons) if is_pinned else scored.reasons,
        left_out=why,
        hash=facts_of.hash.hex(),
    )


def _facts_of(candidate: Candidate, known: Sequence[Known]) -> NoteFacts:
    index = next(each.notes for each in known if each.name == candidate.vault)
    return index.notes[index.ids[candidate.note_id]]


# --- a search for notes ---------------------------------------------------------------------------


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
    async with AsyncExitStack() as stack:
        known, warnings = await memory.facts.around(
            stack, vault, with_global=not (query.alone or query.project), every=True
        )
        asked = SearchQuery(query.text, None, _HITS)
        if not query.text:
            answer = Answer(None, Mode.LEXICAL, _HITS, ())
        elif len(known) == 1:
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
            recency_days=query.recency_days or RECENCY_DAYS,
            global_types=None,
        )
        best = [each for each in ranked if each.relevance > 0][: query.limit]
        # Of several passages of a note, the first one is the best.
        hits = {(hit.vault or known[0].name, hit.note_id): hit for hit in reversed(answer.hits)}
        # Those that have a file or a tag, but no word of the text, show their beginning.
        others = [each for each in best if address_of(each) not in hits]
        parts = await parts_of(known, others, {address_of(each): 0 for each in others})
        notes = tuple(_found(each, known, hits.get(address_of(each)), parts) for each in best)
    return FoundNotes(notes, (*warnings, *answer.warnings))


def _found(
    scored: Scored,
    known: Sequence[Known],
    hit: Hit | None,
    parts: Mapping[Address, Part],
) -> FoundNote:
    note = scored.candidate
    index = next(each.notes for each in known if each.name == note.vault)
    facts = index.notes[index.ids[note.note_id]]
    part = parts.get(address_of(scored))
    matters = part.matters if part is not None else ""
    return FoundNote(
        vault=note.vault,
        note_id=note.note_id,
        id=facts.identifier,
        path=note.path,
        title=note.title,
        type=note.type,
        score=round(scored.score, 4),
        match_type=match_type(scored),
        snippet=hit.snippet if hit is not None else matters,
        matches=hit.matches if hit is not None else (),
        created=facts.created,
    )
