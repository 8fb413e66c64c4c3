"""`vault-agent related`."""

from __future__ import annotations

from typing import Any

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.names import find
from vault_agent.cli.results import ranking, ranking_options, show


@click.command("related", cls=Command)
@click.argument("name", metavar="NOTE")
@ranking_options
@click.pass_obj
async def command(invocation: Invocation, /, name: str, **options: Any) -> None:
    """Find notes and chunks related to a note or chunk.

    They are similar in text, or linked. NOTE is an ID, a path or its end, a title, or the number of
    a result of your last search.
    """
    async with invocation.client() as client:
        place = await find(invocation, client, name)
        reply = await client.related(place.id, **ranking(**options))
    show(invocation, client, reply)
