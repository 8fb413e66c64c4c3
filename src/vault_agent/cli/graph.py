"""`vault-agent graph`: the notes near a note, the way between two, and the whole graph as JSON."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import asyncclick as click

from vault_agent.cli.command import Invocation, Noun
from vault_agent.cli.get import output_option, save
from vault_agent.cli.list import note_filters
from vault_agent.cli.names import client_here, find
from vault_agent.cli.terminal import (
    clean,
    envelope,
    is_terminal,
    pass_on,
    say,
    style,
    tell,
    warn,
)
from vault_agent.errors import counted

command = Noun("graph")


@command.by_itself
@click.argument("note")
@click.option("--depth", type=int, help="Links from the note, 1 to 5. Default: 1.")
@click.option("-n", "--limit", type=int, help="Notes, 1 to 2,000. Default: 300.")
def local(invocation: Invocation, /, note: str, **options: Any) -> None:
    """List the notes near a note, the nearest first.

    NOTE is a path or its end, a title, an ID, or the number of a result. The graph of the whole
    vault is on the web page: vault-agent ui --view graph
    """
    with invocation.client() as client:
        chosen = (find(invocation, client, note)).note_id
        reply = client.call("GET /notes/{noteId}/graph", note_id=chosen, **options)
    if invocation.passed_on(reply):
        return
    data = reply.envelope["data"]
    for node in data["nodes"]:
        path = clean(node["path"])
        if not is_terminal(sys.stdout):
            say(path)
            continue
        degrees = style(f"{node['in']} in, {node['out']} out", "faint")
        say(f"{'  ' * node['distance']}{style(path, 'strong')}  {degrees}")
    if len(data["nodes"]) == 1:
        tell("No note is linked with it.")
    if data["truncated"]:
        tell(f"There are more: --limit {min(2_000, 10 * len(data['nodes']))}")
    warn(reply.warnings)


@command.command("path")
@click.argument("start", metavar="FROM")
@click.argument("end", metavar="TO")
@click.option("--directed", is_flag=True, help="Follow links only forwards.")
@click.option("--max", type=int, help="Links, 1 to 50. Default: 12.")
def path(invocation: Invocation, /, start: str, end: str, **options: Any) -> None:
    """Find a shortest path of links between two notes.

    FROM and TO are paths or their ends, titles, IDs, or numbers of results.
    """
    with invocation.client() as client:
        ends = [(find(invocation, client, name)).note_id for name in (start, end)]
        reply = client.call("GET /graph/path", from_=ends[0], to=ends[1], **options)
    if invocation.passed_on(reply):
        return
    for step, note in enumerate(reply.envelope["data"]["notes"]):
        path = clean(note["path"])
        say(f"{step}  {style(path, 'strong')}" if is_terminal(sys.stdout) else path)
    warn(reply.warnings)


@command.command("export")
@output_option(required=True)
@click.option(
    "--objects",
    "format",
    flag_value="objects",
    help="One object for each note and link, not columns.",
)
@click.option("--member", is_flag=True, help="Add the community of each note.")
@click.option("--unresolved", is_flag=True, help="Add the notes that links name, but are missing.")
@note_filters("paths", "tags", "types", "after", "before")
def export(invocation: Invocation, /, output: str, **options: Any) -> None:
    """Write the whole graph as JSON.

    The columns are described in the HTTP reference.
    """
    with client_here(invocation) as client:
        reply = client.call("GET /graph", **options)
    data = reply.envelope["data"]
    if output == "-":
        pass_on(reply.body)
    else:
        size = save([reply.body], Path(output))
        if invocation.json:
            envelope({"bytes": size})
        else:
            tell(f"{counted(size, 'byte')} written.")
    if data["truncated"]:
        tell("Only the best connected notes are included.")
    warn(reply.warnings)
