"""Learns which notes are opened after which searches, while `search.learn` is on.

A search of a client is remembered for some minutes, with the notes that it has shown. If the client
opens one of them, that is stored: the words of the search and the note. The first notes that are
opened after a search count, each less than the one before, since who opens all of them has not
chosen. Nothing is stored of a search that may contain a secret.

What is learned from a client is for those who may see the same notes. So nobody learns what others
have looked for elsewhere, and an agent with a folder cannot change what its owner finds.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vault_agent.errors import VaultAgentError
from vault_agent.model.identifiers import identify
from vault_agent.model.search import Opened, Opening
from vault_agent.ranking.learned import learned, terms_of
from vault_agent.redaction.redact import doubtful, redact
from vault_agent.store.index import documents
from vault_agent.system.cancelling import in_thread, to_its_end

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from vault_agent.config import Config
    from vault_agent.model.scope import Scope
    from vault_agent.model.search import SearchQuery
    from vault_agent.model.writing import LoggedWrite
    from vault_agent.store.openings.record import OpeningStore
    from vault_agent.vaults.reading import Reading

KEPT = 2_000
"""Openings that are kept: the newest."""
KEPT_DAYS = 365
COUNTED = 3
"""The notes that count of those opened after one search."""
REMEMBERED_SECONDS = 600.0
"""How long after a search an opening belongs to it."""
_SEARCHES = 20
"""Searches of each client that are remembered. The web page searches at every word."""
_CLIENTS = 100
_DAY_MS = 86_400_000


@dataclass(slots=True)
class _Search:
    """A search of a client, and the notes that it has shown and that were not opened yet."""

    at: float
    shown: dict[str, str] = field(default_factory=dict)  # paths by note ID
    opened: int = 0


_Searches = OrderedDict[str, _Search]  # by the query


class Openings:
    """What is learned in one vault."""

    def __init__(
        self,
        store: OpeningStore,
        reading: Reading,
        config: Config,
        is_excluded: Callable[[str], bool],
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._reading = reading
        self._settings = config.search
        self._secrets = [re.compile(each, re.MULTILINE) for each in config.journal.redact_patterns]
        self._is_excluded = is_excluded
        self._clock = clock
        self._openings: list[Opening] | None = None  # as stored, once they are needed
        self._turn = asyncio.Lock()
        self._searches: OrderedDict[tuple[str, Scope], _Searches] = OrderedDict()

    async def similar(self, query: SearchQuery) -> dict[str, Opened]:
        """Return the notes that were opened after searches similar to `query`, by path."""
        learning = query.learning
        terms = terms_of(query.query) if learning is not None else frozenset()
        if learning is None or not terms:
            return {}
        try:
            openings = await self._all()
        except VaultAgentError:
            return {}  # a search does not fail by it
        scope = _name(query.filters.scope)
        until = learning.until
        return learned(terms, (o for o in openings if o.scope == scope and o.at <= until))

    def searched(self, query: SearchQuery, paths: Iterable[str]) -> None:
        """Remember a search of a client, and the notes that it has shown."""
        if query.learning is None:
            return
        client = (query.learning.searcher, query.filters.scope)
        searches = self._searches.setdefault(client, OrderedDict())
        self._searches.move_to_end(client)
        now = self._clock()
        search = searches.get(query.query)
        if search is None or search.opened or now - search.at > REMEMBERED_SECONDS:
            search = searches[query.query] = _Search(now)
        search.at = now
        search.shown.update((identify(path), path) for path in paths)  # also of its next page
        searches.move_to_end(query.query)
        if len(searches) > _SEARCHES:
            searches.popitem(last=False)
        if len(self._searches) > _CLIENTS:
            self._searches.popitem(last=False)

    async def opened(self, searcher: str, scope: Scope, note_id: str) -> bool:
        """Learn that a client has opened a note. Return whether a search had shown it.

        Raises:
            Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
        """
        if not self._settings.learn:
            return False
        now = self._clock()
        searches = self._searches.get((searcher, scope), _Searches())
        for text, search in reversed(searches.items()):
            path = search.shown.get(note_id)
            if path is None or now - search.at > REMEMBERED_SECONDS:
                continue
            del search.shown[note_id]  # once for each search
            search.opened += 1
            terms = terms_of(text)
            if search.opened > COUNTED or not terms or self._may_be_secret(text):
                return False
            opening = Opening(int(now * 1000), _name(scope), terms, path, 1 / search.opened)
            return await to_its_end(self._learn(opening))
        return False

    async def forget(self, older_than_days: int | None) -> int:
        """Forget openings, all or those that are older, and searches. Return how many they were.

        Raises:
            Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
        """
        before = None
        if older_than_days is not None:
            before = int(self._clock() * 1000) - older_than_days * _DAY_MS
        self._searches.clear()
        async with self._turn:
            openings = await in_thread(self._store.read)
            kept = [] if before is None else [each for each in openings if each.at >= before]
            if len(kept) < len(openings) or before is None:
                await in_thread(self._store.forget, before)
            self._openings = kept
        return len(openings) - len(kept)

    async def follow(self, write: LoggedWrite) -> None:
        """Follow notes that a write has moved.

        Raises:
            Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
        """
        moved = {file.before: file.path for file in write.files if file.before}
        if not (moved and self._settings.learn):
            return
        openings = await self._all()
        async with self._turn:
            if any(each.path in moved for each in openings):
                await in_thread(self._store.move, moved)
                self._openings = None

    def _may_be_secret(self, text: str) -> bool:
        return bool(redact(text, more=self._secrets).found or doubtful(text))

    async def _learn(self, opening: Opening) -> bool:
        """Store an opening, and remove those of notes that the index has no more."""
        known = {each.path for each in await self._all()} | {opening.path}
        there = await self._reading.read(
            lambda snapshot: snapshot.read(documents.known_paths, known)
        )
        async with self._turn:
            if gone := known - there:
                await in_thread(self._store.remove, gone)
            if opening.path in there:
                since = opening.at - KEPT_DAYS * _DAY_MS
                await in_thread(self._store.add, opening, most=KEPT, since=since)
            self._openings = None
        return opening.path in there

    async def _all(self) -> list[Opening]:
        async with self._turn:
            if self._openings is None:
                self._openings = await in_thread(self._load)
            return self._openings

    def _load(self) -> list[Opening]:
        """Return what is stored, without notes that are excluded now. These are removed."""
        openings = self._store.read()
        excluded = {each.path for each in openings if self._is_excluded(each.path)}
        if excluded:
            self._store.remove(excluded)
        return [each for each in openings if each.path not in excluded]


def _name(scope: Scope) -> str:
    """Return a text that two scopes share only if they are the same."""
    return repr((scope.folder, sorted(scope.deny))) if scope.folder or scope.deny else ""
