"""`vault-agent mentions`."""

from __future__ import annotations

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.linking import printed, show_linking
from vault_agent.cli.names import find


@click.command("mentions", cls=Command)
@click.argument("note")
@click.option("-n", "--limit", type=int, help="Notes, 1 to 100. Default: 20.")
@click.option("--linked", is_flag=True, help="Also notes that link to it elsewhere.")
@click.pass_obj
async def command(invocation: Invocation, note: str, limit: int | None, linked: bool) -> None:
    """List the notes that name a note without a link.

    They contain its title, its file name or an alias. NOTE is a path or its end, a title, or an ID.
    """
    from vault_agent.client import links

    async with invocation.client() as client:
        chosen = (await find(invocation, client, note)).note_id
        reply = await links.of_note(client, chosen, "mentions", limit=limit, linked=linked or None)
    if not printed(reply, as_json=invocation.json):
        show_linking(reply, "mentions", "mention", "No note mentions it without a link.")
