"""What is known of each vault of a server, also of one that is closed."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from vault_agent.config.registry import DEFAULT
from vault_agent.config.trust import is_trusted
from vault_agent.errors import IndexUnavailable, VaultAgentError
from vault_agent.model.vaults import VaultReadiness, VaultState
from vault_agent.store.current import SnapshotOutdated
from vault_agent.store.index.lists import count_types
from vault_agent.system.files import replace_file
from vault_agent.system.regular import read_optional

if TYPE_CHECKING:
    from pathlib import Path

    from vault_agent.config.registry import Registered
    from vault_agent.store.current import Snapshot
    from vault_agent.vaults.open_vault import OpenVault

_COUNTS = "counts.json"


async def state_of(
    vault: OpenVault | None,
    *,
    entry: Registered | None = None,
    address: str = DEFAULT,
    opening: bool = False,
) -> VaultState:
    """Return what is known of a vault, without opening it."""
    role = entry.role.value if entry is not None else DEFAULT
    if vault is None:
        assert entry is not None  # noqa: S101 - the default vault is always open
        state: VaultReadiness = "closed"
        if opening:
            state = "indexing"
        elif not entry.root.is_dir():
            state = "missing"
        elif not is_trusted(entry):
            state = "untrusted"
        return VaultState(address, role, entry.identity, open=False, state=state)
    types, code = None, None
    try:
        types = await vault.read(_types)
    except IndexUnavailable as error:
        code = error.code
    except SnapshotOutdated:  # the next request sees the new revision
        pass
    health = await vault.health()
    state = "indexing" if vault.jobs.running else "ready" if health.index.available else "error"
    return VaultState(
        address,
        role,
        vault.identity,
        open=True,
        state=state,
        notes=health.index.notes if health.index.available else None,
        types=types,
        last_indexed=health.index.indexed_at,
        code=code,
    )


async def remember_counts(vault: OpenVault) -> None:
    """Keep the counts of a vault that is about to be closed, for the list of vaults."""
    with suppress(VaultAgentError, OSError):
        state = await state_of(vault)
        if state.notes is not None:
            counts = {
                "notes": state.notes,
                "types": dict(state.types or {}),
                "last_indexed": state.last_indexed,
            }
            path = vault.workplace / _COUNTS
            await asyncio.to_thread(replace_file, path, json.dumps(counts).encode(), durable=False)


def with_counts(state: VaultState, folder: Path) -> VaultState:
    """Return the state of a closed vault with the counts that it had when it was closed."""
    try:
        counts = json.loads(read_optional(folder / _COUNTS))
        notes, types, at = (counts[name] for name in ("notes", "types", "last_indexed"))
    except (ValueError, KeyError, TypeError):
        return state
    return replace(state, notes=notes, types=types, last_indexed=at)


async def _types(now: Snapshot) -> dict[str, int]:
    """Return the number of notes of each type; "" for notes without one."""
    return await now.read(count_types)
