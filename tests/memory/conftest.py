"""A project with sessions. What memory asks of git gets the time that a busy machine needs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.clocks import PATIENCE
from tests.support.session_desk import Desk

from vault_agent.memory import recall


@pytest.fixture(autouse=True)
def _patient_with_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall, "_GIT_SECONDS", PATIENCE)


@pytest.fixture(autouse=True)
def _without_folders_of_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(tmp_path, monkeypatch)
