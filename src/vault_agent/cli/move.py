"""`vault-agent move`."""

from __future__ import annotations

from typing import Any

import asyncclick as click

from vault_agent.cli.changing import change, how, how_options
from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.names import look_up
from vault_agent.client import calls
from vault_agent.errors import NotFound


@click.command("move", cls=Command)
@click.argument("source", metavar="FROM")
@click.argument("to", metavar="TO")
@click.option("--keep-links", is_flag=True, help="Do not change links. They may break.")
@how_options(asks=True)
@click.pass_obj
async def command(invocation: Invocation, /, source: str, to: str, **options: Any) -> int | None:
    """Move or rename a file, and change its links.

    A file is a note, an attachment or a folder.

    FROM is a path, or the name of a note. TO is the new path, or a folder: one that exists, or
    any with / at its end. It shows what would change and asks.
    """
    chosen = how(options)
    body: dict[str, Any] = {"path": source.rstrip("/"), "to": to}
    if options["keep_links"]:
        body["rewriteLinks"] = False
    async with invocation.client() as client:
        try:
            return await change(
                invocation, client, calls.WRITE_MOVE, body, chosen, asks="Move this?"
            )
        except NotFound as error:
            if error.code != "NOTE_NOT_FOUND":
                raise
        del body["path"]
        body["noteId"] = (await look_up(client, source)).note_id
        return await change(invocation, client, calls.WRITE_MOVE, body, chosen, asks="Move this?")
