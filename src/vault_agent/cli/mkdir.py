"""`vault-agent mkdir`."""

from __future__ import annotations

from typing import Any

import asyncclick as click

from vault_agent.cli.changing import change, how
from vault_agent.cli.command import Command, Invocation
from vault_agent.cli.here import client_here
from vault_agent.client import calls


@click.command("mkdir", cls=Command)
@click.argument("path")
@click.option("--dry-run", is_flag=True, help="Only check whether it can be made.")
@click.pass_obj
async def command(invocation: Invocation, /, path: str, **options: Any) -> int | None:
    """Make a folder in the vault, with those above it."""
    async with client_here(invocation) as client:
        return await change(invocation, client, calls.WRITE_FOLDER, {"path": path}, how(options))
