"""Embeds many documents: keeps the endpoint busy, and saves vectors as they arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import anyio

from vault_agent.errors import Unavailable
from vault_agent.system.cancelling import to_its_end

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable

    from vault_agent.models.embedder import Embedder
    from vault_agent.models.vectors import Outcome

Document: TypeAlias = tuple[bytes, str]
"""A vector's key and the exact input."""

# Workers for each request that may be in flight: the others have a batch ready, or save.
_WORKERS: Final = 3
# Seconds in which a cancelled run saves what has arrived.
_LAST_SAVE: Final = 1.5
# Seconds for the other requests in flight, once a worker has found that the endpoint fails.
_LAST_REPLIES: Final = 5.0


Results: TypeAlias = "list[tuple[Document, Outcome]]"
Save: TypeAlias = "Callable[[Results], Awaitable[None]]"


async def embed_all(
    embedder: Embedder,
    documents: AsyncIterable[Document],
    save: Save,
    *,
    batch_size: int,
    concurrency: int,
) -> None:
    """Embed all documents, and call `save` repeatedly with new results, one call at a time.

    `documents` is read as it is needed. The embedder limits the requests in flight to
    `concurrency`. Results that have arrived are saved even if the run is cancelled or the endpoint
    fails.

    Raises:
        Unavailable: if the endpoint fails. An error of `save` is raised as it is.
    """
    batches = _batches(documents, batch_size)
    reading, saving = anyio.Lock(), anyio.Lock()
    waiting: Results = []
    errors: list[Unavailable] = []
    workers = anyio.CancelScope()

    async def save_waiting() -> None:
        nonlocal waiting
        async with saving:
            if waiting:  # else another worker has saved them with its own
                results, waiting = waiting, []
                await to_its_end(save(results))

    async def work() -> None:
        while not errors:
            async with reading:
                batch = await anext(batches, None)
            if batch is None:
                return
            try:
                outcomes = await embedder.embed_documents([text for _, text in batch])
            except Unavailable as error:
                errors.append(error)
                workers.deadline = anyio.current_time() + _LAST_REPLIES
                return
            waiting.extend(zip(batch, outcomes, strict=True))
            await save_waiting()

    try:
        with workers:
            async with anyio.create_task_group() as group:
                for _ in range(_WORKERS * concurrency):
                    group.start_soon(work)
        await save_waiting()
    except anyio.get_cancelled_exc_class():
        with anyio.CancelScope(shield=True), anyio.move_on_after(_LAST_SAVE):
            if waiting:
                await save(waiting)
        raise
    except ExceptionGroup as group_of_errors:
        error: Exception = group_of_errors  # callers do not handle groups
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        raise error from None
    finally:
        with anyio.CancelScope(shield=True):
            await batches.aclose()
    if errors:
        raise errors[0]


async def _batches(
    documents: AsyncIterable[Document], size: int
) -> AsyncGenerator[list[Document], None]:
    batch: list[Document] = []
    async for document in documents:
        batch.append(document)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
