"""The protocol over HTTP: both eras, strict parsing, and errors that never repeat the input."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from mcp.client import Client
from tests.mcp.conftest import META, MODERN
from tests.server.conftest import KEY, run

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
CANARY = "canary-of-what-was-sent"


def initialize(version: str) -> dict:
    client = {"name": "test", "version": "1"}
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_official_client_searches_and_reads_in_both_eras(agent, mode):
    async with Client(agent.url, mode=mode) as client:
        tools = (await client.list_tools()).tools
        found = await client.call_tool("vault_search", {"query": "fleece at dusk"})
        read = await client.call_tool("vault_read", {"path": "late frost", "section": "Records"})
    assert [tool.name for tool in tools][:2] == ["vault_search", "vault_read"]
    assert "Garden/Beds/Late frost.md:10-14 > Protecting seedlings" in found.content[0].text
    assert "the last frost came on 12 May." in read.content[0].text


@pytest.mark.parametrize("version", LEGACY)
def test_each_older_revision_is_negotiated(agent, version):
    status, reply, headers = agent.post(initialize(version))
    assert status == 200
    assert reply["result"]["protocolVersion"] == version
    assert "notes" in reply["result"]["instructions"]
    assert reply["id"] == 0
    assert "Mcp-Session-Id" not in headers


@pytest.mark.fault(
    "Agents",
    "the version of the protocol is unknown; headers differ from the message",
    "400 with −32022 and the known versions; 400 with −32020",
)
def test_the_version_error_and_discovery_name_the_same_revisions(agent):
    supported = agent.rpc("server/discover")["result"]["supportedVersions"]
    status, reply, _ = agent.post(PING, {"MCP-Protocol-Version": "2031-01-01"})
    assert status == 400
    assert reply["error"]["code"] == -32022
    assert reply["error"]["data"] == {"supported": supported, "requested": "2031-01-01"}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Mcp-Method": "tools/list"},
        {"Mcp-Method": "tools/call", "Mcp-Name": "another"},
        {"MCP-Protocol-Version": "2025-11-25-x", "Mcp-Method": "tools/call"},
    ],
)
def test_headers_that_differ_from_the_message_are_refused(agent, headers):
    params = {"name": "vault_search", "arguments": {"query": "x"}, "_meta": META}
    body = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params}
    status, reply, _ = agent.post(body, {"MCP-Protocol-Version": MODERN, **headers})
    assert (status, reply["error"]["code"], reply["id"]) == (400, -32020, 3)


def test_a_name_in_base64_is_the_same_name(agent):
    params = {"name": "vault_search", "arguments": {"query": "frost"}, "_meta": META}
    body = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params}
    headers = {"Mcp-Method": "tools/call", "Mcp-Name": "=?base64?dmF1bHRfc2VhcmNo?="}
    status, _, _ = agent.post(body, {"MCP-Protocol-Version": MODERN, **headers})
    assert status == 200


def test_a_request_without_capabilities_is_refused(agent):
    params = {"_meta": {"io.modelcontextprotocol/protocolVersion": MODERN}}
    body = {"jsonrpc": "2.0", "id": 3, "method": "tools/list", "params": params}
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}
    status, reply, _ = agent.post(body, headers)
    assert (status, reply["error"]["code"]) == (400, -32602)


def test_an_unknown_method_is_404_without_its_name(agent):
    params = {"_meta": META}
    body = {"jsonrpc": "2.0", "id": "", "method": CANARY, "params": params}
    status, reply, _ = agent.post(body, {"MCP-Protocol-Version": MODERN, "Mcp-Method": CANARY})
    assert (status, reply["error"]["code"], reply["id"]) == (404, -32601, "")
    assert CANARY not in json.dumps(reply)


@pytest.mark.fault(
    "Agents",
    "a JSON-RPC message is malformed, a batch, too deep, has NaN, a repeated key or a "
    "byte order mark",
    "−32700 or −32600 with a null ID, without the input; the connection goes on",
)
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32700),
        (b"{" + CANARY.encode(), -32700),
        (b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "\\ud800"}', -32700),
        (b"\xef\xbb\xbf" + json.dumps(PING).encode(), -32700),
        (b"[" * 10_000 + b"]" * 10_000, -32700),
        (json.dumps([PING]).encode(), -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping"}', -32600),
        (json.dumps({**PING, "id": None}).encode(), -32600),
        (json.dumps({**PING, "id": True}).encode(), -32600),
        (json.dumps({**PING, "id": [CANARY]}).encode(), -32600),
        (json.dumps({**PING, "jsonrpc": CANARY}).encode(), -32600),
        (json.dumps({"jsonrpc": "2.0", "id": 1, "result": {CANARY: 1}}).encode(), -32600),
        (json.dumps(CANARY).encode(), -32600),
    ],
)
def test_what_is_no_message_is_refused_and_not_repeated(agent, body, code):
    status, reply, _ = agent.post(body)
    assert (status, reply["error"]["code"]) == (400, code)
    assert CANARY not in json.dumps(reply)
    assert agent.post(PING)[0] == 200


def test_parameters_of_the_wrong_shape_are_not_repeated(agent):
    for params in ({"name": [CANARY]}, {"name": "vault_read", "arguments": [CANARY]}, {}):
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        _, reply, _ = agent.post(body)
        assert reply["error"]["code"] == -32602
        assert CANARY not in json.dumps(reply)


def test_a_notification_is_accepted_without_a_body(agent):
    body = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert agent.post(body)[:2] == (202, None)


def test_only_json_must_be_accepted(agent):
    assert agent.post(PING, {"Accept": "application/json"})[0] == 200
    assert agent.post(PING, {"Accept": "*/*"})[0] == 200
    status, reply, _ = agent.post(PING, {"Accept": "text/html"})
    assert (status, reply["error"]["data"]["code"]) == (406, "NOT_ACCEPTABLE")


@pytest.mark.fault(
    "Agents",
    "`/mcp` without a key, with a wrong key, a foreign Host or Origin",
    "401, 421, 403 as a JSON-RPC error, before the body is read",
)
async def test_the_gate_refuses_in_json_rpc_without_an_id():
    async with run(mcp={"enabled": True}, server={"api_key": KEY}) as server:
        authority = {"Authorization": f"Bearer {KEY}"}
        refusals = (
            ("POST", {}, 401, "UNAUTHORIZED"),
            ("POST", {"Authorization": f"Bearer {KEY}x"}, 401, "UNAUTHORIZED"),
            ("POST", {**authority, "Host": "notes.example"}, 421, "HOST_NOT_ALLOWED"),
            ("POST", {**authority, "Origin": "https://a.example"}, 403, "ORIGIN_NOT_ALLOWED"),
            ("POST", {**authority, "Sec-Fetch-Site": "cross-site"}, 403, "ORIGIN_NOT_ALLOWED"),
            ("GET", authority, 405, "METHOD_NOT_ALLOWED"),
            ("DELETE", authority, 405, "METHOD_NOT_ALLOWED"),
        )
        for method, headers, status, code in refusals:
            sent = {"json": PING} if method == "POST" else {}
            got, body, replied = await server.ask(method, "/mcp", headers=headers, **sent)
            assert (got, body["error"]["data"]["code"]) == (status, code)
            assert body["jsonrpc"] == "2.0"
            assert "id" not in body
            assert replied.get("WWW-Authenticate") == ("Bearer" if status == 401 else None)
        got, body, _ = await server.ask(
            "POST",
            "/mcp",
            headers=authority,
            data="{}",
        )
        assert (got, body["error"]["data"]["code"]) == (415, "UNSUPPORTED_MEDIA_TYPE")
        got, body, _ = await server.ask(
            "POST", "/mcp", headers=authority, json={**PING, "params": {"x": "x" * 70_000}}
        )
        assert (got, body["error"]["data"]["code"]) == (413, "BODY_TOO_LARGE")


async def test_switched_off_it_names_its_setting():
    async with run() as server:
        for method, sent in (("POST", {"json": PING}), ("GET", {})):
            status, body, _ = await server.ask(method, "/mcp", **sent)
            assert (status, body["error"]["code"]) == (403, "FEATURE_DISABLED")
            assert body["error"]["details"]["setting"] == "mcp.enabled"


def test_switched_off_nothing_of_it_is_imported():
    code = (
        "import sys, vault_agent.server.serve;"
        "print([name for name in sys.modules if name.split('.')[0] in ('mcp', 'mcp_types')"
        " or name.startswith('vault_agent.mcp')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_web_pages_may_send_its_headers_only_where_it_is_on():
    origin = "https://notes.example"
    for enabled in (True, False):
        cors = {"enabled": True, "allowed_origins": (origin,)}
        async with run(mcp={"enabled": enabled}, cors=cors) as server:
            headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
            _, _, replied = await server.ask("OPTIONS", "/mcp", headers=headers)
            allowed = replied["Access-Control-Allow-Headers"]
            assert ("MCP-Protocol-Version" in allowed) is enabled
