"""The registered vaults as a server knows them: found by name, and checked before they are used."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from vault_agent.config.registry import DEFAULT, read_registry, registry_path, unknown_vault
from vault_agent.config.trust import is_trusted
from vault_agent.errors import (
    Conflict,
    Forbidden,
    IndexUnavailable,
    Misconfigured,
    VaultAgentError,
)
from vault_agent.store.current import SnapshotOutdated
from vault_agent.system.files import replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from vault_agent.config.registry import Registered
    from vault_agent.library.hosted import HostedVault
    from vault_agent.library.open_vault import OpenVault

_COUNTS = "counts.json"
State = Literal["ready", "indexing", "closed", "missing", "untrusted", "error"]


@dataclass(frozen=True, slots=True)
class VaultState:
    """A vault of the server. The counts and times of a closed one are those when it was closed."""

    name: str  # what requests call it
    role: str  # `default`, `project`, `global` or `other`
    identity: str
    open: bool
    state: State
    notes: int | None = None
    types: Mapping[str, int] | None = None  # notes by type, "" for those without one
    last_indexed: str | None = None
    code: str | None = field(default=None)  # why the index is not served


class KnownVaults:
    """The list of vaults, read again when its file changes."""

    def __init__(self, path: Path | None = None) -> None:
        """Take the file of the list, by default the user's."""
        self._path = path
        self._stamp: tuple[int, ...] | None = None
        self._entries: tuple[Registered, ...] = ()

    def entries(self) -> tuple[Registered, ...]:
        """Return the entries. Without a file there are none.

        Raises:
            Misconfigured: `CONFIG_INVALID` if the file cannot be read or understood.
        """
        path = self._path or registry_path()
        try:
            found = path.stat()
        except FileNotFoundError:
            self._stamp, self._entries = None, ()
            return ()
        except OSError:
            stamp: tuple[int, ...] = ()  # `read_registry` says why
        else:
            stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
        if stamp != self._stamp:
            self._entries = read_registry(path)
            self._stamp = stamp
        return self._entries

    def find(self, name: str) -> Registered:
        """Return the entry of a vault.

        Raises:
            NotFound: `VAULT_UNKNOWN`.
            Conflict: `VAULT_AMBIGUOUS`, with the identities in `details`.
        """
        entries = self.entries()
        # An address before a bare name, so that no project can be named like the global vault.
        for names in ("address", "identity", "name"):
            found = [each for each in entries if getattr(each, names) == name]
            if len(found) > 1:
                raise Conflict(
                    "VAULT_AMBIGUOUS",
                    f"{len(found)} vaults have this name.",
                    {"identities": sorted(each.identity for each in found)},
                )
            if found:
                return found[0]
        raise unknown_vault((DEFAULT, *(each.address for each in entries)))

    def unique(self, address: str, identity: str) -> str:
        """Return an address that means one vault only, else its identity."""
        same = {each.identity for each in self.entries() if each.address == address} | {identity}
        return address if len(same) == 1 else identity

    def require_trust(self, entry: Registered) -> None:
        """Make sure that the folder is there and still the vault that was registered.

        Raises:
            Misconfigured: `VAULT_NOT_FOUND`.
            Forbidden: `VAULT_NOT_TRUSTED`.
        """
        if not entry.root.is_dir():
            raise Misconfigured(
                "VAULT_NOT_FOUND",
                "The folder of this vault is missing. It was moved, deleted or unmounted.",
                remedy="Run `vault-agent vaults check` to see what to do.",
            )
        if not is_trusted(entry):
            raise Forbidden("VAULT_NOT_TRUSTED", "Another project's vault is in this folder now.")


async def state_of(
    vault: OpenVault | None,
    *,
    entry: Registered | None = None,
    address: str = DEFAULT,
    hosted: HostedVault | None = None,
) -> VaultState:
    """Return what is known of a vault, without opening it."""
    role = entry.role.value if entry is not None else DEFAULT
    if vault is None:
        assert entry is not None  # noqa: S101 - the default vault is always open
        state: State = "closed"
        if hosted is not None:
            state = "indexing"
        elif not entry.root.is_dir():
            state = "missing"
        elif not is_trusted(entry):
            state = "untrusted"
        return VaultState(address, role, entry.identity, open=False, state=state)
    types, code = None, None
    try:
        types = await vault.lists.types()
    except IndexUnavailable as error:
        code = error.code
    except SnapshotOutdated:  # the next request sees the new revision
        pass
    health = await vault.health()
    state = "indexing" if vault.jobs.running else "ready" if health.index_available else "error"
    return VaultState(
        address,
        role,
        vault.identity,
        open=True,
        state=state,
        notes=health.notes if health.index_available else None,
        types=types,
        last_indexed=health.indexed_at,
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
        counts = json.loads((folder / _COUNTS).read_bytes())
        notes, types, at = (counts[name] for name in ("notes", "types", "last_indexed"))
    except (OSError, ValueError, KeyError, TypeError):
        return state
    return replace(state, notes=notes, types=types, last_indexed=at)
