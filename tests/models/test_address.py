"""Nothing is sent to an address that is not allowed, whatever a name resolves to."""

import socket

import aiohttp
import pytest
from tests.support.local_model import LocalModel, redirect

from vault_agent.errors import Misconfigured, Unavailable
from vault_agent.models.client import AddressPolicy
from vault_agent.models.embedder import Embedder
from vault_agent.models.settings import EndpointSettings


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:11434/v1/embeddings",
        "https://localhost/v1/embeddings",
        "http://[::1]:8080/v1/embeddings",
        "http://127.8.9.1/x",
        "http://[::ffff:127.0.0.1]/x",
        "http://models.localhost/x",
    ],
)
def test_loopback_is_allowed(url):
    AddressPolicy().endpoint(url)


PRIVATE = [
    "http://192.168.1.20:11434/v1/embeddings",
    "http://10.0.0.1/x",
    "http://172.31.0.1/x",
    "http://[fd00::1]/x",
    "http://host.docker.internal:11434/x",
    "http://nas/x",
    "http://box.local/x",
    "http://box.home.arpa/x",
]


@pytest.mark.parametrize("url", PRIVATE)
def test_private_addresses_need_permission(url):
    AddressPolicy(allow_private=True).endpoint(url)
    with pytest.raises(Misconfigured, match="allow_private_network_endpoint"):
        AddressPolicy().endpoint(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://8.8.8.8/x",
        "http://api.example.com/v1/embeddings",
        "http://169.254.169.254/latest",
        "http://0.0.0.0:1/x",
        "http://[::]/x",
        "http://[fe80::1]/x",
        "http://100.64.0.1/x",
        "http://172.32.0.1/x",
        "http://[::ffff:8.8.8.8]/x",
        "http://127.0.0.1.example.com/x",
        "http://localhost.example.com/x",
        "http://user:pw@127.0.0.1/x",
        "http://127.0.0.1:11434",
        "ftp://127.0.0.1/x",
        "127.0.0.1:11434/v1/embeddings",
        "http:///x",
        "http://[/x",
        "",
    ],
)
def test_public_addresses_are_refused_even_if_private_ones_are_allowed(url):
    with pytest.raises(Misconfigured) as caught:
        AddressPolicy(allow_private=True).endpoint(url)
    assert caught.value.code == "CONFIG_INVALID"


async def test_a_name_that_resolves_to_a_public_address_is_refused(monkeypatch):
    dialled = []
    connect = socket.socket.connect

    async def resolve(_self, host, port=0, family=0):
        return [
            {"hostname": host, "host": "93.184.216.34", "port": port, "family": socket.AF_INET,
             "proto": 0, "flags": socket.AI_NUMERICHOST}
        ]  # fmt: skip

    def connect_and_tell(self, address):
        dialled.append(address)
        return connect(self, address)

    monkeypatch.setattr(aiohttp.ThreadedResolver, "resolve", resolve)
    monkeypatch.setattr(socket.socket, "connect", connect_and_tell)
    for url in ("http://localhost:9/x", "http://nas:9/x"):
        async with Embedder(EndpointSettings(url, "m", allow_private=True)) as embedder:
            with pytest.raises(Unavailable) as caught:
                await embedder.prepare()
            assert caught.value.details["reason"] == "address_refused"
    assert dialled == []


@pytest.mark.fault(
    "The embedding endpoint",
    "a redirect; a proxy in the environment; a name that resolves to a public address",
    "refused or ignored; no text leaves the machine",
)
async def test_a_redirect_is_refused_and_gets_no_text(endpoint, settings):
    async with LocalModel() as elsewhere:
        for code in (301, 302, 307, 308):
            endpoint.always = redirect(elsewhere.url, code)
            async with Embedder(settings()) as embedder:
                with pytest.raises(Unavailable) as caught:
                    await embedder.embed_documents(["private text"])
            assert caught.value.details["reason"] == "redirected"
        assert elsewhere.requests == []


async def test_a_proxy_in_the_environment_is_ignored(endpoint, settings, monkeypatch):
    async with LocalModel() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        async with Embedder(settings()) as embedder:
            await embedder.embed_documents(["text"])
        assert proxy.requests == []
    assert endpoint.requests


@pytest.mark.parametrize("model", ["gpt-oss:120b-cloud", "x:cloud", " Y:CLOUD ", ""])
def test_a_cloud_model_is_refused(model):
    with pytest.raises(Misconfigured):
        Embedder(EndpointSettings("http://127.0.0.1:1/x", model))
