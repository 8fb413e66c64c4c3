"""A long run keeps the endpoint busy, saves vectors as they arrive and counts every text."""

import asyncio
import random

import anyio
import pytest
from tests.support import local_model as bad
from tests.support.clocks import PATIENCE

from vault_agent.errors import Unavailable
from vault_agent.models import run as run_module
from vault_agent.models.embedder import Embedder
from vault_agent.models.run import embed_all
from vault_agent.models.vectors import Embedded


def documents(count):
    return [(i.to_bytes(16), f"note {i} of {count}") for i in range(count)]


async def read(documents):
    for document in documents:
        await asyncio.sleep(0)
        yield document


def keys_of(results):
    return [key for (key, _), outcome in results if outcome]


class Saved:
    """Collects saved vectors like a store."""

    def __init__(self, delay=0.0, then=None):
        self.keys, self.calls, self.failed, self.characters, self.delay = [], 0, 0, 0, delay
        self.then = then  # called after the second time

    async def __call__(self, results):
        await asyncio.sleep(self.delay)
        self.keys += keys_of(results)
        self.failed += len(results) - len(keys_of(results))
        self.characters += sum(len(text) for (_, text), _ in results)
        self.calls += 1
        if self.then and self.calls == 2:
            self.then()


async def run(settings, documents, saved, **changes):
    async with Embedder(settings(**changes)) as embedder:
        await embed_all(embedder, read(documents), saved, batch_size=8, concurrency=4)


async def test_every_text_is_sent_once_and_saved(endpoint, settings):
    saved = Saved()
    await run(settings, documents(101), saved)
    assert sorted(saved.keys) == [key for key, _ in documents(101)]
    assert saved.failed == 0
    assert saved.characters == sum(len(text) for _, text in documents(101))


async def test_concurrent_requests_reach_but_do_not_exceed_the_limit(endpoint, settings):
    endpoint.latency = 0.01
    await run(settings, documents(400), Saved(), concurrency=3)
    assert endpoint.most_in_flight == 3


async def test_vectors_received_before_an_error_are_saved(endpoint, settings):
    answered = 0

    async def then_gone(_request, _reply):
        nonlocal answered
        answered += 1
        return await bad.status(404)(_request, _reply) if answered > 30 else None

    endpoint.always = then_gone
    saved = Saved()
    with pytest.raises(Unavailable):
        await run(settings, documents(1000), saved)
    good = sum(len(texts) for texts in endpoint.requests[4:30])
    assert len(saved.keys) >= good - 8 * 4


@pytest.mark.parametrize("native", [True, False])
async def test_a_cancelled_run_loses_only_requests_in_flight(endpoint, settings, native):
    endpoint.latency = 0.01
    with anyio.CancelScope() as scope:
        task = asyncio.current_task()
        saved = Saved(delay=0.01, then=task.cancel if native else scope.cancel)
        try:
            await run(settings, documents(100_000), saved)
        except asyncio.CancelledError:
            if not native:
                raise
            task.uncancel()
    sent = [text for texts in endpoint.requests for text in texts if text.startswith("note")]
    assert saved.keys
    assert len(set(sent)) - len(saved.keys) <= 8 * 4


@pytest.mark.parametrize("native", [True, False])
async def test_cancelling_a_run_completes_a_started_save(endpoint, settings, native):
    begun, given, saved = asyncio.Event(), [], []

    async def save(results):
        given.extend(keys_of(results))
        if not begun.is_set():
            begun.set()
            await asyncio.sleep(0.3)
        saved.extend(keys_of(results))

    scope = anyio.CancelScope()

    async def work():
        with scope:
            await run(settings, documents(1000), save)

    task = asyncio.create_task(work())
    await begun.wait()
    task.cancel() if native else scope.cancel()
    await asyncio.wait([task])
    assert sorted(saved) == sorted(given)


async def everything_waits():
    """Let all tasks run until each waits for a timer."""
    for _ in range(200):
        await asyncio.sleep(0)


class Instant:
    """An embedder that replies at once."""

    async def embed_documents(self, texts):
        return [Embedded([len(text)]) for text in texts]


async def test_cancelling_a_run_saves_waiting_vectors():
    saved, go_on = Saved(), asyncio.Event()

    async def save(results):
        await go_on.wait()
        await saved(results)

    task = asyncio.create_task(
        embed_all(Instant(), read(documents(1000)), save, batch_size=1, concurrency=2)
    )
    await everything_waits()  # the first save is running, and the other workers wait
    task.cancel()
    go_on.set()
    await asyncio.wait([task])
    assert saved.calls == 2
    assert len(saved.keys) >= 1 + 2 * 2


async def test_a_hanging_last_save_does_not_block_the_end(monkeypatch):
    monkeypatch.setattr(run_module, "_LAST_SAVE", 0.1)
    calls, go_on = 0, asyncio.Event()

    async def save(_results):
        nonlocal calls
        calls += 1
        await (go_on.wait() if calls == 1 else asyncio.sleep(600))

    task = asyncio.create_task(
        embed_all(Instant(), read(documents(1000)), save, batch_size=1, concurrency=2)
    )
    await everything_waits()
    task.cancel()
    go_on.set()
    assert not (await asyncio.wait([task], timeout=PATIENCE))[1]
    assert calls == 2


@pytest.mark.parametrize(("seconds", "kept"), [(0.1, 1), (600, 0)])
async def test_replies_in_flight_are_awaited_briefly_when_the_endpoint_fails(
    endpoint, settings, monkeypatch, seconds, kept
):
    monkeypatch.setattr(run_module, "_LAST_REPLIES", 3.0)
    saved = Saved()
    async with Embedder(settings(timeout=900.0)) as embedder:
        await embedder.prepare()
        endpoint.next(bad.slow(seconds), bad.status(401))
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(Unavailable):
                await embed_all(embedder, read(documents(2)), saved, batch_size=1, concurrency=2)
    assert len(saved.keys) == kept


async def test_an_error_while_saving_ends_the_run(endpoint, settings):
    async def full(_results):
        raise OSError(28, "no space")

    with pytest.raises(OSError, match="no space"):
        await run(settings, documents(1000), full)


async def test_the_summary_is_correct_despite_endpoint_failures(endpoint, settings):
    generator = random.Random(7)
    tricks = [
        bad.nan(), bad.zeros(), bad.one_less(), bad.shorter(), bad.status(500), bad.status(503),
        bad.status(429, retry_after="0.01"), bad.reset(), bad.slow(0.02), bad.data_null(),
    ]  # fmt: skip

    async def at_random(request, reply):
        if generator.random() < 0.15:
            return await generator.choice(tricks)(request, reply)
        return None

    async def restart():
        while True:
            await asyncio.sleep(generator.uniform(0.1, 0.4))
            await endpoint.stop()
            await asyncio.sleep(generator.uniform(0, 0.1))
            await endpoint.start()

    saved = Saved()
    async with Embedder(settings(patience=30)) as embedder:
        await embedder.prepare()
        endpoint.always = at_random
        chaos = asyncio.create_task(restart())
        await embed_all(embedder, read(documents(2000)), saved, batch_size=16, concurrency=4)
        chaos.cancel()
        await asyncio.wait([chaos])
    failed = {key for key, _ in documents(2000)} - set(saved.keys)
    assert len(saved.keys) == len(set(saved.keys))
    assert len(failed) == saved.failed
    endpoint.always = None
    if endpoint._runner is None:
        await endpoint.start()
    again = Saved()
    await run(settings, [d for d in documents(2000) if d[0] in failed], again)
    assert set(again.keys) == failed
