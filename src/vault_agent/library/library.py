"""The open vaults of a server: the default one, and registered ones while they are used."""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from vault_agent.config import endpoint_settings, index_parent, rules
from vault_agent.config.registry import DEFAULT, Role
from vault_agent.embedding.settings import EndpointSettings
from vault_agent.errors import Busy, Misconfigured, VaultAgentError
from vault_agent.library.across import Across
from vault_agent.library.delivery import Deliveries
from vault_agent.library.hosted import HostedVault
from vault_agent.library.journals import open_journals
from vault_agent.library.known import KnownVaults, remember_counts, state_of, with_counts
from vault_agent.library.memory import Memory
from vault_agent.library.opening import open_vault
from vault_agent.library.promotion import Promotion
from vault_agent.library.sessions import open_session_record
from vault_agent.library.several import Several
from vault_agent.library.shared import Shared
from vault_agent.library.typed_notes import TypedNotes
from vault_agent.store.sessions.deliveries import DeliveryStore
from vault_agent.system.cancelling import in_thread

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from vault_agent.config import Config
    from vault_agent.config.registry import Registered
    from vault_agent.library.journals import Journals
    from vault_agent.library.known import VaultState
    from vault_agent.library.open_vault import OpenVault
    from vault_agent.library.sessions import Sessions
    from vault_agent.system.crash import CrashReport

IDLE_SECONDS = 600.0
"""After this time without a request or a job, a vault that is not the default one is closed."""
_LOOK_SECONDS = 15.0
_OF_TIMEOUT = 0.75
"""The part of a hook's time in which the server chooses what it brings."""


class Library:
    """The vaults of a process. Made by `open_library`.

    Registered vaults are opened at their first use. Each of them has its own index, locks and
    jobs. They share the embedding client, the keeper, and one turn for index jobs.
    """

    def __init__(self, config: Config, shared: Shared, *, known: KnownVaults | None = None) -> None:
        self._config = config
        self._shared = shared
        self._default: OpenVault | None = None
        self.known = known or KnownVaults()
        self._hosted: dict[str, HostedVault] = {}  # by identity
        self._closing_idle: asyncio.Task[None] | None = None
        self.several = Several(self)
        """Searches over several vaults."""
        self.memory = Memory(self, config.memory)
        self.across = Across(self)
        """Links from notes of projects to the global vault."""
        self.typed = TypedNotes(self)
        """New notes of vaults with types."""
        self.promotion = Promotion(self, config.journal.redact_patterns)
        self.deliveries: Deliveries | None = None
        """What agents got of the notes. None while memory is off."""
        self.sessions: Sessions | None = None
        """The sessions of agents, if anything is made of them."""
        self.journals: Journals | None = None

    @property
    def default(self) -> OpenVault:
        """The vault that is used if none is named."""
        assert self._default is not None  # noqa: S101 - set by `open_library`
        return self._default

    @default.setter
    def default(self, vault: OpenVault) -> None:
        vault.library = self
        self._default = vault

    @asynccontextmanager
    async def vault(self, name: str | None = None) -> AsyncIterator[OpenVault]:
        """Lend a vault, opened if it was not. It stays open while it is lent.

        `name` is `project:NAME`, `global`, a registered name, an identity, or None for the default
        vault.

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
        hosted = await self._open(entry)
        with hosted.in_use():
            yield await hosted.opened()

    @property
    def has_several(self) -> bool:
        """Whether several vaults are switched on."""
        return self._config.vaults.enabled

    @property
    def has_running_job(self) -> bool:
        """Whether an index job runs in any open vault."""
        open_ones = (self._default, *(each.vault for each in self._hosted.values()))
        return any(vault is not None and vault.jobs.running is not None for vault in open_ones)

    @property
    def may_write(self) -> bool:
        """Whether notes may be changed in any vault."""
        return self._config.write.enabled

    @property
    def has_sessions(self) -> bool:
        """Whether anything is made of the sessions that agents' hooks tell of."""
        return self.has_several and (self._config.memory.enabled or self._config.journal.enabled)

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
            vault = hosted.vault if hosted is not None else None
            folder = rules.index_folder(entry.root, self._config.index.dir)
            state = await state_of(vault, entry=entry, address=address, hosted=hosted)
            found.append(with_counts(state, folder) if vault is None else state)
        return found

    async def close(self) -> None:
        """Close the registered vaults."""
        if self._closing_idle is not None:
            self._closing_idle.cancel()
            with suppress(asyncio.CancelledError):
                await self._closing_idle
        await asyncio.gather(*(each.close() for each in tuple(self._hosted.values())))

    async def _open(self, entry: Registered) -> HostedVault:
        """Return a vault that is open or being opened."""
        identity = entry.identity
        if identity not in self._hosted:
            await in_thread(self.known.require_trust, entry)
        while True:
            hosted = self._hosted.get(identity)
            if hosted is None:
                if len(self._hosted) < self._config.vaults.max_open:
                    break
                await self._make_room()
            elif hosted.is_closing:
                await hosted.close()  # by another; then it is opened again
            else:
                return hosted
        hosted = HostedVault(
            lambda: open_vault(
                config_of(self._config, entry),
                self._shared,
                entry=entry,
                keeper=self.default.keeper,
            ),
            on_open=self._took,
            on_close=remember_counts,
            on_end=lambda: self._ended(identity),
        )
        self._hosted[identity] = hosted
        if self._closing_idle is None:
            self._closing_idle = asyncio.create_task(self._close_idle())
        return hosted

    def _took(self, vault: OpenVault) -> None:
        vault.library = self

    def _ended(self, identity: str) -> None:
        self._hosted.pop(identity, None)
        self.several.forget(identity)
        self.memory.facts.forget(identity)

    async def _make_room(self) -> None:
        """Close the vault that was not used for the longest time.

        Raises:
            Busy: `SERVER_BUSY` if all are in use.
        """
        unused = [each for each in self._hosted.values() if not each.is_busy]
        if not unused:
            raise Busy("SERVER_BUSY", "As many vaults as vaults.max_open allows are in use.")
        await min(unused, key=lambda each: each.used_at).close()

    async def _close_idle(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            with suppress(VaultAgentError):
                known = {entry.identity for entry in self.known.entries()}
                for identity, hosted in tuple(self._hosted.items()):
                    idle = hosted.idle_seconds > IDLE_SECONDS or identity not in known
                    if idle and not hosted.is_busy:
                        await hosted.close()


@asynccontextmanager
async def open_library(
    config: Config,
    *,
    on_crash: Callable[[str, CrashReport], object] = lambda *_: None,
    known: KnownVaults | None = None,
) -> AsyncIterator[Library]:
    """Open the configured vault and the resources that vaults share.

    `on_crash` is called for an unexpected error in any of our processes. It gets the name of the
    process ("server", "keeper" or "worker") and a report without the error's message. `known` are
    the registered vaults, by default those of the user's list.

    Raises:
        Misconfigured: `VAULT_NOT_FOUND`, `CONFIG_INVALID`.
        Busy: `INDEX_LOCKED` while another server uses this index.
        Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
    """
    async with AsyncExitStack() as stack:
        embedder, endpoint = None, None
        opened: list[OpenVault] = []
        if config.embedding.enabled:
            # Before numpy loads. Threads do not help at this size: with the default of one a
            # core, a scan was 20 to 40 times slower.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
            from vault_agent.embedding.client import HttpEmbedder

            endpoint = EndpointSettings(**endpoint_settings(config.embedding))

            def announce_query() -> None:
                for vault in opened:  # all share the keeper of the first
                    vault.announce_query()

            embedder = HttpEmbedder(endpoint, on_query=announce_query)
            await stack.enter_async_context(embedder)
        shared = Shared(embedder, endpoint, on_crash)
        await stack.enter_async_context(shared.texts)
        library = Library(config, shared, known=known)
        vault = await stack.enter_async_context(open_vault(_config_of_default(config), shared))
        library.default = vault
        opened.append(vault)
        stack.push_async_callback(library.close)
        if embedder is not None:
            embedder.warm_up()
        if library.has_sessions:
            library.sessions = await stack.enter_async_context(
                open_session_record(
                    index_parent(config),
                    library.known,
                    idle_seconds=60.0 * config.journal.idle_minutes,
                    log_days=config.memory.log_days,
                    deliver_seconds=_OF_TIMEOUT * config.memory.hook_timeout_ms / 1_000,
                    on_crash=partial(on_crash, "server"),
                )
            )
            if config.memory.enabled:
                store = DeliveryStore(library.sessions.store)
                library.deliveries = Deliveries(library, store, config.memory)
                library.sessions.delivery = library.deliveries
            if config.journal.enabled:
                library.journals = await stack.enter_async_context(
                    open_journals(
                        config,
                        library,
                        library.sessions,
                        index_parent(config) / "journals",
                        on_crash=partial(on_crash, "server"),
                    )
                )
                library.sessions.journals = library.journals
            library.sessions.start()
        yield library


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
