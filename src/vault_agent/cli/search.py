"""`vault-agent search`."""

from __future__ import annotations

from typing import Any

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.results import ranking, ranking_options, show


@click.command("search", cls=Command)
@click.argument("words", nargs=-1, required=True, metavar="QUERY...")
@ranking_options
@click.pass_obj
async def command(invocation: Invocation, /, words: tuple[str, ...], **options: Any) -> None:
    """Find the notes and passages that match a query.

    The ID under a result is what `get chunk`, `get note` and `related` take.

    \b
    vault-agent search sourdough starter
    vault-agent search "dark adaptation" -n 3 --path Observatory --tag astronomy
    vault-agent search '"late frost" -greenhouse tag:garden'
    """  # noqa: D301 - \\b is the parser's mark: keep these lines as they are
    async with invocation.client() as client:
        reply = await client.search(" ".join(words), **ranking(**options))
    show(reply, as_json=invocation.json)
