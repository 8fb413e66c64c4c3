"""The embeddings of an open vault: whether they are usable, and the runs that make them.

New texts are embedded some seconds after the last change, so that a note is not sent at each save.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import anyio

from vault_agent.errors import Unavailable, VaultAgentError
from vault_agent.indexing.protocol import Embed, ShareVectors
from vault_agent.model.warning import Warning

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine
    from typing import Any

    from vault_agent.indexing.protocol import EmbeddingCounts
    from vault_agent.store.current import CurrentIndex
    from vault_agent.vaults.indexer import Indexer, RunEvent
    from vault_agent.vaults.shared import Shared


class Embeddings:
    """The embeddings of one vault.

    With a `source`, the directory of the owner's index, its vectors are used, and no text is sent.
    """

    def __init__(
        self,
        shared: Shared,
        index: CurrentIndex,
        indexer: Indexer,
        directory: str,
        source: str | None = None,
    ) -> None:
        self.embedder = shared.embedder
        self._endpoint = shared.endpoint
        self._index = index
        self._indexer = indexer
        self._directory = directory
        self._source = source
        self.on_made: Callable[[], object] = lambda: None
        """Called after each run that may have made vectors."""

    @property
    def enabled(self) -> bool:
        """Whether they are on."""
        return self._endpoint is not None

    @property
    def address(self) -> str | None:
        """The address that is asked, or None if they are off."""
        return None if self._endpoint is None else self._endpoint.url

    def require_on(self) -> None:
        """Raise `Unavailable` (`EMBEDDING_UNAVAILABLE`) if they are off."""
        if not self.enabled:
            raise Unavailable(
                "EMBEDDING_UNAVAILABLE",
                "Embeddings are off, and the job requires them. `vault-agent enable embedding` "
                "turns them on.",
                remedy="",
            )

    def warnings(self, *, indexing: bool) -> tuple[Warning, ...]:
        """Return why semantic search is unavailable or incomplete, if it is."""
        embedder, snapshot = self.embedder, self._index.latest
        if embedder is None or snapshot is None:
            return ()
        from vault_agent.search.semantic import share_warnings, usable_matrix  # imports numpy

        try:
            embedder.check()
            usable_matrix(snapshot, embedder.space, indexing=indexing)
        except Unavailable as reason:
            return (Warning(reason.code, *reason.over_http()),)
        return share_warnings(snapshot, indexing=indexing)

    async def make(
        self,
        on_event: Callable[[RunEvent], object],
        *,
        require: bool = False,
        fresh: bool = False,
    ) -> EmbeddingCounts | None:
        """Embed the chunks without a vector. Return None if embeddings are off.

        Raises:
            Unavailable: `EMBEDDING_UNAVAILABLE` if they are off and `require` or `fresh` is set.
            VaultAgentError: what ended the run.
        """
        if require or fresh:
            self.require_on()
        if self._endpoint is None:
            return None
        if self._source is not None:
            sharing = ShareVectors(self._directory, self._source, self._endpoint)
            return await self._indexer.embed(sharing, on_event)
        request = Embed(
            self._directory,
            self._endpoint,
            require=require,
            fresh=fresh,
            doubted=self._are_doubted(),
        )
        try:
            return await self._indexer.embed(request, on_event)
        finally:
            self.on_made()

    def _are_doubted(self) -> bool:
        """Whether the endpoint has returned vectors that do not compare with those of the index."""
        matrix = self._index.latest.matrix if self._index.latest else None
        space = self.embedder.space if self.embedder is not None else None
        return matrix is not None and space is not None and not matrix.space.matches(space)


FIRST_RETRY_SECONDS, LONGEST_RETRY_SECONDS = 60.0, 600.0
DELAY_SECONDS = 5.0  # after a change
LONGEST_DELAY = 10  # times `DELAY_SECONDS`, for a user who never stops typing


class EmbedLater:
    """Starts embedding runs of one vault some seconds after changes, and again after failures.

    Args:
        embed: embeds what has no vector, and returns False if the endpoint fails.
        spawn: runs a task in the background.
        enabled: whether embeddings are on.
    """

    def __init__(
        self,
        embed: Callable[[], Awaitable[bool]],
        spawn: Callable[[Callable[[], Coroutine[Any, Any, None]]], None],
        *,
        enabled: bool,
    ) -> None:
        self._embed = embed
        self._spawn = spawn
        self._enabled = enabled
        self._due: float | None = None
        self._latest = 0.0
        self._is_waiting = False
        self._failures = 0

    def soon(self) -> None:
        """Embed `DELAY_SECONDS` after the last call. Calls do not delay it without end."""
        if not self._enabled:
            return
        now = time.monotonic()
        if self._due is None:
            self._latest = now + LONGEST_DELAY * DELAY_SECONDS
        self._due = min(now + DELAY_SECONDS, self._latest)
        if not self._is_waiting:
            self._is_waiting = True
            self._spawn(self._work)

    async def _work(self) -> None:
        try:
            while self._due is not None:
                seconds = self._due - time.monotonic()
                if seconds > 0:
                    await anyio.sleep(seconds)
                else:
                    await self._embed_now()
        finally:
            self._is_waiting = False

    async def _embed_now(self) -> None:
        self._due = None
        try:
            works = await self._embed()
        except VaultAgentError:
            works = False
        self._failures = 0 if works else self._failures + 1
        if not works:
            pause = FIRST_RETRY_SECONDS * 2.0 ** min(self._failures - 1, 10)
            self._latest = time.monotonic() + min(pause, LONGEST_RETRY_SECONDS)
            self._due = self._latest
