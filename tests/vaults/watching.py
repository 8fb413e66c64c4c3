"""Watched vaults in this process, with real events and a real indexing process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.support.waiting import eventually_async

from vault_agent.app import open_app
from vault_agent.config.settings import Config
from vault_agent.model.search import SearchQuery
from vault_agent.vaults import watch
from vault_agent.vaults.open_vault import OpenVault

NOTES = 20


@contextmanager
def shorter_pauses() -> Iterator[None]:
    """Pause less after failures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(watch, "PAUSES_AFTER_FAILURES", (0.3, 1.0))
        patch.setattr(watch, "RETRY_SECONDS", 0.2)
        yield


def linked_notes(folder: Path) -> Path:
    """Make a vault of notes that link to each other, and return its folder."""
    root = folder / "vault"
    root.mkdir()
    for number in range(NOTES):
        (root / f"{number}.md").write_text(f"# Note {number}\n\n[[{number + 1}]]\n")
    return root


@asynccontextmanager
async def watched(
    root: Path, *, embedding: Any = None, **settings: Any
) -> AsyncIterator[OpenVault]:
    """Open a watched vault and wait until it has looked at everything and has no job."""
    config = Config(
        vault={"root": root},
        index={"dir": root.parent / "data"},
        watch={"enabled": True, **settings},
        **({"embedding": embedding} if embedding else {}),
    )
    async with open_app(config) as app:
        vault = app.vaults.default
        await eventually_async(lambda: vault.watch.status().last_scan_at is not None)
        await eventually_async(lambda: vault.jobs.running is None)
        yield vault


async def hits(vault: OpenVault, text: str) -> list[str]:
    """Return the paths of the notes that a search finds."""
    return [hit.path for hit in (await vault.search(SearchQuery(text))).results]


async def until_found(vault: OpenVault, text: str, *paths: str) -> None:
    """Wait until a search finds a text in these notes only."""

    async def finds() -> bool:
        return await hits(vault, text) == list(paths)

    await eventually_async(finds)
