"""`vault-agent related`."""

from __future__ import annotations

from typing import Any

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.identifiers import check_id
from vault_agent.cli.results import ranking, ranking_options, show


@click.command("related", cls=Command)
@click.argument("identifier", metavar="ID")
@ranking_options
@click.pass_obj
async def command(invocation: Invocation, /, identifier: str, **options: Any) -> None:
    """Find notes and chunks related to a note or chunk.

    They are similar in text, or linked. ID is a note ID or chunk ID from `search`.
    """
    check_id(identifier)
    async with invocation.client() as client:
        reply = await client.related(identifier, **ranking(**options))
    show(reply, as_json=invocation.json)
