"""`vault-agent links mentions`."""

from __future__ import annotations

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.linking import limit_option, show_linking
from vault_agent.cli.names import find
from vault_agent.cli.paged import of_one_vault
from vault_agent.client import calls


@click.command("mentions", cls=Command)
@click.argument("note")
@limit_option("Notes, 1 to 100. Default: 20 at a terminal and with --json, else 100.")
@click.option("--linked", is_flag=True, help="Also notes that link to it elsewhere.")
@click.pass_obj
async def command(invocation: Invocation, note: str, limit: int | None, linked: bool) -> None:
    """List the notes that name a note without a link.

    They contain its title, its file name or an alias. NOTE is a path or its end, a title, or an ID.
    """
    async with invocation.client() as client:
        chosen = (await find(invocation, client, note)).note_id
        listing = of_one_vault(invocation, client, "mentions", limit, page=100)
        await listing.show(
            lambda most, _: client.call(calls.MENTIONS, note_id=chosen, limit=most, linked=linked),
            lambda page: show_linking(page, "mention"),
        )
        listing.close("No note mentions it without a link.", "note")
