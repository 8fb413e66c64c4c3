"""`vault-agent mcp`."""

from __future__ import annotations

import json
import subprocess
import time
from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.command import Group, Invocation
from vault_agent.cli.relay import PROGRAM, Options, relay
from vault_agent.cli.terminal import clean, counted, envelope, say, tell
from vault_agent.errors import Failed, VaultAgentError

if TYPE_CHECKING:
    from vault_agent.cli.clients import Client

_CHARACTERS_A_TOKEN = 4.4
"""Measured with o200k_base on the schemas of the tools."""
_REVISION = "2025-11-25"


@click.group("mcp", cls=Group, invoke_without_command=True)
@click.option("--agent", metavar="NAME", help="Act as this agent of the config file.")
@click.option("--vault-root", metavar="PATH", help="The folder of notes.")
@click.option("--no-start", is_flag=True, help="Do not start a server if none runs.")
@click.pass_context
async def command(
    context: click.Context, agent: str | None, vault_root: str | None, *, no_start: bool
) -> None:
    """Let an agent search and read the vault (MCP over stdio).

    Agents start this command themselves. It starts a server if none runs, and many agents share it.
    """
    if context.invoked_subcommand is not None:
        return
    given: Invocation = context.obj
    config = None if given.config is None else str(given.config)
    relay(Options(config, given.endpoint, given.api_key, vault_root, agent, no_start=no_start))


@command.command("install")
@click.argument("client", required=False)
@click.option("--agent", metavar="NAME", help="Install it as this agent of the config file.")
@click.option("--print", "only_print", is_flag=True, help="Print what would be done.")
@click.option("--uninstall", "remove", is_flag=True, help="Remove it from the client.")
@click.option("--force", is_flag=True, help="Replace an entry that exists.")
@click.pass_obj
async def install(
    invocation: Invocation,
    client: str | None,
    *,
    agent: str | None,
    only_print: bool,
    remove: bool,
    force: bool,
) -> None:
    """Tell a client, such as claude-code, of this server. Without a name, list the clients."""
    from vault_agent.cli import clients

    if client is None:
        _list_clients(invocation, clients.CLIENTS)
        return
    client = clients.ALIASES.get(client, client)
    if client not in clients.CLIENTS:
        raise click.UsageError(f"CLIENT must be one of {', '.join(clients.CLIENTS)}")
    chosen = clients.CLIENTS[client]
    arguments = [] if agent is None else ["--agent", agent]
    if invocation.config is not None:
        arguments += ["--config", str(invocation.config.absolute())]
    if invocation.endpoint is not None:
        arguments += ["--endpoint", invocation.endpoint]
    ours = clients.our_command(arguments)
    if remove:
        say(clients.uninstall(chosen, ours))
        return
    if only_print:
        say(clients.snippet(chosen, ours))
    else:
        say(clients.install(chosen, ours, force=force))
    await _tell_if_off(invocation)


async def _tell_if_off(invocation: Invocation) -> None:
    """Say that the running server refuses agents. If none runs, the relay starts one."""
    try:
        async with invocation.client() as client:
            health = (await client.health()).data
    except VaultAgentError:
        return
    if "mcp.enabled" not in health.switched_on:
        tell("The running server has MCP switched off. Switch it on, then restart it:")
        tell("  vault-agent config set mcp.enabled true")


def _list_clients(invocation: Invocation, known: dict[str, Client]) -> None:
    if invocation.json:
        rows = [
            {"name": name, "title": client.title, "found": client.is_here}
            for name, client in known.items()
        ]
        envelope({"clients": rows})
        return
    for name, client in known.items():
        say(f"{name:<16}{client.title}{'' if client.is_here else '  (not found here)'}")


@command.command("check")
@click.option("--agent", metavar="NAME", help="Check as this agent of the config file.")
@click.pass_obj
async def check(invocation: Invocation, agent: str | None) -> None:
    """Start it as a client does, and show what the client gets."""
    flags = [] if agent is None else ["--agent", agent]
    for flag, value in (
        ("--config", invocation.config),
        ("--endpoint", invocation.endpoint),
        ("--api-key", invocation.api_key),
    ):
        flags += [] if value is None else [flag, str(value)]
    began = time.perf_counter()
    process = subprocess.Popen(  # noqa: S603, ASYNC220 - our own program; nothing else runs
        [*PROGRAM, "mcp", *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        client = {"name": "vault-agent", "version": "1"}
        handshake = {"protocolVersion": _REVISION, "capabilities": {}, "clientInfo": client}
        started = _ask(process, "initialize", handshake)
        milliseconds = round((time.perf_counter() - began) * 1000)
        # The relay has answered that itself. Only the server answers this.
        _ask(process, "ping", {})
        tools = _ask(process, "tools/list", {})["tools"]
        # The tool for searches, in any toolset. One of them has none that takes a query alone.
        searching = [tool for tool in tools if tool["inputSchema"].get("required") == ["query"]]
        found = None
        if searching:
            limits = {"limit", "max_results"} & set(searching[0]["inputSchema"]["properties"])
            arguments = {"query": "note", **dict.fromkeys(limits, 1)}
            search = {"name": searching[0]["name"], "arguments": arguments}
            found = _ask(process, "tools/call", search)
        assert process.stdin is not None  # noqa: S101 - a pipe
        process.stdin.close()
    tokens = round(len(json.dumps(tools)) / _CHARACTERS_A_TOKEN)
    if invocation.json:
        envelope(
            {
                "initializeMs": milliseconds,
                "revision": started["protocolVersion"],
                "tools": [tool["name"] for tool in tools],
                "tokens": tokens,
                "searchFailed": found is not None and found["isError"],
            }
        )
        return
    say(f"The handshake took {milliseconds} ms (revision {clean(started['protocolVersion'])}).")
    say(f"{counted(len(tools), 'tool')}, about {tokens} tokens:")
    for tool in tools:
        say(f"  {clean(tool['name'])}")
    if found is not None:
        say("A search for `note`:")
        for line in found["content"][0]["text"].splitlines():
            say(f"  {clean(line)}")


def _ask(process: subprocess.Popen[bytes], method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Send a request to the relay, and return the result.

    Raises:
        Failed: `MCP_FAILED` with the error's message.
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
        raise Failed("MCP_FAILED", str(reply["error"]["message"]))
    result: dict[str, Any] = reply["result"]
    return result
