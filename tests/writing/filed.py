"""A vault on disk that is written, with its index, and without a server."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.support import index_runs
from tests.writing import opened

from vault_agent.model.identifiers import content_hash
from vault_agent.model.writing import Right, WriteLimits, Written
from vault_agent.store.current import Snapshot
from vault_agent.vault.root import VaultRoot
from vault_agent.writing.files import Files

_TEMPORARY = re.compile(r"\.va-[0-9a-f]{16}\.(?:new|tmp)")
SOONER = opened.lingering(0.05)
"""Displaced files stay only shortly, because they hold up moves of their folders."""


class Vault(opened.Vault):
    """A folder of notes, its writes and its index."""

    def __init__(self, folder: Path, limits: WriteLimits = SOONER) -> None:
        self.indexed = index_runs.Vault(folder)
        super().__init__(folder, limits)
        self.index = self.indexed.current()
        self.files: Files

    @asynccontextmanager
    async def snapshot(self, *, up_to_date: bool) -> AsyncIterator[Snapshot]:
        """Index what has changed, and lend the index."""
        if up_to_date or self.index.meta is None:
            await self.indexed.index()
            await self.index.refresh()
        async with self.index.snapshot() as snapshot:
            yield snapshot

    @asynccontextmanager
    async def filing(self) -> AsyncIterator[Files]:
        """Open the vault to write."""
        async with self.opened() as writer:
            self.files = Files(writer, self, lambda: VaultRoot.open(self.root, self.exclusions))
            try:
                yield self.files
            finally:
                await self.index.close()

    def tree(self) -> dict[str, bytes]:
        """Return all files with their bytes, without displaced ones."""
        return {path: data for path, data in super().tree().items() if not _TEMPORARY.search(path)}

    def temporaries(self) -> list[str]:
        return [path for path in super().tree() if _TEMPORARY.search(path)]

    def hash(self, path: str) -> str:
        return content_hash(self.bytes(path)).hex()

    async def move(self, path: str, to: str, *, links: bool = True, **more: Any) -> Written:
        """Move a file by its current hash, or a folder."""
        if (self.root / path).is_file():
            more = {"expected_hash": self.hash(path), **more}
        made = opened.write("move", Right.MOVE, hash_required=True, **more)
        return await self.files.move(path, to, made, rewrite_links=links)

    async def delete(self, path: str, **more: Any) -> Written | None:
        own = {name: more.pop(name) for name in ("permanent", "missing_ok") if name in more}
        made = opened.write("delete", Right.DELETE, **more)
        return await self.files.delete(path, made, **own)
