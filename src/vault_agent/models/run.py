"""Embeds many documents: keeps the endpoint busy, and saves vectors as they arrive.

Workers send requests, and one saver saves. The saver takes everything that has arrived since its
last turn, so that quick replies are saved together, and requests do not wait for it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import anyio

from vault_agent.errors import Unavailable
from vault_agent.models.outcomes import Embedded, Outcome, Reason
from vault_agent.system.cancelling import to_its_end

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream

    from vault_agent.models.outcomes import Embedder, Vector

Document: TypeAlias = tuple[bytes, str]
"""A vector's key and the exact input."""

# Batches that may wait for the saver, for each worker, before the workers wait too.
_AHEAD: Final = 4
# Seconds in which a cancelled run saves what has arrived.
_LAST_SAVE: Final = 1.5
# Seconds for the other requests in flight, once a worker has found that the endpoint fails.
_LAST_REPLIES: Final = 5.0


@dataclass(frozen=True, slots=True)
class Arrived:
    """The results since the last call of `Save`, with the counts of the run so far."""

    keys: list[bytes]
    vectors: list[Vector]  # as many as keys
    truncated: list[bytes]  # those of `keys` whose text was cut
    failures: list[tuple[bytes, Reason]]
    done: int  # embedded in this run, including these
    failed: int
    characters: int  # sent in this run, successfully or not


Save: TypeAlias = Callable[[Arrived], Awaitable[None]]


@dataclass(slots=True)
class _Counts:
    done: int = 0
    failed: int = 0
    characters: int = 0


_Settled: TypeAlias = tuple[list[Document], list[Outcome]]


async def embed_all(
    embedder: Embedder,
    documents: Iterable[Document] | AsyncIterable[Document],
    save: Save,
    *,
    batch_size: int,
    concurrency: int,
) -> None:
    """Embed all documents, and call `save` repeatedly with what has arrived, one call at a time.

    `documents` is read as it is needed. The embedder limits the requests in flight to
    `concurrency`; one more batch waits there for its turn. Results that have arrived are saved even
    if the run is cancelled or the endpoint fails.

    Raises:
        Unavailable: if the endpoint fails. An error of `save` is raised as it is.
    """
    batches = _batches(documents, batch_size)
    turn = anyio.Lock()
    sent, arrived = anyio.create_memory_object_stream[_Settled](_AHEAD * concurrency)
    errors: list[Unavailable] = []

    async def work() -> None:
        while not errors:
            async with turn:
                batch = await anext(batches, None)
            if batch is None:
                return
            while batch:
                # One request at a time, so that its results can be saved at once.
                part, batch = batch[: embedder.request_size], batch[embedder.request_size :]
                try:
                    outcomes = await embedder.embed_documents([text for _, text in part])
                except Unavailable as error:
                    errors.append(error)
                    workers.deadline = anyio.current_time() + _LAST_REPLIES
                    return
                await sent.send((part, outcomes))

    async def work_all() -> None:
        # Closing the stream ends the saver.
        with sent, workers:
            async with anyio.create_task_group() as group:
                # One more than may send, so that a batch is ready when the endpoint becomes free.
                for _ in range(concurrency + 1):
                    group.start_soon(work)

    counts = _Counts()
    workers = anyio.CancelScope()
    try:
        with sent, arrived:
            try:
                async with anyio.create_task_group() as group:
                    group.start_soon(work_all)
                    await _save_all(arrived, save, counts)
            except anyio.get_cancelled_exc_class():
                with anyio.CancelScope(shield=True), anyio.move_on_after(_LAST_SAVE):
                    await _save_rest(arrived, save, counts)
                raise
    except ExceptionGroup as group_of_errors:
        raise _innermost(group_of_errors) from None
    finally:
        with anyio.CancelScope(shield=True):
            await batches.aclose()
    if errors:
        raise errors[0]


async def _batches(
    documents: Iterable[Document] | AsyncIterable[Document], size: int
) -> AsyncGenerator[list[Document], None]:
    batch: list[Document] = []
    if isinstance(documents, AsyncIterable):
        async for document in documents:
            batch.append(document)
            if len(batch) == size:
                yield batch
                batch = []
    else:
        for document in documents:
            batch.append(document)
            if len(batch) == size:
                yield batch
                batch = []
    if batch:
        yield batch


async def _save_all(
    arrived: MemoryObjectReceiveStream[_Settled], save: Save, counts: _Counts
) -> None:
    async for first in arrived:
        arrivals = [first, *_waiting(arrived)]
        await to_its_end(save(_collect(arrivals, counts)))


async def _save_rest(
    arrived: MemoryObjectReceiveStream[_Settled], save: Save, counts: _Counts
) -> None:
    rest = _waiting(arrived)
    if rest:
        await save(_collect(rest, counts))


def _waiting(arrived: MemoryObjectReceiveStream[_Settled]) -> list[_Settled]:
    """Return the results that have arrived, without waiting."""
    found: list[_Settled] = []
    while True:
        try:
            found.append(arrived.receive_nowait())
        except (anyio.WouldBlock, anyio.EndOfStream):
            return found


def _collect(settled: list[_Settled], counts: _Counts) -> Arrived:
    keys: list[bytes] = []
    vectors: list[Vector] = []
    truncated: list[bytes] = []
    failures: list[tuple[bytes, Reason]] = []
    for batch, outcomes in settled:
        for (key, text), outcome in zip(batch, outcomes, strict=True):
            counts.characters += len(text)
            if isinstance(outcome, Embedded):
                keys.append(key)
                vectors.append(outcome.vector)
                if outcome.truncated:
                    truncated.append(key)
            else:
                failures.append((key, outcome.reason))
    counts.done += len(keys)
    counts.failed += len(failures)
    return Arrived(
        keys,
        vectors,
        truncated,
        failures,
        counts.done,
        counts.failed,
        counts.characters,
    )


def _innermost(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first error of a group, since callers do not handle groups."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
