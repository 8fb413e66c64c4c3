"""Opens one vault with its index, its jobs and its background tasks."""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from vault_agent.config import index_directory
from vault_agent.config.access import writes_by_itself
from vault_agent.config.registry import DEFAULT, Role
from vault_agent.indexing.task import IndexTask, fingerprint_of
from vault_agent.store.current import CurrentIndex
from vault_agent.store.database import translated
from vault_agent.store.jobs.record import open_jobs
from vault_agent.store.layout import IndexDirectory
from vault_agent.store.takeover import has_notes, take_over
from vault_agent.vault.exclude import Exclusions
from vault_agent.vault.opening import CannotOpen
from vault_agent.vault.root import VaultRoot
from vault_agent.vaults.background import Background
from vault_agent.vaults.event_stream import EventStream
from vault_agent.vaults.indexer import Indexer
from vault_agent.vaults.open_vault import OpenVault
from vault_agent.vaults.runs import IndexedVault

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from vault_agent.config import Config
    from vault_agent.config.registry import Registered
    from vault_agent.store.layout import ServerLock
    from vault_agent.vaults.shared import Shared

MAX_PARALLEL = 4


@asynccontextmanager
async def open_vault(
    config: Config,
    shared: Shared,
    *,
    entry: Registered | None = None,
    indexer: Indexer | None = None,
    lock: ServerLock | None = None,
) -> AsyncIterator[OpenVault]:
    """Open the vault of `config.vault` and its index. Only one server at a time can have it open.

    `entry` is its entry in the list of vaults; None for the default vault. `indexer` is that of
    the default vault, which all others share. `lock` holds its index beyond the context.

    Raises:
        Misconfigured: `VAULT_NOT_FOUND`, `CONFIG_INVALID`.
        Busy: `INDEX_LOCKED` while another server uses this index.
        Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
    """
    directory = IndexDirectory(index_directory(config))
    exclusions = Exclusions(config.vault.exclude)
    with VaultRoot.open(config.vault.root or "", exclusions) as root:
        path, identity = root.path, root.identity
    typed = entry is not None and entry.has_note_types
    fingerprint = fingerprint_of(
        exclusions,
        config.index.max_note_bytes,
        config.index.frontmatter_fields,
        typed=typed,
        attachments=config.index.attachments,
    )
    task = IndexTask(
        root=path,
        directory=str(directory.path),
        vault=identity,
        exclude=config.vault.exclude,
        max_note_bytes=config.index.max_note_bytes,
        attachments=config.index.attachments,
        fields=config.index.frontmatter_fields,
        fingerprint=fingerprint,
        rebuild=False,
        parallel=min(MAX_PARALLEL, os.cpu_count() or 1),
        typed=typed,
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
            if lock is not None:
                lock.release_others(directory)
            is_ours = partial(_is_ours, config, exclusions, entry)
            moved = await asyncio.to_thread(take_over, directory, identity, is_ours)
            directory.create()
            if lock is None:
                stack.enter_context(directory.serving())
            else:
                lock.hold(directory)
            directory.note_vault(path)
            if entry is not None:
                directory.note_owner(path, entry.uid)
        store = await stack.enter_async_context(open_jobs(directory.jobs))
        stack.push_async_callback(index.close)
        background = Background(lambda report: shared.on_crash("server", report))
        if own := indexer is None:
            indexer = Indexer(background, shared.on_crash)
            stack.push_async_callback(indexer.close)
        await stack.enter_async_context(background)
        indexed = IndexedVault(
            task, exclusions, directory, index, indexer, background, EventStream(), shared.on_crash
        )
        address = DEFAULT if entry is None else entry.address
        vault = OpenVault(config, shared, indexed, store, address)
        stack.push_async_callback(vault.jobs.close)
        if own:
            stack.callback(indexer.retire)
        by_itself = entry is not None and entry.role is not Role.OTHER and writes_by_itself(config)
        await vault.start(took_over=moved)
        await stack.enter_async_context(vault.writes.accepting(by_itself=by_itself))
        yield vault


def _is_ours(
    config: Config, exclusions: Exclusions, entry: Registered | None, index: IndexDirectory
) -> bool:
    """Whether an index is the one of this vault before it was moved.

    A registered vault is known by its `uid`, any other one by its notes.
    """
    if entry is not None:
        return index.owner == entry.uid
    with VaultRoot.open(config.vault.root or "", exclusions) as root:

        def size_of(path: str) -> int | None:
            try:
                status = root.status(path)
            except CannotOpen:
                return None
            return None if status is None else status.st_size

        return has_notes(index, size_of)
