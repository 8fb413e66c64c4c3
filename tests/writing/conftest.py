"""A vault that is written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.writing.authored import OpenedVault
from tests.writing.opened import QUIET, Vault

from vault_agent.model.writing import WriteLimits
from vault_agent.store.write_log import WriteLog
from vault_agent.writing.disk import Disk
from vault_agent.writing.executor import WriteExecutor


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
    asyncio.run(opened.writer.close())


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def killed(closed: Vault, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Awaitable[None]]:
    """Return what writes until a kill, and leaves the log as a killed process does."""

    async def killed(work: Callable[[], Awaitable[object]], at: int = 1, *, after: bool = True):
        """Let the change number `at` be the last one: the kill is before it, or right after it."""
        applied, count = Disk.apply, 0

        def apply(self, root, change):
            nonlocal count
            count += 1
            if count == at and not after:
                raise Killed
            done = applied(self, root, change)
            if count == at:
                raise Killed
            return done

        with monkeypatch.context() as patched:
            patched.setattr(Disk, "apply", apply)
            patched.setattr(WriteExecutor, "_settle", lambda *_: None)
            patched.setattr(WriteLog, "fail", lambda *_: None)
            async with closed.opened(close=False):
                with pytest.raises(Killed):
                    await work()

    return killed
