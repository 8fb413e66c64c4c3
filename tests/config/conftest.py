"""These tests must not read the user's own settings."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.homes import HOMES

from vault_agent.config.layers import default_config_path


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test a separate home folder, on every system."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in (*HOMES, "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(folder))
    assert default_config_path().is_relative_to(folder)
    return folder
