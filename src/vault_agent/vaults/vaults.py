"""The open vaults of a server: the default one, and registered ones while they are used."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext, suppress
from typing import TYPE_CHECKING

from vault_agent.config import rules
from vault_agent.config.registry import DEFAULT, Role
from vault_agent.errors import Busy, Misconfigured, VaultAgentError
from vault_agent.system.cancelling import in_thread
from vault_agent.vaults.hosted import HostedVault
from vault_agent.vaults.opening import open_vault
from vault_agent.vaults.states import remember_counts, state_of, with_counts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from vault_agent.config import Config
    from vault_agent.config.registry import Registered
    from vault_agent.model.deliveries import MemoryNews
    from vault_agent.model.vaults import VaultState
    from vault_agent.vaults.open_vault import OpenVault
    from vault_agent.vaults.shared import Shared

IDLE_SECONDS = 600.0
"""After this time without a request or a job, a vault that is not the default one is closed."""
_LOOK_SECONDS = 15.0


class Vaults:
    """The vaults of a process. Made by `open_vaults`.

    Registered vaults are opened at their first use. Each of them has its own index, locks and
    jobs. They share the embedding client, the keeper, and one turn for index jobs.
    """

    def __init__(self, config: Config, shared: Shared, default: OpenVault) -> None:
        """Take the settings, what vaults share, and the vault that is used if none is named."""
        self._config = config
        self._shared = shared
        self.default = default
        self.known = shared.known
        self._hosted: dict[str, HostedVault] = {}  # by identity
        self._closing_idle: asyncio.Task[None] | None = None
        self._on_closed: list[Callable[[str], object]] = []

    def on_closed(self, listener: Callable[[str], object]) -> None:
        """Call a function with the identity of each vault that was closed."""
        self._on_closed.append(listener)

    @asynccontextmanager
    async def open(
        self, name: str | None = None, *, beyond: bool = False
    ) -> AsyncIterator[OpenVault]:
        """Lend a vault, opened if it was not. It stays open while it is lent.

        `name` is `project:NAME`, `global`, a registered name, an identity, or None for the default
        vault. With `beyond`, it is also opened while as many as `vaults.max_open` are in use.

        Raises:
            Misconfigured: `FEATURE_DISABLED` if a name is given and several vaults are off;
                `VAULT_NOT_FOUND` if its folder is missing.
            NotFound: `VAULT_UNKNOWN`.
            Conflict: `VAULT_AMBIGUOUS` if several vaults have this name.
            Forbidden: `VAULT_NOT_TRUSTED` if another project is now in its folder.
            Busy: `INDEX_LOCKED` while another server uses its index; `SERVER_BUSY` if too many
                vaults are in use.
            Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
        """
        if name is None:
            yield self.default
            return
        self.require_several()
        if name in (DEFAULT, self.default.identity):
            yield self.default
            return
        entry = self.known.find(name)
        if entry.identity == self.default.identity:
            yield self.default
            return
        hosted = await self._open(entry, beyond=beyond)
        with hosted.in_use():
            yield await hosted.opened()

    def tell(self, identity: str, news: MemoryNews) -> None:
        """Tell those who follow a vault, and those who follow the server's own."""
        self.default.events.add(news)
        hosted = self._hosted.get(identity)
        if hosted is not None and hosted.vault is not None:
            hosted.vault.events.add(news)

    @property
    def has_several(self) -> bool:
        """Whether several vaults are switched on."""
        return self._config.vaults.enabled

    @property
    def has_running_job(self) -> bool:
        """Whether an index job runs in any open vault."""
        open_ones = (self.default, *(each.vault for each in self._hosted.values()))
        return any(vault is not None and vault.jobs.running is not None for vault in open_ones)

    def require_several(self) -> None:
        """Raise `FEATURE_DISABLED` if several vaults are switched off."""
        if not self._config.vaults.enabled:
            raise Misconfigured(
                "FEATURE_DISABLED",
                "This is switched off: vaults.enabled is not true.",
                {"setting": "vaults.enabled"},
            )

    def entry_of(self, vault: OpenVault) -> Registered | None:
        """Return the entry of a vault in the list, or None for the default vault."""
        if vault.identity == self.default.identity:
            return None
        found = (each for each in self.known.entries() if each.identity == vault.identity)
        return next(found, None)

    def entries(self) -> tuple[Registered, ...]:
        """Return the registered vaults. Raises Misconfigured `CONFIG_INVALID`."""
        return self.known.entries()

    def address_of(self, vault: OpenVault) -> str:
        """Return what a reply calls a vault: its address, or its identity if that is not unique."""
        return self.known.unique(vault.address, vault.identity)

    def entry(self, identity: str) -> Registered | None:
        """Return the entry of a vault in the list, by its identity, or None."""
        return next((each for each in self.known.entries() if each.identity == identity), None)

    async def states(self) -> list[VaultState]:
        """Return the default vault and every registered one, with what is known of each."""
        found = [await state_of(self.default)]
        for entry in self.known.entries():
            identity = entry.identity
            if identity == self.default.identity:
                continue
            hosted = self._hosted.get(identity)
            address = self.known.unique(entry.address, identity)
            folder = rules.index_folder(entry.root, self._config.index.dir)
            async with hosted.looked_at() if hosted is not None else nullcontext() as vault:
                opening = hosted is not None and not hosted.is_closing
                state = await state_of(vault, entry=entry, address=address, opening=opening)
            found.append(with_counts(state, folder) if vault is None else state)
        return found

    async def close(self) -> None:
        """Close the registered vaults."""
        if self._closing_idle is not None:
            self._closing_idle.cancel()
            with suppress(asyncio.CancelledError):
                await self._closing_idle
        await asyncio.gather(*(each.close() for each in tuple(self._hosted.values())))

    async def _open(self, entry: Registered, *, beyond: bool) -> HostedVault:
        """Return a vault that is open or being opened.

        With `beyond`, it is also opened while as many as may be are in use.
        """
        identity = entry.identity
        if identity not in self._hosted:
            await in_thread(self.known.require_trust, entry)
        while True:
            hosted = self._hosted.get(identity)
            if hosted is None:
                if len(self._hosted) < self._config.vaults.max_open:
                    break
                if not await self._make_room():
                    if beyond:
                        break
                    raise Busy(
                        "SERVER_BUSY", "As many vaults as vaults.max_open allows are in use."
                    )
            elif hosted.is_closing:
                await hosted.close()  # by another; then it is opened again
            else:
                return hosted
        hosted = HostedVault(
            lambda: open_vault(
                config_of(self._config, entry),
                self._shared,
                entry=entry,
                indexer=self.default.indexer,
            ),
            on_close=remember_counts,
            on_end=lambda: self._ended(identity),
        )
        self._hosted[identity] = hosted
        if self._closing_idle is None:
            self._closing_idle = asyncio.create_task(self._close_idle())
        return hosted

    def _ended(self, identity: str) -> None:
        self._hosted.pop(identity, None)
        for listener in self._on_closed:
            listener(identity)

    async def _make_room(self) -> bool:
        """Close the vault that was not used for the longest time, unless all are in use."""
        unused = [each for each in self._hosted.values() if not each.is_busy]
        if not unused:
            return False
        await min(unused, key=lambda each: each.used_at).close()
        return True

    async def _close_idle(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            with suppress(VaultAgentError):
                known = {entry.identity for entry in self.known.entries()}
                for identity, hosted in tuple(self._hosted.items()):
                    idle = hosted.idle_seconds > IDLE_SECONDS or identity not in known
                    if idle and not hosted.is_busy:
                        await hosted.close()
                while len(self._hosted) > self._config.vaults.max_open:
                    if not await self._make_room():  # one search was over more
                        break


@asynccontextmanager
async def open_vaults(config: Config, shared: Shared) -> AsyncIterator[Vaults]:
    """Open the configured vault. The registered ones are opened when they are asked for.

    Raises:
        Misconfigured: `VAULT_NOT_FOUND`, `CONFIG_INVALID`.
        Busy: `INDEX_LOCKED` while another server uses this index.
        Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
    """
    async with AsyncExitStack() as stack:
        entry = _global_entry(config, shared)
        chosen = _config_of_default(config) if entry is None else config_of(config, entry)
        default = await stack.enter_async_context(open_vault(chosen, shared, entry=entry))
        vaults = Vaults(config, shared, default)
        stack.push_async_callback(vaults.close)
        yield vaults


def _global_entry(config: Config, shared: Shared) -> Registered | None:
    """Return the entry of the global vault if it is the default vault too."""
    root = config.vault.root
    if root is None or not config.vaults.enabled:
        return None
    identity = rules.vault_identity(root)
    entries = (entry for entry in shared.known.entries() if entry.role is Role.GLOBAL)
    return next((entry for entry in entries if entry.identity == identity), None)


def _config_of_default(config: Config) -> Config:
    """Return the settings for the default vault: without `write.folders` it is never changed."""
    if config.write.folders:
        return config
    return config.model_copy(update={"write": config.write.model_copy(update={"enabled": False})})


def config_of(config: Config, entry: Registered) -> Config:
    """Return the settings for a registered vault.

    It has its own folder and no exclusions of the user's. Where notes may be changed at all, the
    vaults of projects and the global one may be changed as a whole, and others never. What the
    server writes by itself needs no `write.enabled`, but the same folders.
    """
    root = config.vault.model_copy(update={"root": entry.root, "exclude": ()})
    if entry.role is Role.OTHER:
        write = config.write.model_copy(update={"enabled": False})
    else:
        write = config.write.model_copy(update={"folders": (".",)})
    return config.model_copy(update={"vault": root, "write": write})
