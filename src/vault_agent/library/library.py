"""The composition root: opens the vaults of a server, and what they share."""

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
        """The vault that is meant where none is named."""
        return self._vaults[0]

    def add(self, vault: OpenVault) -> None:
        """Take up a vault; the first one is the default."""
        self._vaults.append(vault)

    def announce_query(self) -> None:
        """Tell runs that embed to leave the endpoint to a search for a moment."""
        for vault in self._vaults:
            vault.announce_query()


@asynccontextmanager
async def open_library(
    config: Config, *, on_crash: Callable[[str, CrashReport], object] = lambda *_: None
) -> AsyncIterator[Library]:
    """Open the vault that the configuration names, and what vaults share.

    `on_crash` is told of an unexpected error in any of our processes: "server", "keeper" or
    "worker", and a report without what the error says.

    Raises:
        Misconfigured: `VAULT_NOT_FOUND`, `CONFIG_INVALID`.
        Busy: `INDEX_LOCKED` while another server has this index.
        Failed: `DISK_FULL`, `INDEX_IO_ERROR`.
    """
    library = Library()
    async with AsyncExitStack() as stack:
        embedder, endpoint = None, None
        if config.embedding.enabled:
            # Before numpy loads: its linear algebra gains nothing from threads at this size, and
            # with its default of one a core a scan was 20 to 40 times slower.
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
