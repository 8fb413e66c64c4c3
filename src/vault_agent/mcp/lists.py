"""The handshake and the lists, without the SDK and without a server.

`lists.json` has them as the server gives them, with what each entry needs. It is made by
`python -m vault_agent.mcp.recorded`. The relay answers with it, because clients wait only seconds
for a first reply. It imports the standard library only.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault_agent import __version__

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

FILE = Path(__file__).with_name("lists.json")
RIGHTS = ("create", "append", "edit", "overwrite", "move", "delete")
"""The rights that decide about tools. The bits of a mask, in this order."""
VERSION_META = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_META = "io.modelcontextprotocol/clientCapabilities"
CLIENT_META = "io.modelcontextprotocol/clientInfo"
_SERVER_META = "io.modelcontextprotocol/serverInfo"
_NAME = re.compile(r"[A-Za-z0-9._-]{1,40}")
_LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}


def client_name(info: object) -> str | None:
    """Return the name in what a client says of itself, if it has one of plain characters."""
    name = info.get("name") if isinstance(info, dict) else None
    return name if isinstance(name, str) and _NAME.fullmatch(name) else None


def is_handshake(message: Mapping[str, Any]) -> bool:
    """Whether a request asks who the server is, which no setting changes."""
    return message.get("method") in ("initialize", "server/discover")


def is_list(message: Mapping[str, Any]) -> bool:
    """Whether a request asks for a list."""
    return message.get("method") in _LISTS


def result_for(
    message: Mapping[str, Any],
    toolset: str,
    rights: Collection[str],
    switched_on: Collection[str],
    *,
    agent: bool,
) -> dict[str, Any] | None:
    """Return the result of a handshake or a list, as the server would give it.

    Args:
        message: the request.
        toolset: that of the client.
        rights: what the client may write: names of `RIGHTS`, and others.
        switched_on: the settings that are on, such as `memory.enabled`.
        agent: whether the client is an agent, which lacks what only the owner has.

    Returns None for any other request, and for one that is not plain: the server answers it.
    """
    params = message.get("params")
    params = {} if params is None else params
    if message.get("jsonrpc") != "2.0" or not isinstance(params, dict) or "cursor" in params:
        return None
    meta = params.get("_meta", {})
    if not isinstance(meta, dict):
        return None
    recorded = _recorded()
    if message["method"] == "initialize":
        return _initialized(recorded, params)
    modern = VERSION_META in meta
    if modern and (
        meta[VERSION_META] not in recorded["modernVersions"]
        or not isinstance(meta.get(CAPABILITIES_META), dict)
    ):
        return None
    info = {**recorded["serverInfo"], "version": __version__}
    envelope = {**recorded["envelope"], "_meta": {_SERVER_META: info}} if modern else {}
    if message["method"] == "server/discover":
        return {**recorded["discover"], **envelope} if modern else None
    name = _LISTS.get(message["method"])
    if name is None or toolset not in recorded["tools"]:
        return None
    mask = sum(1 << number for number, right in enumerate(RIGHTS) if right in rights)

    def is_there(entry: Mapping[str, Any]) -> bool:
        return (
            (entry["needs"] is None or entry["needs"] in switched_on)
            and not (entry["owner"] and agent)
            and (entry["toolset"] in (None, toolset))
            and mask in entry["masks"]
        )

    entries = recorded["tools"][toolset] if name == "tools" else recorded[name]
    return {name: [entry["listed"] for entry in entries if is_there(entry)], **envelope}


@cache
def reading_tools() -> frozenset[str]:
    """Return the tools that never write, in any toolset."""
    all_tools = [entry["listed"] for tools in _recorded()["tools"].values() for entry in tools]
    writing = {tool["name"] for tool in all_tools if not tool["annotations"]["readOnlyHint"]}
    return frozenset(tool["name"] for tool in all_tools) - writing


def _initialized(recorded: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any] | None:
    version, client = params.get("protocolVersion"), params.get("clientInfo")
    if not (
        isinstance(version, str)
        and isinstance(params.get("capabilities"), dict)
        and isinstance(client, dict)
        and isinstance(client.get("name"), str)
        and isinstance(client.get("version"), str)
    ):
        return None
    versions = recorded["versions"]
    version = version if version in versions else versions[-1]
    info = {**recorded["initialize"][version]["serverInfo"], "version": __version__}
    return {**recorded["initialize"][version], "protocolVersion": version, "serverInfo": info}


@cache
def _recorded() -> Any:
    return json.loads(FILE.read_bytes())
