"""`vault-agent help` and `vault-agent version`."""

from __future__ import annotations

import asyncclick as click

from vault_agent import __version__
from vault_agent.cli.command import Command
from vault_agent.cli.terminal import envelope, say

ALL = "all"


@click.command("help", cls=Command)
@click.argument("words", metavar="[COMMAND]...", nargs=-1)
@click.pass_context
def command(context: click.Context, words: tuple[str, ...]) -> None:
    """Print the help of a command; `help all` names all commands."""
    from vault_agent.cli.run import all_commands

    program = context.find_root()
    text = all_commands(program) if words == (ALL,) else _help_of(program, words)
    if context.obj.json:
        envelope({"help": text})
    else:
        say(text)


def _help_of(program: click.Context, words: tuple[str, ...]) -> str:
    named: click.Command = program.command
    place = program
    for word in words:
        if not isinstance(named, click.Group):
            raise click.UsageError("it has no commands", place)
        inner = named.get_command(place, word)
        if inner is None:
            raise click.exceptions.NoSuchCommand(word, ctx=place)
        place = click.Context(inner, info_name=word, parent=place)
        named = inner
    shown: click.Command = getattr(named, "bare", named)
    return shown.get_help(place)


@click.command("version", cls=Command)
@click.pass_context
def version(context: click.Context) -> None:
    """Print the version."""
    if context.obj.json:
        envelope({"version": __version__})
    else:
        say(f"vault-agent {__version__}")
