"""A chat model is asked only where it may be, and every failure is one known error."""

from __future__ import annotations

import contextlib
import socket

import aiohttp
import pytest
from tests.support.chat_endpoint import ANSWER, ChatEndpoint
from tests.support.clocks import PATIENCE
from tests.support.local_model import (
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

from vault_agent.chat import client as client_module
from vault_agent.chat.client import ChatClient, ChatSettings
from vault_agent.endpoint import breaker
from vault_agent.errors import Misconfigured, Unavailable

CANARY = "canary-4711"


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(client_module, "_WAITS", (0.01, 0.01))
    monkeypatch.setattr(breaker, "_FIRST_WAIT", 0.05)


@pytest.fixture
async def endpoint():
    async with ChatEndpoint() as running:
        yield running


async def reason_of(url: str, *, model: str = "test-model", timeout: float = PATIENCE) -> str:  # noqa: ASYNC109
    async with ChatClient(ChatSettings(url, model, timeout=timeout)) as client:
        with pytest.raises(Unavailable) as caught:
            await client.ask("instructions", CANARY)
    assert caught.value.code == "CHAT_UNAVAILABLE"
    assert CANARY not in str(caught.value)
    return caught.value.details["reason"]


async def test_a_question_is_answered(endpoint: ChatEndpoint):
    async with ChatClient(ChatSettings(endpoint.url, "test-model")) as client:
        assert await client.ask("Be brief.", "What? \ud800") == ANSWER
    (sent,) = endpoint.requests
    assert sent == {
        "model": "test-model",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What? ?"},
        ],
        "temperature": 0,
        "max_tokens": 1_200,
        "stream": False,
    }


@pytest.mark.fault(
    "Sessions, journals and memory of agents",
    "chat endpoint: down, slow, 500, half a reply, HTML, endless, redirect, public "
    "address, echo, headings missing",
    "the extract stays, `incomplete`, tried again; nothing leaves the allowed addresses",
)
async def test_every_misbehaviour_is_a_known_fault(endpoint: ChatEndpoint):
    for misbehave, reason in (
        (status(500, CANARY), "server_error"),
        (status(503), "busy"),
        (status(404, "<html>"), "route_missing"),
        (status(401), "unauthorized"),
        (status(400, {"error": {"message": "maximum context length is 10"}}), "too_long"),
        (status(200, f"<html>{CANARY}</html>"), "bad_reply"),
        (changed(lambda _: {"choices": []}), "bad_reply"),
        (changed(lambda _: {"choices": [{"message": {"content": 5}}]}), "bad_reply"),
        (half(), "disconnected"),
        (reset(), "disconnected"),
        (endless(count=64), "bad_reply"),
        (redirect("http://127.0.0.1:1/"), "redirected"),
    ):
        endpoint.always = misbehave
        assert await reason_of(endpoint.url) == reason
    for misbehave in (slow(30), dripping()):
        endpoint.always = misbehave
        assert await reason_of(endpoint.url, timeout=0.5) == "timed_out"
    endpoint.always = None
    assert await reason_of(endpoint.url, model="other") == "model_missing"


async def test_a_redirect_is_not_followed(endpoint: ChatEndpoint):
    async with ChatEndpoint() as other:
        endpoint.always = redirect(other.url)
        assert await reason_of(endpoint.url) == "redirected"
        assert other.requests == []


@pytest.mark.parametrize(
    ("url", "model"),
    [
        ("http://8.8.8.8/v1/chat/completions", "m"),
        ("http://api.example.com/v1/chat/completions", "m"),
        ("http://169.254.169.254/x", "m"),
        ("http://192.168.1.5/x", "m"),
        ("http://127.0.0.1:1", "m"),
        ("http://127.0.0.1:1/x", "big:cloud"),
        ("http://127.0.0.1:1/x", "big-cloud"),
        ("http://127.0.0.1:1/x", " "),
    ],
)
def test_what_would_send_text_away_is_refused(url: str, model: str):
    with pytest.raises(Misconfigured, match=r"chat\.(endpoint|model)"):
        ChatClient(ChatSettings(url, model))


async def test_a_name_that_leads_to_a_public_address_gets_nothing(monkeypatch: pytest.MonkeyPatch):
    async def resolve(*_args, **_more):
        return [{"hostname": "localhost", "host": "93.184.216.34", "port": 80,
                 "family": socket.AF_INET, "proto": 0, "flags": 0}]  # fmt: skip

    monkeypatch.setattr(aiohttp.ThreadedResolver, "resolve", resolve)
    assert await reason_of("http://localhost:80/v1/chat/completions") == "address_refused"


async def test_proxies_of_the_environment_are_not_used(
    endpoint: ChatEndpoint, monkeypatch: pytest.MonkeyPatch
):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with ChatClient(ChatSettings(endpoint.url, "test-model")) as client:
        assert await client.ask("", "x") == ANSWER


async def test_after_a_failure_questions_fail_without_a_request(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(breaker, "_FIRST_WAIT", PATIENCE)  # it is not probed meanwhile
    endpoint = ChatEndpoint()
    await endpoint.start()
    await endpoint.stop()
    async with ChatClient(ChatSettings(endpoint.url, "test-model", timeout=5)) as client:
        with pytest.raises(Unavailable):
            await client.ask("", "x")
        await endpoint.start()
        with pytest.raises(Unavailable):
            await client.ask("", "x")
        assert endpoint.requests == []
    await endpoint.stop()


async def test_after_a_failure_questions_fail_until_it_works_again():
    endpoint = ChatEndpoint()
    await endpoint.start()
    await endpoint.stop()
    async with ChatClient(ChatSettings(endpoint.url, "test-model", timeout=5)) as client:
        with pytest.raises(Unavailable):
            await client.ask("", "x")
        assert client.is_down
        with contextlib.suppress(Unavailable):
            await client.ask("", "x")
        await endpoint.start()
        await eventually_async(lambda: not client.is_down)
        assert await client.ask("", "x") == ANSWER
    await endpoint.stop()
