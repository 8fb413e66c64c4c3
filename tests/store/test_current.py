"""The served generation: connections are returned, and failures have codes."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import NoReturn

import anyio
import pytest
from tests.support.index_runs import Vault

from vault_agent.errors import Failed, IndexUnavailable
from vault_agent.model.search import SearchQuery
from vault_agent.search.search import search_in
from vault_agent.store.current import READERS, CurrentIndex
from vault_agent.store.directory import IndexDirectory

DESCRIPTORS = Path("/proc/self/fd")


class Locked(IndexDirectory):
    """A folder whose files cannot be read."""

    def current(self) -> NoReturn:
        raise PermissionError(13, "Permission denied")  # root can read every file


async def test_an_unreadable_index_folder_is_reported_with_a_code(tmp_path: Path):
    index = CurrentIndex(Locked(tmp_path), identity="", fingerprint="")
    with pytest.raises(Failed) as failure:
        await index.refresh()
    assert failure.value.code == "INDEX_IO_ERROR"


REFUSAL = IndexUnavailable("INDEX_INCOMPATIBLE", "for the test")


async def serving(vault: Vault) -> CurrentIndex:
    """Index a vault and open what was published."""
    vault.write("A.md", "# A\n\nsome words\n")
    await vault.index()
    index = vault.current()
    await index.refresh()
    return index


async def test_searches_cancelled_at_any_moment_return_their_connections(tmp_path: Path):
    index = await serving(Vault(tmp_path))

    async def ask() -> None:
        async with index.snapshot() as snapshot:
            await search_in(snapshot, SearchQuery("words qwertzuiop asdfghjkl"))

    for number in range(200):
        task = asyncio.create_task(ask())
        for _ in range(number % 20):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
    async with index.snapshot() as snapshot, AsyncExitStack() as lent:
        for _ in range(READERS):
            lent.enter_context(snapshot.connection())
    await index.close()


@pytest.mark.fault(
    "Queries",
    "more searches at once than connections to the index",
    "they take turns; none fails",
)
async def test_more_threads_than_connections_take_turns(tmp_path: Path):
    index = await serving(Vault(tmp_path))
    async with index.snapshot() as snapshot:

        def read() -> object:
            with snapshot.connection() as connection:
                return connection.execute("SELECT count(*) FROM note").fetchone()

        counts = await asyncio.gather(*(asyncio.to_thread(read) for _ in range(50)))
    await index.close()
    assert set(counts) == {(1,)}


def opened_below(folder: Path) -> list[Path]:
    """Return the files of a folder that this process has open."""
    found = []
    for descriptor in DESCRIPTORS.iterdir():
        with suppress(OSError):  # the descriptor of this very listing
            found.append(descriptor.readlink())
    return [file for file in found if file.is_relative_to(folder)]


@pytest.mark.skipif(sys.platform != "linux", reason="counts descriptors")
async def test_a_cancelled_last_reader_closes_a_replaced_index(tmp_path: Path):
    vault = Vault(tmp_path)
    index = await serving(vault)
    before = len(opened_below(vault.directory.path))
    for generation in range(1, 6):
        with anyio.CancelScope() as scope:
            async with index.snapshot():
                await index.refuse(REFUSAL, generation)
                scope.cancel()
                await anyio.sleep(1)
        await vault.index(rebuild=True)
        await index.refresh()
    assert len(opened_below(vault.directory.path)) <= before
    await index.close()


async def test_a_damaged_generation_is_not_served_again_whatever_is_added_to_it(tmp_path: Path):
    vault = Vault(tmp_path)
    index = await serving(vault)
    await index.refuse(REFUSAL, 1)
    vault.write("New.md", "text")
    await vault.index()
    await index.refresh()
    assert index.refusal is REFUSAL
    assert index.meta is None
    await vault.index(rebuild=True)
    await index.refresh()
    assert index.refusal is None
    assert index.meta is not None
    await index.close()


async def test_damage_of_a_generation_that_was_replaced_meanwhile_is_no_refusal(tmp_path: Path):
    vault = Vault(tmp_path)
    index = await serving(vault)
    await vault.index(rebuild=True)
    await index.refresh()
    await index.refuse(REFUSAL, 1)
    assert index.refusal is None
    assert index.meta is not None
    await index.close()
