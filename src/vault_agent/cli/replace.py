"""`vault-agent edit replace`."""

from __future__ import annotations

from typing import Any

import asyncclick as click

from vault_agent.cli.changing import change, existing, how, how_options
from vault_agent.cli.command import Command, Invocation
from vault_agent.client import calls


@click.command("replace", cls=Command)
@click.argument("note", metavar="NOTE")
@click.argument("search")
@click.argument("replacement", metavar="REPLACE")
@click.option("-E", "--regex", is_flag=True, help=r"SEARCH is a regular expression; \1 is a group.")
@click.option("-i", "--ignore-case", is_flag=True, help="Ignore letter case.")
@click.option("-w", "--word", is_flag=True, help="Only whole words.")
@click.option("--frontmatter", is_flag=True, help="Replace in the frontmatter, too.")
@click.option(
    "--count", type=int, default=1, show_default=True, help="How many matches there must be."
)
@click.option("--all", "every", is_flag=True, help="Any number of matches.")
@how_options(asks=True)
@click.pass_obj
async def command(
    invocation: Invocation, /, note: str, search: str, replacement: str, **options: Any
) -> int | None:
    """Replace text in a note. A regular expression shows the difference and asks."""
    chosen = how(options)
    body: dict[str, Any] = {
        "search": search,
        "replace": replacement,
        "regex": options["regex"],
        "caseSensitive": not options["ignore_case"],
        "wholeWord": options["word"],
        "inFrontmatter": options["frontmatter"],
        "expectedCount": None if options["every"] else options["count"],
    }
    asks = "Replace this?" if options["regex"] else ""
    async with invocation.client() as client:
        body |= await existing(invocation, client, note)
        return await change(invocation, client, calls.WRITE_REPLACE, body, chosen, asks=asks)
