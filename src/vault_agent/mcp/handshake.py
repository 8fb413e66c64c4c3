"""The handshake and the lists, without the SDK and without a server.

The relay answers with them, because clients wait only seconds for a first reply. So this imports
nothing slow. `handshake.json` has the handshake and the envelope as the SDK gives them. It is made
by `python -m tests.mcp.recorded`.
"""

from __future__ import annotations

import json
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault_agent import __version__
from vault_agent.mcp.prompts import prompt_entry, prompts_for
from vault_agent.mcp.tool import OWN, tools_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_agent.mcp.tool import ClientTools

FILE = Path(__file__).with_suffix(".json")
VERSION_META = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_META = "io.modelcontextprotocol/clientCapabilities"
CLIENT_META = "io.modelcontextprotocol/clientInfo"
_SERVER_META = "io.modelcontextprotocol/serverInfo"
_NAME = re.compile(r"[A-Za-z0-9._-]{1,40}")
_LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")

SCHEME = "vault://note/"
MEMORY_SCHEME = "memory://"
GUIDE_URI = "vault://guide"
TAGS_URI = "vault://tags"
MEDIA = "text/markdown"

_ROWS = tomllib.loads(Path(__file__).with_name("resources.toml").read_text("utf-8"))


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


def result_for(message: Mapping[str, Any], client: ClientTools | None) -> dict[str, Any] | None:
    """Return the result of a handshake or a list, as the server would give it.

    A handshake is the same for each client. Returns None for any other request, for a list without
    a client, and for a request that is not plain: the server answers it.
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
    if client is None or not is_list(message):
        return None
    return {**entries(message["method"], client), **envelope}


def entries(method: str, client: ClientTools) -> dict[str, list[Any]]:
    """Return the entries of a list that a client has, under their name in the result."""
    if method == "tools/list":
        return {"tools": [tool.listed for tool in tools_for(client)]}
    if method == "prompts/list":
        prompts = prompts_for(client)
        return {"prompts": [prompt_entry(name, prompt) for name, prompt in prompts.items()]}
    if method == "resources/list":  # they name our tools: other toolsets have none
        return {"resources": _ROWS["resources"] if client.toolset == OWN else []}
    templates = [row["listed"] for row in _ROWS["templates"] if client.has(row.get("needs", ()))]
    return {"resourceTemplates": templates}


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
