"""A query has a deadline, and an endpoint that is down delays only one query."""

import asyncio

import numpy as np
import pytest
from tests.support import local_model as bad
from tests.support.clocks import PATIENCE
from tests.support.waiting import eventually_async

from vault_agent.errors import Unavailable
from vault_agent.models.embedder import Embedder, check_endpoint


def is_usable(embedder: Embedder) -> bool:
    try:
        embedder.check()
    except Unavailable:
        return False
    return True


async def test_a_query_is_embedded_with_the_models_prefix(endpoint, settings):
    async with Embedder(settings(query_prefix="query: ")) as embedder:
        vector = await embedder.embed_query("tea")
        assert float(np.dot(vector, endpoint.vector("query: tea"))) > 0.9999
        assert embedder.space.dimension == endpoint.dimension


async def test_a_repeated_query_is_not_sent_again(endpoint, settings):
    async with Embedder(settings()) as embedder:
        await embedder.embed_query("tea")
        asked = len(endpoint.requests)
        await embedder.embed_query("tea")
        assert len(endpoint.requests) == asked


async def test_a_slow_endpoint_delays_only_one_query(endpoint, settings):
    endpoint.always = bad.slow(600)
    async with Embedder(settings(query_timeout=0.2)) as embedder, asyncio.timeout(PATIENCE):
        with pytest.raises(Unavailable):
            await embedder.embed_query("tea")
        for _ in range(50):
            with pytest.raises(Unavailable):
                await embedder.embed_query("ink")
        assert not [texts for texts in endpoint.requests if "ink" in texts]


async def test_the_deadline_covers_all_requests_of_a_query(endpoint, settings):
    endpoint.always = bad.slow(0.15)  # two requests for the space, then the query's
    async with Embedder(settings(query_timeout=0.2)) as embedder:
        with pytest.raises(Unavailable):
            await embedder.embed_query("tea")


async def test_a_changed_model_changes_the_vector_space(endpoint, settings):
    async with Embedder(settings()) as embedder:
        before = await embedder.embed_query("tea")
        space = embedder.space
        await endpoint.stop()
        with pytest.raises(Unavailable):
            await embedder.embed_query("ink")
        endpoint.salt = "other weights"
        await endpoint.start()
        await eventually_async(lambda: is_usable(embedder))
        assert not embedder.space.matches(space)
        assert float(np.dot(before, await embedder.embed_query("tea"))) < 0.99


@pytest.mark.parametrize(
    "misbehaviour",
    [
        bad.nan(),
        bad.status(500),
        bad.reset(),
        bad.endless(),
    ],
)
async def test_after_a_bad_reply_the_endpoint_is_paused_until_it_recovers(
    endpoint, settings, misbehaviour
):
    async with Embedder(settings()) as embedder:
        await embedder.embed_query("tea")
        endpoint.next(misbehaviour)
        with pytest.raises(Unavailable) as caught:
            await embedder.embed_query("ink")
        assert caught.value.code == "EMBEDDING_UNAVAILABLE"
        await eventually_async(lambda: is_usable(embedder))


async def test_a_rejected_query_does_not_affect_others(endpoint, settings):
    endpoint.poison["ink"] = bad.status(422)
    async with Embedder(settings()) as embedder:
        with pytest.raises(Unavailable):
            await embedder.embed_query("ink")
        await embedder.embed_query("tea")


async def test_a_query_too_long_is_shortened(endpoint, settings):
    endpoint.max_words = 20
    async with Embedder(settings()) as embedder:
        await embedder.embed_query("word " * 200)


async def test_queries_have_priority_over_documents(endpoint, settings):
    go_on = asyncio.Event()

    async def hold_documents(_request, reply):
        if len(reply["data"]) > 1:
            await go_on.wait()

    texts = [f"text {i}" for i in range(160)]
    async with Embedder(settings(batch_size=16, concurrency=2)) as embedder:
        await embedder.prepare()
        endpoint.always = hold_documents
        run = asyncio.create_task(embedder.embed_documents(texts))
        await eventually_async(lambda: endpoint.in_flight)
        await embedder.embed_query("tea")
        before = len(endpoint.requests)
        go_on.set()
        await run
    assert "tea" in endpoint.requests[before - 1]
    assert all(len(texts) <= 4 for texts in endpoint.requests[before:])


async def test_only_sent_queries_are_counted(endpoint, settings):
    announced = []
    async with Embedder(settings()) as embedder:
        embedder.on_query = lambda: announced.append(1)
        await embedder.embed_query("tea")
        await embedder.embed_query("tea")
        assert len(announced) == 1
        endpoint.always = bad.status(500)
        for _ in range(2):
            with pytest.raises(Unavailable):
                await embedder.embed_query("ink")
        assert len(announced) == 2


async def test_warming_up_checks_the_endpoint(endpoint, settings):
    async with Embedder(settings()) as embedder:
        embedder.warm_up()
        await eventually_async(lambda: embedder.space is not None)
        embedder.check()
    endpoint.always = bad.status(500)
    async with Embedder(settings()) as embedder:
        embedder.warm_up()
        await eventually_async(lambda: not is_usable(embedder))
        with pytest.raises(Unavailable):
            embedder.check()
        endpoint.always = None
        await eventually_async(lambda: is_usable(embedder))


async def test_the_check_says_what_to_do(settings):
    with pytest.raises(Unavailable, match="ollama pull other"):
        await check_endpoint(settings(model="other"))
