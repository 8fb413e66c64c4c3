"""A vault that is written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.writing.authored import OpenedVault
from tests.writing.opened import QUIET, Vault

from vault_agent.model.writing import WriteLimits


@pytest.fixture
def limits() -> WriteLimits:
    """Return the limits of writes. A test that needs others is parametrized with them."""
    return QUIET


@pytest.fixture
def closed(tmp_path: Path, limits: WriteLimits) -> Iterator[Vault]:
    """Return a vault that nobody has opened."""
    made = Vault(tmp_path, limits)
    yield made
    made.bury()


@pytest_asyncio.fixture
async def vault(closed: Vault) -> AsyncIterator[Vault]:
    """Open a vault to write."""
    async with closed.opened():
        yield closed


@pytest.fixture
def opened_vault(tmp_path: Path) -> Iterator[OpenedVault]:
    """Return a vault that can be written at once."""
    opened = OpenedVault(tmp_path)
    yield opened
    asyncio.run(opened.writing.close())
