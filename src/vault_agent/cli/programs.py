"""Commands that agents and shells run: `mcp` and `completion`."""

from __future__ import annotations

import asyncclick as click
from asyncclick.shell_completion import get_completion_class

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.relay import RelayOptions, relay
from vault_agent.cli.terminal import envelope, say


@click.command("mcp", cls=Command)
@click.option("--agent", metavar="AGENT", help="Act as this agent of the config file.")
@click.option("--vault-root", metavar="PATH", help="The folder of notes.")
@click.option("--no-start", is_flag=True, help="Do not start a server if none runs.")
def mcp(
    invocation: Invocation, agent: str | None, vault_root: str | None, *, no_start: bool
) -> None:
    """Let an agent search and read the vault (MCP over stdio).

    Agents start this mcp themselves. It starts a server if none runs, and many agents share it.
    """
    config = None if invocation.config is None else str(invocation.config)
    relay(
        RelayOptions(
            config,
            invocation.endpoint,
            invocation.api_key,
            vault_root,
            agent,
            no_start=no_start,
        )
    )


@click.command("completion", cls=Command)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(invocation: Invocation, shell: str) -> None:
    """Print the completion script for your shell.

    \b
    bash: eval "$(vault-agent completion bash)"   in ~/.bashrc
    zsh:  eval "$(vault-agent completion zsh)"    in ~/.zshrc, after compinit
    fish: vault-agent completion fish >~/.config/fish/completions/vault-agent.fish
    """  # noqa: D301 - \\b tells the parser to keep these lines
    maker = get_completion_class(shell)
    assert maker is not None  # noqa: S101 - all choices are supported
    program = click.get_current_context().find_root().command
    script = maker(program, {}, "vault-agent", "_VAULT_AGENT_COMPLETE").source()
    if invocation.json:
        envelope({"shell": shell, "script": script})
    else:
        say(script)
