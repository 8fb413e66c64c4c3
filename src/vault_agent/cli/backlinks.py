"""`vault-agent backlinks`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.linking import limit_option, show_linking
from vault_agent.cli.names import addresses, find, find_attachment
from vault_agent.cli.paged import of_one_vault
from vault_agent.client import calls
from vault_agent.errors import Busy, IndexUnavailable, InvalidRequest, NotFound
from vault_agent.model.identifiers import identify

if TYPE_CHECKING:
    from vault_agent.client.client import Client


@click.command("backlinks", cls=Command)
@click.argument("note")
@limit_option("Notes. Default: 20 at a terminal and with --json, else all.")
@click.option("--contexts", type=int, help="Places of each note, 0 to 10. Default: 3.")
@click.pass_obj
async def command(
    invocation: Invocation, note: str, limit: int | None, contexts: int | None
) -> None:
    """List the notes that link to a note or an attachment, with the places.

    NOTE is a path or its end, a title, or an ID.
    """
    async with invocation.client() as client:
        try:
            chosen = (await find(invocation, client, note)).note_id
        except NotFound as error:
            if error.code != "NOTE_NOT_FOUND":
                raise
            attachment = await _attachment(invocation, client, note)
            if attachment is None:
                raise
            chosen = identify(attachment)
        listing = of_one_vault(invocation, client, "backlinks", limit, page=100)
        await listing.show(
            lambda most, cursor: client.call(
                calls.BACKLINKS, note_id=chosen, limit=most, contexts=contexts, cursor=cursor
            ),
            lambda page: show_linking(page, "link"),
        )
        listing.close("No note links to it.", "note")


async def _attachment(invocation: Invocation, client: Client, text: str) -> str | None:
    """Return the attachment with this path, or the only one of a vault whose path ends so.

    The client's further calls are about the vault that has it.

    Raises:
        NotFound: `NOTE_AMBIGUOUS` with `details.notes`.
    """
    if (exact := await find_attachment(invocation, client, text)) is not None:
        return exact
    for client.vault_name, end in addresses(invocation, text):
        found = await _ending_in(client, end)
        if len(found) > 1:
            files = [{"noteId": identify(path), "path": path} for path in found]
            what = f"{len(found)} attachments have this name."
            raise NotFound("NOTE_AMBIGUOUS", what, {"notes": files})
        if found:
            return found[0]
    return None


async def _ending_in(client: Client, end: str) -> list[str]:
    """Return the paths of the attachments of the client's vault that end so, shortest first."""
    name = end.rpartition("/")[2]
    try:
        reply = await client.call(calls.SUGGEST, q=name, kinds="attachment", limit=50)
    except (Busy, IndexUnavailable, InvalidRequest, NotFound):
        return []
    paths = [each.path or "" for each in reply.data.suggestions]
    if end in paths:
        return [end]
    found = [path for path in paths if f"/{path}".endswith(f"/{end}")]
    return sorted(found, key=lambda path: (len(path), path))
