"""A reranker is asked only where it may be, in the form it takes, and for a limited time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from aiohttp import web
from tests.support.clocks import PATIENCE
from tests.support.local_model import (
    LocalModel,
    changed,
    dripping,
    endless,
    half,
    redirect,
    reset,
    slow,
    status,
)
from tests.support.waiting import eventually_async

from vault_agent.errors import Misconfigured, Unavailable
from vault_agent.models import client
from vault_agent.models.reranker import Reranker, RerankerSettings, scores_of

CANARY = "canary-4711"
TEXTS = ["late snow", "late frost", "nothing"]


@pytest.fixture
async def endpoint() -> AsyncIterator[LocalModel]:
    async with LocalModel(cancels=True) as running:
        yield running


def is_usable(reranker: Reranker) -> bool:
    with suppress(Unavailable):
        reranker.check()
        return True
    return False


async def reason_of(url: str, *, seconds: float = PATIENCE) -> str:
    async with Reranker(RerankerSettings(url, timeout=seconds)) as reranker:
        with pytest.raises(Unavailable) as caught:
            await reranker.scores(CANARY, TEXTS)
    assert caught.value.code == "RERANK_UNAVAILABLE"
    assert CANARY not in str(caught.value)
    return caught.value.details["reason"]


async def test_scores_are_in_the_order_of_the_texts(endpoint: LocalModel):
    async with Reranker(RerankerSettings(endpoint.rerank_url, " m ")) as reranker:
        assert await reranker.scores("late frost\ud800", TEXTS) == (0.5, 1.0, 0.0)
    (sent,) = endpoint.reranked
    assert sent == {"query": "late frost?", "model": "m", "documents": TEXTS, "top_n": 3}


async def test_a_model_that_is_loaded_first_passes_the_check(endpoint: LocalModel):
    async def loads(request: web.Request, reply: dict) -> None:
        if len(endpoint.reranked) == 1:
            await asyncio.sleep(3.2)

    endpoint.always = loads
    async with Reranker(RerankerSettings(endpoint.rerank_url, timeout=3.0)) as reranker:
        await reranker.test()
    assert len(endpoint.reranked) == 2


async def test_a_model_that_is_always_too_slow_fails_the_check(endpoint: LocalModel):
    endpoint.latency = 0.6
    async with Reranker(RerankerSettings(endpoint.rerank_url, timeout=0.3)) as reranker:
        with pytest.raises(Unavailable, match=r"does not answer in time"):
            await reranker.test()


async def test_the_form_of_tei_is_found_and_remembered(endpoint: LocalModel):
    endpoint.takes = "texts"
    async with Reranker(RerankerSettings(endpoint.rerank_url)) as reranker:
        for query in ("frost", "snow"):
            assert max(await reranker.scores(query, TEXTS)) == 1
    forms = ["texts" if "texts" in each else "documents" for each in endpoint.reranked]
    assert forms == ["documents", "texts", "texts"]
    assert endpoint.reranked[-1] == {"query": "snow", "texts": TEXTS, "truncate": True}


async def test_the_same_request_is_sent_once(endpoint: LocalModel):
    async with Reranker(RerankerSettings(endpoint.rerank_url)) as reranker:
        assert await reranker.scores("frost", TEXTS) == await reranker.scores("frost", TEXTS)
    assert len(endpoint.reranked) == 1


async def test_passages_are_halved_until_the_server_takes_them(endpoint: LocalModel):
    endpoint.longest = 300
    async with Reranker(RerankerSettings(endpoint.rerank_url)) as reranker:
        assert await reranker.scores("frost", ["frost " * 200, "x"]) == (1.0, 0.0)
    assert [len(each["documents"][0]) for each in endpoint.reranked] == [1200, 600, 300]
    endpoint.longest = 5
    assert await reason_of(endpoint.rerank_url) == "too_long"


@pytest.mark.fault(
    "The reranker",
    "down, busy, slow, 500, half a reply, HTML, endless, a redirect, a score missing or twice",
    "the results stay in their usual order, with a warning; for a while, searches do not wait",
)
async def test_every_misbehaviour_is_a_known_fault(endpoint: LocalModel):
    for misbehave, reason in (
        (status(500, CANARY), "server_error"),
        (status(501, {"error": {"message": "Start it with `--reranking`"}}), "server_error"),
        (status(503), "busy"),
        (status(404, "<html>"), "route_missing"),
        (status(401), "unauthorized"),
        (status(400, CANARY), "rejected"),
        (status(200, f"<html>{CANARY}</html>"), "bad_reply"),
        (changed(lambda reply: reply["results"].pop() and None), "bad_reply"),
        (changed(lambda reply: reply["results"].append(reply["results"][0])), "bad_reply"),
        (changed(lambda reply: reply["results"][0].update(index=7)), "bad_reply"),
        (changed(lambda reply: reply["results"][0].update(relevance_score=None)), "bad_reply"),
        (changed(lambda _: {"results": None}), "bad_reply"),
        (half(), "disconnected"),
        (reset(), "disconnected"),
        (endless(count=64), "bad_reply"),
        (redirect("http://127.0.0.1:1/"), "redirected"),
    ):
        endpoint.always = misbehave
        assert await reason_of(endpoint.rerank_url) == reason
    for misbehave in (slow(30), dripping()):
        endpoint.always = misbehave
        assert await reason_of(endpoint.rerank_url, seconds=0.5) == "timed_out"


async def test_a_search_that_only_waited_for_others_stops_no_later_one(endpoint: LocalModel):
    endpoint.always = slow(30)
    async with Reranker(RerankerSettings(endpoint.rerank_url, timeout=PATIENCE)) as reranker:
        others = asyncio.ensure_future(reranker.scores("frost", TEXTS))
        await eventually_async(lambda: endpoint.reranked)
        reranker._timeout = 0.1
        with pytest.raises(Unavailable) as caught:
            await reranker.scores("snow", TEXTS)
        assert caught.value.details["reason"] == "busy"
        reranker.check()
        others.cancel()
        with suppress(asyncio.CancelledError):
            await others


@pytest.mark.parametrize("score", ["1e999", "NaN", '"high"'])
def test_a_score_is_a_finite_number(score: str):
    body = f'[{{"index": 0, "score": {score}}}]'.encode()
    with pytest.raises(Exception, match="BAD_REPLY"):
        scores_of(body, 1)


async def test_a_redirect_gets_no_text(endpoint: LocalModel):
    async with LocalModel(cancels=True) as other:
        endpoint.always = redirect(other.rerank_url)
        assert await reason_of(endpoint.rerank_url) == "redirected"
        assert other.reranked == []


@pytest.mark.parametrize(
    ("url", "model"),
    [
        ("http://8.8.8.8/v1/rerank", ""),
        ("http://api.example.com/v1/rerank", ""),
        ("http://192.168.1.5/v1/rerank", ""),
        ("http://127.0.0.1:1", ""),
        ("http://127.0.0.1:1/x", "big:cloud"),
    ],
)
def test_what_would_send_text_away_is_refused(url: str, model: str):
    with pytest.raises(Misconfigured, match=r"rerank\.(endpoint|model)"):
        Reranker(RerankerSettings(url, model))


async def test_after_a_failure_nothing_is_sent_until_it_works_again(
    monkeypatch: pytest.MonkeyPatch,
):
    endpoint = LocalModel(cancels=True)
    await endpoint.start()
    await endpoint.stop()
    async with Reranker(RerankerSettings(endpoint.rerank_url)) as reranker:
        with pytest.raises(Unavailable):
            await reranker.scores("frost", TEXTS)
        await endpoint.start()
        await eventually_async(lambda: is_usable(reranker))
        assert await reranker.scores("frost", TEXTS) == (0.0, 1.0, 0.0)
        monkeypatch.setattr(client, "_FIRST_WAIT", PATIENCE)  # it is not probed meanwhile
        endpoint.always = status(500)
        with pytest.raises(Unavailable):
            await reranker.scores("snow", TEXTS)
        sent = len(endpoint.reranked)
        with pytest.raises(Unavailable):
            await reranker.scores("other", TEXTS)
        assert len(endpoint.reranked) == sent
    await endpoint.stop()
