"""`vault-agent links show|check`."""

from __future__ import annotations

import re
import sys
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import asyncclick as click
from asyncclick.shell_completion import CompletionItem

from vault_agent.cli import backlinks, mentions
from vault_agent.cli.command import Group, Invocation
from vault_agent.cli.linking import limit_option, written
from vault_agent.cli.names import find, whole_text
from vault_agent.cli.paged import of_one_vault, tell_more
from vault_agent.cli.terminal import clean, counted, is_terminal, say, style, tell, warn
from vault_agent.cli.wrap import shortened, width
from vault_agent.client import calls

if TYPE_CHECKING:
    from collections.abc import Callable

_KINDS = ("wikilink", "embed", "markdown", "image", "frontmatter", "external")
_EXTERNAL = "external"
_PAGE = 1_000
_SCREENFUL = 100
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
@click.option("--external", is_flag=True, help="Also the links to the web, with whole addresses.")
@limit_option("Links. Default: 100 at a terminal and with --json, else all.")
@click.pass_obj
async def show(
    invocation: Invocation, /, note: str, *, kinds: tuple[str, ...], **options: Any
) -> None:
    """List the links of a note, those to notes and files first.

    NOTE is a path or its end, a title, or an ID.
    """
    status, limit = options["status"], options["limit"]
    external = options["external"] or status == _EXTERNAL or _EXTERNAL in kinds
    async with invocation.client() as client:
        chosen = (await find(invocation, client, note)).note_id
        # All are needed, since those to the web come last.
        most = limit if invocation.json else sys.maxsize
        listing = of_one_vault(invocation, client, "links", most, page=_PAGE)
        found: list[dict[str, Any]] = []
        await listing.show(
            lambda most, cursor: client.call(
                calls.LINKS,
                note_id=chosen,
                status=status,
                kind=",".join(kinds) or None,
                limit=most,
                cursor=cursor,
            ),
            lambda page: found.extend(page.rows),
        )
        if invocation.json:
            return
        inside = [link for link in found if link["status"] != _EXTERNAL]
        outside = [link for link in found if link["status"] == _EXTERNAL]
        if external and outside:
            text = await whole_text(client, chosen)
            outside = with_whole_addresses(outside, text)
    wanted = [*inside, *(outside if external else ())]
    most = limit or (_SCREENFUL if is_terminal(sys.stdout) else len(wanted))
    shown = wanted[:most]
    columns = max((len(str(link["line"])) for link in shown), default=0)
    for link in shown:
        _show_link(link, f"{link['line']:>{columns}}  ")
    none = "The note has no such links." if external or not outside else "It links to no note."
    if not shown:
        tell(none)
    elif len(wanted) > most:
        tell_more(most, len(wanted), "link")
    warn(listing.warnings())
    if outside and not external:
        tell(f"{counted(len(outside), 'link')} to the web: --external")


def _show_link(link: dict[str, Any], begin: str) -> None:
    if link["status"] != _EXTERNAL:
        say(f"{begin}{written(link)}{_destination(link)}")
        return
    line = f"{begin}{clean(link['target'])}"
    text = clean(link.get("text") or "")
    if text and text != link["target"]:
        line += f"  {style(shortened(text, margin=width(line) + 2), 'faint')}"
    say(line)


def with_whole_addresses(links: list[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    """Return external links with the query of their address, as the note's text has it.

    The index keeps no queries. User names and passwords stay left out.
    """
    lines = text.splitlines()
    found: dict[tuple[int, str], list[str]] = {}
    whole = []
    for link in links:
        line, target = link["line"], link["target"]
        if (line, target) not in found:
            written_line = lines[line - 1] if 0 < line <= len(lines) else ""
            pattern = re.escape(target.rstrip("/")) + r"/?(?:\?[^\s<>\"|\])]*)?(?![\w/])"
            found[line, target] = re.findall(pattern, written_line)[::-1]
        known = found[line, target]
        whole.append({**link, "target": known.pop() if known else target})
    return whole


def _destination(link: dict[str, Any]) -> str:
    """Return where a link leads, as it is printed after the link."""
    if link["status"] == "unresolved":
        return "  " + style("unresolved", "warning")
    target = link["target"]
    whole = "/" in target and link["path"] in (target, f"{target}.md")
    path = "" if whole else f"  → {clean(link['path'])}"
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
