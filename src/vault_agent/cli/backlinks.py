"""`vault-agent backlinks`."""

from __future__ import annotations

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.linking import limit_option, show_linking
from vault_agent.cli.names import find
from vault_agent.cli.paged import of_one_vault
from vault_agent.client import calls


@click.command("backlinks", cls=Command)
@click.argument("note")
@limit_option("Notes. Default: 20 at a terminal and with --json, else all.")
@click.option("--contexts", type=int, help="Places of each note, 0 to 10. Default: 3.")
@click.pass_obj
async def command(
    invocation: Invocation, note: str, limit: int | None, contexts: int | None
) -> None:
    """List the notes that link to a note, with the places.

    NOTE is a path or its end, a title, or an ID.
    """
    async with invocation.client() as client:
        chosen = (await find(invocation, client, note)).note_id
        listing = of_one_vault(invocation, client, "backlinks", limit, page=100)
        await listing.show(
            lambda most, cursor: client.call(
                calls.BACKLINKS, note_id=chosen, limit=most, contexts=contexts, cursor=cursor
            ),
            lambda page: show_linking(page, "link"),
        )
        listing.close("No note links to it.", "note")
