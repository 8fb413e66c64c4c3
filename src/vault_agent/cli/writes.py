"""`vault-agent writes`."""

from __future__ import annotations

from typing import Any

import asyncclick as click

from vault_agent.cli.command import Group, Invocation
from vault_agent.cli.here import client_here
from vault_agent.cli.terminal import clean, counted, say, style, tell, warn
from vault_agent.cli.times import ago
from vault_agent.client import calls


@click.group("writes", cls=Group, invoke_without_command=True)
@click.option("--path", help="Only writes to this path.")
@click.option("--agent", metavar="NAME", help="Only writes of this agent.")
@click.option("-n", "--limit", type=int, default=50, show_default=True, help="Writes, 1 to 200.")
@click.option("--cursor", help="Continue the page before, with the same other options.")
@click.pass_context
async def command(context: click.Context, /, **options: Any) -> None:
    """List the writes, newest first, with the IDs to undo them."""
    if context.invoked_subcommand is not None:
        return
    invocation: Invocation = context.obj
    async with client_here(invocation) as client:
        reply = await client.call(calls.WRITES, **options)
    if invocation.passed_on(reply):
        return
    data = reply.envelope["data"]
    for each in data["writes"]:
        who = f" by {clean(each['agent'])}" if each["agent"] else ""
        state = "" if each["state"] == "done" else f"  [{clean(each['state'])}]"
        gone = "  (cannot be undone)" if each["state"] == "done" and not each["undoable"] else ""
        say(
            f"{style(clean(each['writeId']), 'faint')}  {ago(each['time']):<16}"
            f" {clean(each['operation'])} {_paths(each)}{who}{state}{gone}"
        )
        if each["warning"]:
            say(f"    {style(clean(each['warning']), 'warning')}")
    if not data["writes"]:
        tell("No writes.")
    warn(reply.warnings)
    if data["hasMore"]:
        tell(f"More: add --cursor {clean(data['nextCursor'])}")


def _paths(entry: dict[str, Any]) -> str:
    files = entry["files"]
    if not files:
        return ""
    first = next((each for each in files if each["before"]), files[0])  # a move is the main thing
    path = style(clean(first["path"]), "strong")
    if first["before"]:
        path = f"{clean(first['before'])} -> {path}"
    more = entry["fileCount"] - 1
    return f"{path} and {counted(more, 'other file')}" if more > 0 else path


@command.command("show")
@click.argument("write_id", metavar="ID")
@click.pass_obj
async def show(invocation: Invocation, write_id: str) -> None:
    """Show one write, and whether somebody has changed the note since."""
    async with invocation.client() as client:
        reply = await client.call(calls.ONE_WRITE, write_id=write_id)
    if invocation.passed_on(reply):
        return
    data = reply.envelope["data"]
    entry = data["write"]
    say(f"{clean(entry['writeId'])}  {clean(entry['operation'])}  {clean(entry['state'])}")
    say(f"{clean(entry['time'])}  {clean(entry['agent'] or 'owner')}  {clean(entry['client'])}")
    for file in entry["files"]:
        hashes = [str(file[name] or "-")[:16] for name in ("hashBefore", "hashAfter")]
        shown = f"  {style(' -> '.join(hashes), 'faint')}" if hashes != ["-", "-"] else ""
        moved = f"{clean(file['before'])} -> " if file["before"] else ""
        say(f"  {moved}{clean(file['path'])}{shown}")
    if data["changedSince"]:
        tell("Somebody has changed the note since.")
    if entry["state"] == "done" and not entry["undoable"]:
        tell("It cannot be undone any more.")


@command.command("forget")
@click.argument("write_id", metavar="[ID]", required=False)
@click.option("--older-than", type=int, metavar="DAYS", help="All writes that are older.")
@click.option("--all", "every", is_flag=True, help="All writes.")
@click.pass_obj
async def forget(
    invocation: Invocation, write_id: str | None, older_than: int | None, every: bool
) -> None:
    """Delete the kept bytes of writes. They can't be undone any more; the log stays."""
    body: dict[str, Any] = {"writeId": write_id, "olderThanDays": older_than, "all": every or None}
    body = {name: value for name, value in body.items() if value is not None}
    if len(body) != 1:
        raise click.UsageError("give an ID, --older-than or --all")
    async with invocation.client() as client:
        reply = await client.call(calls.WRITES_FORGET, body)
    if invocation.passed_on(reply):
        return
    say(f"The bytes of {counted(reply.envelope['data']['forgotten'], 'write')} are deleted.")
