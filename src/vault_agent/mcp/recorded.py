"""Records the handshake and the lists of the server for the relay: `lists.json`.

Run `python -m vault_agent.mcp.recorded` after a change of tools, prompts or resources, or of the
SDK. A test compares the file.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import anyio
from mcp_types import PROTOCOL_VERSION_META_KEY
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from vault_agent.api.caller import OWNER
from vault_agent.mcp.exchange import Post, exchange
from vault_agent.mcp.lists import CAPABILITIES_META, FILE, RIGHTS
from vault_agent.mcp.prompts import PROMPTS, prompt_entry
from vault_agent.mcp.resources import RESOURCES, TEMPLATES
from vault_agent.mcp.service import make_server
from vault_agent.mcp.tool import OWN
from vault_agent.mcp.toolsets import TOOLSETS
from vault_agent.mcp.view import View
from vault_agent.model.writing import Right

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vault_agent.app import App
    from vault_agent.vaults.open_vault import OpenVault

_ALL = list(range(1 << len(RIGHTS)))


class _NoVault(NamedTuple):
    """What the handshake needs of a vault: nothing."""

    config: None = None


async def recorded() -> dict[str, Any]:
    """Return what `lists.json` has to contain."""
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
        "tools": {name: _tools(name) for name in TOOLSETS},
        "prompts": [
            _entry(
                prompt_entry(name, prompt),
                prompt.setting,
                toolset,
                owner=prompt.owner,
                masks=[
                    mask for mask in _ALL if prompt.needs is None or prompt.needs in _rights(mask)
                ],
            )
            for name, prompt in PROMPTS.items()
            for toolset in prompt.toolsets
        ],
        "resources": [_entry(resource, None, OWN) for resource in RESOURCES],
        "resourceTemplates": [_entry(template, needs, None) for template, needs in TEMPLATES],
    }


def _tools(toolset: str) -> list[dict[str, Any]]:
    """Return the tools of a toolset in their order, once for each form that they are listed in."""
    entries: dict[str, dict[str, Any]] = {}
    order: list[str] = [tool.name for tool in TOOLSETS[toolset](_rights(_ALL[-1]))]
    for mask in _ALL:
        for tool in TOOLSETS[toolset](_rights(mask)):
            key = json.dumps(tool.listed, sort_keys=True)
            if key not in entries:
                entries[key] = _entry(tool.listed, tool.needs, None, owner=tool.owner, masks=[])
            entries[key]["masks"].append(mask)
    return sorted(entries.values(), key=lambda entry: order.index(entry["listed"]["name"]))


def _entry(
    listed: dict[str, Any],
    needs: str | None,
    toolset: str | None,
    *,
    owner: bool = False,
    masks: Iterable[int] = _ALL,
) -> dict[str, Any]:
    return {
        "needs": needs,
        "owner": owner,
        "toolset": toolset,
        "masks": list(masks),
        "listed": listed,
    }


def _rights(mask: int) -> frozenset[Right]:
    return frozenset(Right(name) for number, name in enumerate(RIGHTS) if mask >> number & 1)


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
    view = View(cast("App", None), cast("OpenVault", _NoVault()), OWNER, max_bytes=0)
    reply = await exchange(make_server(), view, Post(headers, tuple(headers), body.encode()))
    result: dict[str, Any] = json.loads(reply.body)["result"]
    return result


def text_of(content: dict[str, Any]) -> str:
    """Return the text of the file."""
    return json.dumps(content, ensure_ascii=False, indent=None, separators=(",", ":")) + "\n"


if __name__ == "__main__":
    FILE.write_text(text_of(anyio.run(recorded)), encoding="utf-8")
