"""Opens the vaults of a server and the resources they share."""

from __future__ import annotations

import os
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from vault_agent.config import endpoint_settings, index_directory
from vault_agent.embedding.settings import EndpointSettings
from vault_agent.indexing.task import IndexTask, fingerprint_of
from vault_agent.library.background import Background
from vault_agent.library.keeper_process import Keeper
from vault_agent.library.open_vault import OpenVault
from vault_agent.library.shared import Shared
from vault_agent.store.current import CurrentIndex
from vault_agent.store.database import translated
from vault_agent.store.jobs.record import open_jobs
from vault_agent.store.layout import IndexDirectory
from vault_agent.vault.exclude import Exclusions
from vault_agent.vault.root import VaultRoot

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from vault_agent.config import Config
    from vault_agent.system.crash import CrashReport

MAX_PARALLEL = 4


class Library:
    """The open vaults of a process. Made by `open_library`."""

    def __init__(self) -> None:
        self._vaults: list[OpenVault] = []

    @property
    def default(self) -> OpenVault:
        """The vault that is used if none is named."""
        return self._vaults[0]

    def add(self, vault: OpenVault) -> None:
        """Add a vault. The first one is the default."""
        self._vaults.append(vault)

    def announce_query(self) -> None:
        """Ask embedding runs to pause briefly, so that a search can use the endpoint."""
        for vault in self._vaults:
            vault.announce_query()


@asynccontextmanager
async def open_library(
    config: Config, *, on_crash: Callable[[str, CrashReport], object] = lambda *_: None
) -> AsyncIterator[Library]:
    """Open the configured vault and the resources that vaults share.

    `on_crash` is called for an unexpected error in any of our processes. It gets the name of the
    process ("server", "keeper" or "worker") and a report without the error's message.

    Raises:
        Misconfigured: `VAULT_NOT_FOUND`, `CONFIG_INVALID`.
        Busy: `INDEX_LOCKED` while another server uses this index.
        Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
    """
    library = Library()
    async with AsyncExitStack() as stack:
        embedder, endpoint = None, None
        if config.embedding.enabled:
            # Before numpy loads. Threads do not help at this size: with the default of one a
            # core, a scan was 20 to 40 times slower.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
            from vault_agent.embedding.client import HttpEmbedder

            endpoint = EndpointSettings(**endpoint_settings(config.embedding))
            embedder = HttpEmbedder(endpoint, on_query=library.announce_query)
            await stack.enter_async_context(embedder)
        shared = Shared(embedder, endpoint, on_crash)
        library.add(await stack.enter_async_context(_open_vault(config, shared)))
        if embedder is not None:
            embedder.warm_up()
        yield library


@asynccontextmanager
async def _open_vault(config: Config, shared: Shared) -> AsyncIterator[OpenVault]:
    """Open a vault and its index. Only one server at a time can have it open.

    Raises:
        Misconfigured: `VAULT_NOT_FOUND`, `CONFIG_INVALID`.
        Busy: `INDEX_LOCKED` while another server uses this index.
        Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
    """
    directory = IndexDirectory(index_directory(config))
    exclusions = Exclusions(config.vault.exclude)
    with VaultRoot.open(config.vault.root or "", exclusions) as root:
        path, identity = root.path, root.identity
    fingerprint = fingerprint_of(
        exclusions, config.index.max_note_bytes, config.index.frontmatter_fields
    )
    task = IndexTask(
        root=path,
        directory=str(directory.path),
        vault=identity,
        exclude=config.vault.exclude,
        max_note_bytes=config.index.max_note_bytes,
        fields=config.index.frontmatter_fields,
        fingerprint=fingerprint,
        rebuild=False,
        parallel=min(MAX_PARALLEL, os.cpu_count() or 1),
    )
    index = CurrentIndex(
        directory,
        vault=identity,
        fingerprint=fingerprint,
        vectors=shared.embedder is not None,
        is_excluded=exclusions.excludes,
    )
    # Closed in reverse order: jobs, background tasks, the keeper, the index.
    async with AsyncExitStack() as stack:
        with translated():
            directory.create()
            stack.enter_context(directory.serving())
            directory.note_vault(path)
        store = await stack.enter_async_context(open_jobs(directory.jobs))
        stack.push_async_callback(index.close)
        background = Background(lambda report: shared.on_crash("server", report))
        keeper = Keeper(background, shared.on_crash)
        stack.push_async_callback(keeper.close)
        await stack.enter_async_context(background)
        vault = OpenVault(
            config, shared, exclusions, directory, index, keeper, background, store, task
        )
        stack.push_async_callback(vault.jobs.close)
        stack.callback(keeper.retire)
        await vault.start()
        await stack.enter_async_context(vault.writes.accepting())
        yield vault
