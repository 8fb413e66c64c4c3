"""`vault-agent backlinks`."""

from __future__ import annotations

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.linking import printed, show_linking
from vault_agent.cli.named import note_id


@click.command("backlinks", cls=Command)
@click.argument("note")
@click.option("-n", "--limit", type=int, help="Notes, 1 to 100. Default: 20.")
@click.option("--contexts", type=int, help="Places of each note, 0 to 10. Default: 3.")
@click.pass_obj
async def command(
    invocation: Invocation, note: str, limit: int | None, contexts: int | None
) -> None:
    """List the notes that link to a note, with the places.

    NOTE is a note ID or a path.
    """
    from vault_agent.client import links

    async with invocation.client() as client:
        chosen = await note_id(invocation, client, note)
        reply = await links.of_note(client, chosen, "backlinks", limit=limit, contexts=contexts)
    if not printed(reply, as_json=invocation.json):
        show_linking(reply, "backlinks", "link", "No note links to it.")
