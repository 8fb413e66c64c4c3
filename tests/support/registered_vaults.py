"""Registered vaults, and a library that knows them, for tests of several vaults."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.support.clocks import PATIENCE

from vault_agent.app import App, open_app
from vault_agent.config.project import OURS, VAULT, ensure_project_file
from vault_agent.config.settings import Config
from vault_agent.config.vault_list import Registered, Role, add_vault, new_uid
from vault_agent.models.settings import EndpointSettings
from vault_agent.vaults.open_vault import OpenVault
from vault_agent.vaults.shared import VaultRegistry


class RegisteredVaults:
    """A folder with a default vault, a list of vaults, and their index folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.registry = self.folder / "config" / "vaults.toml"
        self.data = self.folder / "data"
        self.default = self.folder / "notes"
        self.default.mkdir(parents=True, exist_ok=True)

    def write(self, root: Path, notes: Mapping[str, str]) -> Path:
        """Write notes into a vault, and return its folder."""
        root.mkdir(parents=True, exist_ok=True)
        for path, text in notes.items():
            note = root / path
            note.parent.mkdir(parents=True, exist_ok=True)
            note.write_text(text)
        return root

    def project(self, name: str, notes: Mapping[str, str], *, register: bool = True) -> Path:
        """Make a project with a vault, and return the vault's folder."""
        folder = self.folder / "projects" / name
        root = self.write(folder / OURS / VAULT, notes)
        uid = ensure_project_file(folder, name).uid or ""
        if register:
            add_vault(Registered(root, Role.PROJECT, name, uid), self.registry)
        return root

    def registered(self, role: Role, name: str, notes: Mapping[str, str]) -> Path:
        """Make a vault of another role, and return its folder."""
        root = self.write(self.folder / name, notes)
        add_vault(Registered(root, role, name, new_uid()), self.registry)
        return root

    def config(self, **sections: Any) -> Config:
        vaults = {"enabled": True, **sections.pop("vaults", {})}
        return Config(
            vault={"root": self.default}, index={"dir": self.data}, vaults=vaults, **sections
        )

    @asynccontextmanager
    async def app(self, **sections: Any) -> AsyncIterator[App]:
        async with open_app(self.config(**sections), registry=VaultRegistry(self.registry)) as app:
            await indexed(app.vaults.default)
            yield app


class KeptVaults:
    """Registered vaults that are made and indexed once, for tests that begin from them.

    A vault that has an index starts no process when it is opened.
    """

    def __init__(
        self, folder: Path, fill: Callable[[RegisteredVaults], Iterable[str]], **sections: Any
    ) -> None:
        """Let `fill` make the vaults and return their names, those of the default vault left out.

        Args:
            folder: an empty folder.
            fill: makes vaults.
            sections: settings that the indexes are made with.
        """
        self.vaults = RegisteredVaults(folder / "vaults")
        self._copy = folder / "copy"
        asyncio.run(self._index(tuple(fill(self.vaults)), sections))
        shutil.copytree(self.vaults.folder, self._copy, symlinks=True)

    async def _index(self, names: tuple[str, ...], sections: dict[str, Any]) -> None:
        async with self.vaults.app(**sections) as app:
            for name in names:
                vault = await app.vaults.open(name)
                await indexed(vault)

    def restored(self) -> RegisteredVaults:
        """Put all files back as they were after the first index, and return the vaults."""
        shutil.rmtree(self.vaults.folder)
        shutil.copytree(self._copy, self.vaults.folder, symlinks=True)
        return self.vaults


async def indexed(vault: OpenVault) -> OpenVault:
    """Wait until no job runs."""
    while (job := vault.jobs.running) is not None:
        async for _ in vault.jobs.watch(job.id):
            pass
    return vault


def wait_for_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let searches wait for the vector of their query, also on a busy machine."""
    patient = partial(EndpointSettings, query_timeout=PATIENCE)
    monkeypatch.setattr("vault_agent.app.EndpointSettings", patient)
