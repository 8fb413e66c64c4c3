"""The served generation: connections are returned, and failures have codes."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import NoReturn

import anyio
import pytest
from tests.index_runs import Vault

from vault_agent.errors import Failed, IndexUnavailable
from vault_agent.model.search import SearchQuery
from vault_agent.search.search import search
from vault_agent.store.current import READERS, CurrentIndex
from vault_agent.store.layout import IndexDirectory

DESCRIPTORS = Path("/proc/self/fd")


class Locked(IndexDirectory):
    """A folder whose files cannot be read."""

    def current(self) -> NoReturn:
        raise PermissionError(13, "Permission denied")  # root can read every file


async def test_an_unreadable_index_folder_is_reported_with_a_code(tmp_path: Path):
    index = CurrentIndex(Locked(tmp_path), vault="", fingerprint="")
    with pytest.raises(Failed) as failure:
        await index.refresh()
    assert failure.value.code == "INDEX_IO_ERROR"


async def serving(vault: Vault) -> CurrentIndex:
    """Index a vault and open what was published."""
    vault.write("A.md", "# A\n\nsome words\n")
    await vault.index()
    task = vault.task()
    index = CurrentIndex(vault.directory, vault=task.vault, fingerprint=task.fingerprint)
    await index.refresh()
    return index


async def test_searches_cancelled_at_any_moment_return_their_connections(tmp_path: Path):
    index = await serving(Vault(tmp_path))

    async def ask() -> None:
        async with index.snapshot() as snapshot:
            await search(snapshot, SearchQuery("words qwertzuiop asdfghjkl"))

    for number in range(200):
        task = asyncio.create_task(ask())
        for _ in range(number % 20):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
    async with index.snapshot() as snapshot:
        assert snapshot.held.idle.qsize() == READERS
    await index.close()


@pytest.mark.skipif(sys.platform != "linux", reason="counts descriptors")
async def test_a_cancelled_last_reader_closes_a_replaced_index(tmp_path: Path):
    index = await serving(Vault(tmp_path))
    before = len(list(DESCRIPTORS.iterdir()))
    for _ in range(5):
        with anyio.CancelScope() as scope:
            async with index.snapshot():
                await index.refuse(IndexUnavailable("INDEX_INCOMPATIBLE", "for the test"))
                scope.cancel()
                await anyio.sleep(1)
        await index.refresh()
    assert len(list(DESCRIPTORS.iterdir())) <= before
    await index.close()
