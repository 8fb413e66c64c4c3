"""Opens the vaults of a server and the resources they share."""

from __future__ import annotations

import os
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from vault_agent.config import endpoint_settings
from vault_agent.embedding.settings import EndpointSettings
from vault_agent.library.open_vault import OpenVault, Shared, open_vault

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from vault_agent.config import Config
    from vault_agent.system.crash import CrashReport


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
        library.add(await stack.enter_async_context(open_vault(config, shared)))
        if embedder is not None:
            embedder.warm_up()
        yield library
