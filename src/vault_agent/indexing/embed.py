"""The embedding phase of a run: embeds chunks without a vector, and saves each vector at once.

Begins when the lexical index is complete and serves. What was paid for is never sent twice: vectors
are known by their exact input, across runs, rebuilds, renames and kills.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vault_agent.errors import Unavailable
from vault_agent.indexing.protocol import EmbeddingCounts
from vault_agent.model.warning import Warning
from vault_agent.models.run import embed_all
from vault_agent.models.settings import document_input, vector_key
from vault_agent.store.database import open_reader, translated
from vault_agent.store.index import documents
from vault_agent.store.index import notes as reading
from vault_agent.store.index.meta import read_meta
from vault_agent.store.layout import IndexDirectory
from vault_agent.store.vectors import open_vectors
from vault_agent.system.cancelling import in_thread

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping

    from vault_agent.indexing.protocol import ProgressReport
    from vault_agent.model.vectors import VectorSpace
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
    finishing: Callable[[], bool] = lambda: False,
) -> EmbeddingCounts:
    """Embed the chunks of the current generation that have no vector.

    Runs may change the generation meanwhile: their new chunks are left to the next call. An
    endpoint that fails causes a warning, and its chunks count as failed. `fresh` embeds all chunks
    again. `doubted` asks the endpoint which model it serves even if no vector is missing. No more
    texts are sent once `finishing` returns true.

    Raises:
        Busy: `INDEX_LOCKED` while another process embeds for this index.
        Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
        IndexUnavailable: `INDEX_INCOMPATIBLE` if the index is damaged.
    """
    with _open_index(IndexDirectory(Path(directory))) as opened:
        if opened is None:
            return EmbeddingCounts(0, 0, 0)
        run = _EmbeddingRun(opened, embedder, settings, report, finishing)
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
def _open_index(folder: IndexDirectory) -> Iterator[_Opened | None]:
    """Open an index for embedding, which no other process may do meanwhile. None: there is none."""
    with folder.embedding():  # two writers would give one row to two vectors
        number = folder.current()
        if number is None:
            yield None
            return
        with (
            translated(),
            open_reader(folder.database(number)) as connection,
            open_vectors(folder.vectors) as store,
        ):
            yield _Opened(connection, store, read_meta(connection).identity)


async def copy_vectors(
    directory: str,
    source: str,
    settings: EndpointSettings,
    report: ProgressReport,
    *,
    fresh: bool = False,
) -> EmbeddingCounts:
    """Give the chunks of an index the vectors that another index has of the same texts.

    No text is sent. A chunk whose text the other index has not embedded gets no vector. `fresh`
    copies all vectors again.

    Raises:
        Busy: `INDEX_LOCKED` while another process embeds for one of the two.
        Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
        IndexUnavailable: `INDEX_INCOMPATIBLE` if the index is damaged.
    """
    return await in_thread(
        _copy_vectors, Path(directory), Path(source), settings, report, fresh=fresh
    )


def _copy_vectors(
    directory: Path,
    source: Path,
    settings: EndpointSettings,
    report: ProgressReport,
    *,
    fresh: bool,
) -> EmbeddingCounts:
    other = IndexDirectory(source)
    with (
        other.embedding(),
        _open_index(IndexDirectory(directory)) as opened,
        translated(),
        open_vectors(other.vectors) as others,
    ):
        if opened is None:
            return EmbeddingCounts(0, 0, 0)
        connection, store, generation = opened
        space = others.last_space(settings.model, *settings.prefixes)
        if space is None:
            return EmbeddingCounts(0, 0, len(reading.chunk_keys(connection)))
        others.use(space)
        store.use(space, fresh=fresh)
        chunks, keys = _inputs(connection, settings, store.keys_of(generation))
        plan = store.plan(chunks, keys)
        reused = int(np.count_nonzero(plan.rows >= 0))
        for copied, vectors, truncated in others.vectors_of(tuple(plan.waiting)):
            plan.fill(copied, store.save(copied, vectors, truncated=truncated))
        have = int(np.count_nonzero(plan.rows >= 0))
        store.tidy(plan, generation)
        report.published()
        return EmbeddingCounts(have - reused, reused, len(chunks) - have)


class _EmbeddingRun:
    """One phase: a plan of the chunks without a vector, filled as replies arrive."""

    def __init__(
        self,
        opened: _Opened,
        embedder: Embedder,
        settings: EndpointSettings,
        report: ProgressReport,
        finishing: Callable[[], bool],
    ) -> None:
        self._connection, self._store, self._generation = opened
        self._embedder = embedder
        self._settings = settings
        self._report = report
        self._finishing = finishing
        self._plan: Plan | None = None
        self._total = self._reused = 0
        self._settled = self._characters = 0
        self._arrived = asyncio.Event()  # vectors that searches do not have yet

    async def carry_out(self, *, fresh: bool, doubted: bool) -> None:
        store = self._store
        last = await in_thread(store.last_space, self._settings.model, *self._settings.prefixes)
        if last is not None:
            await in_thread(store.use, last)
            if not (fresh or doubted) and await self._is_complete():
                return
        # A fresh run trusts nothing that is kept.
        trusted = last is not None and not fresh
        kept = await in_thread(store.keys_of, self._generation) if trusted else {}
        chunks, keys = await in_thread(_inputs, self._connection, self._settings, kept)
        self._total = len(chunks)
        served_in_full = False
        old: Plan | None = None
        if last is not None:
            # Before any request to the endpoint: an unchanged vault needs none, and searches get
            # the existing vectors.
            old = await in_thread(store.plan, chunks, keys)
            served_in_full = not old.waiting
            await self._serve(old, to_be_published=not served_in_full)
            if not fresh:
                self._adopt(old)
        if not self._total or (served_in_full and not fresh and not doubted):
            return
        self._report.phase("embed", 0, None)  # the endpoint may be slow to answer
        space = await self._prepare(old)
        same = last is not None and last.matches(space)
        if fresh or not same:
            await in_thread(store.use, space, fresh=fresh)
            self._adopt(await in_thread(store.plan, chunks, keys))
        plan = self._plan
        assert plan is not None  # noqa: S101 - adopted just now, or before the endpoint was asked
        # Not if every chunk has a vector of the same model until the end.
        gradual = not (same and served_in_full)
        self._report.phase("embed", 0, total := len(plan.waiting))

        async with self._publishing(plan) if gradual else nullcontext():
            try:
                await embed_all(
                    self._embedder,
                    self._documents(plan),
                    partial(self._save, plan, total),
                    batch_size=self._settings.batch_size,
                    concurrency=self._settings.concurrency,
                )
            except Unavailable:
                if gradual:
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

    async def _save(self, plan: Plan, total: int, results: Results) -> None:
        """Save the vectors of `total` texts that have arrived, and report how many have."""
        embedded = [(key, outcome) for (key, _), outcome in results if outcome is not None]
        if embedded:
            keys = [key for key, _ in embedded]
            vectors = np.stack([outcome.vector for _, outcome in embedded])
            truncated = [key for key, outcome in embedded if outcome.truncated]
            plan.fill(keys, await in_thread(self._store.save, keys, vectors, truncated=truncated))
        self._settled += len(results)
        self._characters += sum(len(text) for (_, text), _ in results)
        self._report.phase("embed", self._settled, total, self._characters)
        self._arrived.set()

    async def _prepare(self, old: Plan | None) -> VectorSpace:
        """Return the endpoint's space. If the endpoint fails, publish the existing vectors."""
        try:
            return await self._embedder.prepare()
        except Unavailable:
            if old is not None:
                await self._serve(old)
            raise

    async def _is_complete(self) -> bool:
        """Whether searches have a vector of every chunk already.

        A changed note gets new keys, so the keys tell, and no text needs to be read.
        """
        keys = await in_thread(reading.chunk_keys, self._connection)
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
        """Yield what is missing, a page at a time: a vault's text need not fit into memory."""
        missing = [(key, int(plan.chunks[place])) for key, place in plan.missing]
        for start in range(0, len(missing), _PAGE):
            if self._finishing():
                return
            part = missing[start : start + _PAGE]
            page = await in_thread(
                documents.chunk_texts_of, self._connection, [chunk for _, chunk in part]
            )
            texts = {chunk.key: _input(chunk, self._settings) for chunk in page}
            for key, chunk_key in part:
                if chunk_key in texts and not self._finishing():  # else changed since the plan
                    yield key, texts[chunk_key]

    def _adopt(self, plan: Plan) -> None:
        """Use a plan for this run. Chunks that have a vector in it count as reused."""
        self._plan = plan
        self._reused = int(np.count_nonzero(plan.rows >= 0))

    async def _serve(self, plan: Plan, *, to_be_published: bool = False) -> None:
        """Publish the existing vectors, unless searches have them already.

        If a later plan is to be published too, chunks that are gone may stay until then.
        """
        chunks = plan.chunks[plan.rows >= 0]
        served = await in_thread(self._store.published, self._generation)
        if served is None or not (
            np.isin(chunks, served.chunks).all()
            if to_be_published
            else served.total == len(plan.chunks) and np.array_equal(chunks, served.chunks)
        ):
            await self._publish(plan)

    async def _publish(self, plan: Plan) -> None:
        await in_thread(self._store.publish, plan, self._generation)
        self._report.published()

    @asynccontextmanager
    async def _publishing(self, plan: Plan) -> AsyncIterator[None]:
        """Publish vectors as they are saved. On leaving the context, raise what failed in that.

        In a separate task, so that publishing does not delay saving or wait for slow replies.
        """
        publishing = asyncio.create_task(self._publish_as_they_come(plan))
        try:
            yield
        finally:
            publishing.cancel()
            await asyncio.wait([publishing])
            failed = None if publishing.cancelled() else publishing.exception()
        if failed is not None:
            raise failed

    async def _publish_as_they_come(self, plan: Plan) -> None:
        while True:
            await self._arrived.wait()
            await asyncio.sleep(PUBLISH_SECONDS)  # a short phase ends meanwhile and publishes once
            self._arrived.clear()
            await self._publish(plan)


def _inputs(
    connection: Connection, settings: EndpointSettings, kept: Mapping[int, bytes]
) -> tuple[Integers, list[bytes]]:
    """Return the key of every chunk, and what its vector is known by.

    Chunks that an index run removes while they are read are left out: the next phase has the new
    ones. Only the text of chunks that are not in `kept` is read and hashed. A changed or renamed
    note gets new chunk keys, so a kept one stands for the same input.
    """
    chunks = reading.chunk_keys(connection)
    new = [chunk for chunk in chunks if chunk not in kept]
    key_of = dict(kept)
    for start in range(0, len(new), _HASHED):
        page = documents.chunk_texts_of(connection, new[start : start + _HASHED])
        key_of |= {chunk.key: vector_key(settings.model, _input(chunk, settings)) for chunk in page}
    chunks = [chunk for chunk in chunks if chunk in key_of]
    return np.array(chunks, np.int64), [key_of[chunk] for chunk in chunks]


def _input(chunk: reading.ChunkText, settings: EndpointSettings) -> str:
    return document_input(settings.prefixes.document, chunk.title, chunk.heading_path, chunk.text)
