"""`vault-agent folders`."""

from __future__ import annotations

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.trees import show_tree, tree_options
from vault_agent.client import calls


@click.command("folders", cls=Command)
@tree_options
@click.pass_obj
async def command(invocation: Invocation, /, **options: str | int | None) -> None:
    """List the folders with the number of notes in each.

    A folder counts the notes of the folders below it too.
    """
    await show_tree(invocation, calls.FOLDERS, "folder", options)
