"""`vault-agent list`."""

from __future__ import annotations

import sys
from typing import Any

import asyncclick as click

from vault_agent.cli.command import Command, Exit, Invocation
from vault_agent.cli.listing import Listing, note_filters, page_options, show_tree
from vault_agent.cli.scope import client_here
from vault_agent.cli.terminal import clean, is_terminal, say, style

_SORTS = ("path", "updated", "created", "title", "connections")


@click.command("list", cls=Command)
@click.argument("folders", nargs=-1, metavar="[FOLDER]...")
@note_filters("tags", "types", "properties", "after", "before")
@click.option("--orphans", is_flag=True, help="Only notes that no link leads to or from.")
@click.option("--open-tasks", is_flag=True, help="Only notes with open tasks.")
@click.option("--folders", "only_folders", is_flag=True, help="The folders, not the notes.")
@click.option(
    "-s", "--sort", type=click.Choice(_SORTS), default="path", show_default=True, help="Order."
)
@page_options("Notes")
@click.pass_obj
def command(invocation: Invocation, /, folders: tuple[str, ...], **options: Any) -> int:
    """List notes, all or those of a folder.

    Prints paths, at a terminal also the day of the last change and the tags.

    \b
    vault-agent list Projects --property status=active
    vault-agent list --sort updated -n 10
    vault-agent list --folders
    """  # noqa: D301 - \\b tells the parser to keep these lines
    if options["only_folders"]:
        if len(folders) > 1:
            raise click.UsageError("--folders takes one FOLDER")
        prefix = folders[0] if folders else None
        show_tree(invocation, "GET /folders", "folder", prefix=prefix, limit=options["limit"])
        return Exit.SUCCESS
    arguments = {
        "path": folders,
        "tag": options["tags"],
        "type": options["types"],
        "property": tuple(map(":".join, options["properties"])),
        "after": options["after"],
        "before": options["before"],
        "linked": "false" if options["orphans"] else None,
        "tasks": "open" if options["open_tasks"] else None,
        "sort": options["sort"],
    }
    listing = Listing(invocation, "notes", options["limit"], options["cursor"])
    with client_here(invocation) as client:
        pages = listing.rows(
            lambda limit, cursor: client.call("GET /notes", **arguments, limit=limit, cursor=cursor)
        )
        for notes in pages:
            for note in notes:
                _show(note)
        listing.explain_nothing(client, options["tags"])
    return listing.close("No notes.", "note")


def _show(note: dict[str, Any]) -> None:
    path = clean(note["path"])
    if not is_terminal(sys.stdout):
        say(path)
        return
    tags = " ".join(f"#{clean(tag)}" for tag in note["tags"])
    day = style(clean(note["updated"][:10]), "faint")
    say(f"{day}  {path}{'  ' + style(tags, 'faint') if tags else ''}")
