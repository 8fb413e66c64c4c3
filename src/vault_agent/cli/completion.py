"""`vault-agent completion`."""

from __future__ import annotations

import asyncclick as click
from asyncclick.shell_completion import get_completion_class

from vault_agent.cli.command import Command
from vault_agent.cli.terminal import envelope, say

_INSTALL = {
    "bash": 'eval "$(vault-agent completion bash)"   # in ~/.bashrc; bash 4.4 or newer',
    "zsh": 'eval "$(vault-agent completion zsh)"    # in ~/.zshrc, after compinit',
    "fish": "vault-agent completion fish > ~/.config/fish/completions/vault-agent.fish",
}


@click.command("completion", cls=Command)
@click.argument("shell", type=click.Choice(list(_INSTALL)))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the completion script for your shell.

    \b
    bash: eval "$(vault-agent completion bash)"   in ~/.bashrc
    zsh:  eval "$(vault-agent completion zsh)"    in ~/.zshrc, after compinit
    fish: vault-agent completion fish >~/.config/fish/completions/vault-agent.fish
    """  # noqa: D301 - \\b tells the parser to keep these lines
    maker = get_completion_class(shell)
    if maker is None:  # cannot happen: all choices are supported
        raise click.UsageError("no completion for that shell")
    program = context.find_root().command
    script = maker(program, {}, "vault-agent", "_VAULT_AGENT_COMPLETE").source()
    if context.obj.json:
        envelope({"shell": shell, "script": script})
    else:
        say(script)
