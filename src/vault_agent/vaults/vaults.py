"""The vaults of a server: the default one, and registered ones from their first use on."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING

from vault_agent.config import rules
from vault_agent.config.project import is_trusted
from vault_agent.config.vault_list import DEFAULT, Role
from vault_agent.errors import Busy, IndexUnavailable, Misconfigured, switched_off
from vault_agent.model.health import VaultReadiness, VaultState
from vault_agent.model.scope import EVERYTHING
from vault_agent.store.current import SnapshotOutdated
from vault_agent.store.index.lists import count_types
from vault_agent.system.cancelling import in_thread
from vault_agent.system.files import is_folder
from vault_agent.vaults.open_vault import ask, open_for_agent, open_vault, remove_agents

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager

    from vault_agent.config.settings import Config
    from vault_agent.config.vault_list import Registered
    from vault_agent.model.memory import MemoryNews
    from vault_agent.model.scope import Scope
    from vault_agent.store.directory import ServerLock
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.vaults.shared import Shared


class HostedVault:
    """A registered vault, or an agent's vault, open in a task of its own until `close`.

    The task is there because an open vault has a task group, which one task must enter and leave.
    """

    def __init__(
        self,
        open_it: Callable[[], AbstractAsyncContextManager[OpenVault]],
        *,
        on_end: Callable[[], object],
    ) -> None:
        """Begin to open it. `on_end` is called when it is closed or cannot be opened."""
        self.vault: OpenVault | None = None
        self._open_it, self._on_end = open_it, on_end
        self._closing = asyncio.Event()
        self._opened: asyncio.Future[OpenVault] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._keep())

    async def opened(self) -> OpenVault:
        """Wait until it is open.

        Raises:
            VaultAgentError: why it cannot be opened. The next request tries again.
        """
        return await asyncio.shield(self._opened)

    async def close(self) -> None:
        """Close it, and wait for that. If it is still being opened, stop that."""
        self._closing.set()
        if self.vault is None:
            self._task.cancel()
        await asyncio.wait({self._task})

    async def _keep(self) -> None:
        try:
            async with self._open_it() as vault:
                self.vault = vault
                self._opened.set_result(vault)
                await self._closing.wait()
        except asyncio.CancelledError:
            self._fail(Busy("SERVER_BUSY", "The server is stopping."))
            raise
        except Exception as error:
            if self._opened.done():
                raise
            self._fail(error)
        finally:
            self.vault = None
            self._on_end()

    def _fail(self, error: Exception) -> None:
        if not self._opened.done():
            self._opened.set_exception(error)
            self._opened.exception()  # no warning if nobody waits any more


class Vaults:
    """The vaults of a process. Made by `open_vaults`.

    Registered vaults are opened at their first use, and stay open until the server ends. Each has
    its own index, locks and jobs. They share the embedding client and the keeper, and one index
    job runs at a time.
    """

    def __init__(self, config: Config, shared: Shared, default: OpenVault) -> None:
        """Take the settings, what vaults share, and the vault that is used if none is named."""
        self._config = config
        self._shared = shared
        self.default = default
        self.registry = shared.registry
        self._registered: dict[str, HostedVault] = {}  # by identity
        self._of_agents: dict[str, HostedVault] = {}  # what each sees of the default vault

    async def open(self, name: str | None = None) -> OpenVault:
        """Return a vault, opened if it was not.

        `name` is `project:NAME`, `global`, a registered name, an identity, or None for the default
        vault.

        Raises:
            Misconfigured: `FEATURE_DISABLED` if a name is given and several vaults are off;
                `VAULT_NOT_FOUND` if its folder is missing.
            NotFound: `VAULT_UNKNOWN`.
            Conflict: `VAULT_AMBIGUOUS` if several vaults have this name.
            Forbidden: `VAULT_NOT_TRUSTED` if another project is now in its folder.
            Busy: `INDEX_LOCKED` while another server uses its index; `SERVER_BUSY` if the server is
                stopping.
            Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
        """
        if name is not None:
            self.require_several()
        if name in (None, DEFAULT, self.default.identity):
            return self.default
        entry = self.registry.find(name)
        is_default = entry.identity == self.default.identity
        return self.default if is_default else await self._open(entry)

    async def seen_by(self, name: str, scope: Scope) -> OpenVault:
        """Return what an agent sees of the default vault, opened if it was not.

        With the scope `EVERYTHING`, which unnamed agents have too, it is the default vault itself.

        Raises:
            Busy: `INDEX_LOCKED`; `SERVER_BUSY` if the server is stopping.
            Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
        """
        if scope == EVERYTHING:
            return self.default
        hosted = self._of_agents.get(name)
        if hosted is None:
            hosted = self._of_agents[name] = HostedVault(
                lambda: open_for_agent(self.default, self._shared, name, scope),
                on_end=lambda: self._of_agents.pop(name),
            )
        return await hosted.opened()

    def tell(self, identity: str, news: MemoryNews) -> None:
        """Add news to the stream of a vault, and to that of the default vault."""
        self.default.events.add(news)
        hosted = self._registered.get(identity)
        if hosted is not None and hosted.vault is not None:
            hosted.vault.events.add(news)

    @property
    def has_several(self) -> bool:
        """Whether several vaults are switched on."""
        return self._config.vaults.enabled

    @property
    def has_running_job(self) -> bool:
        """Whether an index job runs in any open vault."""
        hosted = (*self._registered.values(), *self._of_agents.values())
        open_ones = (self.default, *(host.vault for host in hosted))
        return any(vault is not None and vault.jobs.running is not None for vault in open_ones)

    def require_several(self) -> None:
        """Raise `FEATURE_DISABLED` if several vaults are switched off."""
        if not self._config.vaults.enabled:
            raise switched_off("vaults.enabled")

    def entry_of(self, vault: OpenVault) -> Registered | None:
        """Return the entry of a vault in the list, or None for the default vault."""
        is_default = vault.identity == self.default.identity
        return None if is_default else self.entry(vault.identity)

    def unique_name_of(self, vault: OpenVault) -> str:
        """Return a vault's name in replies: its full name if that is unique, or its identity."""
        return self.registry.unique(vault.full_name, vault.identity)

    def entry(self, identity: str) -> Registered | None:
        """Return the entry of a vault in the list, by its identity, or None."""
        return next((one for one in self.registry.entries() if one.identity == identity), None)

    async def states(self) -> list[VaultState]:
        """Return the default vault and every registered one, with what is known of each."""
        states = [await state_of(self.default)]
        for entry in self.registry.entries():
            identity = entry.identity
            if identity == self.default.identity:
                continue
            hosted = self._registered.get(identity)
            name = self.registry.unique(entry.full_name, identity)
            vault = hosted.vault if hosted is not None else None
            opening = hosted is not None
            states.append(await state_of(vault, entry=entry, name=name, opening=opening))
        return states

    async def close(self) -> None:
        """Close the registered vaults, and those of agents."""
        hosted = (*self._registered.values(), *self._of_agents.values())
        await asyncio.gather(*(vault.close() for vault in hosted))

    async def _open(self, entry: Registered) -> OpenVault:
        """Return a registered vault, opened if it was not. Close those that have left the list."""
        identity = entry.identity

        def require_trust() -> None:
            # The index of an open vault is read also while the folder is missing.
            if identity not in self._registered or is_folder(entry.root):
                self.registry.require_trust(entry)

        await in_thread(require_trust)
        listed = {registered.identity for registered in self.registry.entries()}
        for unlisted in self._registered.keys() - listed:
            if (hosted := self._registered.get(unlisted)) is not None:
                await hosted.close()  # a vault that was moved takes its index along
        hosted = self._registered.get(identity)
        if hosted is None:
            hosted = self._registered[identity] = HostedVault(
                lambda: open_vault(
                    config_of(self._config, entry),
                    self._shared,
                    entry=entry,
                    indexer=self.default.indexer,
                ),
                on_end=lambda: self._registered.pop(identity),
            )
        return await hosted.opened()


@asynccontextmanager
async def open_vaults(
    config: Config, shared: Shared, lock: ServerLock | None = None
) -> AsyncIterator[Vaults]:
    """Open the configured vault. Registered ones are opened at their first use.

    `lock` keeps the index of the configured vault locked beyond the context.

    Raises:
        Misconfigured: `VAULT_NOT_FOUND`, `CONFIG_INVALID`.
        Busy: `INDEX_LOCKED` while another server uses this index.
        Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
    """
    async with AsyncExitStack() as stack:
        entry = _global_entry(config, shared)
        chosen = config_of_default(config) if entry is None else config_of(config, entry)
        default = await stack.enter_async_context(
            open_vault(chosen, shared, entry=entry, lock=lock)
        )
        await in_thread(remove_agents, default.index_folder, set(config.agents))
        vaults = Vaults(config, shared, default)
        stack.push_async_callback(vaults.close)
        yield vaults


def _global_entry(config: Config, shared: Shared) -> Registered | None:
    """Return the entry of the global vault if it is the default vault too.

    A damaged list is no error here: the default vault is served, and requests that name a vault
    report the damage.
    """
    root = config.vault.root
    if root is None or not config.vaults.enabled:
        return None
    identity = rules.vault_identity(root)
    with suppress(Misconfigured):
        for entry in shared.registry.entries():
            if entry.role is Role.GLOBAL and entry.identity == identity:
                return entry
    return None


def config_of_default(config: Config) -> Config:
    """Return the settings for the default vault: nothing writes in it without `write.folders`."""
    if config.write.folders:
        return config
    return config.model_copy(update={"write": config.write.model_copy(update={"enabled": False})})


def config_of(config: Config, entry: Registered) -> Config:
    """Return the settings for a registered vault.

    It has its own folder, and none of the user's exclusions. With `write.enabled`, the vaults of
    projects and the global one may be changed as a whole, and others never. The same folders are
    open to what the server writes by itself, without `write.enabled`.
    """
    root = config.vault.model_copy(update={"root": entry.root, "exclude": ()})
    if entry.role is Role.OTHER:
        write = config.write.model_copy(update={"enabled": False})
    else:
        write = config.write.model_copy(update={"folders": (".",)})
    return config.model_copy(update={"vault": root, "write": write})


async def state_of(
    vault: OpenVault | None,
    *,
    entry: Registered | None = None,
    name: str = DEFAULT,
    opening: bool = False,
) -> VaultState:
    """Return what is known of a vault, without opening it."""
    role = entry.role.value if entry is not None else DEFAULT
    if vault is None:
        assert entry is not None  # noqa: S101 - the default vault is always open
        state: VaultReadiness = "closed"
        if opening:
            state = "indexing"
        elif not is_folder(entry.root):
            state = "missing"
        elif not is_trusted(entry):
            state = "untrusted"
        return VaultState(name, role, entry.identity, open=False, state=state)
    types, code = None, None
    try:
        types = await ask(vault, count_types)
    except IndexUnavailable as error:
        code = error.code
    except SnapshotOutdated:  # the next request sees the new revision
        pass
    health = await vault.health()
    state = "indexing" if vault.jobs.running else "ready" if health.index.available else "error"
    return VaultState(
        name,
        role,
        vault.identity,
        open=True,
        state=state,
        notes=health.index.notes if health.index.available else None,
        types=types,
        last_indexed=health.index.indexed_at,
        code=code,
    )
