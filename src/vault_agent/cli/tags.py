"""`vault-agent tags`."""

from __future__ import annotations

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.trees import show_tree, tree_options


@click.command("tags", cls=Command)
@tree_options
@click.pass_obj
async def command(invocation: Invocation, /, **options: str | int | None) -> None:
    """List the tags with the number of notes of each.

    Nested tags are indented below their parent, which counts their notes too.
    """
    await show_tree(invocation, "tags", "tag", options)
