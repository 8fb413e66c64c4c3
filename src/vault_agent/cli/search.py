"""`vault-agent search`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.results import Ranking, ranking, ranking_options, show
from vault_agent.cli.terminal import tell
from vault_agent.model.search import Filters

if TYPE_CHECKING:
    from vault_agent.client.client import Client

_EVERY_NOTE = "path:**"
"""A query that matches every note, for a search by filters only."""


@click.command("search", cls=Command)
@click.argument("words", nargs=-1, metavar="[QUERY]...")
@ranking_options
@click.pass_obj
async def command(invocation: Invocation, /, words: tuple[str, ...], **options: Any) -> None:
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
    async with invocation.client() as client:
        reply = await client.search(query or _EVERY_NOTE, **chosen)
        empty = () if reply.envelope["data"]["results"] else await _without_notes(client, chosen)
    show(invocation, client, reply)
    if empty and not invocation.json:
        # Their values may be absolute paths, which no message repeats.
        tell("No note matches --path." if len(empty) == 1 else "No note matches any --path.")


async def _without_notes(client: Client, chosen: Ranking) -> list[str]:
    """Return the paths of the filters if there is no note at all under any of them."""
    paths = chosen["filters"].paths if chosen["filters"] is not None else ()
    found = {
        path: await client.search(_EVERY_NOTE, limit=1, filters=Filters(paths=(path,)))
        for path in paths
    }
    empty = [path for path, reply in found.items() if not reply.envelope["data"]["results"]]
    return empty if len(empty) == len(paths) else []
