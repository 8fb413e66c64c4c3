"""Brings the index of a vault up to date before it is asked, where nobody else does.

The vaults of projects and the global one are written by hand, by editors and by agents. Nobody
looks at their index, and no command is run for it.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from vault_agent.config.registry import DEFAULT
from vault_agent.errors import VaultAgentError
from vault_agent.model.jobs import JobKind, Trigger

if TYPE_CHECKING:
    from vault_agent.vaults.open_vault import OpenVault


async def index_now(vault: OpenVault, *, seconds: float) -> None:
    """Index what has changed in a vault, and wait for that at most some seconds.

    The run goes on after that. If it fails, the vault is as it was.
    """
    with suppress(VaultAgentError, TimeoutError):
        job = vault.jobs.running or await vault.submit(JobKind.INDEX, trigger=Trigger.SCAN)
        async with asyncio.timeout(seconds):
            async for _ in vault.jobs.watch(job.id):
                pass


def is_unwatched(vault: OpenVault) -> bool:
    """Whether changes of a vault's notes are noticed by nobody, and its owner is not asked."""
    return vault.address != DEFAULT and not vault.watch.is_live
