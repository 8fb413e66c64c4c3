"""A vault that is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from tests.writing.opened import Vault

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
def closed(tmp_path: Path) -> Vault:
    """Return a vault that nobody has opened."""
    return Vault(tmp_path)


@pytest_asyncio.fixture
async def vault(closed: Vault) -> AsyncIterator[Vault]:
    """Open a vault to write."""
    async with closed.opened():
        yield closed
