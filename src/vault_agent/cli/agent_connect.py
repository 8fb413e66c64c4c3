"""Connects an agent: the entry in its settings, the hooks, and the switch of the server."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any, NamedTuple

from vault_agent.cli import agent_hooks, agent_programs
from vault_agent.cli.agent_programs import CLIENTS, our_program
from vault_agent.cli.command import Exit, exit_code
from vault_agent.cli.features import Applied, apply, switch
from vault_agent.cli.terminal import agreed, can_ask, clean, complain, tell
from vault_agent.config import rules
from vault_agent.config.fast_settings import connection, hook_settings
from vault_agent.errors import Failed, VaultAgentError
from vault_agent.system.processes import PROGRAM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vault_agent.cli.command import Invocation

_REVISION = "2025-11-25"


def entry_command(invocation: Invocation, agent: str | None = None) -> list[str]:
    """Return the command of our entry in a client. It names what this call names."""
    return [*our_program(), "mcp", *_relay_options(invocation, agent)]


def _relay_options(invocation: Invocation, agent: str | None) -> list[str]:
    options = [] if agent is None else ["--agent", agent]
    if invocation.config is not None:
        options += ["--config", str(invocation.config.absolute())]
    if invocation.endpoint is not None:
        options += ["--endpoint", invocation.endpoint]
    return options


def connect(
    invocation: Invocation,
    name: str,
    *,
    agent: str | None = None,
    force: bool = False,
    hooks: bool = True,
) -> tuple[list[str], int]:
    """Tell a client of our server, and add its hooks if memory is on.

    The one is done even if the other cannot be. What cannot is told, with what to type instead.
    `agent` is the agent of the config file that the client acts as. Return what was done, in
    sentences, and the exit code of what failed.
    """
    done: list[str] = []
    code: int = Exit.SUCCESS
    try:
        client, command = CLIENTS[name], entry_command(invocation, agent)
        if not force and agent_programs.state(client, command) == "installed":
            done.append(f"{client.title} knows vault-agent already.")
        else:
            done.append(agent_programs.install(client, command, force=force))
    except VaultAgentError as error:
        code = _refused(error)
    try:
        added = add_hooks(invocation, name) if hooks else None
    except VaultAgentError as error:
        added, code = None, _refused(error)
    return [*done, added] if added is not None else done, code


def _refused(error: VaultAgentError) -> int:
    complain(error.code, error.message, look="warning")
    for line in str(error.details.get("snippet", "")).splitlines():
        tell(f"  {clean(line)}")
    return exit_code(error)


def allow_agents(invocation: Invocation, *, yes: bool) -> Applied | None:
    """Turn MCP on if it is off and the person agrees. Return None if it stays as it is.

    A server elsewhere has settings of its own.
    """
    if not mcp_is_off(invocation) or not (yes or can_ask()):
        return None
    if not agreed("Agents may not use MCP yet. Let them search and read?", yes=yes, default=True):
        return None
    return apply(invocation, switch(["mcp"], on=True))


def mcp_is_off(invocation: Invocation) -> bool:
    """Whether the settings refuse agents at a server of this computer."""
    from vault_agent.config.settings import build_config

    layers = invocation.layers()
    return rules.is_local(connection(layers).endpoint) and not build_config(layers).mcp.enabled


def add_hooks(invocation: Invocation, name: str) -> str | None:
    """Add the hooks of an agent if memory is on and it has none. Return what was done.

    Raises:
        Misconfigured: `CLIENT_CONFIG_INVALID` if its file cannot be changed.
    """
    hooks = CLIENTS[name].hooks
    if hooks is None or not hook_settings(invocation.layers()).enabled:
        return None
    changed = agent_hooks.install(name, hooks.user(), hooks_command(invocation, name))
    return f"The hooks are in {hooks.user()}. {hooks.advice}" if changed else None


def hooks_command(invocation: Invocation, name: str) -> list[str]:
    """Return the command of our hooks in an agent."""
    return agent_hooks.hook_command(name, our_program(), invocation.config)


class KnownAgent(NamedTuple):
    """An agent: whether it is installed here, and whether it has our entry and our hooks."""

    name: str
    title: str
    is_here: bool
    entry: agent_programs.State
    hooks: str | None  # None for an agent without hooks
    acts_as: str | None  # the agent of the config file that its entry names


def known_agents(invocation: Invocation) -> list[KnownAgent]:
    """Return all agents that can be connected."""
    agents = []
    for name, client in CLIENTS.items():
        acts_as = agent_programs.agent_in(client)
        entry = agent_programs.state(client, entry_command(invocation, acts_as))
        hooks = hooks_state(invocation, name)
        agents.append(KnownAgent(name, client.title, client.is_here, entry, hooks, acts_as))
    return agents


def hooks_state(invocation: Invocation, name: str) -> str | None:
    """Return whether an agent has our hooks in all projects, None if it can have none."""
    hooks = CLIENTS[name].hooks
    if hooks is None:
        return None
    try:
        return agent_hooks.state(name, hooks.user(), hooks_command(invocation, name))
    except VaultAgentError:
        return "unreadable"


def take_out(invocation: Invocation, name: str) -> list[str]:
    """Take our entry and our hooks out of an agent's settings. Return what was done.

    Raises:
        Misconfigured: `CLIENT_CONFIG_INVALID` if its settings cannot be changed.
    """
    client = CLIENTS[name]
    done = []
    if agent_programs.state(client, entry_command(invocation)) in ("installed", "other"):
        done.append(agent_programs.uninstall(client))
    if client.hooks is not None and agent_hooks.remove(name, client.hooks.user()):
        done.append(f"The hooks are no longer in {client.hooks.user()}.")
    return done


def check(invocation: Invocation, agent: str | None = None) -> list[str]:
    """Start the relay as a client does, search by it, and return the names of the tools.

    Raises:
        Failed: `PROGRAM_FAILED` with the error that a client would get.
    """
    options = _relay_options(invocation, agent)
    if invocation.api_key is not None:
        options += ["--api-key", invocation.api_key]
    process = subprocess.Popen(  # noqa: S603 - our own program
        [*PROGRAM, "mcp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        client = {"name": "vault-agent", "version": "1"}
        handshake = {"protocolVersion": _REVISION, "capabilities": {}, "clientInfo": client}
        _ask(process, "initialize", handshake)
        # The relay has answered that itself. Only the server answers this.
        _ask(process, "ping", {})
        tools = _ask(process, "tools/list", {})["tools"]
        _search(process, tools)
        assert process.stdin is not None  # noqa: S101 - a pipe
        process.stdin.close()
    return [tool["name"] for tool in tools]


def _search(process: subprocess.Popen[bytes], tools: Sequence[dict[str, Any]]) -> None:
    """Search with the tool for searches, in any toolset. One of them has none for a query alone."""
    searching = [tool for tool in tools if tool["inputSchema"].get("required") == ["query"]]
    if searching:
        limits = {"limit", "max_results"} & set(searching[0]["inputSchema"]["properties"])
        arguments = {"query": "note", **dict.fromkeys(limits, 1)}
        _ask(process, "tools/call", {"name": searching[0]["name"], "arguments": arguments})


def _ask(process: subprocess.Popen[bytes], method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Send a request to the relay, and return the result.

    Raises:
        Failed: `PROGRAM_FAILED` with the error's message.
    """
    assert process.stdin is not None  # noqa: S101 - pipes
    assert process.stdout is not None  # noqa: S101
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    process.stdin.write(json.dumps(request).encode() + b"\n")
    process.stdin.flush()
    line = process.stdout.readline()
    reply = json.loads(line) if line else {"error": {"message": "The relay has ended."}}
    if "error" in reply:
        process.stdin.close()
        message = str(reply["error"]["message"])
        if message.startswith("UNAUTHORIZED"):
            message += " To keep it here: vault-agent config set server.api_key -"
        raise Failed("PROGRAM_FAILED", message)
    result: dict[str, Any] = reply["result"]
    return result
