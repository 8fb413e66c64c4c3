"""The composition root: opens the vaults of a server, its memory and the records of sessions."""

from __future__ import annotations

import os
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from vault_agent.config.rules import data_folder
from vault_agent.config.settings import endpoint_settings, rerank_settings
from vault_agent.memory.collected import Collector
from vault_agent.memory.deliveries import Deliveries
from vault_agent.memory.journals import Journals
from vault_agent.memory.promotion import Promotion
from vault_agent.memory.recall import Memory
from vault_agent.memory.session_file import SessionStore
from vault_agent.memory.sessions import Sessions
from vault_agent.models.settings import EndpointSettings
from vault_agent.system.files import make_private_folder
from vault_agent.vaults.federated_search import FederatedSearch, GlobalLinks
from vault_agent.vaults.runs import Background
from vault_agent.vaults.shared import Shared, VaultRegistry
from vault_agent.vaults.typed_notes import TypedNotes
from vault_agent.vaults.vaults import open_vaults

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from vault_agent.config.settings import Config
    from vault_agent.store.directory import ServerLock
    from vault_agent.system.crash import CrashReport
    from vault_agent.vaults.vaults import Vaults

_SHARE_OF_TIMEOUT = 0.75
"""The part of a hook's time in which the server chooses what it brings."""


@dataclass(frozen=True, slots=True)
class App:
    """What a server consists of. Made by `open_app`.

    Args:
        vaults: the open vaults, and those that can be opened.
        federated: searches over several vaults.
        global_links: links from notes of projects to the global vault.
        typed: new notes of vaults with types.
        memory: recalls notes for a task.
        promotion: copies notes of projects to the global vault.
        sessions: the sessions of agents, or None if nothing is made of them.
        deliveries: what agents got of the notes, or None while memory is off.
        journals: the journals of sessions, or None while they are off.
    """

    vaults: Vaults
    federated: FederatedSearch
    global_links: GlobalLinks
    typed: TypedNotes
    memory: Memory
    promotion: Promotion
    sessions: Sessions | None = None
    deliveries: Deliveries | None = None
    journals: Journals | None = None


@asynccontextmanager
async def open_app(
    config: Config,
    *,
    on_crash: Callable[[str, CrashReport], object] = lambda *_: None,
    registry: VaultRegistry | None = None,
    lock: ServerLock | None = None,
) -> AsyncIterator[App]:
    """Open the configured vault, the resources that vaults share, and what works with them.

    `on_crash` is called for an unexpected error in any of our processes. It gets the name of the
    process ("server", "keeper" or "worker") and a report without the error's message. `registry`
    has the registered vaults, by default the user's. `lock` holds the index of the configured vault
    beyond the context.

    Raises:
        Misconfigured: `VAULT_NOT_FOUND`, `CONFIG_INVALID`.
        Busy: `INDEX_LOCKED` while another server uses this index.
        Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
    """
    async with AsyncExitStack() as stack:
        embedder, endpoint = None, None
        if config.embedding.enabled:
            # Before numpy loads. Threads do not help at this size: with the default of one a
            # core, a scan was 20 to 40 times slower.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
            from vault_agent.models.built_in import served
            from vault_agent.models.embedder import Embedder

            chosen = EndpointSettings(**endpoint_settings(config.embedding))
            endpoint = await stack.enter_async_context(served(chosen))
            embedder = await stack.enter_async_context(Embedder(endpoint))
        reranker = None
        if config.rerank.enabled and config.rerank.endpoint is not None:
            from vault_agent.models.reranker import Reranker, RerankerSettings

            sorting = RerankerSettings(**rerank_settings(config))
            reranker = await stack.enter_async_context(Reranker(sorting))
        shared = Shared(
            embedder,
            endpoint,
            on_crash,
            registry or VaultRegistry(),
            write_enabled=config.write.enabled,
            reranker=reranker,
        )
        await stack.enter_async_context(shared.text_workers)
        vaults = await stack.enter_async_context(open_vaults(config, shared, lock))
        if embedder is not None:
            embedder.on_query = vaults.default.indexer.announce_query  # all share its keeper
            embedder.warm_up()
        memory = Memory(vaults, config.memory, config.journal.redact_patterns)
        sessions, deliveries, journals = None, None, None
        collector = Collector(config.journal)
        if config.vaults.enabled and (config.memory.enabled or config.journal.enabled):
            folder, crashed = data_folder(config.index.dir), partial(on_crash, "server")
            make_private_folder(folder)
            store = SessionStore(folder)
            if config.memory.enabled:
                deliveries = Deliveries(
                    vaults,
                    memory,
                    store,
                    config.memory,
                    collector.clean,
                    with_tools=config.mcp.enabled,
                )
            if config.journal.enabled:
                journals = Journals(vaults, store, collector, config.journal, on_crash=crashed)
            sessions = Sessions(
                store,
                folder,
                vaults.registry,
                deliveries=deliveries,
                journals=journals,
                deliver_seconds=_SHARE_OF_TIMEOUT * config.memory.hook_timeout_ms / 1_000,
                on_crash=crashed,
            )
            background = await stack.enter_async_context(Background(crashed))
            background.spawn(sessions.run)
        yield App(
            vaults,
            FederatedSearch(vaults),
            GlobalLinks(vaults),
            TypedNotes(vaults),
            memory,
            Promotion(vaults, config.journal.redact_patterns),
            sessions,
            deliveries,
            journals,
        )
