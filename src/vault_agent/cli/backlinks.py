"""`vault-agent backlinks`."""

from __future__ import annotations

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.linking import printed, show_linking
from vault_agent.cli.names import find


@click.command("backlinks", cls=Command)
@click.argument("note")
@click.option("-n", "--limit", type=int, help="Notes, 1 to 100. Default: 20.")
@click.option("--contexts", type=int, help="Places of each note, 0 to 10. Default: 3.")
@click.pass_obj
async def command(
    invocation: Invocation, note: str, limit: int | None, contexts: int | None
) -> None:
    """List the notes that link to a note, with the places.

    NOTE is a path or its end, a title, or an ID.
    """
    from vault_agent.client import links

    async with invocation.client() as client:
        chosen = (await find(invocation, client, note)).note_id
        reply = await links.of_note(client, chosen, "backlinks", limit=limit, contexts=contexts)
    if not printed(reply, as_json=invocation.json):
        show_linking(reply, "backlinks", "link", "No note links to it.")
