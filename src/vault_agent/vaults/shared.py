"""What the vaults of a server share, such as the list of registered vaults."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from vault_agent.config.project import is_trusted
from vault_agent.config.vault_list import (
    DEFAULT,
    read_registry,
    registry_path,
    unknown_vault,
)
from vault_agent.errors import Conflict, Forbidden, Misconfigured
from vault_agent.model.identifiers import PROJECT
from vault_agent.system.files import is_folder
from vault_agent.system.workers import TextWorkers

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from vault_agent.config.vault_list import Registered
    from vault_agent.models.embedder import Embedder
    from vault_agent.models.reranker import Reranker
    from vault_agent.models.settings import EndpointSettings
    from vault_agent.store.current import Snapshot
    from vault_agent.system.crash import CrashReport


Reply = TypeVar("Reply")


class Read(Protocol):
    """Calls a function with the current revision, and again with the next if a run replaces it."""

    async def __call__(self, action: Callable[[Snapshot], Awaitable[Reply]], /) -> Reply:
        """Return what `action` returns."""
        ...


@dataclass(frozen=True, slots=True)
class Shared:
    """Resources that all vaults of a process share."""

    embedder: Embedder | None
    endpoint: EndpointSettings | None  # of the embedder; None without embeddings
    on_crash: Callable[[str, CrashReport], object]  # gets the failed process's name
    registry: VaultRegistry
    write_enabled: bool  # the setting `write.enabled`, which a vault may have off for itself
    reranker: Reranker | None = None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # of index jobs
    text_workers: TextWorkers = field(default_factory=TextWorkers)  # limits work on large texts


def project_full_name(name: str) -> str:
    """Return the full name of a project's vault. `name` is that, or the project's name."""
    return f"{PROJECT}{name.removeprefix(PROJECT)}"


class VaultRegistry:
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
            status = path.stat()
        except FileNotFoundError:
            self._stamp, self._entries = None, ()
            return ()
        except OSError:
            stamp: tuple[int, ...] = ()  # `read_registry` says why
        else:
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
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
        # A full name before a bare one, so that no project can be named like the global vault.
        for names in ("full_name", "identity", "name"):
            named = [entry for entry in entries if getattr(entry, names) == name]
            if len(named) > 1:
                raise Conflict(
                    "VAULT_AMBIGUOUS",
                    f"{len(named)} vaults have this name.",
                    {"identities": sorted(entry.identity for entry in named)},
                )
            if named:
                return named[0]
        raise unknown_vault(name, (DEFAULT, *(entry.full_name for entry in entries)))

    def of_project(self, name: str) -> list[Registered]:
        """Return the entries of the projects with a name.

        Raises:
            NotFound: `VAULT_UNKNOWN`.
        """
        full_name, entries = project_full_name(name), self.entries()
        named = [entry for entry in entries if entry.full_name == full_name]
        if not named:
            raise unknown_vault(full_name, (DEFAULT, *(entry.full_name for entry in entries)))
        return named

    def unique(self, full_name: str, identity: str) -> str:
        """Return the full name if no other vault has it, or else the identity."""
        named = {entry.identity for entry in self.entries() if entry.full_name == full_name}
        return full_name if len(named | {identity}) == 1 else identity

    def require_trust(self, entry: Registered) -> None:
        """Make sure that the folder is there and still the vault that was registered.

        Raises:
            Misconfigured: `VAULT_NOT_FOUND`.
            Forbidden: `VAULT_NOT_TRUSTED`.
        """
        if not is_folder(entry.root):
            raise Misconfigured(
                "VAULT_NOT_FOUND",
                "The folder of this vault is missing. It was moved, deleted or unmounted.",
                remedy="Mount or restore it, or take the vault from the list.",
            )
        if not is_trusted(entry):
            raise Forbidden("VAULT_NOT_TRUSTED", "Another project's vault is in this folder now.")
