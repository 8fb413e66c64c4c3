"""Searches over several vaults, and links into the global one.

Each vault is searched by itself, and the lists are merged. A note of a project links to one of the
global vault by `global:` and a path or name.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from vault_agent.errors import InvalidRequest, NotFound, VaultAgentError
from vault_agent.model.identifiers import GLOBAL, IN_GLOBAL, PROJECT, identify
from vault_agent.model.modes import Mode
from vault_agent.model.notes import LinkKind
from vault_agent.model.search import MAX_RANKED, Answer, Coverage, Elsewhere
from vault_agent.model.warning import Warning
from vault_agent.search.related import subject_of
from vault_agent.search.resolve import resolve_links
from vault_agent.search.warnings import unknown_everywhere
from vault_agent.store.index import documents
from vault_agent.store.index import notes as stored_notes
from vault_agent.store.index.links import unresolved_targets
from vault_agent.vaults.open_vault import ask

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

    from vault_agent.model.search import Hit, RelatedQuery, SearchQuery
    from vault_agent.store.database import Connection
    from vault_agent.store.index.notes import NamedRow
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.vaults.vaults import Vaults


_SPARE = 20
"""So many more results are asked of each vault, because some may be in several vaults."""
_NEVER_SKIPPED = {"VAULT_UNKNOWN", "VAULT_AMBIGUOUS", "FEATURE_DISABLED"}


class _Answered(NamedTuple):
    """A vault, its name in results, and what it answered."""

    name: str
    vault: OpenVault
    answer: Answer


class FederatedSearch:
    """Searches over several vaults."""

    def __init__(self, vaults: Vaults) -> None:
        self._vaults = vaults

    async def search(self, names: Sequence[str], query: SearchQuery) -> Answer:
        """Return ranked results of all these vaults.

        Raises:
            VaultAgentError: as `Vaults.open`, if a name means no vault or several; as the search of
                one vault, if no vault can be searched.
        """
        wanted = min(2 * query.end + _SPARE, MAX_RANKED)
        wider = replace(query, offset=0, limit=wanted, revision=None)
        vaults, skipped = await self._open(names)
        answered, warnings = await self._ask(vaults, skipped, lambda vault: vault.search(wider))
        revision = _revision(answered)
        if query.revision not in (None, revision):
            raise InvalidRequest("CURSOR_EXPIRED", "The index has changed since the first page.")
        hits = await _merged(answered, len(query.query.split()))
        answers = [reply.answer for reply in answered]
        unknown = unknown_everywhere([answer.unknown for answer in answers])
        if any(warning.code == "VAULT_SKIPPED" for warning in warnings):
            unknown = ()  # the vault that was left out may have these words
        return Answer(
            query.mode,
            _used_mode(answers),
            query.limit,
            hits[query.offset : query.end],
            warnings,
            has_more=len(hits) > query.end or any(answer.has_more for answer in answers),
            truncated=any(answer.truncated for answer in answers),
            unknown=unknown,
            revision=revision,
            coverage=_coverage(answered) if query.coverage else None,
        )

    async def related(
        self, names: Sequence[str], query: RelatedQuery, *, home: OpenVault
    ) -> Answer:
        """Return results of all these vaults that are similar to a note or chunk.

        The note is taken from the vault `home` if that is one of them. If not, it is taken from the
        first vault that has a note of this ID.

        Raises:
            NotFound: `NOTE_NOT_FOUND` if no vault has the note.
            VaultAgentError: as `search`.
        """
        wider = replace(query, limit=2 * query.limit + _SPARE)
        vaults, skipped = await self._open(names)
        source = await _source(vaults, query.id, home)
        subject = await source.reader.read(
            subject_of, query, embeddings=source.embedder is not None
        )

        def ask(vault: OpenVault) -> Awaitable[Answer]:
            return vault.related(wider, None if vault is source else subject.elsewhere())

        answered, warnings = await self._ask(vaults, skipped, ask)
        hits = await _merged(answered)
        mode = _used_mode([reply.answer for reply in answered])
        return Answer(query.mode, mode, query.limit, hits[: query.limit], warnings)

    async def _open(
        self, names: Sequence[str]
    ) -> tuple[list[OpenVault], list[tuple[str, VaultAgentError]]]:
        """Return the opened vaults, project vaults first, and the errors of others by name."""

        def preference(vault: OpenVault) -> int:
            if vault.full_name.startswith(PROJECT):
                return 0
            return 2 if vault.full_name == GLOBAL else 1

        opened: dict[str, OpenVault] = {}
        skipped: list[tuple[str, VaultAgentError]] = []
        for name in dict.fromkeys(names):
            try:
                vault = await self._vaults.open(name)
                opened.setdefault(vault.identity, vault)
            except VaultAgentError as error:
                if error.code in _NEVER_SKIPPED:
                    raise
                skipped.append((name, error))
        if not opened:
            raise skipped[0][1]
        return sorted(opened.values(), key=preference), skipped

    async def _ask(
        self,
        vaults: Sequence[OpenVault],
        skipped: Sequence[tuple[str, VaultAgentError]],
        ask: Callable[[OpenVault], Awaitable[Answer]],
    ) -> tuple[list[_Answered], tuple[Warning, ...]]:
        """Ask all vaults at once. Return the answers, and all warnings, also of skipped vaults."""
        replies = await asyncio.gather(*map(ask, vaults), return_exceptions=True)
        answered: list[_Answered] = []
        failed = list(skipped)
        for vault, reply in zip(vaults, replies, strict=True):
            name = self._vaults.unique_name_of(vault)
            if isinstance(reply, VaultAgentError) and not isinstance(reply, InvalidRequest):
                failed.append((name, reply))
            elif isinstance(reply, BaseException):
                raise reply
            else:
                answered.append(_Answered(name, vault, reply))
        if not answered:
            name, error = failed[0]
            if "jobId" in error.details:
                error.details["vault"] = name  # whose job it is
            raise error
        warnings = [left_out(name, error) for name, error in failed]
        warnings += [warning for reply in answered for warning in reply.answer.warnings]
        return answered, tuple(
            {(warning.code, warning.message): warning for warning in warnings}.values()
        )


async def _merged(answered: Sequence[_Answered], words: int = 1) -> tuple[Hit, ...]:
    """Return the results of all vaults by score. Of equal ones, the preferred vault's is first.

    `words` is the number of words of the query.
    """
    hits = [hit for reply in answered for hit in _scaled(reply, answered, words)]
    hits.sort(key=lambda hit: -hit.score)
    if len({hit.vault for hit in hits}) < 2:
        return tuple(hits)
    signs: dict[Elsewhere, tuple[str, ...]] = {}
    for name, vault, answer in answered:
        note_ids = list(dict.fromkeys(hit.note_id for hit in answer.results))
        signs |= await ask(vault, partial(signs_of, vault=name, note_ids=note_ids))
    return without_duplicates(hits, signs)


def _scaled(reply: _Answered, answered: Sequence[_Answered], words: int) -> list[Hit]:
    """Return the results of a vault with its name, and scores that compare with other vaults'.

    A vault scores by the words of the query that it has. If another vault has more of them, the
    evidence of this vault is multiplied by the share of those words that it has.
    """
    lacking = {word.position for word in reply.answer.unknown}
    lacking_everywhere = lacking.intersection(
        *({word.position for word in other.answer.unknown} for other in answered)
    )
    searched = max(words - len(lacking_everywhere), 1)
    share = 1 - min(len(lacking - lacking_everywhere) / searched, 1)
    return [
        # A score from 0 to 1 is made of a sum of evidence, see `rank`.
        replace(hit, vault=reply.name, score=round(1 - (1 - hit.score) ** share, 6))
        for hit in reply.answer.results
    ]


def _used_mode(answers: Sequence[Answer]) -> Mode:
    """Return the mode that all vaults have used, or hybrid if they differ."""
    modes = {answer.used_mode for answer in answers}
    return modes.pop() if len(modes) == 1 else Mode.HYBRID


def _revision(answered: Sequence[_Answered]) -> str:
    """Return the revisions of all vaults as one."""
    revisions = repr([(reply.vault.identity, reply.answer.revision) for reply in answered])
    return blake2b(revisions.encode(), digest_size=8).hexdigest()


def _coverage(answered: Sequence[_Answered]) -> Coverage | None:
    covered = [(reply.name, reply.answer.coverage) for reply in answered if reply.answer.coverage]
    if not covered:
        return None
    return Coverage(
        max(coverage.words for _, coverage in covered),
        sum(coverage.passages for _, coverage in covered),
        {
            (name, note_id): match
            for name, coverage in covered
            for (_, note_id), match in coverage.notes.items()
        },
    )


async def _source(vaults: Sequence[OpenVault], identifier: str, home: OpenVault) -> OpenVault:
    """Return the vault from which the requested note is taken, see `FederatedSearch.related`."""
    note_id = identifier.partition(":")[0]
    if len(note_id) != 32:
        raise InvalidRequest("INVALID_ID", "A note ID is 32 lowercase hexadecimal digits.")
    for vault in vaults:
        if vault.identity == home.identity:
            return vault
    for vault in vaults:
        if await vault.reader.read(
            lambda snapshot: snapshot.read(documents.note_or_document, note_id)
        ):
            return vault
    raise NotFound("NOTE_NOT_FOUND", "None of these vaults has this note in its index.")


def left_out(name: str, error: VaultAgentError) -> Warning:
    """Return the warning about a vault that is left out."""
    what = f"The vault {name} is left out: {error.what}"
    details = {"vault": name, "code": error.code}
    if "jobId" in error.details:  # the vault answers when this job has ended
        details["jobId"] = error.details["jobId"]
    return Warning.of("VAULT_SKIPPED", what, details)


def signs_of(
    connection: Connection, vault: str, note_ids: Sequence[str]
) -> dict[Elsewhere, tuple[str, ...]]:
    """Return the signs of some notes of a vault. Notes that share a sign count as one note.

    They do if they have the same frontmatter `id`, if one is promoted to the other, or if their
    files are equal.
    """
    rows = stored_notes.rows_of_ids(connection, note_ids)
    rowids = [row.rowid for row in rows]
    ids = stored_notes.values_of(connection, rowids, "id")
    promoted = stored_notes.values_of(connection, rowids, "promoted_to")
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
    """Return the results without a note that is also among the results of a preferred vault.

    `signs` has the notes of preferred vaults first. A note that stays names the dropped ones in
    `also`. Equal notes of one vault all stay.
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


_LINKS = "links"


class GlobalNote(NamedTuple):
    """A note of the global vault to which a note of a project links."""

    note_id: str
    path: str
    title: str
    type: str | None
    identifier: str | None  # the `id` of its frontmatter


class GlobalLinks:
    """Finds where links into the global vault lead."""

    def __init__(self, vaults: Vaults) -> None:
        self._vaults = vaults

    async def targets(self, vault: OpenVault, names: Collection[str]) -> dict[str, GlobalNote]:
        """Return the notes of the global vault that targets such as `global:a.md` lead to.

        The result is empty for vaults that are not a project's, and without a global vault.
        """
        wanted = {
            name: name.removeprefix(IN_GLOBAL) for name in names if name.startswith(IN_GLOBAL)
        }
        entry = self._vaults.entry_of(vault)
        if not wanted or entry is None or not entry.has_note_types or entry.full_name == GLOBAL:
            return {}

        def read(connection: Connection) -> dict[str, GlobalNote]:
            links = [("", target, LinkKind.WIKILINK) for target in wanted.values()]
            files = resolve_links(connection, links)
            notes: dict[str, GlobalNote] = {}
            for name, target in wanted.items():
                file = files["", target, LinkKind.WIKILINK]
                if file is None or file.note_id is None:
                    continue
                note = stored_notes.note_by_id(connection, file.note_id)
                if note is not None:
                    values = stored_notes.values_of(connection, [note.rowid], "id")
                    notes[name] = GlobalNote(
                        *(note.id, note.path, note.title, note.metadata.type),
                        next(iter(values.get(note.rowid, ())), None),
                    )
            return notes

        try:
            return await ask(await self._vaults.open(GLOBAL), read)
        except VaultAgentError:
            return {}  # there is no global vault, or it cannot be opened now

    async def edges(
        self, vault: OpenVault, note_ids: Sequence[str]
    ) -> list[tuple[str, GlobalNote]]:
        """Return the links of some notes into the global vault, each pair once."""

        def read(connection: Connection) -> list[tuple[str, str]]:
            rows: list[NamedRow] = stored_notes.rows_of_ids(connection, note_ids)
            paths = {row.rowid: row.path for row in rows}
            listed = stored_notes.values_of(connection, paths, _LINKS)
            links = [(rowid, value) for rowid, values in listed.items() for value in values]
            links += unresolved_targets(connection, paths, IN_GLOBAL)
            return [
                (identify(paths[rowid]), target)
                for rowid, target in links
                if target.startswith(IN_GLOBAL)
            ]

        if self._vaults.entry_of(vault) is None:
            return []
        links = await ask(vault, read)
        notes = await self.targets(vault, {target for _, target in links})
        edges = ((source, notes[target]) for source, target in links if target in notes)
        return list(dict.fromkeys(edges))
