"""The index of the notes that a module of tests names."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.search.opened import indexed
from tests.support.index_runs import Vault

from vault_agent.store.current import Snapshot


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def snapshot(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Snapshot]:
    """Index the `NOTES` of the module, and yield a snapshot. Tests need the loop of the module."""
    vault = Vault(tmp_path_factory.mktemp("vault"))
    for path, text in request.module.NOTES.items():
        vault.write(path, text)
    async with indexed(vault) as opened:
        yield opened
