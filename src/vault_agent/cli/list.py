"""`vault-agent list`."""

from __future__ import annotations

import sys
from typing import Any

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.filters import note_filters
from vault_agent.cli.paged import Listing, Page, page_options
from vault_agent.cli.terminal import clean, is_terminal, say, style
from vault_agent.client import calls

_SORTS = ("path", "updated", "created", "title", "connections")


@click.command("list", cls=Command)
@click.argument("folders", nargs=-1, metavar="[FOLDER]...")
@click.option("--flat", is_flag=True, help="Without the folders below.")
@note_filters("paths", "tags", "types", "properties")
@click.option(
    "--file", "files", multiple=True, help="Only notes whose `files` name this file or folder."
)
@click.option("--status", "statuses", multiple=True, help="Only with this `status`.")
@click.option("--project", "projects", multiple=True, help="Only with this `project`.")
@click.option("--session", "sessions", multiple=True, help="Only with this `session`.")
@click.option("--agent", "agents", multiple=True, help="Only with this `agent`.")
@click.option("--promoted/--not-promoted", default=None, help="Only promoted notes, or others.")
@note_filters("after", "before")
@click.option("--linked/--orphans", default=None, help="Only with, or without, links of notes.")
@click.option("--open-tasks", is_flag=True, help="Only with open tasks.")
@click.option(
    "-s", "--sort", type=click.Choice(_SORTS), default="path", show_default=True, help="Order."
)
@page_options("Notes")
@click.pass_obj
async def command(invocation: Invocation, /, folders: tuple[str, ...], **options: Any) -> None:
    """List notes, all or those of a folder.

    Prints paths, at a terminal also the day of the last change and the tags. For the folders
    themselves: vault-agent folders.

    \b
    vault-agent list Projects --property status=active
    vault-agent list --sort updated -n 10
    """  # noqa: D301 - \\b tells the parser to keep these lines
    linked, promoted = options["linked"], options["promoted"]
    arguments = {
        "path": (*folders, *options["paths"]),
        "recursive": "false" if options["flat"] else None,
        "tag": options["tags"],
        "type": options["types"],
        "property": tuple(map(":".join, options["properties"])),
        "file": options["files"],
        "status": options["statuses"],
        "project": options["projects"],
        "session": options["sessions"],
        "agent": options["agents"],
        "promoted": None if promoted is None else str(promoted).lower(),
        "after": options["after"],
        "before": options["before"],
        "linked": None if linked is None else str(linked).lower(),
        "tasks": "open" if options["open_tasks"] else None,
        "sort": options["sort"],
    }
    async with invocation.client() as client:
        listing = Listing(invocation, client, "notes", options["limit"], options["cursor"])
        await listing.show(
            lambda limit, cursor: client.call(calls.NOTES, **arguments, limit=limit, cursor=cursor),
            _show,
        )
        listing.close("No notes.", "note")


def _show(page: Page) -> None:
    for note in page.rows:
        path = clean(page.address(note["path"]))
        if not is_terminal(sys.stdout):
            say(path)
            continue
        tags = " ".join(f"#{clean(tag)}" for tag in note["tags"])
        day = style(clean(note["updated"][:10]), "faint")
        say(f"{day}  {path}{'  ' + style(tags, 'faint') if tags else ''}")
