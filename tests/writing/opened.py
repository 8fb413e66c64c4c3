"""The writing of a vault in a temporary folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_agent.model.writing import PENDING, Right, Write
from vault_agent.vault.root import VaultRoot
from vault_agent.writing.write import Writing

if TYPE_CHECKING:
    from pathlib import Path


class OpenedVault:
    """A vault that can be written. Its index does not follow."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.writing = Writing(self.root, follow)

    def root(self) -> VaultRoot:
        return VaultRoot.open(self.folder)

    def put(self, path: str, text: str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())

    def text(self, path: str) -> str:
        return (self.folder / path).read_bytes().decode()


async def follow(paths, wait_ms):
    return PENDING


def write(operation: str = "test", right: Right = Right.EDIT, **changes) -> Write:
    return Write(operation=operation, right=right, retries=True, **changes)
