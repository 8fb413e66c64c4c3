"""A vault that is open at once, for the tests of operations on top of `VaultWriter`."""

from __future__ import annotations

from pathlib import Path

from tests.writing.opened import Vault

from vault_agent.model.writing import Right, Write
from vault_agent.vault.root import VaultRoot
from vault_agent.writing.vault_writer import VaultWriter


class OpenedVault:
    """A vault that can be written. Its index does not follow."""

    def __init__(self, folder: Path) -> None:
        vault = Vault(folder)
        self.folder = vault.root
        self.put = vault.put
        executor = vault.executor()
        executor.prepare()
        self.writer = VaultWriter(executor, vault.follow, vault.text_workers)
        self.writer._refusal = None  # there is nothing to recover
        self.writer._ready.set()

    def root(self) -> VaultRoot:
        return VaultRoot.open(self.folder)

    def text(self, path: str) -> str:
        return (self.folder / path).read_bytes().decode()


def write(operation: str = "test", right: Right = Right.EDIT, **changes) -> Write:
    return Write(operation=operation, right=right, may_replan=True, **changes)
