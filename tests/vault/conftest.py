"""A vault on disk next to secret files, opened with each of the three strategies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.systems import STRATEGIES
from tests.vault.spellings import SECRET

from vault_agent.vault import platform
from vault_agent.vault.paths import Exclusions
from vault_agent.vault.root import VaultRoot


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Create an empty vault. `outside` and `vault2` beside it contain a secret."""
    for name in ("outside", "vault2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "secret.md").write_bytes(SECRET)
        (tmp_path / name / "secret.txt").write_bytes(SECRET)
    (tmp_path / "secret.txt").write_bytes(SECRET)
    vault = tmp_path / "vault"
    vault.mkdir()
    return vault


@pytest.fixture(params=STRATEGIES)
def strategy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Use each opening strategy of this system in turn."""
    if request.param == "portable":
        monkeypatch.setattr(platform, "has_descriptor_relative_calls", lambda: False)
    return request.param


@pytest.fixture
def open_root(folder: Path, strategy: str) -> Iterator[Callable[..., VaultRoot]]:
    """Open the vault with exclude patterns and the strategy under test."""
    roots: list[VaultRoot] = []

    def open_(*patterns: str) -> VaultRoot:
        root = VaultRoot.open(folder, Exclusions(patterns))
        roots.append(root)
        return root

    yield open_
    for root in roots:
        root.close()


@pytest.fixture
def root(open_root: Callable[..., VaultRoot]) -> VaultRoot:
    """Open the vault with the default exclusions."""
    return open_root()
