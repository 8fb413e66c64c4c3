"""`vault-agent related`."""

from __future__ import annotations

from typing import Any

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.identifiers import check_id
from vault_agent.cli.results import ranking, ranking_options, show
from vault_agent.model.search import Linked


@click.command("related", cls=Command)
@click.argument("identifier", metavar="ID")
@click.option("--unlinked", is_flag=True, help="Only notes that are not linked with it yet.")
@ranking_options
@click.pass_obj
async def command(
    invocation: Invocation, /, identifier: str, *, unlinked: bool, **options: Any
) -> None:
    """Find notes and chunks related to a note or chunk.

    They are similar in text, linked, or linked with the same notes. ID is a note ID or chunk ID
    from `search`.
    """
    check_id(identifier)
    async with invocation.client() as client:
        linked = Linked.EXCLUDE if unlinked else None
        reply = await client.related(identifier, **ranking(**options), linked=linked)
    show(reply, as_json=invocation.json)
