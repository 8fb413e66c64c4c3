"""Documents are embedded despite failures of the endpoint."""

import asyncio
import logging
import time

import numpy as np
import pytest
from tests.support import local_model as bad
from tests.support.clocks import PATIENCE

from vault_agent.errors import Unavailable
from vault_agent.models import embedder as embedding
from vault_agent.models.embedder import Embedder
from vault_agent.models.vectors import Embedded

WORDS = ("tea", "ink", "fog", "oak", "sea")
TEXTS = [f"note number {i} about {word}" for i, word in enumerate(WORDS)]


def good(endpoint, texts, outcomes):
    """Whether every text got its own vector."""
    return [type(o) for o in outcomes] == [Embedded] * len(texts) and all(
        float(np.dot(o.vector, endpoint.vector(t))) > 0.9999
        for t, o in zip(texts, outcomes, strict=True)
    )


async def test_texts_get_their_unit_vectors_in_order(endpoint, settings):
    async with Embedder(settings(batch_size=2)) as embedder:
        outcomes = await embedder.embed_documents(TEXTS)
    assert good(endpoint, TEXTS, outcomes)
    assert outcomes[0].vector.dtype == np.float32
    assert np.linalg.norm(outcomes[0].vector) == pytest.approx(1)


@pytest.mark.fault(
    "The embedding endpoint",
    "500, an overloaded endpoint, a loading model, a broken connection, a reply of a gigabyte",
    "retried within limits, and visible in the job",
)
@pytest.mark.parametrize(
    "misbehaviour",
    [
        bad.nan(),
        bad.one_less(),
        bad.not_json(),
        bad.status(500, "boom"),
        bad.status(502),
        bad.status(503, {"error": "server busy"}),
        bad.status(429, retry_after="0.01"),
        bad.reset(),
        bad.slow(0.05),
        bad.reversed_order(),
    ],
)
async def test_temporary_failures_are_retried(endpoint, settings, misbehaviour):
    async with Embedder(settings()) as embedder:
        await embedder.prepare()
        endpoint.next(misbehaviour)
        assert good(endpoint, TEXTS, await embedder.embed_documents(TEXTS))


@pytest.mark.parametrize("misbehaviour", [bad.status(503), bad.nan()])
async def test_a_failed_batch_is_retried_before_it_is_halved(endpoint, settings, misbehaviour):
    async with Embedder(settings()) as embedder:
        await embedder.prepare()
        endpoint.next(misbehaviour)
        await embedder.embed_documents(TEXTS)
    assert [request for request in endpoint.requests if TEXTS[0] in request] == [TEXTS, TEXTS]


async def test_waits_grow_between_attempts(endpoint, settings, monkeypatch):
    monkeypatch.setattr(embedding, "_FIRST_WAIT", 0.02)
    async with Embedder(settings()) as embedder:
        await embedder.prepare()
        endpoint.next(*[bad.status(503)] * 4)
        started = time.monotonic()
        await embedder.embed_documents(TEXTS)
    assert time.monotonic() - started >= 0.02 * (2 + 4 + 8 + 16) / 2


@pytest.mark.parametrize("code", [200, 500])
async def test_a_huge_reply_is_not_read_completely(endpoint, settings, code):
    async with Embedder(settings()) as embedder:
        await embedder.prepare()
        endpoint.next(bad.endless(code=code))
        async with asyncio.timeout(PATIENCE):
            assert good(endpoint, TEXTS, await embedder.embed_documents(TEXTS))


@pytest.mark.fault(
    "The embedding endpoint",
    "one text that always fails",
    "found by splitting the batch; the rest is embedded",
)
@pytest.mark.parametrize(
    "misbehaviour",
    [
        bad.nan(),
        bad.status(500),
        bad.status(422, {"detail": [{"input": "…"}]}),
        bad.slow(9),
    ],
)
async def test_one_failing_text_is_isolated_and_the_others_are_embedded(
    endpoint, settings, misbehaviour
):
    endpoint.poison["fog"] = misbehaviour
    async with Embedder(settings(timeout=1.0)) as embedder:
        outcomes = await embedder.embed_documents(TEXTS)
    assert outcomes.pop(2) is None
    assert good(endpoint, TEXTS[:2] + TEXTS[3:], outcomes)


async def test_a_text_too_long_is_shortened_and_marked(endpoint, settings):
    endpoint.max_words = 40
    texts = ["short one", "word " * 200, "short two"]
    async with Embedder(settings()) as embedder:
        outcomes = await embedder.embed_documents(texts)
    assert [o.truncated for o in outcomes] == [False, True, False]
    assert good(endpoint, ["short one", "word", "short two"], outcomes)


async def test_a_batch_too_large_is_halved_once_and_remembered(endpoint, settings):
    endpoint.max_batch = 4
    texts = [f"text {i}" for i in range(64)]
    async with Embedder(settings(batch_size=16)) as embedder:
        outcomes = await embedder.embed_documents(texts)
    assert good(endpoint, texts, outcomes)
    assert sum(len(request) > 4 for request in endpoint.requests) <= 3


@pytest.mark.fault(
    "The embedding endpoint",
    "the model is missing",
    "the run ends at once and says how to get the model",
)
async def test_a_missing_model_ends_the_run_with_the_pull_command(endpoint, settings):
    async with Embedder(settings(model="nomic-embed-text")) as embedder:
        with pytest.raises(Unavailable, match="ollama pull nomic-embed-text") as caught:
            await embedder.embed_documents(TEXTS)
    assert caught.value.code == "EMBEDDING_UNAVAILABLE"
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("code", [401, 403, 404])
async def test_errors_that_only_the_user_can_fix_end_the_run(endpoint, settings, code):
    async with Embedder(settings()) as embedder:
        await embedder.prepare()
        endpoint.always = bad.status(code)
        asked = len(endpoint.requests)
        with pytest.raises(Unavailable):
            await embedder.embed_documents(TEXTS)
        assert len(endpoint.requests) == asked + 1


async def test_a_missing_endpoint_is_reported_quickly(settings):
    async with Embedder(settings(url="http://127.0.0.1:9/v1/embeddings")) as embedder:
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(Unavailable, match="ollama serve") as caught:
                await embedder.embed_documents(TEXTS)
    assert caught.value.details["reason"] == "unreachable"


async def test_a_loading_model_is_waited_for(endpoint, settings):
    endpoint.next(*[bad.status(503)] * 5, bad.slow(2.5))
    async with Embedder(settings(timeout=2.0)) as embedder:
        await embedder.prepare()
    # Once more to be sure: the slow reply was waited for.
    assert len(endpoint.requests) == 5 + 1 + 1


async def test_a_restarting_endpoint_is_waited_for(endpoint, settings):
    async with Embedder(settings(patience=10)) as embedder:
        await embedder.prepare()
        await endpoint.stop()
        task = asyncio.create_task(embedder.embed_documents(TEXTS))
        await asyncio.sleep(0.1)
        assert not task.done()
        await endpoint.start()
        assert good(endpoint, TEXTS, await task)
        assert endpoint.requests[-1] == TEXTS


@pytest.mark.parametrize("misbehaviour", [bad.status(503), bad.nan()])
async def test_a_broken_endpoint_times_out_and_marks_no_text_as_failed(
    endpoint, settings, misbehaviour
):
    async with Embedder(settings(patience=0.4)) as embedder:
        await embedder.prepare()
        endpoint.always = misbehaviour
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(Unavailable):
                await embedder.embed_documents(TEXTS)


async def test_an_endpoint_that_refuses_every_text_ends_the_run(endpoint, settings):
    endpoint.poison["note"] = bad.status(422)
    texts = [f"note {i}" for i in range(1000)]
    async with Embedder(settings()) as embedder:
        with pytest.raises(Unavailable):
            await embedder.embed_documents(texts)
    assert len(endpoint.requests) < 200


async def test_a_restart_with_another_model_is_detected(endpoint, settings):
    async with Embedder(settings()) as embedder:
        await embedder.prepare()
        endpoint.salt = "other weights"
        endpoint.next(bad.reset())
        with pytest.raises(Unavailable) as caught:
            await embedder.embed_documents(TEXTS)
    assert caught.value.details["reason"] == "changed"


@pytest.mark.parametrize("lie", [bad.shorter(), bad.component(1e6)])
async def test_one_wrong_reply_does_not_mean_another_model(endpoint, settings, lie):
    async with Embedder(settings()) as embedder:
        space = await embedder.prepare()
        endpoint.next(bad.reset(), lie)
        assert good(endpoint, TEXTS, await embedder.embed_documents(TEXTS))
        assert embedder.space == space


@pytest.mark.parametrize("lie", [bad.shorter(), bad.component(1e6)])
async def test_a_wrong_first_reply_does_not_define_the_vector_space(endpoint, settings, lie):
    endpoint.next(lie)
    async with Embedder(settings()) as embedder:
        assert (await embedder.prepare()).dimension == endpoint.dimension
        assert good(endpoint, TEXTS, await embedder.embed_documents(TEXTS))


async def test_retry_after_is_honoured(endpoint, settings):
    async with Embedder(settings()) as embedder:
        await embedder.prepare()
        endpoint.next(bad.status(429, retry_after="0.5"))
        started = time.monotonic()
        await embedder.embed_documents(TEXTS)
    assert time.monotonic() - started >= 0.5


async def test_a_very_long_retry_after_is_not_waited_for(endpoint, settings):
    async with Embedder(settings()) as embedder:
        await embedder.prepare()
        endpoint.always = bad.status(429, retry_after="3600")
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(Unavailable):
                await embedder.embed_documents(TEXTS)


async def test_texts_with_lone_surrogates_are_embedded(endpoint, settings):
    async with Embedder(settings()) as embedder:
        (outcome,) = await embedder.embed_documents(["lone \ud800 surrogate"])
    assert isinstance(outcome, Embedded)


async def test_errors_quote_neither_the_endpoint_nor_the_notes(endpoint, settings, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    endpoint.poison["canary-text"] = bad.status(400, "canary-reply canary-text")
    async with Embedder(settings()) as embedder:
        await embedder.embed_documents(["canary-text"])
        endpoint.always = bad.status(401, "canary-reply canary-text")
        with pytest.raises(Unavailable) as caught:
            await embedder.embed_documents(["canary-text"])
    seen = (
        caplog.text + "".join(capfd.readouterr()) + str(caught.value) + repr(caught.value.details)
    )
    assert "canary" not in seen
