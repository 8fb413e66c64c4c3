"""`vault-agent related`."""

from __future__ import annotations

from typing import Any

import asyncclick as click

from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.names import find
from vault_agent.cli.results import ranking, ranking_options, searched, show
from vault_agent.client import calls
from vault_agent.config.registry import DEFAULT


@click.command("related", cls=Command)
@click.argument("name", metavar="NOTE")
@click.option("--unlinked", is_flag=True, help="Only notes that are not linked with it yet.")
@ranking_options
@click.pass_obj
def command(
    invocation: Invocation,
    /,
    name: str,
    *,
    unlinked: bool,
    all_vaults: bool,
    only_paths: bool,
    **options: Any,
) -> None:
    """Find notes like this one.

    They are similar in text, linked, or linked with the same notes. NOTE is an ID, a path or its
    end, a title, or the number of a result of your last search.
    """
    with invocation.client() as client:
        place = find(invocation, client, name)
        linked = "exclude" if unlinked else None
        vaults = searched(invocation, all_vaults=all_vaults)
        if (client.vault_name or DEFAULT) not in vaults:
            vaults = ()  # the note is in another vault, so only that one is searched
        reply = client.call(
            calls.RELATED, id=place.id, linked=linked, vaults=vaults, **ranking(**options)
        )
    here = (client.vault_name or DEFAULT) if not vaults else vaults[0]
    show(invocation, client, reply, first=here, only_paths=only_paths)
