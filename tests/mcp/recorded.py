"""Records the handshake of the server for the relay: `handshake.json`.

Run `python -m tests.mcp.recorded` after a change of the instructions or of the SDK. A test
compares the file.
"""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import anyio
from mcp_types import PROTOCOL_VERSION_META_KEY
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from vault_agent.mcp.exchange import Post, exchange
from vault_agent.mcp.handshake import CAPABILITIES_META, FILE
from vault_agent.mcp.service import make_server
from vault_agent.mcp.tool import OWN, ClientTools


async def recorded() -> dict[str, Any]:
    """Return what `handshake.json` has to contain."""
    first = await _asked("initialize", HANDSHAKE_PROTOCOL_VERSIONS[-1])
    discover = await _asked("server/discover", MODERN_PROTOCOL_VERSIONS[-1])
    envelope = await _asked("resources/list", MODERN_PROTOCOL_VERSIONS[-1])
    for name in ("resources", "_meta"):
        del envelope[name]
    del discover["_meta"]
    info = {name: value for name, value in first["serverInfo"].items() if name != "version"}
    initialize = {}
    for version in HANDSHAKE_PROTOCOL_VERSIONS:
        initialize[version] = await _asked("initialize", version)
        del initialize[version]["protocolVersion"], initialize[version]["serverInfo"]["version"]
    return {
        "versions": list(HANDSHAKE_PROTOCOL_VERSIONS),
        "modernVersions": list(MODERN_PROTOCOL_VERSIONS),
        "serverInfo": info,
        "initialize": initialize,
        "discover": discover,
        "envelope": envelope,
    }


async def _asked(method: str, version: str) -> dict[str, Any]:
    """Return the result of a request that needs no vault."""
    headers: dict[str, str] = {}
    params: dict[str, Any] = {}
    if method == "initialize":
        client = {"name": "relay", "version": "1"}
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
    else:
        headers = {"mcp-protocol-version": version, "mcp-method": method}
        params = {"_meta": {PROTOCOL_VERSION_META_KEY: version, CAPABILITIES_META: {}}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    view = SimpleNamespace(client_tools=ClientTools(OWN, (), (), is_named_agent=False))
    reply = await exchange(make_server(), view, Post(headers, tuple(headers), body.encode()))
    result: dict[str, Any] = json.loads(reply.body)["result"]
    return result


def text_of(content: dict[str, Any]) -> str:
    """Return the text of the file."""
    return json.dumps(content, ensure_ascii=False, indent=None, separators=(",", ":")) + "\n"


if __name__ == "__main__":
    FILE.write_text(text_of(anyio.run(recorded)), encoding="utf-8")
