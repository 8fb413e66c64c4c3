"""What is known of each vault of a server, also of one that is not open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.config.registry import DEFAULT
from vault_agent.config.trust import is_trusted
from vault_agent.errors import IndexUnavailable
from vault_agent.model.vaults import VaultReadiness, VaultState
from vault_agent.store.current import SnapshotOutdated
from vault_agent.store.index.lists import count_types

if TYPE_CHECKING:
    from vault_agent.config.registry import Registered
    from vault_agent.store.current import Snapshot
    from vault_agent.vaults.open_vault import OpenVault


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


async def _types(now: Snapshot) -> dict[str, int]:
    """Return the number of notes of each type; "" for notes without one."""
    return await now.read(count_types)
