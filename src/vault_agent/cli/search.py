"""`vault-agent search`."""

from __future__ import annotations

from typing import Any

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.results import ranking, ranking_options, show

_EVERY_NOTE = "path:**"
"""The query that leaves everything to the filters: it has an operator, and no words."""


@click.command("search", cls=Command)
@click.argument("words", nargs=-1, metavar="[QUERY]...")
@ranking_options
@click.pass_obj
async def command(invocation: Invocation, /, words: tuple[str, ...], **options: Any) -> None:
    """Find the notes and passages that match a query.

    Without a QUERY, but with a filter such as --tag, all that it leaves is listed. The ID under a
    result is what `get chunk`, `get note` and `related` take.

    \b
    vault-agent search sourdough starter
    vault-agent search "dark adaptation" -n 3 --path Observatory --tag astronomy
    vault-agent search '"late frost" -greenhouse tag:garden'
    """  # noqa: D301 - \\b is the parser's mark: keep these lines as they are
    asked = ranking(**options)
    if not words and asked["filters"] is None:
        raise click.UsageError(
            "Missing argument 'QUERY...': type what to look for, or a filter such as --tag",
            click.get_current_context(),
        )
    async with invocation.client() as client:
        reply = await client.search(" ".join(words) or _EVERY_NOTE, **asked)
    show(reply, as_json=invocation.json)
