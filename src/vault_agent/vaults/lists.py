"""Names, lists, tasks, contexts and regular expressions of one open vault."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from vault_agent.model.scope import EVERYTHING
from vault_agent.search.context import gather
from vault_agent.search.grep import grep
from vault_agent.search.lists import list_notes
from vault_agent.search.named import note_with_id
from vault_agent.search.resolve import resolve
from vault_agent.search.tasks import list_tasks, open_tasks_of
from vault_agent.store.index import lists as reading

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vault_agent.embedding.embedder import Embedder
    from vault_agent.model.context import Context, ContextQuery
    from vault_agent.model.grep import GrepAnswer, GrepQuery, Place
    from vault_agent.model.lists import (
        ListPlace,
        ListQuery,
        NoteList,
        TaskList,
        TaskPlace,
        TaskQuery,
    )
    from vault_agent.model.names import NamedNotes
    from vault_agent.model.scope import Scope
    from vault_agent.model.warning import Warning
    from vault_agent.store.current import Snapshot
    from vault_agent.vaults.shared import Read


async def _types(now: Snapshot) -> dict[str, int]:
    return await now.read(reading.count_types)


_SCANS = 2
"""Scans of the whole vault at once. Others wait."""


class Lists:
    """The names and lists of one vault.

    `roots` are the vault's absolute paths, `warnings` returns those of every reply, and `indexing`
    whether a job runs.
    """

    def __init__(
        self,
        read: Read,
        roots: Sequence[str],
        *,
        warnings: Callable[[], tuple[Warning, ...]],
        regex_seconds: float,
        embedder: Embedder | None,
        indexing: Callable[[], bool],
    ) -> None:
        self._warnings = warnings
        self._read = read
        self._roots = roots
        self._regex_seconds = regex_seconds
        self._embedder = embedder
        self._indexing = indexing
        self._scans = anyio.Semaphore(_SCANS)

    async def resolve(
        self, name: str, scope: Scope = EVERYTHING, *, source: str | None = None
    ) -> NamedNotes:
        """Return the notes of `scope` that a name means, in the note `source` if it is a link."""
        found: NamedNotes = await self._read(
            lambda now: resolve(now, name, roots=self._roots, scope=scope, source=source)
        )
        return found

    async def note_id_of(self, value: str, scope: Scope = EVERYTHING) -> str:
        """Return the ID of the note of `scope` whose frontmatter has this `id`.

        Raises:
            NotFound: `NOTE_NOT_FOUND`, or `NOTE_AMBIGUOUS` with `details.notes`.
        """
        found: str = await self._read(lambda now: note_with_id(now, value, scope))
        return found

    async def notes(self, query: ListQuery, start: ListPlace | None = None) -> NoteList:
        """Return a page of notes, after the place `start`."""
        found: NoteList = await self._read(lambda now: list_notes(now, query, start))
        return replace(found, warnings=(*self._warnings(), *found.warnings))

    async def types(self) -> dict[str, int]:
        """Return the number of notes of each type; "" for notes without one."""
        found: dict[str, int] = await self._read(_types)
        return found

    async def tasks(self, query: TaskQuery, start: TaskPlace | None = None) -> TaskList:
        """Return a page of tasks, after the place `start`."""
        found: TaskList = await self._read(lambda now: list_tasks(now, query, start))
        return replace(found, warnings=(*self._warnings(), *found.warnings))

    async def open_tasks(self, ids: Sequence[str], scope: Scope = EVERYTHING) -> list[str]:
        """Return those of the IDs (`🆔`) that open tasks of `scope` have."""
        found: list[str] = await self._read(lambda now: open_tasks_of(now, ids, scope))
        return found

    async def context(self, queries: Sequence[ContextQuery], *, max_tokens: int) -> Context:
        """Return excerpts of notes for a prompt."""
        found: Context = await self._read(
            lambda now: gather(
                now,
                queries,
                max_tokens=max_tokens,
                roots=self._roots,
                embedder=self._embedder,
                indexing=self._indexing(),
            )
        )
        return replace(found, warnings=(*self._warnings(), *found.warnings))

    async def grep(self, query: GrepQuery, start: Place | None = None) -> GrepAnswer:
        """Return the lines that match a pattern, after the place `start`."""
        async with self._scans:
            found: GrepAnswer = await self._read(
                lambda now: grep(now, query, seconds=self._regex_seconds, start=start)
            )
        return replace(found, warnings=(*self._warnings(), *found.warnings))
