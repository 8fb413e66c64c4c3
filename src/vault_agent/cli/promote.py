"""`vault-agent promote`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.names import find
from vault_agent.cli.terminal import clean, say, tell, warn
from vault_agent.client import calls

if TYPE_CHECKING:
    from vault_agent.client.client import Client


@click.command("promote", cls=Command)
@click.argument("note")
@click.option("--section", metavar="HEADING", help="Copy only what is below this heading.")
@click.option("--folder", help="The folder of the global vault. Default: that of the note's type.")
@click.option("--force", is_flag=True, help="Even if the global vault has a similar note.")
@click.option("--undo", is_flag=True, help="Take the promotion back: the copy goes to the trash.")
@click.pass_obj
async def command(invocation: Invocation, /, note: str, **options: Any) -> None:
    """Copy a note of a project, or a section of it, to the global vault.

    \b
    vault-agent promote "Parse costs with a regex"
    vault-agent promote "Parse costs with a regex" --section "Key Decisions"
    vault-agent promote id:decision-2026-02-13-k3x7qa --undo
    """  # noqa: D301 - \\b tells the parser to keep these lines
    undo = options.pop("undo")
    if undo and (options["folder"] or options["force"]):
        raise click.UsageError("--undo takes no other option than --section")
    async with invocation.client() as client:
        place = await find(invocation, client, note)
        if undo:
            await _undo(invocation, client, place.note_id, options["section"])
            return
        body = {name: value for name, value in options.items() if value}
        reply = await client.call(calls.PROMOTE, body, note_id=place.note_id)
    if invocation.passed_on(reply):
        return
    data = reply.envelope["data"]
    path = clean(data["global"]["path"])
    say(f"{'copied to' if data['created'] else 'is already in'} global:{path}")
    warn(reply.warnings)


async def _undo(invocation: Invocation, client: Client, note_id: str, section: str | None) -> None:
    reply = await client.call(calls.PROMOTE_UNDO, note_id=note_id, section=section)
    if invocation.passed_on(reply):
        return
    data = reply.envelope["data"]
    if not data["changed"]:
        tell("The note was not promoted.")
    elif data["trashPath"] is not None:
        say(f"moved to global:{clean(data['trashPath'])}")
    elif data["global"] is not None:
        path = clean(data["global"]["path"])
        say(
            f"not promoted any more; global:{path} stays, as the log does not say that it is a copy"
        )
    else:
        say("not promoted any more; its copy was gone")
    warn(reply.warnings)
