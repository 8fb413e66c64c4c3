"""`vault-agent undo`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.names import client_here
from vault_agent.cli.terminal import clean, local_time, say, style, tell, warn
from vault_agent.cli.write import change, how_options
from vault_agent.errors import counted

if TYPE_CHECKING:
    from vault_agent.client.client import Client


@click.command("undo", cls=Command)
@click.argument("write_id", metavar="[ID]", required=False)
@click.option(
    "--copy", is_flag=True, help="If the note has changed since, put the text before beside it."
)
@click.option("--list", "listed", is_flag=True, help="List the writes, or show the one with ID.")
@click.option("--path", help="List only writes to this path.")
@click.option("--agent", metavar="AGENT", help="List only writes of this agent.")
@click.option("-n", "--limit", type=int, default=50, show_default=True, help="Writes in the list.")
@click.option("--cursor", hidden=True, help="Continue the page before.")
@how_options()
def command(invocation: Invocation, /, write_id: str | None, **options: Any) -> int | None:
    """Take back a write: the last one, or the one with this ID.

    An undo is a write too, so it can be undone.

    \b
    vault-agent undo --list
    vault-agent undo --dry-run
    """  # noqa: D301 - \\b tells the parser to keep these lines
    which = {name: options.pop(name) for name in ("path", "agent", "limit", "cursor")}
    listed = options.pop("listed")
    if not listed and (which["path"] or which["agent"]):
        raise click.UsageError("--path and --agent need --list")
    with client_here(invocation) as client:
        if listed and write_id is not None:
            _show(invocation, client, write_id)
            return None
        if listed:
            _list(invocation, client, which)
            return None
        return change(invocation, client, "POST /write/undo", {"writeId": write_id}, options)


def _list(invocation: Invocation, client: Client, which: dict[str, Any]) -> None:
    """Print the writes, newest first, with the IDs to undo them."""
    reply = client.call("GET /writes", **which)
    if invocation.passed_on(reply):
        return
    data = reply.envelope["data"]
    for entry in data["writes"]:
        who = f" by {clean(entry['agent'])}" if entry["agent"] else ""
        is_done = entry["state"] == "done"
        state = "" if is_done else f"  [{clean(entry['state'])}]"
        gone = "  (cannot be undone)" if is_done and not entry["undoable"] else ""
        say(
            f"{style(clean(entry['writeId']), 'faint')}  {local_time(entry['time']):<16}"
            f" {clean(entry['operation'])} {_paths(entry)}{who}{state}{gone}"
        )
        if entry["warning"]:
            say(f"    {style(clean(entry['warning']), 'warning')}")
    if not data["writes"]:
        from vault_agent.cli.agent import require_agent  # seldom needed

        require_agent(invocation, which["agent"])
        tell("No writes.")
    warn(reply.warnings)
    if data["hasMore"]:
        tell(f"There are more: --limit {min(200, 2 * which['limit'])}")


def _paths(entry: dict[str, Any]) -> str:
    files = entry["files"]
    if not files:
        return ""
    first = next((file for file in files if file["before"]), files[0])  # a move is the main thing
    path = style(clean(first["path"]), "strong")
    if first["before"]:
        path = f"{clean(first['before'])} -> {path}"
    more = entry["fileCount"] - 1
    return f"{path} and {counted(more, 'other file')}" if more > 0 else path


def _show(invocation: Invocation, client: Client, write_id: str) -> None:
    """Print one write, and whether the note has been changed since."""
    reply = client.call("GET /writes/{writeId}", write_id=write_id)
    if invocation.passed_on(reply):
        return
    data = reply.envelope["data"]
    entry = data["write"]
    names = ("writeId", "operation", "state", "time", "agent", "client")
    say("  ".join(clean(entry[name] or "owner") for name in names))
    for file in entry["files"]:
        moved = f"{clean(file['before'])} -> " if file["before"] else ""
        say(f"  {moved}{clean(file['path'])}")
    if data["changedSince"]:
        tell("The note has been changed since.")
    if entry["state"] == "done" and not entry["undoable"]:
        tell("It cannot be undone any more.")
