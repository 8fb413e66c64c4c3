"""`vault-agent search`."""

from __future__ import annotations

from typing import Any

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.results import ranking, ranking_options, searched, show
from vault_agent.cli.terminal import clean, tell

_MAX_LIMIT = 50
_EVERY_NOTE = "path:**"
"""A query that matches every note, for a search by filters only."""


@click.command("search", cls=Command)
@click.argument("words", nargs=-1, metavar="[QUERY]...")
@ranking_options
@click.option("--all-words", is_flag=True, help="Each word must be in the note as it is written.")
@click.option("--cursor", help="Continue the page before, with the same other options.")
@click.pass_obj
async def command(
    invocation: Invocation,
    /,
    words: tuple[str, ...],
    all_words: bool,
    cursor: str | None,
    all_vaults: bool,
    **options: Any,
) -> None:
    """Find the notes and passages that match a query.

    Without a QUERY, lists all notes that match a filter such as --tag. `open`, `get` and `related`
    take the number of a result.

    \b
    vault-agent search sourdough starter, then: vault-agent open 1
    vault-agent search "dark adaptation" -n 3 --path Observatory --tag astronomy
    vault-agent search '"late frost" -greenhouse tag:garden'
    """  # noqa: D301 - \\b tells the parser to keep these lines
    chosen = ranking(**options)
    query = " ".join(words).strip()
    if not query and chosen["filters"] is None:  # also of an empty shell variable
        raise click.UsageError(
            "Missing query: type what to look for, or give a filter such as --tag",
            click.get_current_context(),
        )
    vaults = searched(invocation, all_vaults=all_vaults)
    async with invocation.client() as client:
        reply = await client.search(
            query or _EVERY_NOTE, **chosen, every_word=all_words, cursor=cursor, vaults=vaults
        )
    show(invocation, client, reply)
    data = reply.envelope["data"]
    if data.get("nextCursor") and not invocation.json and (cursor or data["limit"] == _MAX_LIMIT):
        tell(f"More: add --cursor {clean(data['nextCursor'])}")  # before that, --limit is simpler
