"""`vault-agent links show|check`."""

from __future__ import annotations

from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import asyncclick as click
from asyncclick.shell_completion import CompletionItem

from vault_agent.cli import backlinks, mentions
from vault_agent.cli.command import Group, Invocation
from vault_agent.cli.linking import close, printed, written
from vault_agent.cli.names import find
from vault_agent.cli.terminal import clean, say, style

if TYPE_CHECKING:
    from collections.abc import Callable

_KINDS = ("wikilink", "embed", "markdown", "image", "frontmatter", "external")
_STATUSES = ("resolved", "ambiguous", "unresolved", "external")
FAULTS = ("note", "heading", "block", "attachment")


def _complete(kind: str) -> Callable[..., list[CompletionItem[str]]]:
    return lambda *asked: [CompletionItem(asked[-1], type=kind)]


@click.group("links", cls=Group)
def command() -> None:
    """Show the links from and to a note, or check all links of the vault."""


def _named(known: click.Command, name: str) -> click.Command:
    """Return a command under another name."""
    other = copy(known)
    other.name = name
    return other


@command.command("show")
@click.argument("note")
@click.option("--status", type=click.Choice(_STATUSES), help="Only links in this state.")
@click.option("--kind", "kinds", type=click.Choice(_KINDS), multiple=True, help="Only this kind.")
@click.option("-n", "--limit", type=int, help="Links, 1 to 1,000. Default: 100.")
@click.pass_obj
async def show(
    invocation: Invocation,
    note: str,
    status: str | None,
    kinds: tuple[str, ...],
    limit: int | None,
) -> None:
    """List the links of a note in the order in which they are written.

    NOTE is a path or its end, a title, or an ID.
    """
    from vault_agent.client import links

    async with invocation.client() as client:
        chosen = (await find(invocation, client, note)).note_id
        reply = await links.of_note(
            client, chosen, "links", status=status, kind=",".join(kinds) or None, limit=limit
        )
    if printed(reply, as_json=invocation.json):
        return
    shown = reply.envelope["data"]["links"]
    width = max((len(str(link["line"])) for link in shown), default=0)
    for link in shown:
        say(f"{link['line']:>{width}}  {written(link)}{_destination(link)}")
    close(reply, len(shown), "The note has no such links.")


def _destination(link: dict[str, Any]) -> str:
    """Return where a link leads, as it is printed after the link."""
    if link["status"] == "external":
        return ""
    if link["status"] == "unresolved":
        return "  " + style("unresolved", "warning")
    path = f"  → {clean(link['path'])}"
    if link["status"] == "ambiguous":
        others = ", ".join(clean(path) for path in link["candidates"][1:])
        path += "  " + style(f"ambiguous: also {others}" if others else "ambiguous", "warning")
    if link.get("fragmentFound") is False:
        path += "  " + style("no such heading or block", "warning")
    return path


command.add_command(_named(backlinks.command, "in"))
command.add_command(_named(mentions.command, "mentions"))


@command.command("check")
@click.argument("paths", nargs=-1)
@click.option(
    "--fail-on",
    metavar="KINDS",
    default=",".join(FAULTS),
    show_default=True,
    help="What counts as a finding, separated by commas.",
)
@click.option("--ambiguous", is_flag=True, help="Also links that several files match.")
@click.option(
    "--baseline",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Leave out the findings in this file.",
    shell_complete=_complete("file"),
)
@click.option(
    "--write-baseline",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write all findings to this file.",
    shell_complete=_complete("file"),
)
@click.option(
    "--vault-root",
    metavar="PATH",
    help="Read the notes of this folder, without a server.",
    shell_complete=_complete("dir"),
)
@click.pass_obj
async def check(
    invocation: Invocation, /, paths: tuple[str, ...], fail_on: str, ambiguous: bool, **files: Any
) -> int:
    """Find the links that lead nowhere.

    Prints one line for each, as path:line:column, and exits with 6 if there are any. PATHS are
    folders or notes of the vault to check; the default is all. Links to the web are never opened.
    """
    from vault_agent.cli.check_links import check_links

    kinds = tuple(dict.fromkeys(kind.strip() for kind in fail_on.split(",")))
    if not set(kinds) <= set(FAULTS):
        raise click.UsageError(f"--fail-on takes {', '.join(FAULTS)}, separated by commas")
    return await check_links(
        invocation,
        paths,
        kinds=(*kinds, *(("ambiguous",) if ambiguous else ())),
        **files,
    )
