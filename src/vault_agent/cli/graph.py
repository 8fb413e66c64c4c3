"""`vault-agent graph`: the notes near a note, reports, and the whole graph as JSON."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import asyncclick as click
from asyncclick.shell_completion import CompletionItem

from vault_agent.cli.command import Group, Invocation
from vault_agent.cli.filters import note_filters
from vault_agent.cli.here import client_here, name_rest
from vault_agent.cli.linking import (
    degrees,
    limit_option,
    show_notes,
)
from vault_agent.cli.names import find
from vault_agent.cli.paged import of_one_vault
from vault_agent.cli.terminal import (
    clean,
    counted,
    envelope,
    is_terminal,
    pass_on,
    say,
    style,
    tell,
    warn,
)
from vault_agent.client import calls
from vault_agent.errors import Failed
from vault_agent.system.files import replacing

if TYPE_CHECKING:
    from vault_agent.cli.paged import Page
    from vault_agent.client.call import Call

_FIRST = 20
"""Entries of a list that has the best first."""


@click.group("graph", cls=Group)
def command() -> None:
    """Explore how notes are linked."""


_filters = note_filters("paths", "tags", "types", "after", "before")


@command.command("local")
@click.argument("note")
@click.option("--depth", type=int, help="Links from the note, 1 to 5. Default: 1.")
@click.option("-n", "--limit", type=int, help="Notes, 1 to 2,000. Default: 300.")
@click.pass_obj
async def local(invocation: Invocation, note: str, depth: int | None, limit: int | None) -> None:
    """List the notes near a note, the nearest first.

    NOTE is a path or its end, a title, or an ID.
    """
    async with invocation.client() as client:
        chosen = (await find(invocation, client, note)).note_id
        reply = await client.call(calls.LOCAL_GRAPH, note_id=chosen, depth=depth, limit=limit)
    if invocation.passed_on(reply):
        return
    data = reply.envelope["data"]
    for node in data["nodes"]:
        indent = "  " * node["distance"]
        say(f"{indent}{style(clean(node['path']), 'strong')}  {degrees(node)}")
    if len(data["nodes"]) == 1:
        tell("No note is linked with it.")
    if data["truncated"]:
        tell(f"There are more: --limit {min(2_000, 10 * len(data['nodes']))}")
    warn(reply.warnings)


@command.command("path")
@click.argument("start", metavar="FROM")
@click.argument("end", metavar="TO")
@click.option("--directed", is_flag=True, help="Follow links only forwards.")
@click.option("--max", "longest", type=int, help="Links, 1 to 50. Default: 12.")
@click.pass_obj
async def path(
    invocation: Invocation, start: str, end: str, directed: bool, longest: int | None
) -> None:
    """Find a shortest path of links between two notes.

    FROM and TO are paths or their ends, titles, or IDs.
    """
    async with invocation.client() as client:
        ends = [(await find(invocation, client, name)).note_id for name in (start, end)]
        reply = await client.call(
            calls.GRAPH_PATH, from_=ends[0], to=ends[1], directed=directed, max=longest
        )
    if invocation.passed_on(reply):
        return
    for step, note in enumerate(reply.envelope["data"]["notes"]):
        say(f"{step}  {style(clean(note['path']), 'strong')}")
    warn(reply.warnings)


@command.command("orphans")
@_filters
@limit_option("Notes. Default: 100 at a terminal and with --json, else all.")
@click.pass_obj
async def orphans(invocation: Invocation, /, **options: Any) -> None:
    """List the notes that no link leads to or from."""
    await _report(invocation, calls.ORPHANS, "There are no notes without links.", options)


@command.command("dead-ends")
@_filters
@limit_option("Notes. Default: 100 at a terminal and with --json, else all.")
@click.pass_obj
async def dead_ends(invocation: Invocation, /, **options: Any) -> None:
    """List the notes that are linked, but link to no note."""
    await _report(invocation, calls.DEAD_ENDS, "There are no dead ends.", options)


@command.command("central")
@click.option(
    "--by",
    type=click.Choice(["pagerank", "in", "out", "degree"]),
    help="PageRank (the default), or the number of notes linked in, out or both ways.",
)
@limit_option("Notes. Default: 20.")
@click.pass_obj
async def central(invocation: Invocation, /, **options: Any) -> None:
    """List the most important notes, as links show it."""
    options["limit"] = options["limit"] or _FIRST
    await _report(invocation, calls.CENTRAL, "There are no notes.", options, page=100)


async def _report(
    invocation: Invocation,
    call: Call[Any],
    none: str,
    options: dict[str, Any],
    *,
    page: int = 1_000,
) -> None:
    limit = options.pop("limit")
    async with client_here(invocation) as client:
        listing = of_one_vault(invocation, client, "notes", limit, page=page)
        await listing.show(
            lambda most, cursor: client.call(call, limit=most, cursor=cursor, **options),
            show_notes,
        )
    listing.close(none, "note")
    name_rest(invocation)


@command.command("communities")
@limit_option("Groups. Default: 20.")
@click.pass_obj
async def communities(invocation: Invocation, limit: int | None) -> None:
    """List groups of notes that are linked with each other."""
    alone = 0

    def show(page: Page) -> None:
        nonlocal alone
        groups = [each for each in page.rows if each["size"] > 1]
        for number, group in enumerate(groups, page.before):
            _show_group(group, is_first=not number)
        alone = page.reply.envelope["data"]["alone"]

    async with client_here(invocation) as client:
        listing = of_one_vault(invocation, client, "communities", limit or _FIRST, page=1_000)
        await listing.show(
            lambda most, cursor: client.call(calls.COMMUNITIES, limit=most, cursor=cursor), show
        )
    if alone:
        tell(f"In no group: {counted(alone, 'note')}.")
        listing.leave_out(alone)
    listing.close("There are no notes.", "group")
    name_rest(invocation)


def _show_group(group: dict[str, Any], *, is_first: bool) -> None:
    if not is_first:
        say()
    say(f"{style(clean(group['label']), 'strong')}  {counted(group['size'], 'note')}")
    for note in group["central"]:
        say(f"      {clean(note['path'])}")


@command.command("export")
@click.option(
    "--output",
    metavar="PATH|-",
    required=True,
    help="File to write to, or - for stdout.",
    shell_complete=lambda *asked: [CompletionItem(asked[-1], type="file")],
)
@click.option("--objects", is_flag=True, help="One object for each note and link, not columns.")
@click.option("--member", is_flag=True, help="Add the community of each note.")
@click.option("--unresolved", is_flag=True, help="Add the notes that links name, but are missing.")
@_filters
@click.pass_obj
async def export(
    invocation: Invocation,
    /,
    output: str,
    objects: bool,
    member: bool,
    unresolved: bool,
    **filters: Any,
) -> None:
    """Write the whole graph as JSON.

    The columns are described in the HTTP reference.
    """
    if output == "-" and is_terminal(sys.stdout):
        raise click.UsageError("--output - is for a pipe or file, not for a terminal")
    async with client_here(invocation) as client:
        reply = await client.call(
            calls.GRAPH,
            format="objects" if objects else None,
            member=member,
            unresolved=unresolved,
            **filters,
        )
    data = reply.envelope["data"]
    if output == "-":
        pass_on(reply.body)
    else:
        size = _save(Path(output), reply.body)
        if invocation.json:
            envelope({"bytes": size})
        else:
            nodes = data["nodes"] if objects else data["nodes"].get("id", ())
            links_found = len(data["edges"]) // (1 if objects else 2)
            tell(f"{counted(len(nodes), 'note')} and {counted(links_found, 'link')} written.")
    if data["truncated"]:
        tell("Only the best connected notes are included.")
    warn(reply.warnings)
    name_rest(invocation)


def _save(path: Path, body: bytes) -> int:
    try:
        with replacing(path, mode=0o644, keep_mode=True, durable=False) as file:
            return file.write(body)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise Failed("OUTPUT_FAILED", f"the file cannot be written: {reason}") from None
