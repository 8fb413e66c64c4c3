"""What memory asks of git gets the time that a busy machine needs."""

from __future__ import annotations

import pytest
from tests.support.clocks import PATIENCE

from vault_agent.memory import recall


@pytest.fixture(autouse=True)
def _patient_with_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall, "_GIT_SECONDS", PATIENCE)
