"""A vault that is written."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from tests.writing.authored import OpenedVault
from tests.writing.opened import Vault

from vault_agent.writing import linger

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def closing_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Close without waiting for the saves of editors, which none of these tests has by then."""
    monkeypatch.setattr(linger, "CLOSING_SECONDS", 0.0)


@pytest.fixture
def closed(tmp_path: Path) -> Vault:
    """Return a vault that nobody has opened."""
    return Vault(tmp_path)


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
