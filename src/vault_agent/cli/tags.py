"""`vault-agent tags`."""

from __future__ import annotations

from typing import Any

import asyncclick as click

from vault_agent.cli.changing import change, existing, how, how_options
from vault_agent.cli.command import Group, Invocation
from vault_agent.cli.names import find
from vault_agent.cli.terminal import clean, say, tell, warn
from vault_agent.cli.trees import show_tree, tree_options
from vault_agent.client import calls

_WHERE = click.option(
    "--where",
    type=click.Choice(("frontmatter", "inline", "both")),
    default="frontmatter",
    show_default=True,
    help="Which tags.",
)


@click.group("tags", cls=Group, invoke_without_command=True)
@tree_options
@click.pass_context
async def command(context: click.Context, /, **options: str | int | None) -> None:
    """List all tags, or change those of a note.

    It counts the notes of each tag.

    Nested tags are indented below their parent, which counts their notes too.
    """
    if context.invoked_subcommand is None:
        await show_tree(context.obj, calls.TAGS, "tag", options)


@command.command("add")
@click.argument("note", metavar="NOTE")
@click.argument("tags", metavar="TAG...", nargs=-1, required=True)
@_WHERE
@how_options()
@click.pass_obj
async def add(
    invocation: Invocation, /, note: str, tags: tuple[str, ...], where: str, **options: Any
) -> int | None:
    """Add tags to a note."""
    return await _change(invocation, note, {"add": _names(tags), "where": where}, options)


@command.command("remove")
@click.argument("note", metavar="NOTE")
@click.argument("tags", metavar="TAG...", nargs=-1, required=True)
@_WHERE
@how_options()
@click.pass_obj
async def remove(
    invocation: Invocation, /, note: str, tags: tuple[str, ...], where: str, **options: Any
) -> int | None:
    """Remove tags from a note."""
    return await _change(invocation, note, {"remove": _names(tags), "where": where}, options)


@command.command("list")
@click.argument("note", metavar="NOTE")
@click.pass_obj
async def list_(invocation: Invocation, note: str) -> None:
    """List the tags of a note."""
    async with invocation.client() as client:
        place = await find(invocation, client, note)
        reply = await client.call(calls.FRONTMATTER, **place.file)
    if invocation.passed_on(reply):
        return
    for tag in reply.data.tags:
        say(clean(tag))
    if not reply.data.tags:
        tell("The note has no tags.")
    warn(reply.warnings)


def _names(tags: tuple[str, ...]) -> list[str]:
    return [tag.removeprefix("#") for tag in tags]


async def _change(
    invocation: Invocation, note: str, body: dict[str, Any], options: dict[str, Any]
) -> int | None:
    async with invocation.client() as client:
        named = await existing(invocation, client, note)
        return await change(invocation, client, calls.WRITE_TAGS, {**named, **body}, how(options))
