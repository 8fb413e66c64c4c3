"""`vault-agent delete`."""

from __future__ import annotations

from typing import Any

import asyncclick as click

from vault_agent.cli.changing import change, existing, how, how_options
from vault_agent.cli.command import Command, Invocation
from vault_agent.client import calls
from vault_agent.errors import NotFound


@click.command("delete", cls=Command)
@click.argument("note", metavar="NOTE")
@click.option("--permanent", is_flag=True, help="Do not keep it in .trash/. Undo still works.")
@click.option("--missing-ok", is_flag=True, help="A note that is not there is no error.")
@how_options(asks=True)
@click.pass_obj
async def command(invocation: Invocation, /, note: str, **options: Any) -> int | None:
    """Move a note to .trash/ of the vault, after a question."""
    chosen = how(options)
    body: dict[str, Any] = {"confirm": True}
    body |= {"permanent": True} if options["permanent"] else {}
    body |= {"missingOk": True} if options["missing_ok"] else {}
    async with invocation.client() as client:
        try:
            body |= await existing(invocation, client, note)
        except NotFound as error:
            if error.code != "NOTE_NOT_FOUND" or not options["missing_ok"]:
                raise
            body["path"] = f"{note}.md"  # if there is such a file, it is not indexed yet
        return await change(
            invocation, client, calls.WRITE_DELETE, body, chosen, asks="Delete this note?"
        )
