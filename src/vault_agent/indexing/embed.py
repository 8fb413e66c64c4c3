"""An embedding run: embeds chunks without a vector, and saves each vector at once.

It begins after an index run has published. A text with a saved vector is not sent again, unless all
are embedded again: the key of a vector is a hash of its exact input, which runs, rebuilds, renames
and kills do not change.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vault_agent.errors import Unavailable
from vault_agent.indexing.protocol import EmbeddingCounts
from vault_agent.model.warning import Warning
from vault_agent.models.run import embed_all
from vault_agent.models.settings import chunk_input, vector_key
from vault_agent.store.database import open_reader, translated
from vault_agent.store.directory import IndexDirectory
from vault_agent.store.index import notes as stored_notes
from vault_agent.store.index.meta import read_meta
from vault_agent.store.vectors import open_vectors
from vault_agent.system.cancelling import in_thread

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

    from vault_agent.indexing.protocol import ProgressReport
    from vault_agent.models.embedder import Embedder
    from vault_agent.models.run import Document, Results
    from vault_agent.models.settings import EndpointSettings
    from vault_agent.store.database import Connection
    from vault_agent.store.vectors import Integers, Plan, VectorStore

PUBLISH_SECONDS = 1.0
"""How often new vectors are published to searches."""

_PAGE = 256
_HASHED = 2_000  # chunks whose text is read at once, to be hashed


async def embed(
    directory: str,
    embedder: Embedder,
    settings: EndpointSettings,
    report: ProgressReport,
    *,
    fresh: bool = False,
    doubted: bool = False,
) -> EmbeddingCounts:
    """Embed the chunks of the current generation that have no vector.

    Index runs may change the generation meanwhile. Their chunks are left to the next call. An
    endpoint that fails causes a warning, and its chunks count as failed. `fresh` embeds all chunks
    again. `doubted` asks the endpoint which model it serves even if no vector is missing.

    Raises:
        Busy: `INDEX_LOCKED` while another process embeds for this index.
        Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
        IndexUnavailable: `INDEX_INCOMPATIBLE` if the index is damaged.
    """
    with _open_index(IndexDirectory(Path(directory))) as opened:
        if opened is None:
            return EmbeddingCounts(0, 0, 0)
        run = _EmbeddingRun(opened, embedder, settings, report)
        try:
            await run.carry_out(fresh=fresh, doubted=doubted)
        except Unavailable as error:
            report.warn(Warning(error.code, *error.over_http()))
        return run.counts()


class _Opened(NamedTuple):
    """The current generation, and its vectors."""

    connection: Connection
    store: VectorStore
    generation: int  # its identity


@contextmanager
def _open_index(
    folder: IndexDirectory, source: IndexDirectory | None = None
) -> Iterator[_Opened | None]:
    """Open an index with its vectors, or with those of `source`. None: there is no index.

    No other process may embed for the same vectors meanwhile.
    """
    source = source or folder
    with source.embedding():  # two writers would give one row to two vectors
        number = folder.current()
        if number is None:
            yield None
            return
        with (
            translated(),
            open_reader(folder.database(number)) as connection,
            open_vectors(source.vectors) as store,
        ):
            yield _Opened(connection, store, read_meta(connection).identity)


def share_vectors(
    directory: Path, source: Path, settings: EndpointSettings, report: ProgressReport
) -> EmbeddingCounts:
    """Let searches of an agent's index use the vectors that its owner's index has.

    No text is sent. A chunk whose text the owner's index has not embedded gets no vector.

    Raises:
        Busy: `INDEX_LOCKED` while another process embeds for the owner's index.
        Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
        IndexUnavailable: `INDEX_INCOMPATIBLE` if the index is damaged.
    """
    with _open_index(IndexDirectory(directory), IndexDirectory(source)) as opened:
        if opened is None:
            return EmbeddingCounts(0, 0, 0)
        connection, store, generation = opened
        space = store.last_space(settings.model, *settings.prefixes)
        if space is None:
            return EmbeddingCounts(0, 0, len(stored_notes.chunk_keys(connection)))
        store.use(space)
        chunks, keys = _inputs(connection, settings, store.keys_of(generation))
        plan = store.plan(chunks, keys)
        store.publish(plan, generation, agent=directory.name)
        report.published()
        have = int(np.count_nonzero(plan.rows >= 0))
        return EmbeddingCounts(0, have, len(chunks) - have)


class _EmbeddingRun:
    """One run: a plan of the chunks without a vector, filled as replies arrive."""

    def __init__(
        self,
        opened: _Opened,
        embedder: Embedder,
        settings: EndpointSettings,
        report: ProgressReport,
    ) -> None:
        self._connection, self._store, self._generation = opened
        self._embedder = embedder
        self._settings = settings
        self._report = report
        self._plan: Plan | None = None
        self._total = self._reused = 0
        self._settled = self._characters = 0
        self._published_at = 0.0

    async def carry_out(self, *, fresh: bool, doubted: bool) -> None:
        store = self._store
        last = await in_thread(store.last_space, self._settings.model, *self._settings.prefixes)
        if last is not None:
            await in_thread(store.use, last)
            if not (fresh or doubted) and await self._is_complete():
                return
        # A fresh run uses no saved vector.
        trusted = last is not None and not fresh
        kept = await in_thread(store.keys_of, self._generation) if trusted else {}
        chunks, keys = await in_thread(_inputs, self._connection, self._settings, kept)
        self._total = len(chunks)
        if last is not None:
            kept_plan = await in_thread(store.plan, chunks, keys)
            if not fresh:
                self._adopt(kept_plan)
            # This comes before any request to the endpoint: an unchanged vault needs none, and
            # after a rebuild, searches get the saved vectors at once.
            served = await in_thread(store.published, self._generation)
            if served is None or not kept_plan.waiting:
                await self._publish(kept_plan)
            if not (kept_plan.waiting or fresh or doubted):
                return
        if not self._total:
            return
        self._report.phase("embed", 0, None)  # the endpoint may be slow to answer
        space = await self._embedder.prepare()
        if fresh or last is None or not last.matches(space):
            await in_thread(store.use, space, fresh=fresh)
            self._adopt(await in_thread(store.plan, chunks, keys))
        plan = self._plan
        assert plan is not None  # noqa: S101 - adopted just now, or before the endpoint was asked
        self._report.phase("embed", 0, total := len(plan.waiting))
        self._published_at = time.monotonic()

        try:
            await embed_all(
                self._embedder,
                self._documents(plan),
                partial(self._save, plan, total, gradual=not fresh),
                batch_size=self._settings.batch_size,
                concurrency=self._settings.concurrency,
            )
        except Unavailable:
            if not fresh:
                await self._publish(plan)
            raise
        await in_thread(store.tidy, plan, self._generation)
        self._report.published()
        await self._warn_of_gaps(plan)

    def counts(self) -> EmbeddingCounts:
        """Count the chunks by result."""
        if self._plan is None:
            return EmbeddingCounts(0, self._reused, self._total - self._reused)
        have = int(np.count_nonzero(self._plan.rows >= 0))
        return EmbeddingCounts(have - self._reused, self._reused, self._total - have)

    async def _save(self, plan: Plan, total: int, results: Results, *, gradual: bool) -> None:
        """Save the vectors that have arrived. Report how many of `total` texts are done."""
        embedded = [(key, outcome) for (key, _), outcome in results if outcome is not None]
        if embedded:
            keys = [key for key, _ in embedded]
            vectors = np.stack([outcome.vector for _, outcome in embedded])
            truncated = [key for key, outcome in embedded if outcome.truncated]
            plan.fill(keys, await in_thread(self._store.save, keys, vectors, truncated=truncated))
        self._settled += len(results)
        self._characters += sum(len(text) for (_, text), _ in results)
        self._report.phase("embed", self._settled, total, self._characters)
        # A short run publishes once, at its end, and so does a fresh one.
        if gradual and time.monotonic() - self._published_at > PUBLISH_SECONDS:
            await self._publish(plan)

    async def _is_complete(self) -> bool:
        """Whether searches have a vector of every chunk already.

        The chunks of a changed note get new keys, so the keys are compared, and no text is read.
        """
        keys = await in_thread(stored_notes.chunk_keys, self._connection)
        served = await in_thread(self._store.published, self._generation)
        if served is None or served.chunks.tolist() != keys:
            return False
        self._total = self._reused = len(keys)
        return True

    async def _warn_of_gaps(self, plan: Plan) -> None:
        """Warn of texts without a vector, and of texts whose vector covers only their beginning."""
        if plan.waiting:
            self._report.warn(
                Warning(
                    "EMBEDDING_FAILED",
                    "The endpoint could not embed some texts. Lexical search still finds them, and "
                    "the next run tries again.",
                    {"count": len(plan.waiting)},
                )
            )
        if count := await in_thread(self._store.count_truncated, plan):
            self._report.warn(
                Warning(
                    "EMBEDDING_TRUNCATED",
                    "Some texts are too long for the model, so only their beginning is embedded. "
                    "Lexical search still finds the rest.",
                    {"count": count},
                )
            )

    async def _documents(self, plan: Plan) -> AsyncIterator[Document]:
        """Yield the texts without a vector, read by pages: all may not fit into memory."""
        missing = [(key, int(plan.chunks[place])) for key, place in plan.missing]
        for start in range(0, len(missing), _PAGE):
            part = missing[start : start + _PAGE]
            page = await in_thread(
                stored_notes.chunk_texts_of, self._connection, [chunk for _, chunk in part]
            )
            texts = {chunk.key: _input(chunk, self._settings) for chunk in page}
            for key, chunk_key in part:
                if chunk_key in texts:  # not if an index run has removed the chunk since
                    yield key, texts[chunk_key]

    def _adopt(self, plan: Plan) -> None:
        """Use a plan for this run. Chunks that have a vector in it count as reused."""
        self._plan = plan
        self._reused = int(np.count_nonzero(plan.rows >= 0))

    async def _publish(self, plan: Plan) -> None:
        self._published_at = time.monotonic()
        await in_thread(self._store.publish, plan, self._generation)
        self._report.published()


def _inputs(
    connection: Connection, settings: EndpointSettings, kept: Mapping[int, bytes]
) -> tuple[Integers, list[bytes]]:
    """Return the key of every chunk, and the key of its vector.

    `kept` has keys of vectors by the key of their chunk. Only the text of other chunks is read and
    hashed: a changed or renamed note gets new chunk keys, so the input of a kept one is the same.
    Chunks that an index run removes meanwhile are left out, and the next run embeds the new ones.
    """
    chunks = stored_notes.chunk_keys(connection)
    new = [chunk for chunk in chunks if chunk not in kept]
    key_of = dict(kept)
    for start in range(0, len(new), _HASHED):
        page = stored_notes.chunk_texts_of(connection, new[start : start + _HASHED])
        key_of |= {chunk.key: vector_key(settings.model, _input(chunk, settings)) for chunk in page}
    chunks = [chunk for chunk in chunks if chunk in key_of]
    return np.array(chunks, np.int64), [key_of[chunk] for chunk in chunks]


def _input(chunk: stored_notes.ChunkText, settings: EndpointSettings) -> str:
    return chunk_input(settings.prefixes.document, chunk.title, chunk.heading_path, chunk.text)
