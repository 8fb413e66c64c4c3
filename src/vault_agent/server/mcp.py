"""`POST /mcp`: binds the MCP endpoint to HTTP. The SDK is imported only if MCP is switched on."""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from aiohttp import web

from vault_agent.api.caller import Caller, CallerKind
from vault_agent.api.operation import MAX_BODY_BYTES, MAX_WRITE_BYTES
from vault_agent.config.agents import missing_in, not_in_vault
from vault_agent.config.rights import allowed_rights
from vault_agent.errors import Misconfigured, NotFound, Unsupported, switched_off
from vault_agent.model.identifiers import GLOBAL
from vault_agent.model.scope import Scope
from vault_agent.server.app_keys import APP, CONFIG, TRACE
from vault_agent.server.body import await_gate, check_media, check_size, read_body
from vault_agent.server.connection import while_client_waits
from vault_agent.server.replies import SAFE_HEADERS
from vault_agent.system.cancelling import in_thread

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from vault_agent.config.agents import AgentSettings
    from vault_agent.config.settings import Config
    from vault_agent.model.writing import Right

PATH = "/mcp"
# As in the relay, whose room is imported only when needed.
VAULT_HEADER = "Vault-Agent-Vault"
SESSION_HEADER = "Vault-Agent-Session"
_SESSIONS = 256
_MAX_SESSION_CHARS = 64
IN_FLIGHT = 4
"""Requests of one caller that run at once. The others of that caller wait for them. All unnamed
agents count as one caller."""
_CLIENT = re.compile(r"[A-Za-z0-9._-]{1,40}")


class Endpoint:
    """The MCP server of one process, and the turns of each caller's requests."""

    def __init__(self) -> None:
        # The import takes about a second of CPU. Clients wait only a few for their handshake.
        self._importing = asyncio.create_task(asyncio.to_thread(_make_server))
        self.turns = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(IN_FLIGHT))
        self._told = lru_cache(_SESSIONS)(lambda _client, _session: set[str]())

    async def server(self) -> Server[Any]:
        """Return the SDK's server, as soon as it is imported."""
        return await asyncio.shield(self._importing)

    def told(self, client: str, session: str | None) -> set[str] | None:
        """Return the codes of warnings that a session was told, or None without a session."""
        return None if session is None else self._told(client, session[:_MAX_SESSION_CHARS])

    async def close(self) -> None:
        """Stop waiting for the import."""
        self._importing.cancel()
        with suppress(asyncio.CancelledError):
            await self._importing


MCP = web.AppKey("mcp", Endpoint)  # only if MCP is switched on


def _make_server() -> Server[Any]:
    from vault_agent.mcp.service import make_server

    return make_server()


def is_mcp(path: str) -> bool:
    """Whether a request's path is that of the MCP endpoint."""
    return path == PATH or path.startswith(f"{PATH}/")


def agent_of(path: str) -> str | None:
    """Return the name of the agent that a request's path names, or None."""
    return path.removeprefix(f"{PATH}/") if path.startswith(f"{PATH}/") else None


def add_mcp(router: web.UrlDispatcher) -> None:
    """Register the endpoint."""
    for path in (PATH, f"{PATH}/{{agent:[^/]*}}"):
        resource = router.add_resource(path)
        resource.add_route("POST", _post, expect_handler=await_gate)
        resource.add_route("*", _other, expect_handler=await_gate)


async def _other(request: web.Request) -> web.StreamResponse:
    _require_enabled(request)
    raise Unsupported("METHOD_NOT_ALLOWED", "Use POST here.", {"allowed": ["POST"]})


async def _post(request: web.Request) -> web.StreamResponse:
    request[TRACE].route = f"{PATH}/{{agent}}" if "agent" in request.match_info else PATH
    endpoint = _require_enabled(request)
    caller = _caller(request)
    check_media(request)
    limit = MAX_WRITE_BYTES if request.app[CONFIG].write.enabled else MAX_BODY_BYTES
    check_size(request, limit)
    _require_json(request)
    body = await read_body(request, limit)
    async with endpoint.turns[caller.name]:
        server = await endpoint.server()
        return await _answered(request, server, caller, body)


def _caller(request: web.Request) -> Caller:
    """Return the named agent of the path, or for `/mcp` itself an unnamed one.

    The gate has checked the key, and has stored no caller.
    """
    config = request.app[CONFIG]
    name = request.match_info.get("agent")
    if name is None:
        return Caller(
            CallerKind.UNNAMED_AGENT, rights=rights_of(config, None), client=_client(request)
        )
    agent = config.agents.get(name)
    if agent is None:
        raise NotFound("ROUTE_NOT_FOUND", "There is no agent of this name.", remedy="")
    return Caller(
        CallerKind.NAMED_AGENT,
        name,
        Scope(agent.folders, agent.deny),
        rights=rights_of(config, agent),
        client=_client(request),
    )


def _client(request: web.Request) -> str:
    """Return the program that calls, for the log of writes: the first part of its User-Agent.

    Before the revision 2026-07-28, requests after the first one carry no other name.
    """
    name = request.headers.get("User-Agent", "").partition("/")[0].strip()
    return f"mcp:{name}" if _CLIENT.fullmatch(name) else "mcp"


def rights_of(config: Config, agent: AgentSettings | None) -> frozenset[Right]:
    """Return the rights of an agent: none while writing is off.

    A named agent has none either if no folder that it sees may be changed. `agent` is None for an
    unnamed one. Its rights are those of `write.allow`, also in a vault that is closed to writes:
    there the operations refuse it.
    """
    write = config.write
    if not write.enabled:
        return frozenset()
    if agent is None:
        return frozenset(write.allow)
    return allowed_rights(write.allow, write.folders, agent.folders, agent.write)


def _require_enabled(request: web.Request) -> Endpoint:
    endpoint = request.app.get(MCP)
    if endpoint is None:
        raise switched_off("mcp.enabled")
    return endpoint


def _require_json(request: web.Request) -> None:
    """Refuse a client that does not take JSON."""
    header = ",".join(request.headers.getall("Accept", ["*/*"]))
    media = {part.partition(";")[0].strip().lower() for part in header.split(",")}
    if not media & {"application/json", "application/*", "*/*"}:
        raise Unsupported("NOT_ACCEPTABLE", "The reply is application/json.")


async def _answered(
    request: web.Request, server: Server[Any], caller: Caller, body: bytes
) -> web.Response:
    """Run one exchange, and stop it if the client disconnects.

    For an unnamed agent, the header `Vault-Agent-Vault` may name the vault of its project.
    """
    from vault_agent.mcp.exchange import Post, exchange
    from vault_agent.mcp.view import View

    config = request.app[CONFIG]
    agent = config.agents.get(caller.name)
    await _require_folder(config, agent)
    vaults = request.app[APP].vaults
    vault_name = None if caller.is_named_agent else request.headers.get(VAULT_HEADER)
    with_global = vault_name is not None and any(
        entry.full_name == GLOBAL for entry in vaults.registry.entries()
    )
    headers = {name.lower(): value for name, value in request.headers.items()}
    if vault_name is not None:
        vault = await vaults.open(vault_name)
    else:
        vault = await vaults.seen_by(caller.name, caller.scope)
    view = View(
        request.app[APP],
        vault,
        caller,
        toolset=(agent and agent.toolset) or config.mcp.toolset,
        vaults=(vaults.unique_name_of(vault), GLOBAL) if with_global else (),
        told=request.app[MCP].told(caller.name, request.headers.get(SESSION_HEADER)),
    )
    with while_client_waits(request):
        reply = await exchange(server, view, Post(headers, tuple(request.headers), body))
    return web.Response(
        body=reply.body or None,
        status=reply.status,
        headers={**SAFE_HEADERS, "Cache-Control": "no-store"},
        content_type="application/json" if reply.body else None,
    )


async def _require_folder(config: Config, agent: AgentSettings | None) -> None:
    """Refuse a named agent whose folder is not there. Other agents go on.

    Raises:
        Misconfigured: `AGENT_FOLDER_NOT_FOUND`.
    """
    if agent is None:
        return
    missing = await in_thread(missing_in, config.vault.root, agent.folders, agent.write)
    if missing:
        what = f"This agent sees {not_in_vault(missing)}."
        raise Misconfigured("AGENT_FOLDER_NOT_FOUND", what)
